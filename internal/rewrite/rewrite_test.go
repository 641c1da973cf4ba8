package rewrite

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/weburl"
)

// into leads URLs into a folder, as a replay does.
func into(prefix string) *Policy {
	return &Policy{Base: true, Confine: true, URL: func(u weburl.URL, _ Use) (string, Fate) { return prefix + u.String(), Replace }}
}

func rewriterOf(t testing.TB, encoding string) *Rewriter {
	base, err := weburl.Parse("https://example.org/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	return New(into("/1/"), base, charset.Lookup(encoding), false)
}

// TestHTML: what is rewritten, and what keeps its bytes.
func TestHTML(t *testing.T) {
	const at = "/1/https://example.org/"
	for in, want := range map[string]string{
		`<a href=b>x</a>`:                                                                         `<a href="` + at + `dir/b">x</a>`,
		`<A  HREF = '../c?x=1&amp;y=2#z' class=k>`:                                                `<A  HREF="` + at + `c?x=1&amp;y=2#z" class=k>`,
		`<a href="#top"><a href=""><a href>`:                                                      ``,
		`<a href="mailto:a@b">`:                                                                   ``,
		`<a href=javascript:f()>`:                                                                 ``,
		`<img src="data:image/gif;base64,AA">`:                                                    ``,
		`<a href="//other.example/100%">`:                                                         `<a href="/1/https://other.example/100%">`,
		`<img srcset="a.png 1x, /b,c.png 2x" alt=>`:                                               `<img srcset="` + at + `dir/a.png 1x, ` + at + `b,c.png 2x" alt=>`,
		`<p style="background:url('a.png');x:y">`:                                                 `<p style="background:url('` + at + `dir/a.png');x:y">`,
		`<style>@import "a.css";b{c:url(d'(e)}</style>`:                                           `<style>@import "` + at + `dir/a.css";b{c:url(d'(e)}</style>`,
		`<meta http-equiv=refresh content="5; url=next">`:                                         `<meta http-equiv=refresh content="5; url=` + at + `dir/next">`,
		`<meta http-equiv="Content-Security-Policy" content="x">`:                                 `<meta  >`,
		`<meta charset=utf-8 content=x>`:                                                          ``,
		`<base href="/new/"><img src=i>`:                                                          `<base href="` + at + `new/"><img src="` + at + `new/i">`,
		`<script integrity=sha crossorigin src=a.js>"<a href=b>"</script>`:                        `<script  src="` + at + `dir/a.js">"<a href=b>"</script>`,
		`<title><a href=b></title><textarea><a href=b></textarea>`:                                ``,
		`<!-- <a href=b> -->`:                                                                     ``,
		`<a target=_top href=b target=_x>`:                                                        `<a  href="` + at + `dir/b" target=_x>`,
		`<object data=a><p data=a>`:                                                               `<object data="` + at + `dir/a"><p data=a>`,
		`<iframe srcdoc="<a href='b'>&amp;amp;">`:                                                 `<iframe srcdoc="&lt;a href=&quot;` + at + `dir/b&quot;>&amp;amp;">`,
		`<svg><style>a{b:url(c)}</style><title><a href=b></title></svg><title><a href=b></title>`: `<svg><style>a{b:url(` + at + `dir/c)}</style><title><a href="` + at + `dir/b"></title></svg><title><a href=b></title>`,
		`<form action=/s><button formaction=t>`:                                                   `<form action="` + at + `s"><button formaction="` + at + `dir/t">`,
		`<a href="b`:                                                                              ``,
		`</a href=b>`:                                                                             ``,
	} {
		if want == "" {
			want = in
		}
		if got := string(rewriterOf(t, "utf-8").HTML([]byte(in))); got != want {
			t.Errorf("%s\n%s, want\n%s", in, got, want)
		}
	}
	w := rewriterOf(t, "windows-1252")
	if got, want := string(w.HTML([]byte("<a href='\xe9?\xe9' style='a:\"\xe9\";b:url(c)'>\xe9"))),
		`<a href="`+at+`dir/%C3%A9?%E9" style="a:&quot;&#233;&quot;;b:url(`+at+`dir/c)">`+"\xe9"; got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
	for in, want := range map[string]string{
		"<!doctype html><p>":        "<!doctype html>+<p>",
		"<html lang=en><head a><p>": "<html lang=en><head a>+<p>",
		"<!-- <head> --><title>":    "<!-- <head> -->+<title>",
		" \n text<head>":            " \n +text<head>",
		"\ufeff<head>":              "\ufeff<head>+",
		"\ufeff\ufeff<head>":        "\ufeff+\ufeff<head>",
		"<html>&#32;<head>":         "<html>+&#32;<head>",
		"<!-->x--><head>":           "<!-->+x--><head>",
		"</br><head>":               "+</br><head>",
		"</p><html></head><head>":   "</p><html>+</head><head>",
		"":                          "",
	} {
		w := rewriterOf(t, "utf-8")
		w.insert = "+"
		if got := string(w.HTML([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestXML: what is inserted stands in a head, and instructions for style sheets are rewritten,
// whatever they hold.
func TestXML(t *testing.T) {
	const head = `<head xmlns="http://www.w3.org/1999/xhtml">+</head>`
	for in, want := range map[string]string{
		`<html><head/></html>`:                            `<html>` + head + `<head/></html>`,
		`<html><body/></html>`:                            `<html>` + head + `<body/></html>`,
		`<html>text</html>`:                               `<html>` + head + `text</html>`,
		`<h:html><h:head/></h:html>`:                      `<h:html>` + head + `<h:head/></h:html>`,
		`<?xml-stylesheet href="a"?><p`:                   `<?xml-stylesheet href="has/a"?><p`,
		`<?xml-stylesheet title="&gt;>" href='no'?><p`:    `<p`,
		`<?xml-stylesheet "?><a href="a"/>`:               `<a href="has/a">` + head + `</a>`,
		`<?x > <a href="a"> ?><?xml-stylesheet href=#a?>`: `<?x > <a href="a"> ?>`,
		`<!--> <a href="a"> --><_:a x=">" href="a"><b/>`:  `<!--> <a href="a"> --><_:a x=">" href="a">` + head + `<b/>`,
		`<!DOCTYPE a [<!-- ]> --><!ENTITY e "&#98;]>"><!ENTITY % p '<a>'>]><a href='&e;' title='&e;'>&e;`: `<!DOCTYPE a [<!-- ]> --><!ENTITY e "&#98;]>"><!ENTITY % p '<a>'>]><a href="has/a" title='&e;'>` + head + `&e;`,
		`<s:svg><x:image l:href='no'/></s:svg>`:                                                           `<s:svg>` + head + `<x:image /></s:svg>`,
		`<svg><a><set attributeName=" xlink:href" to="no" by="a;b"/></a></svg>`:                           `<svg>` + head + `<a><set attributeName=" xlink:href" to="data:," by="has/a;has/a"/></a></svg>`,
		`<svg><animate attributeName='fill' values='red;url(a#b)' to='x'/>`:                               `<svg>` + head + `<animate attributeName='fill' values="red;url(has/a)" to='x'/>`,
		`<svg><style>a&gt;b{}</style><style>@import&#32;"a";a>b{}</style>`:                                `<svg>` + head + `<style>a&gt;b{}</style><style>@import &quot;has/a&quot;;a>b{}</style>`,
		`<svg><style>@im<!-- -->port "no";<![CDATA[a>b{c:url(a)}]]></style>`:                              `<svg>` + head + `<style>@import &quot;data:,&quot;;a>b{c:url(has/a)}</style>`,
		`text<svg>`:           `text<svg>`,
		`<svg href=a/><svg "`: `<svg href="has/a"><svg "`,
		`<svg a="/><svg>`:     `<svg a="/><svg>`,
	} {
		p := Policy{Insert: "+", URL: func(u weburl.URL, _ Use) (string, Fate) {
			if strings.HasSuffix(u.Path(), "/no") {
				return "", Remove
			}
			return "has/a", Replace
		}}
		w := New(&p, rewriterOf(t, "utf-8").urls.Base(), charset.Lookup("utf-8"), true)
		if got := string(w.HTML([]byte(in))); got != want {
			t.Errorf("%s\n%s, want\n%s", in, got, want)
		}
	}
}

// TestCSS: a URL cannot end the string or the parentheses that it stands in.
func TestCSS(t *testing.T) {
	got := string(rewriterOf(t, "utf-8").AppendCSS(nil, []byte(`@namespace url(http://a/); a{b:url( "c'd(e).png" );f:URL(g\29 h);i:url(#j);k:image-set("l" 1x)}`)))
	want := `@namespace url(http://a/); a{b:url( "/1/https://example.org/dir/c\000027d\000028e\000029.png" );f:URL(/1/https://example.org/dir/g\000029h);i:url(#j);k:image-set("/1/https://example.org/dir/l" 1x)}`
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// FuzzHTML: whatever a document holds, rewriting ends, grows it within bounds, and changes no text.
func FuzzHTML(f *testing.F) {
	f.Add([]byte(`<a href=b><img srcset="a 1x, b"><style>@import url(x)</style><svg><style>`))
	f.Add([]byte(`<iframe srcdoc='<base href=/x><p style="a:url(b)">'><meta http-equiv=refresh content="1;url=x">`))
	f.Fuzz(func(t *testing.T, body []byte) {
		once := rewriterOf(t, "utf-8").HTML(body)
		if len(once) > 100*(len(body)+100) {
			t.Errorf("%d bytes of %d", len(once), len(body))
		}
		if strings.Contains(string(body), "<") {
			return
		}
		if string(once) != string(body) {
			t.Errorf("text without tags changed: %q", once)
		}
	})
}

// FuzzXML: what is inserted is the first child of the root, as a parser of XML has it.
func FuzzXML(f *testing.F) {
	f.Add([]byte("\ufeff<?xml-stylesheet href='#a'?><!-- <a> --><!DOCTYPE b [<!ENTITY c '<d>'>]><b e='>'/>"), true)
	f.Add([]byte(`<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:a x:href="b" href='c'/></s:svg>`), false)
	f.Fuzz(func(t *testing.T, body []byte, data bool) {
		p := Policy{Insert: "<meta/>", Data: data, URL: func(u weburl.URL, _ Use) (string, Fate) { return "x", Replace }}
		out := New(&p, rewriterOf(t, "utf-8").urls.Base(), charset.Lookup("utf-8"), true).HTML(body)
		if _, wellFormed := root(body); !wellFormed {
			return
		}
		d, _ := root(out)
		if next, err := d.Token(); err != nil {
			t.Errorf("%q: %v", out, err)
		} else if head, ok := next.(xml.StartElement); !ok || head.Name != (xml.Name{Space: "http://www.w3.org/1999/xhtml", Local: "head"}) {
			t.Errorf("%q: the root has %v first", out, next)
		}
	})
}

// root reads a document up to its first tag, and reports whether there is one.
func root(body []byte) (*xml.Decoder, bool) {
	d := xml.NewDecoder(bytes.NewReader(body))
	for {
		switch token, err := d.Token(); token := token.(type) {
		case xml.CharData:
			if len(bytes.TrimSpace(bytes.TrimPrefix(token, []byte("\ufeff")))) > 0 {
				return d, false
			}
		case xml.Directive:
			before, _, inside := bytes.Cut(token, []byte("["))
			if !bytes.HasPrefix(before, []byte("DOCTYPE ")) || bytes.ContainsAny(before, "<\"'") || inside != bytes.HasSuffix(token, []byte("]")) {
				return d, false // which this parser takes all the same
			}
		case xml.StartElement:
			return d, true
		case xml.EndElement:
			return d, false
		case nil:
			return d, err == nil
		}
	}
}

// TestLongBase: short URLs with a long base do not make a document of gigabytes.
func TestLongBase(t *testing.T) {
	base, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	text := "<base href='https://example.org/" + strings.Repeat("a", 30_000) + "/'>" + strings.Repeat("<a href=b>", 10_000) + "<img src=c><a href=b>"
	out := New(into("/1mp_/"), base, charset.Lookup("utf-8"), false).HTML([]byte(text))
	if len(out) > 2*MaxAdded || !strings.HasSuffix(string(out), "<a href=b><img ><a href=b>") {
		t.Errorf("%d bytes, which end with %.20q", len(out), out[len(out)-20:])
	}
}

// TestFates: what stays, what another takes the place of, and what is gone without a trace that
// would make a browser ask for it. Without the base element, what was relative to it is not.
func TestFates(t *testing.T) {
	p := Policy{URL: func(u weburl.URL, use Use) (string, Fate) {
		switch name := strings.TrimPrefix(u.Path(), "/dir/"); {
		case use == Hint:
			return "", Remove
		case strings.HasPrefix(name, "has"):
			return "here/" + name, Replace
		case use == Load:
			return "", Remove
		}
		return u.String(), Replace
	}}
	for in, want := range map[string]string{
		`<a href=has>`:       `<a href="here/has">`,
		`<a href="#x">`:      `<a href="#x">`,
		`<a href=no#x>`:      `<a href="https://example.org/dir/no#x">`,
		`<img src=no alt=a>`: `<img  alt=a>`,
		`<img src="file://host/x"><a href="file:///x">`:          `<img ><a href="file:///x">`,
		`<style>@import "FILE:\\host\x"</style>`:                 `<style>@import "data:,"</style>`,
		`<p style="a:url&#40;no)"><p mask="url(no)">`:            `<p style="a:url(data:,)"><p mask="url(data:,)">`,
		`<meta http-equiv=refresh content="0;url=no">`:           `<meta http-equiv=refresh >`,
		`<img data-src=no>`:                                      `<img data-src="https://example.org/dir/no">`,
		`<img srcset="no 1x, has 2x">`:                           `<img srcset="here/has 1x, here/has 2x">`,
		`<img srcset="no 1x" src=has>`:                           `<img  src="here/has">`,
		`<script src=no>f()</script>`:                            `<script src="data:,">f()</script>`,
		`<p style="a:url(no)">`:                                  `<p style="a:url(data:,)">`,
		`<style>@import "no"; a{b:url(has)}</style>`:             `<style>@import "data:,"; a{b:url(here/has)}</style>`,
		`<link rel="Alternate StyleSheet" href=no>`:              `<link rel="Alternate StyleSheet" >`,
		`<link rel="preconnect" href=has>`:                       `<link rel="preconnect" >`,
		`<link rel="Compression-Dictionary" href=has>`:           `<link rel="Compression-Dictionary" >`,
		`<script type=" SpeculationRules ">{"a":"no"}</script>`:  `<script type="application/json">{"a":"no"}</script>`,
		`<script type=module src=has></script>`:                  `<script type=module src="here/has"></script>`,
		`<p type=speculationrules>`:                              `<p type=speculationrules>`,
		`<link rel=next href=no>`:                                `<link rel=next href="https://example.org/dir/no">`,
		`<base href=/dir/ target=a><a href="#x">`:                `<base  target=a><a href="https://example.org/dir/#x">`,
		`<base href=/dir/has><base href=/><a href="">`:           `<base ><base ><a href="here/has">`,
		`<q cite=no><p cite=has><img lowsrc=no dynsrc=has>`:      `<q cite="https://example.org/dir/no"><p cite="here/has"><img  dynsrc="here/has">`,
		`<param name=Movie value=no><param name=x value=no>`:     `<param name=Movie value=""><param name=x value=no>`,
		`<html manifest=has><svg><set attributeName=href to=no>`: `<html ><svg><set attributeName=href to="data:,">`,
		`<svg><style>@import&#32;"no"</style>`:                   `<svg><style>@import &quot;data:,&quot;</style>`,
		`<style>@import&#32;"no"</style>`:                        `<style>@import&#32;"no"</style>`,
		`<form action=has><a target=_blank href=mailto:a@b>`:     `<form action="here/has"><a target=_blank href=mailto:a@b>`,
		`<svg><a xlink:href=no /><image href=no /></svg>`:        `<svg><a xlink:href="https://example.org/dir/no" /><image  /></svg>`,
		`<base href=x/><iframe srcdoc="<a href=#x>">`:            `<base ><iframe srcdoc="&lt;a href=&quot;https://example.org/dir/x/#x&quot;>">`,
	} {
		if got := string(New(&p, rewriterOf(t, "utf-8").urls.Base(), charset.Lookup("utf-8"), false).HTML([]byte(in))); got != want {
			t.Errorf("%s\n%s, want\n%s", in, got, want)
		}
	}
}
