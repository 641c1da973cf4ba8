package webtest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"sort"
	"strings"
	"unicode/utf8"
)

// LinkFault is something wrong with a link, of a kind that people make.
type LinkFault struct {
	Group  string // of kinds, such as "redirects": one of FaultGroups
	Kind   string // names it, such as "img srcset"; each has a page
	Rule   string // its name in checkers: see package check
	Page   string // path of the page that has it
	Line   int    // of the URL, from 1; 0: it is in a header
	Column int    // in characters
	Link   string // the URL as the page writes it
}

// FaultGroups are the groups of faults.
var FaultGroups = []string{"elements", "documents", "statuses", "redirects", "fragments", "syntax", "network", "TLS"}

// LinkFaults is a site with faults: each once, beside a link of the same kind that is sound. It is
// reached from its root. Other sites are needed for some; without them these kinds are left out.
// They are named as in http://127.0.0.1:9, without a slash at the end.
type LinkFaults struct {
	Refused string // nothing listens
	Silent  string // it takes connections, and never responds
	BadTLS  string // https with an invalid certificate
	NoTLS   string // https in the URL, and a server that speaks http

	pages map[string]faultyPage
	all   []LinkFault
}

type faultyPage struct {
	contentType string
	body        string
	header      http.Header
}

// elements are the elements and attributes that hold a link, with % in place of it. @css and the
// like stand for the type of what it leads to.
var faultyElements = []struct{ kind, html string }{
	{"a", `<a href="%">text</a>`}, {"a unquoted", `<a href=%>text</a>`}, {"a single quotes", `<a class='x' href='%'>text</a>`},
	{"a upper case", `<A HREF="%">text</A>`}, {"a spaces", `<a  href = "  %  " >text</a>`}, {"a query", `<a href="%?a=1&b=2">text</a>`},
	{"a reference", `<a href="%?a=1&amp;b=2">text</a>`}, {"a escaped", `<a href="%/%%C3%%A9">text</a>`}, {"a not ASCII", `<a href="%/é ü">text</a>`},
	{"a long before", `<a title="日本語 <a href='x'>" href="%">text</a>`}, {"a image", `<a href="%"><img src=/ok/i.png alt></a>`},
	{"a target", `<a target=_blank rel="noopener" href="%">text</a>`}, {"a nofollow", `<a rel=nofollow href="%">text</a>`},
	{"area", `<map name=m><area href="%" alt=x></map>`},
	{"link alternate", `<link rel=alternate href="%">`}, {"link next", `<link rel=next href="%">`}, {"link prev", `<link rel=prev href="%">`},
	{"link help", `<link rel=help href="%">`}, {"link stylesheet", `<link rel=stylesheet href="%@css">`}, {"link icon", `<link rel="shortcut icon" href="%@png">`},
	{"link touch icon", `<link rel=apple-touch-icon href="%@png">`}, {"link manifest", `<link rel=manifest href="%@json">`},
	{"link preload", `<link rel=preload as=image href="%@png">`}, {"link modulepreload", `<link rel=modulepreload href="%@js">`},
	{"link imagesrcset", `<link rel=preload as=image imagesrcset="/ok/a.png 1x, %@png 2x">`},
	{"img", `<img src="%@png" alt>`}, {"img lazy", `<img loading=lazy alt=x src=%@png>`}, {"img srcset", `<img alt src=/ok/b.png srcset="%@png 1x">`},
	{"img srcset second", `<img alt src=/ok/b.png srcset="/ok/c.png 480w, %@png 800w">`}, {"picture source", `<picture><source srcset="%@png"><img alt src=/ok/b.png></picture>`},
	{"video", `<video src="%@png"></video>`}, {"video poster", `<video poster="%@png"></video>`}, {"video source", `<video><source src="%@png"></video>`},
	{"audio", `<audio src="%@png"></audio>`}, {"track", `<video><track src="%@png"></video>`},
	{"script", `<script src="%@js"></script>`}, {"script module", `<script type=module src="%@js"></script>`},
	{"iframe", `<iframe src="%"></iframe>`}, {"frame", `<frameset><frame src="%"></frameset>`}, {"embed", `<embed src="%@png">`}, {"object", `<object data="%@png"></object>`},
	{"input image", `<input type=image src="%@png">`}, {"table background", `<table background="%@png"><tr><td>x</table>`}, {"td background", `<table><tr><td background="%@png">x</table>`},
	{"style url", `<style>p { background: url(%@png) }</style>`}, {"style quoted", `<style>p { background: url( "%@png" ) }</style>`}, {"style import", `<style>@import "%@css";</style>`},
	{"style font", `<style>@font-face { font-family: x; src: url(%@png) }</style>`}, {"style image-set", `<style>p { background: image-set("%@png" 1x) }</style>`},
	{"style attribute", `<p style="background: url(%@png)">x</p>`}, {"style attribute quoted", `<p style="background: url('%@png')">x</p>`},
	{"svg a", `<svg><a href="%"><text>x</text></a></svg>`}, {"svg image", `<svg><image href="%@png"/></svg>`}, {"svg image xlink", `<svg><image xlink:href="%@png"/></svg>`},
	{"svg use", `<svg><use href="%@svg#s"/></svg>`}, {"svg feImage", `<svg><filter><feImage href="%@png"/></filter></svg>`},
	{"srcdoc a", `<iframe srcdoc='<a href="%">text</a>'></iframe>`}, {"srcdoc img", `<iframe srcdoc='<img src="%@png" alt>'></iframe>`},
	{"noscript", `<noscript><img alt src="%@png"></noscript>`}, {"template", `<template><a href="%">text</a></template>`},
	{"form", `<form action="%"></form>`}, {"form button", `<form action=/ok/f><button formaction="%">x</button></form>`}, {"form input", `<form method=dialog><input type=submit formaction="%"></form>`},
	{"blockquote cite", `<blockquote cite="%">x</blockquote>`}, {"q cite", `<q cite="%">x</q>`}, {"ins cite", `<ins cite="%">x</ins>`}, {"del cite", `<del cite="%">x</del>`},
	{"img data-src", `<img alt src="data:," data-src="%@png">`}, {"img data-srcset", `<img alt src="data:," data-srcset="%@png 2x">`}, {"iframe data-src", `<iframe data-src="%"></iframe>`},
	{"video data-src", `<video data-src="%@png"></video>`}, {"source data-src", `<audio><source data-src="%@png"></audio>`},
	{"og image", `<meta property="og:image" content="%@png">`}, {"twitter image", `<meta name="twitter:image" content="%@png">`}, {"itemprop image", `<meta itemprop=image content="%@png">`},
	{"JSON-LD image", `<script type="application/ld+json">{"image": "%@png"}</script>`}, {"JSON-LD logo", `<script type="application/ld+json">{"logo": {"url": "%@png"}}</script>`},
	{"nested", `<p><b><a href="%"><i>te</i>xt</a></b></p>`}, {"after a comment", `<!-- <a href="/x"> --><a href="%">text</a>`},
	{"after a script", `<script>"<a href='/x'>"</script><a href="%">text</a>`},
}

// faultyLinks are whole links that are wrong, and the rules that say so. {refused} and the like
// stand for the other sites.
var faultyLinks = []struct{ group, kind, rule, link string }{
	{"statuses", "404", "broken-link", "/status/404/a"}, {"statuses", "410", "broken-link", "/status/410/a"},
	{"statuses", "400", "broken-link", "/status/400/a"}, {"statuses", "500", "broken-link", "/status/500/a"},
	{"statuses", "401", "own-unknown", "/status/401/a"}, {"statuses", "403", "own-unknown", "/status/403/a"},
	{"statuses", "451", "own-unknown", "/status/451/a"}, {"statuses", "999", "own-unknown", "/status/999/a"},
	{"statuses", "bot wall", "own-unknown", "/wall"}, {"statuses", "robots.txt", "unknown", "/closed/a"},
	{"redirects", "moved", "permanent-redirect", "/to/301/ok/moved"}, {"redirects", "moved 308", "permanent-redirect", "/to/308/ok/moved8"},
	{"redirects", "moved to nowhere", "broken-link", "/to/301/broken/moved"}, {"redirects", "found nowhere", "broken-link", "/to/302/broken/found"},
	{"redirects", "chain", "redirect-chain", "/to/302/to/307/ok/chain"}, {"redirects", "circle", "redirect-loop", "/circle/1"},
	{"redirects", "self", "redirect-loop", "/circle/self"}, {"redirects", "too many", "redirect-loop", "/further/30"},
	{"fragments", "fragment", "missing-fragment", "/anchors#none"}, {"fragments", "fragment escaped", "missing-fragment", "/anchors#%C3%A4"},
	{"fragments", "fragment case", "missing-fragment", "/anchors#Id"}, {"fragments", "fragment of this page", "missing-fragment", "#none"},
	{"fragments", "fragment behind a redirect", "missing-fragment", "/to/302/anchors#none"},
	{"syntax", "no URL", "invalid-url", "http://[x/"}, {"syntax", "no port", "invalid-url", "http://a:b/"},
	{"syntax", "mail", "invalid-mail", "mailto:a.test"}, {"syntax", "mail list", "invalid-mail", "mailto:a@b.test,c"},
	{"syntax", "mail copy", "invalid-mail", "mailto:a@b.test?cc=c%40"},
	{"network", "no such name", "broken-link", "http://name.invalid/"}, {"network", "refused", "broken-link", "{refused}/a"},
	{"network", "timeout", "unknown", "{silent}/a"}, {"network", "cut", "own-unknown", "/cut"},
	{"TLS", "certificate", "certificate", "{tls}/a"}, {"TLS", "no TLS", "broken-link", "{notls}/a"},
}

// soundLinks are links that are not wrong, though they may look so.
var soundLinks = []string{
	"", "#", "#top", "#TOP", "#:~:text=x", "#/route", "#!route", "/anchors#id", "/anchors#name", "/anchors#%C3%A9", "/anchors#é", "/anchors#a%20b", "/anchors#a b",
	"/anchors#id:~:text=x", "/anchors?x#id", "mailto:a@b.test", "mailto:a@b.test,c@d.test?subject=x", "mailto:?subject=x", "mailto:a%2Bb@c.test", "tel:+1", "javascript:void(0)", "data:,x",
	"/to/302/ok/found", "/to/302/anchors#id", "/ok/%2e/x", "/ok/é", "?q=1", "/ok/a.png#xywh=1", "sms:+1",
}

// All returns the faults, by page.
func (f *LinkFaults) All() []LinkFault {
	f.make()
	return f.all
}

// make makes the pages.
func (f *LinkFaults) make() {
	if f.pages != nil {
		return
	}
	f.pages = make(map[string]faultyPage)
	for _, e := range faultyElements {
		name := strings.ReplaceAll(e.kind, " ", "-")
		snippet := strings.ReplaceAll(e.html, "%%", "\x00")
		before, rest, _ := strings.Cut(snippet, "%")
		extension := ""
		if at, ok := strings.CutPrefix(rest, "@"); ok {
			end := strings.IndexFunc(at, func(r rune) bool { return r < 'a' || r > 'z' })
			extension, rest = "."+at[:end], at[end:]
		}
		fill := func(folder string) string { return strings.ReplaceAll(before+folder+name+extension+rest, "\x00", "%") }
		f.page("elements", e.kind, "broken-link", fill("/ok/"), fill("/broken/"), before, "/broken/"+name+extension)
	}
	for _, l := range faultyLinks {
		link := strings.NewReplacer("{refused}", f.Refused, "{silent}", f.Silent, "{tls}", f.BadTLS, "{notls}", f.NoTLS).Replace(l.link)
		if !strings.HasPrefix(link, "/a") || strings.HasPrefix(l.link, "/") {
			f.page(l.group, l.kind, l.rule, `<a href="/ok/x">text</a>`, `<a href="`+link+`">text</a>`, `<a href="`, link)
		}
	}
	f.page("fragments", "symbol of a sprite", "missing-fragment", `<svg><use href="/sprite.svg#s"/></svg>`, `<svg><use href="/sprite.svg#none"/></svg>`, `<svg><use href="`, "/sprite.svg#none")
	f.pages["/sprite.svg"] = faultyPage{contentType: "image/svg+xml", body: "<svg xmlns='http://www.w3.org/2000/svg'><symbol id='s'/></svg>"}
	f.documents()
	f.header()
	var sound strings.Builder
	for _, l := range soundLinks {
		fmt.Fprintf(&sound, "<a href=\"%s\">x</a>\n", l)
	}
	f.pages["/sound"] = faultyPage{body: "<title>sound</title>" + sound.String()}
	f.pages["/anchors"] = faultyPage{body: `<title>anchors</title><p id=id><a name=name></a><h1 id="é">x</h1><i id='a b'>x</i>`}
	f.pages["/wall"] = faultyPage{body: `<title>Just a moment...</title>`}
	f.home()
}

// page adds a page with a sound link, and a faulty one in its third line.
func (f *LinkFaults) page(group, kind, rule, sound, faulty, before, link string) {
	name := "/page/" + strings.ReplaceAll(kind, " ", "-")
	const third, text = "é ", "A page with a script and without text looks empty until the script runs, which is a fault of its own: so this one has text."
	body := fmt.Sprintf("<!doctype html><meta charset=utf-8><title>%s</title>\n%s\n%s%s\n<p>%s</p>\n", kind, sound, third, faulty, text)
	f.pages[name] = faultyPage{body: body}
	f.all = append(f.all, LinkFault{group, kind, rule, name, 3, utf8.RuneCountInString(third+before) + 1, link})
}

// documents adds faults in what is no ordinary page.
func (f *LinkFaults) documents() {
	for _, d := range []struct{ kind, contentType, body, link string }{
		{"css url", "text/css", "p { color: red }\nb { background: url('/broken/css.png') }", "/broken/css.png"},
		{"css import", "text/css", "/* é */ @import '/broken/import.css';", "/broken/import.css"},
		{"css font", "text/css", "@font-face {\n src: url(/broken/font) }", "/broken/font"},
		{"svg", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'>\n<image href='/broken/svg.png'/></svg>", "/broken/svg.png"},
		{"rss", "application/rss+xml", "<rss><channel><item>\n<link>/broken/rss</link></item></channel></rss>", "/broken/rss"},
		{"atom", "application/atom+xml", "<feed xmlns='http://www.w3.org/2005/Atom'><entry>\n<link href='/broken/atom'/></entry></feed>", "/broken/atom"},
		{"base", "text/html", "<title>base</title><base href=/broken/>\n<a href='in-base'>x</a>", "in-base"},
		{"meta refresh", "text/html", "<title>refresh</title>\n<meta http-equiv=refresh content='9; url=/broken/refresh'>", "/broken/refresh"},
		{"XHTML", "application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'><title>x</title>\n<a href='/broken/xhtml'/></html>", "/broken/xhtml"},
	} {
		name := "/page/" + strings.ReplaceAll(d.kind, " ", "-")
		f.pages[name] = faultyPage{contentType: d.contentType, body: d.body}
		before, _, _ := strings.Cut(d.body, d.link)
		line := strings.LastIndexByte(before, '\n') + 1
		f.all = append(f.all, LinkFault{"documents", d.kind, "broken-link", name, strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[line:]) + 1, d.link})
	}
}

// header adds faults in fields of the header, which have no line.
func (f *LinkFaults) header() {
	for kind, value := range map[string]string{"Link": "</broken/Link>; rel=next", "Refresh": "9; url=/broken/Refresh"} {
		name := "/page/header-" + kind
		f.pages[name] = faultyPage{body: "<title>header</title>", header: http.Header{kind: {value}}}
		f.all = append(f.all, LinkFault{"documents", "header " + kind, "broken-link", name, 0, 0, "/broken/" + kind})
	}
	f.pages["/page/header.pdf"] = faultyPage{contentType: "application/pdf", body: "%PDF-1.7", header: http.Header{"Link": {`</broken/pdf>; rel="canonical"`}}}
	f.all = append(f.all, LinkFault{"documents", "header of a PDF", "broken-link", "/page/header.pdf", 0, 0, "/broken/pdf"})
}

// home links to all pages.
func (f *LinkFaults) home() {
	var names []string
	for name := range f.pages {
		names = append(names, name)
	}
	sort.Strings(names)
	var home strings.Builder
	home.WriteString("<!doctype html><title>home</title>\n")
	for _, name := range names {
		switch contentType := f.pages[name].contentType; {
		case contentType == "text/css":
			fmt.Fprintf(&home, "<link rel=stylesheet href='%s'>\n", name)
		case name != "/wall":
			fmt.Fprintf(&home, "<a href='%s'>%s</a>\n", name, name)
		}
	}
	f.pages["/"] = faultyPage{body: home.String()}
}

// fileTypes are the types of what links lead to.
var faultyTypes = map[string]string{".css": "text/css", ".png": "image/png", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml"}

// ServeHTTP serves the site.
func (f *LinkFaults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	segments := strings.Split(r.URL.Path, "/")
	page, ok := f.pages[r.URL.Path]
	switch {
	case ok:
		if page.contentType == "" {
			page.contentType = "text/html"
		}
		maps.Copy(w.Header(), page.header)
		w.Header().Set("Content-Type", page.contentType)
		io.WriteString(w, page.body)
	case r.URL.Path == "/robots.txt":
		io.WriteString(w, "User-agent: *\nDisallow: /closed/\n")
	case r.URL.Path == "/circle/1":
		http.Redirect(w, r, "/circle/2", http.StatusFound)
	case r.URL.Path == "/circle/2":
		http.Redirect(w, r, "/circle/1", http.StatusFound)
	case r.URL.Path == "/circle/self":
		http.Redirect(w, r, "/circle/self", http.StatusFound)
	case len(segments) > 2 && segments[1] == "further":
		left := 0
		fmt.Sscan(segments[2], &left)
		to := "/ok/further"
		if left > 1 {
			to = fmt.Sprintf("/further/%d", left-1)
		}
		http.Redirect(w, r, to, http.StatusFound)
	case r.URL.Path == "/cut":
		panic(http.ErrAbortHandler)
	case len(segments) > 2 && segments[1] == "to":
		status := 302
		fmt.Sscan(segments[2], &status)
		w.Header().Set("Location", "/"+strings.Join(segments[3:], "/"))
		w.WriteHeader(status)
	case len(segments) > 2 && segments[1] == "status":
		status := 404
		fmt.Sscan(segments[2], &status)
		w.WriteHeader(status)
	case segments[1] == "ok":
		contentType := faultyTypes[path.Ext(r.URL.Path)]
		if contentType == "" {
			contentType = "text/html"
			io.WriteString(w, "<title>ok</title>")
			return
		}
		w.Header().Set("Content-Type", contentType)
	default:
		http.NotFound(w, r)
	}
}
