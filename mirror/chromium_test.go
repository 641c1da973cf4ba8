package mirror_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/browser"
	"github.com/weftcrawl/weft/mirror"
)

// crawl crawls into a job with an archive.
func crawl(t *testing.T, o weft.Options) {
	t.Helper()
	o.Keep.Archive, o.Reach.NoRobots, o.Pace.Retries = true, true, -1
	if o.Reach.Assets == "" {
		o.Reach.Assets = weft.AssetsAny
	}
	c, err := weft.New(o)
	if err == nil {
		_, err = c.Run(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a mirror of a job.
func write(t *testing.T, job, dir string, o mirror.Options) *mirror.Report {
	t.Helper()
	r, err := mirror.Write(t.Context(), job, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const aSVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="7" height="5"><style>@import url(/svg.css);</style><image xlink:href="dot.svg" width="2" height="2"/><a href="/sub/"><rect width="7" height="5"/></a></svg>`

// aSite has each element that leads somewhere.
var aSite = map[string][2]string{
	"/": {"text/html; charset=windows-1252", `<!doctype html><html><head><title>Caf` + "\xe9" + `</title><meta http-equiv="Content-Security-Policy" content="default-src http: data: 'unsafe-inline'">
<link rel=preconnect href=AWAY/><link rel=dns-prefetch href=AWAY><link rel=manifest href=/app.webmanifest><link rel=canonical href=/>
<link rel=preload as=font href=/f/font.ttf crossorigin><link rel=preload as=image imagesrcset="/i/a.svg?w=1 1x"><link rel=icon href=/i/icon.png>
<link rel=stylesheet href="/css/main.css?v=1.2" integrity="sha256-SUM:/css/main.css" crossorigin=anonymous>
<style>@import "css/more.css"; h1 { color: rgb(1, 2, 3) } .set { background: image-set("i/a.svg" 1x) }</style>
<script src=js/a.js integrity="sha256-SUM:/js/a.js"></script><script src=AWAY/analytics.js>window.wrong = 1</script></head>
<body background="/i/bg.svg"><h1>` + "\xdcber" + `</h1><p class=a>one<p class=b style="background: url('i/a.svg?x=1&amp;y=2')">two
<a href=sub/>sub</a> <a href="sub#there">there</a> <a href=old#o>old</a> <a href="#x">x</a> <a href="AWAY/page?q=1#z">away</a> <a href="mailto:a@b.test">mail</a>
<a href=about>about</a> <a href=About>About</a> <a href=dir>dir</a> <a href=dir/inside>inside</a> <a href="list?page=2&amp;sort=a/b">list</a> <a href="caf%C3%A9">caf` + "\xe9" + `</a> <a href=gone>gone</a>
<img src=i/none.svg srcset="i/a.svg?x=1&y=2 1x"><img src="i/a.svg?x=1&amp;y=2"><img src=photo alt=p><img src=/missing.png alt=missing>
<picture><source srcset="/i/a.svg 1x" type="image/svg+xml"><img src=i/none.svg></picture><img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">
<video src=/v/film.mp4 poster=i/a.svg preload=none></video><audio><source src=/v/a.mp3></audio><object data=i/a.svg type=image/svg+xml></object><embed src=i/a.svg>
<svg width=9 height=9><image href=i/a.svg width=9 height=9 /><a xlink:href=sub/><text>s</text></a></svg><input type=image src=i/a.svg alt=in>
<iframe src=frame.html></iframe><iframe src=AWAY/frame></iframe><iframe srcdoc="<img src=i/a.svg><a href=sub/>in</a>"></iframe>
<form action=/search><button formaction=/other>go</button></form><script>const i = new Image; i.src = "BEACON/beacon"; fetch("BEACON/fetch").catch(() => 0)</script>`},
	"/sub/":         {"text/html", "<base href=/deep/><meta charset=windows-1252><p class=a>caf\xe9 <a href=x?\xe9>x</a> <a href=#frag>frag</a> <link rel=stylesheet href=../css/main.css?v=1.2><img src=../i/a.svg>"},
	"/sub":          {"text/html", "<p id=there>without a slash"},
	"/deep/":        {"text/html", "<p id=frag>deep"},
	"/deep/x":       {"text/html", "<p>deep x"},
	"/frame.html":   {"text/html; charset=utf-16le", "<\x00p\x00>\x00f\x00\xfc\x00"},
	"/about":        {"text/html", "<p>about"},
	"/About":        {"text/html", "<p>About, another"},
	"/dir":          {"text/plain; charset=iso-8859-1", "a file, \xfcber"},
	"/dir.txt":      {"text/plain", "never linked"},
	"/dir/inside":   {"application/xhtml+xml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><p>inside <a href="/">home</a></p></body></html>`},
	"/list":         {"text/html", "<p>list"},
	"/café":         {"text/html; charset=utf-8", "<p>café"},
	"/css/main.css": {"text/css; charset=windows-1252", ".a { color: rgb(10, 20, 30); background-image: url(../i/a.svg) } .a::before { content: '\xe9' } @font-face { font-family: f; src: url(/f/font.ttf) } body { font-family: f }"},
	"/css/more.css": {"text/css", `@import url("deep.css"); @import "AWAY/a.css"; .b { margin-left: 13px; cursor: url(none.cur), auto }`},
	"/css/deep.css": {"text/css", `.b { color: rgb(40, 50, 60) }`},
	"/svg.css":      {"text/css", `rect { fill: red }`},
	"/js/a.js":      {"text/javascript; charset=utf-8", `window.ran = "ä.js"`},
	"/i/a.svg":      {"image/svg+xml", aSVG},
	"/i/bg.svg":     {"image/svg+xml", aSVG},
	"/i/dot.svg":    {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`},
	"/photo":        {"image/svg+xml", aSVG},
	"/v/film.mp4":   {"video/mp4", "film"},
	"/v/a.mp3":      {"audio/mpeg", "sound"},
	"/i/icon.png":   {"image/png", "icon"},
}

// look is the page as a reader sees it: its text, styles and images.
const look = `JSON.stringify({
	text: document.body.innerText,
	styles: [...document.querySelectorAll("p, h1")].map(e => {
		const s = getComputedStyle(e), b = getComputedStyle(e, "::before")
		return [s.color, s.fontFamily, s.marginLeft, s.backgroundImage.length > 4, b.content]
	}),
	images: [...document.images].map(i => [i.complete, i.naturalWidth, i.naturalHeight]),
	links: document.links.length, scripts: window.ran, fonts: [...document.fonts].map(f => f.status), wrong: window.wrong,
}, null, 1)`

// serve serves a site, and says what is asked of it.
func serve(t *testing.T, site map[string][2]string, beacon string) *httptest.Server {
	sum := func(path string) string {
		digest := sha256.Sum256([]byte(site[path][1]))
		return base64.StdEncoding.EncodeToString(digest[:])
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	fill := strings.NewReplacer("BEACON", beacon, "AWAY", closed.URL, "SUM:/js/a.js", sum("/js/a.js"), "SUM:/css/main.css", sum("/css/main.css"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := site[r.URL.Path]
		switch {
		case r.URL.Path == "/old":
			http.Redirect(w, r, "/sub/#p", http.StatusMovedPermanently)
			return
		case r.URL.Path == "/f/font.ttf":
			http.ServeFile(w, r, "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
			return
		}
		if w.Header().Set("Content-Type", page[0]); !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, fill.Replace(page[1]))
	}))
	t.Cleanup(s.Close)
	return s
}

// listed returns the files of a mirror by URL.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, ".weft/files.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(b)) {
		var f struct{ URL, File string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		files[f.URL] = f.File
	}
	return files
}

// fileURL returns the URL of a file.
func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// TestChromium: opened from disk with the server stopped, each page of a site looks as it did
// online, what it loads is there, and nothing is asked of the network.
func TestChromium(t *testing.T) {
	var away atomic.Int32
	beacon := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { away.Add(1) }))
	defer beacon.Close()
	s := serve(t, aSite, beacon.URL)
	b := browser.Start(t)
	paths := []string{"/", "/sub/", "/sub", "/frame.html", "/about", "/About", "/dir", "/dir/inside", "/list?page=2&sort=a/b", "/caf%C3%A9"}
	seen := make(map[string]string)
	for _, path := range paths {
		b.Open(s.URL + path)
		seen[path] = b.Run(b.Tab, look)
	}
	tmp := t.TempDir()
	job, dir := filepath.Join(tmp, "job"), filepath.Join(tmp, "copy #1 100%")
	crawl(t, weft.Options{Job: job, Seeds: []string{s.URL + "/"}})
	write(t, job, dir, mirror.Options{})
	files := listed(t, dir)
	s.Close()
	asked := away.Load()
	for path, want := range seen {
		b.Watch()
		b.Open(fileURL(filepath.Join(dir, files[s.URL+path])))
		if got := b.Run(b.Tab, look); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
		}
		for _, url := range b.Requested {
			if !strings.HasPrefix(url, "file:") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "about:") && !strings.HasPrefix(url, beacon.URL) {
				t.Errorf("%s asks for %s", path, url)
			}
		}
		for _, failed := range b.Failed {
			if !strings.HasPrefix(failed, beacon.URL) {
				t.Errorf("%s: %s", path, failed)
			}
		}
	}
	if now := away.Load(); now != asked {
		t.Errorf("%d requests left the mirror", now-asked)
	}
}

// TestXMLAsksNobody: a document of XML that is opened by itself, or in a frame, asks nobody,
// whatever is in it.
func TestXMLAsksNobody(t *testing.T) {
	const (
		svg    = `<svg xmlns="http://www.w3.org/2000/svg">`
		script = `document.title = "ran"; new Image().src = "BEACON/script"; fetch("BEACON/fetch").catch(() => 0)`
		xslt   = `<xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><script>` + script + `</script></html></xsl:template></xsl:stylesheet>`
	)
	pages := map[string][2]string{
		"http://a.test/script":   {"image/svg+xml", svg + `<script>` + script + `</script></svg>`},
		"http://a.test/prefix":   {"image/svg+xml", `<!--> <svg> --><_:svg xmlns:_="http://www.w3.org/2000/svg"><_:script>` + script + `</_:script></_:svg>`},
		"http://a.test/animated": {"image/svg+xml", svg + `<image width="9" height="9"><set attributeName="href" to="BEACON/set"/></image><image width="9" height="9"><animate attributeName="href" values="BEACON/animate;x" dur="1s"/></image></svg>`},
		"http://a.test/entity":   {"image/svg+xml", `<!DOCTYPE svg [<!ENTITY m "<image xmlns='http://www.w3.org/2000/svg' href='BEACON/entity' width='9' height='9'/>">]>` + svg + `&m;</svg>`},
		"http://a.test/style":    {"image/svg+xml", svg + `<style>@import&#32;"BEACON/reference";</style><style>@im<!-- -->port "BEACON/comment";</style></svg>`},
		"http://a.test/xml":      {"text/xml", `<a><script xmlns="http://www.w3.org/1999/xhtml">` + script + `</script></a>`},
		"http://a.test/feed":     {"application/rss+xml", `<rss><channel xmlns:h="http://www.w3.org/1999/xht&#109;l"><h:script>` + script + `</h:script></channel></rss>`},
		"http://a.test/sheet":    {"application/xml", `<?xml-stylesheet type="text/css" href="BEACON/sheet"?><a/>`},
		"http://a.test/xslt":     {"application/xml", `<?xml-stylesheet type="text/xml" href="#s"?><!DOCTYPE a [<!ATTLIST xsl:stylesheet id ID #REQUIRED>]><a>` + xslt + `</a>`},
		"http://a.test/frames":   {html, `<iframe src=script></iframe><iframe src=xml></iframe><iframe src=feed></iframe><object data=xslt type=text/xml></object>`},
	}
	asksNobody(t, pages, "/script")
}

// TestRulesAskNobody: speculation rules, in a page or added by its scripts, ask nobody.
func TestRulesAskNobody(t *testing.T) {
	const (
		rules  = `{"prefetch":[{"source":"list","urls":["BEACON/NAME"]}]}`
		script = `<script>const s = document.createElement("script"); s.type = "speculationrules"; s.textContent = '` + rules + `'; document.title = "ran"; `
	)
	pages := map[string][2]string{
		"http://a.test/markup":   {html, `<script type=speculationrules>` + rules + `</script>`},
		"http://a.test/spelt":    {html, `<script type=" SpeculationRules&#10;">` + rules + `</script>`},
		"http://a.test/xml":      {"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body><script type="speculationrules">` + rules + `</script></body></html>`},
		"http://a.test/appended": {html, script + `document.head.append(s)</script>`},
		"http://a.test/outside":  {html, script + `document.documentElement.append(s)</script>`},
		"http://a.test/inside":   {html, script + `const p = document.createElement("p"); p.append(s); document.head.append(p)</script>`},
		"http://a.test/later":    {html, script + `document.head.append(s); addEventListener("load", () => document.body.append(s.cloneNode(true)))</script>`},
		"http://a.test/written":  {html, `<script>document.write("<script type=speculationrules>", '` + rules + `', "</scr" + "ipt>")</script>`},
	}
	for url, page := range pages {
		pages[url] = [2]string{page[0], strings.ReplaceAll(page[1], "NAME", path.Base(url))}
	}
	asksNobody(t, pages, "/appended")
}

// asksNobody opens all pages of a mirror, with BEACON for a server that must not be asked. The
// script of one runs.
func asksNobody(t *testing.T, pages map[string][2]string, runs string) {
	t.Helper()
	var mu sync.Mutex
	asked := make(map[string]bool)
	beacon := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path] = true
		mu.Unlock()
	}))
	defer beacon.Close()
	for url, page := range pages {
		pages[url] = [2]string{page[0], strings.ReplaceAll(page[1], "BEACON", beacon.URL)}
	}
	dir := t.TempDir()
	write(t, jobOf(t, pages), dir, mirror.Options{})
	b := browser.Start(t)
	for url, file := range listed(t, dir) {
		if url == "" {
			continue
		}
		b.Open(fileURL(filepath.Join(dir, file)))
		if title := b.Run(b.Tab, "document.title"); strings.HasSuffix(url, runs) && title != "ran" {
			t.Errorf("%s: the script is gone: %s", url, title)
		}
	}
	b.Open(beacon.URL + "/last")
	mu.Lock()
	defer mu.Unlock()
	for path := range asked {
		if path != "/last" && path != "/favicon.ico" {
			t.Errorf("%s was asked for", path)
		}
	}
}
