package render_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// site answers requests of pages from a table.
func site(pages map[string]string) func(context.Context, *render.Request) (*render.Response, error) {
	return func(_ context.Context, q *render.Request) (*render.Response, error) {
		text, ok := pages[q.URL]
		if !ok || q.Method != "GET" {
			return nil, errors.New("refused")
		}
		kind := "text/html"
		if strings.HasSuffix(q.URL, ".js") {
			kind = "text/javascript"
		}
		return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", kind}, {"Access-Control-Allow-Origin", "*"}}, Body: []byte(text)}, nil
	}
}

// u is the URL of a page.
const u = "http://a.test/"

// TestMain has more tests wait for browsers at the same time than there are cores, and not so many
// that browsers on a busy machine take too long for a command.
func TestMain(m *testing.M) {
	flag.Parse()
	if runtime.GOMAXPROCS(0) < 6 {
		_ = flag.Set("test.parallel", "6")
	}
	_ = os.Setenv("WEFT_TEST_SECRET", "secret") // see TestSandbox
	status := m.Run()
	for _, r := range shared.renderers {
		r.Close()
	}
	os.Exit(status)
}

// shared are renderers for tests whose pages take little: a browser's start takes a second of CPU
// time. They end with the last test.
var shared = struct {
	sync.Mutex
	renderers map[string]*render.Renderer
}{renderers: make(map[string]*render.Renderer)}

// anyRenderer returns one that other tests use at the same time, of a program or the best there is.
// A page that is ended with requests under way has a site of its own: those that come late count
// for another page of its site.
func anyRenderer(t *testing.T, program string) *render.Renderer {
	t.Helper()
	path, err := render.Find(program)
	if err != nil {
		t.Skip(err)
	}
	return sharedRenderer(path, render.Options{Program: path, Tabs: 3})
}

// strictRenderer is anyRenderer for a page at a time that computes without end, of which 10 s are
// the default, or is long. It looks at the CPU time every half second, in windows of these.
func strictRenderer(t *testing.T) *render.Renderer {
	t.Helper()
	if _, err := render.Find(""); err != nil {
		t.Skip(err)
	}
	return sharedRenderer("strict", render.Options{Tabs: 1}.Impatient(0, nil, 1100*time.Millisecond).Longest(8<<20))
}

func sharedRenderer(name string, o render.Options) *render.Renderer {
	shared.Lock()
	defer shared.Unlock()
	r := shared.renderers[name]
	if r == nil {
		r = render.New(o)
		shared.renderers[name] = r
	}
	return r
}

// renderer returns one that ends with the test.
func renderer(t *testing.T, tabs int) *render.Renderer {
	t.Helper()
	return rendererWith(t, render.Options{Tabs: tabs})
}

func rendererWith(t *testing.T, o render.Options) *render.Renderer {
	t.Helper()
	if _, err := render.Find(""); err != nil {
		t.Skip(err)
	}
	o.Temp = shortTemp(t)
	r := render.New(o)
	t.Cleanup(func() { r.Close() })
	return r
}

// shortTemp makes a folder that all users may enter. Its name is short, as the browser's socket
// wants.
func shortTemp(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("", "weft-")
	if err == nil {
		err = os.Chmod(temp, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	return temp
}

// inBrowsers runs a test in the headless shell; a long run, in the full browser, too. Without tabs,
// it shares them.
func inBrowsers(t *testing.T, tabs int, test func(*testing.T, *render.Renderer)) {
	t.Helper()
	inEach(t, tabs, long.Or(browsers[:1], browsers), test)
}

var browsers = []string{"chromium-headless-shell", "chromium"}

// inEach is inBrowsers for the browsers that there are of some, at the same time.
func inEach(t *testing.T, tabs int, programs []string, test func(*testing.T, *render.Renderer)) {
	t.Helper()
	t.Parallel()
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			path, err := render.Find(program)
			switch {
			case err != nil:
				t.Skip(err)
			case tabs == 0:
				test(t, anyRenderer(t, program))
			default:
				test(t, rendererWith(t, render.Options{Program: path, Tabs: tabs}))
			}
		})
	}
}

func page(url, html string, pages map[string]string) *render.Page {
	return &render.Page{URL: url, Status: 200, Header: []render.Field{{"Content-Type", "text/html; charset=utf-8"}}, Body: []byte(html), Fetch: site(pages)}
}

// TestRender: what scripts, timers, shadow roots, workers and frames bring is in the document, in
// each of several pages; and what they lead to is known.
func TestRender(t *testing.T) {
	inEach(t, 0, browsers, testRender)
}

func testRender(t *testing.T, r *render.Renderer) {
	for i := range long.Or(2, 4) {
		host := "http://" + string(rune('a'+i)) + ".test"
		pages := map[string]string{
			host + "/app.js": `
class E extends HTMLElement { constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<a href=/closed>closed</a>' } }
customElements.define('x-e', E)
const root = document.getElementById('root')
root.innerHTML = '<h1>Hello</h1><x-e></x-e><p id=api></p><p id=late></p><p id=worker></p>'
fetch('/api').then(r => r.text()).then(t => { api.textContent = t })
setTimeout(() => { late.textContent = 'nine seconds' }, 9000)
new Worker(URL.createObjectURL(new Blob(["fetch('` + host + `/worker').then(r => r.text()).then(postMessage)"]))).onmessage = e => { worker.textContent = e.data }
window.open('/popup'); history.pushState({}, '', '/pushed'); setTimeout(() => { alert('hi'); location.href = '/elsewhere' }, 300)
setTimeout(() => { throw new Error('by design') }, 100)`,
			host + "/api": "from the api", host + "/worker": "from a worker", "http://frame.test/": "<body><script>setTimeout(() => { document.body.append('in a frame') }, 2000)</script>",
		}
		began := time.Now()
		d, err := r.Render(t.Context(), page(host+"/", `<!doctype html><title>x</title><div id=root></div><iframe src=http://frame.test/></iframe><script src=/app.js></script>`, pages))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v, %d requests, %q, refused %v", time.Since(began), d.Requests, d.Targets, d.Refused)
		for _, want := range []string{"Hello", `<template shadowrootmode="closed"><a href="/closed">`, "from the api", "nine seconds", "from a worker"} {
			if !strings.Contains(d.HTML, want) {
				t.Errorf("no %q in %s", want, d.HTML)
			}
		}
		if len(d.Frames) != 1 || d.Frames[0].URL != "http://frame.test/" || !strings.Contains(d.Frames[0].HTML, "</script>in a frame") {
			t.Errorf("frames %q", d.Frames)
		}
		for _, want := range []string{"/popup", "/pushed", "/elsewhere"} {
			if !strings.Contains(strings.Join(d.Targets, " ")+" ", host+want+" ") {
				t.Errorf("no %s in %q", want, d.Targets)
			}
		}
		if d.Cut != "" || d.URL != host+"/pushed" || len(d.Errors) != 1 || !strings.Contains(d.Errors[0], "by design") {
			t.Errorf("cut %q, URL %s, errors %q", d.Cut, d.URL, d.Errors)
		}
	}
}

// TestMemory: a page that takes all memory costs itself: it stays within bounds, and the pages
// beside it and after it are whole. It says how much it has taken, and waits for the answer, so
// that it takes no more than the machine gives it.
func TestMemory(t *testing.T) {
	t.Parallel()
	const most = 352 << 20 // as two tabs need
	r := rendererWith(t, render.Options{Tabs: 2, Memory: most})
	for name, script := range map[string]string{
		"typed arrays": "for (let i = 0; i < 5; i++) all.push(new Uint8Array(10 << 20).fill(1))",
		"strings":      "for (let i = 0; i < 5; i++) { all.push((i + '世').repeat(5 << 19)); all.at(-1).indexOf('x') }",
	} {
		t.Run(name, func(t *testing.T) {
			done := soundBeside(t, r)
			p := page("http://hog.test/", "<p>x<script>const all = []; (async () => { for (let n = 1;; n++) { await fetch('/took?' + n); "+script+" } })()</script>", nil)
			var took atomic.Int64 // in 50 MiB
			p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
				took.Add(1)
				return slow(50*time.Millisecond)(ctx, q) // or it takes much before the browser is looked at
			}
			p.Limits.Virtual, p.Limits.Requests = time.Hour, 1<<20
			began := time.Now()
			d, err := r.Render(t.Context(), p)
			besides := done()
			if err == nil && d.Cut != "time" {
				t.Errorf("%d bytes, cut %q, expected a limit", len(d.HTML), d.Cut)
			}
			// Two tries, if it was taken for a page beside the culprit.
			if bytes := took.Load() * 50 << 20; bytes > 2*4*most {
				t.Errorf("took %d MiB of %d", bytes>>20, most>>20)
			}
			t.Log(time.Since(began), took.Load()*50, "MiB", err)
			if besides != nil {
				t.Error(besides)
			}
		})
	}
}

// sound renders a page that does as it should. It takes two seconds, and little of a core.
func sound(t *testing.T, r *render.Renderer) error {
	p := page("http://sound.test/", "<p id=p>x<script src=/empty.js></script><script>setTimeout(() => p.append('yz'), 5000)</script>", nil)
	p.Fetch = slow(2 * time.Second)
	d, err := r.Render(t.Context(), p)
	if err == nil && !strings.Contains(d.HTML, "</script>yz") {
		err = fmt.Errorf("the sound page: %s, cut %q", d.HTML, d.Cut)
	}
	return err
}

// soundBeside renders such pages, one after the other, until done is called, which renders a last
// one. It returns what was wrong with any.
func soundBeside(t *testing.T, r *render.Renderer) (done func() error) {
	end := make(chan struct{})
	wrong := make(chan error, 1)
	go func() {
		var err error
		for ended := false; err == nil && !ended; {
			err = sound(t, r)
			select {
			case <-end:
				ended = true
			default:
			}
		}
		wrong <- err
	}()
	return func() error {
		close(end)
		return errors.Join(<-wrong, sound(t, r))
	}
}

// TestHostilePages: a page that hangs, floods, or leads away costs itself alone.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	quick, endless := renderer(t, 2), strictRenderer(t)
	for name, c := range map[string]struct {
		html string
		cut  string
	}{
		"an endless loop":        {"<p>x<script>while (true) {}</script>", "time"},
		"an endless loop, later": {"<p>x<script>setTimeout(() => { while (true) {} }, 500)</script>", "time"},
		"timers without end":     {"<p>x<script>(function f() { setTimeout(f, 0) })()</script>", ""},
		"dialogs without end":    {"<p>x<script>setInterval(() => { alert(1); confirm(2); prompt(3) }, 100)</script>", ""},
		"windows without end":    {"<p>x<script>setInterval(() => open('/w' + Math.random()), 50)</script>", ""},
		"requests without end":   {"<p>x<script>setInterval(() => fetch('/r' + Math.random()).catch(() => 0), 10)</script>", "requests"},
		"redirects without end":  {"<p>x<script>location.href = '/?' + Math.random()</script>", ""},
		"reloads":                {"<p>x<script>setTimeout(() => location.reload(), 10)</script>", ""},
		"a frame bomb":           {"<p>x<iframe src=/f></iframe>", ""},
		"a leaving guard":        {"<p>x<script>onbeforeunload = e => { e.preventDefault(); return 'no' }</script>", ""},
		"document.write":         {"<p>x<script>document.open(); document.write('<p>x<p>y'); document.close()</script>", ""},
	} {
		if name == "an endless loop, later" && !long.Enabled() {
			continue // see TestFailsLater
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := page("http://hostile.test/", c.html, map[string]string{"http://hostile.test/f": "<iframe src=/f></iframe><iframe src=/f></iframe>"})
			r := quick
			p.Limits.Time = 15 * time.Second
			if c.cut == "time" {
				r, p.Limits.Time = endless, time.Second
			}
			p.Limits.Requests = 50
			d, err := r.Render(t.Context(), p)
			if err != nil && c.cut != "time" {
				t.Fatal(err)
			}
			if err == nil && (d.Cut != c.cut || !strings.Contains(d.HTML, "<p>x")) {
				t.Errorf("cut %q: %.200s", d.Cut, d.HTML)
			}
			if err != nil {
				t.Log(err)
			}
			d, err = r.Render(t.Context(), page("http://sound.test/", "<p id=p>x<script>p.append('yz')</script>", nil))
			if err != nil || !strings.Contains(d.HTML, "</script>yz") || d.Requests > 0 || len(d.Targets) > 0 {
				t.Errorf("the next page: %+v, %v", d, err)
			}
		})
	}
}

// TestErrors: what scripts complain of, and each request that has failed, is in the document: with
// the status of an answer, and whether a rule has refused it. Lists and texts are bounded.
func TestErrors(t *testing.T) {
	t.Parallel()
	p := page("http://a.test/", `<!doctype html><script src=/missing.js></script><img src=/a.png><script>
		console.error('no', {a: 1}, 7, new Error('inside')); console.log('not this'); console.warn('nor this')
		Promise.reject(new TypeError('unhandled'))
		fetch('/broken').catch(() => 0); fetch('/api')
		for (let i = 0; i < 100; i++) console.error('x'.repeat(10000))</script>`, nil)
	p.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
		switch {
		case strings.HasSuffix(q.URL, "/missing.js"):
			return &render.Response{Status: 404}, nil
		case strings.HasSuffix(q.URL, "/a.png"):
			return nil, fmt.Errorf("image: %w", render.ByRule("not needed"))
		case strings.HasSuffix(q.URL, "/broken"):
			return nil, errors.New("connection refused")
		}
		return &render.Response{Status: 200}, nil
	}
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Errors) != 50 || !strings.HasPrefix(d.Errors[0], "console.error: no Object 7 Error: inside\n") || len(d.Errors[49]) > 2<<10 || strings.Contains(strings.Join(d.Errors, " "), "this") {
		t.Errorf("%.300q", d.Errors)
	}
	slices.SortFunc(d.Refused, func(a, b render.Refusal) int { return strings.Compare(a.URL, b.URL) })
	want := []render.Refusal{
		{URL: "http://a.test/a.png", Type: "Image", Reason: "image: not needed", ByRule: true},
		{URL: "http://a.test/broken", Type: "XHR", Reason: "connection refused"},
		{URL: "http://a.test/missing.js", Type: "Script", Reason: "status 404", Status: 404},
	}
	if !slices.Equal(d.Refused, want) {
		t.Errorf("%+v", d.Refused)
	}
}
