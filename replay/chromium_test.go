package replay

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/browser"
	"github.com/weftcrawl/weft/internal/long"
)

// look is the appearance of a page to a reader: its text, links, styles and images.
const look = `JSON.stringify({
	text: document.body.innerText,
	links: [...document.links].map(a => a.href.replace(/^http:..127.0.0.1:\d+.\w+.\d*mp_./, "")),
	styles: [...document.querySelectorAll("p, h1")].map(e => {
		const s = getComputedStyle(e)
		return [s.color, s.fontFamily, s.marginLeft, s.backgroundImage.replace(/http:..127.0.0.1:\d+.\w+.\d*mp_./, "")]
	}),
	images: [...document.images].map(i => [i.currentSrc.replace(/^http:..127.0.0.1:\d+.\w+.\d*mp_./, ""), i.naturalWidth]),
	fonts: document.fonts.size, charset: document.characterSet, scripts: window.ran,
}, null, 1)`

const aSVG = `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"><rect width="7" height="5"/></svg>`

// aSite has all that rewriting must find. Nothing else loads the 2x image: a browser prefers it if
// it has it.
var aSite = map[string][2]string{
	"/": {"text/html; charset=utf-8", `<!doctype html><meta charset=utf-8><title>Home</title><link rel=stylesheet href=/css/main.css integrity="">
<style>@import "css/more.css"; h1 { color: rgb(1, 2, 3) }</style><script src=js/a.js></script>
<h1>Über</h1><p class=a>one<p class=b style="background: url('i/a.svg?x=1&amp;y=2')">two <a href=sub/>sub</a> <a href="//127.0.0.1/#x" target=_blank>other</a>
<img src=i/none.svg srcset="i/a.svg?x=1&y=2 1x, i/b.svg 2x"><img src="i/a.svg?x=1&amp;y=2">`},
	"/sub/":         {"text/html", "<base href=/deep/><meta charset=windows-1252><p class=a>caf\xe9 <a href=x?\xe9>x</a><link rel=stylesheet href=../css/main.css><img src=../i/a.svg>"},
	"/css/main.css": {"text/css", `.a { color: rgb(10, 20, 30); background-image: url(../i/a.svg) }`},
	"/css/more.css": {"text/css", `@import url("deep.css"); .b { margin-left: 13px }`},
	"/css/deep.css": {"text/css", `.b { color: rgb(40, 50, 60) }`},
	"/js/a.js":      {"text/javascript", `window.ran = "a.js"`},
	"/i/a.svg":      {"image/svg+xml", aSVG},
	"/hints": {"text/html", `<title>hints</title><link rel=preconnect href=BEACON><link rel=prefetch href=BEACON/prefetch><link rel=dns-prefetch href=BEACON>
<link rel=preconnect href=BEACON crossorigin><link rel=prerender href=BEACON/prerender><link rel=compression-dictionary href=BEACON/dictionary>
<script type=speculationrules>{"prefetch":[{"source":"list","urls":["BEACON/rules"]}]}</script><script>
for (const rel of ["preconnect", "prefetch", "dns-prefetch", "prerender", "preload"]) {
	const l = document.createElement("link")
	l.rel = rel; l.as = "script"; l.href = "BEACON/" + rel
	document.head.append(l)
}
const rules = document.createElement("script")
rules.type = "speculationrules"
rules.textContent = '{"prefetch":[{"source":"list","urls":["BEACON/more"]}]}'
document.head.append(rules)
</script><p>hints`},
	"/hostile": {"text/html", `<title>h</title><p>hostile<script>
const tries = {
	fetchAway: () => fetch("BEACON/fetch"), fetchStart: () => fetch("/").then(r => r.text()), cookie: () => document.cookie = "a=b",
	storage: () => localStorage.a = 1, parent: () => parent.document.title, top: () => top.location = "BEACON/top",
	popup: () => { if (!open("BEACON/popup")) throw "blocked" }, worker: () => navigator.serviceWorker.register("/1mp_/x.js"),
	socket: () => new Promise((_, no) => { const s = new WebSocket("BEACON/ws".replace("http", "ws")); s.onerror = no }),
	image: () => new Promise((ok, no) => { const i = new Image; i.onload = ok; i.onerror = no; i.src = "BEACON/image" }),
	frame: () => new Promise((ok, no) => { const f = document.body.appendChild(document.createElement("iframe"))
		addEventListener("securitypolicyviolation", e => /frame/.test(e.violatedDirective) && no()); f.src = "BEACON/frame" }),
	beacon: () => { navigator.sendBeacon("BEACON/beacon"); throw "sent nowhere" },
}
window.done = Promise.all(Object.entries(tries).map(async ([name, f]) => { try { await f() } catch { return } return name }))
	.then(all => all.filter(x => x).join())
</script>`},
}

// docs is a large site, of the Debian package python3.11-doc.
const docs = "/usr/share/doc/python3.11/html/"

// documentation is ten of its pages.
var documentation = []string{"about", "bugs", "genindex-A", "library/os", "library/functions", "tutorial/introduction", "whatsnew/3.11", "c-api/intro", "faq/design", "license"}

// load returns what a browser gets of a URL, as a capture.
func load(t *testing.T, url string) captured {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return captured{url, resp.Status + "\r\nContent-Type: " + resp.Header.Get("Content-Type"), string(body), 0}
}

// TestChromium: pages in a real browser look as they did, with the site gone; and a hostile page
// reaches nothing. The long form has ten pages of a large site.
func TestChromium(t *testing.T) {
	var away atomic.Int32
	beacon := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { away.Add(1) }))
	defer beacon.Close()
	beacon.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew { // one that is made in advance brings no request
			away.Add(1)
		}
	}
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, docs) {
			http.ServeFile(w, r, r.URL.Path)
			return
		}
		page, ok := aSite[r.URL.Path]
		if w.Header().Set("Content-Type", page[0]); !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		io.WriteString(w, strings.ReplaceAll(page[1], "BEACON", beacon.URL))
	}))
	defer live.Close()
	paths := []string{"/", "/sub/"}
	if _, err := os.Stat(docs); err == nil && long.Enabled() {
		for _, name := range documentation {
			paths = append(paths, docs+name+".html")
		}
	}
	b := browser.Start(t, "--site-per-process")
	captures := []captured{load(t, live.URL+"/hostile"), load(t, live.URL+"/hints")}
	seen, had := make(map[string]string), make(map[string]bool)
	for _, path := range paths {
		b.Open(live.URL + path)
		seen[path] = b.Run(b.Tab, look)
		loaded := b.Run(b.Tab, `[location.href, ...performance.getEntriesByType("resource").map(e => e.name)].join("\n")`)
		for url := range strings.SplitSeq(loaded, "\n") {
			if !had[url] && strings.HasPrefix(url, live.URL) {
				captures = append(captures, load(t, url))
			}
			had[url] = true
		}
	}
	live.Close()
	s := serving(t, captures...)
	for path, want := range seen {
		b.Open(s.URL + "/2026/" + live.URL + path)
		if b.Frame == "" {
			t.Fatal("no frame with a process of its own")
		}
		if got := b.Run(b.Frame, look); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
		}
		banner := b.Run(b.Tab, `document.getElementById("date").textContent`)
		if banner != "22 November 2026 12:00:00 UTC" {
			t.Errorf("the banner: %s", banner)
		}
	}
	b.Open(s.URL + "/2026/" + live.URL + "/hostile")
	if got := b.Run(b.Frame, "window.done"); got != "" {
		t.Errorf("a hostile page can: %s", got)
	}
	for _, view := range []string{"", "mp_", "id_"} {
		// A page is shown with scripts, in a window of its own, and by markup alone.
		b.Open(s.URL + "/2026" + view + "/" + live.URL + "/hints")
	}
	b.Open(s.URL + "/2026/" + live.URL + "/hostile")
	b.Run(b.Tab, `void(window.loaded = new Promise(ok => document.getElementById("page").onload = () => ok("an error")))`)
	b.Run(b.Frame, `void(location = "`+beacon.URL+`/self")`)
	b.Run(b.Tab, "loaded") // what the browser shows instead
	if n := away.Load(); n > 0 {
		t.Errorf("%d requests or connections left the replay", n)
	}
}

// listen is a page that seeks in a sound.
const listen = `<audio src=a.wav preload=auto></audio><script>
const a = document.querySelector("audio"), on = name => new Promise(ok => a.addEventListener(name, ok))
window.done = on("loadedmetadata").then(() => { a.currentTime = 90; return on("seeked") }).then(() => [a.duration, a.currentTime].join())
</script>`

// silence returns a sound of a length, 8,000 bytes a second (WAVE, 8 bits, mono).
func silence(seconds int) string {
	n := uint32(seconds * 8000)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+n)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = append(b, "\x01\x00\x08\x00data"...)
	return string(binary.LittleEndian.AppendUint32(b, n)) + strings.Repeat("\x80", int(n))
}

// TestChromiumProxy: through the proxy, a page in a real browser is at its own URL, and its scripts
// find what was archived: http and https, by paths from the root and with a host. What was not
// archived is nowhere.
func TestChromiumProxy(t *testing.T) {
	var away atomic.Int32
	beacon := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { away.Add(1) }))
	defer beacon.Close()
	sound := silence(100)
	_, s, ca := proxying(t, "",
		captured{"https://site.example/", html + "\r\nSet-Cookie: c=1\r\nStrict-Transport-Security: max-age=999", `<title>Home</title><h1>Home</h1><script>
const text = url => fetch(url).then(r => r.ok ? r.text() : r.status, () => "refused")
window.done = Promise.all([text("/data"), text("https://cdn.example/data"), text("/none"), text("` + beacon.URL + `"),
	navigator.serviceWorker.register("/sw.js").then(() => "worker", () => "no worker")])
	.then(all => [location.href, document.cookie, localStorage.a = "stored", ...all].join())
</script>`, 0},
		captured{"https://site.example/sw.js", "200 OK\r\nContent-Type: text/javascript", "1", 0},
		captured{"https://site.example/data", "200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip", gzipped("data"), 0},
		captured{"https://cdn.example/data", "200 OK\r\nContent-Type: text/plain\r\nAccess-Control-Allow-Origin: *", "far", 0},
		captured{"https://site.example/a.wav", fmt.Sprintf("200 OK\r\nContent-Type: audio/wav\r\nContent-Length: %d", len(sound)), sound, 0},
		captured{"https://site.example/listen", html, listen, 0},
		captured{"http://site.example/plain", "301 Moved Permanently\r\nLocation: http://other.example/", "", 0},
		captured{"http://other.example/", html, "<p>plain", 0},
	)
	b := browser.Start(t, "--proxy-server="+s.Listener.Addr().String(), "--proxy-bypass-list=<-loopback>", "--ignore-certificate-errors-spki-list="+ca.PublicKey())
	b.Open("https://site.example/")
	if got, want := b.Run(b.Tab, "window.done"), "https://site.example/,c=1,stored,data,far,404,refused,no worker"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	b.Open("https://site.example/listen")
	if got := b.Run(b.Tab, "window.done"); got != "100,90" {
		t.Errorf("a sound that is sought in: %s", got)
	}
	b.Open("http://site.example/plain")
	if got := b.Run(b.Tab, "location.href + document.body.innerText"); got != "http://other.example/plain" {
		t.Error(got)
	}
	b.Open("https://site.example/none")
	if got := b.Run(b.Tab, "document.links[0].href + getComputedStyle(document.body).fontSize"); got != "https://site.example/15px" {
		t.Error(got)
	}
	if n := away.Load(); n > 0 {
		t.Errorf("%d requests or connections left the replay", n)
	}
}
