package render

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rendererOf returns a renderer that ends with the test, with a profile in a folder that all may
// enter.
func rendererOf(t *testing.T, tabs int) *Renderer {
	t.Helper()
	if _, err := Find(""); err != nil {
		t.Skip(err)
	}
	r := New(Options{Tabs: tabs})
	t.Cleanup(func() { r.Close() })
	return r
}

// pageOf returns a page whose requests are answered from a table by their URLs.
func pageOf(url, html string, answers map[string]string, header ...Field) *Page {
	return &Page{
		URL: url, Status: 200, Header: append(header, Field{"Content-Type", "text/html"}), Body: []byte(html),
		Fetch: func(_ context.Context, q *Request) (*Response, error) {
			body, ok := answers[q.URL]
			if !ok {
				return &Response{Status: 404}, nil
			}
			return &Response{Status: 200, Header: []Field{{"Content-Type", "text/javascript"}, {"Access-Control-Allow-Origin", "*"}}, Body: []byte(body)}, nil
		},
	}
}

// u is the URL of a page.
const u = "http://a.test/"

// TestPreloadedByHeader: what a response asks for by its header, before the page is shown, is
// requested for the page.
func TestPreloadedByHeader(t *testing.T) {
	t.Parallel()
	r := rendererOf(t, 1)
	for i := range 40 {
		const html = "<p id=p><script src=/app.js></script>"
		p := pageOf(u, html, map[string]string{u + "app.js": "p.textContent = 'shown'"},
			Field{"Link", "</app.js>; rel=preload; as=script"})
		if d, err := r.Render(t.Context(), p); err != nil || !strings.Contains(d.HTML, "shown") {
			t.Fatalf("%d: %+v, %v", i, d, err)
		}
	}
}

// TestFailsLater: a page that fails after a look is what it was then, with the kind of failure;
// one that is too long is an error, so that the response counts.
func TestFailsLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		cut    string
		kind   Kind
	}{
		"computes without end": {"setTimeout(() => { for (;;); }, 1500)", "cpu", ""},
		"grows":                {"setTimeout(() => document.append(document.createComment('x'.repeat(40 << 20))), 3000)", "length", ""},
		"is too long at once":  {"document.append(document.createComment('x'.repeat(40 << 20)))", "", KindLength},
		"in frames":            {"const c = document.createComment('x'.repeat(20 << 20)); for (let i = 0; i < 20; i++) { const f = document.createElement('iframe'); document.body.append(f); f.contentDocument.append(f.contentDocument.importNode(c)) }", "", KindLength},
		"goes to no page":      {"location = 'about:blank'", "", KindOther},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := rendererOf(t, 1).Render(t.Context(), pageOf(u, "<p id=p>seen<script>"+c.script+"</script>", nil))
			switch {
			case c.kind != "":
				if err == nil || KindOf(err) != c.kind {
					t.Errorf("%v, expected kind %s", err, c.kind)
				}
			case err != nil || d.Cut != c.cut || !strings.Contains(d.HTML, "seen") || d.Took == 0:
				t.Errorf("%.300v, %v", d, err)
			}
		})
	}
}

// TestWaitsForClock: a script that waits for the clock within one task gets real time at its second
// try.
func TestWaitsForClock(t *testing.T) {
	t.Parallel()
	const wait = "<p id=p><script>const from = Date.now(); while (Date.now() - from < 20); p.textContent = 'awake'; setTimeout(() => p.append(', later'), 500)</script>"
	if d, err := rendererOf(t, 1).Render(t.Context(), pageOf(u, wait, nil)); err != nil || !strings.Contains(d.HTML, "awake, later") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestStream: a stream that a page opens is refused, and not waited for.
func TestStream(t *testing.T) {
	t.Parallel()
	p := pageOf(u, "<p id=p>text<script>new EventSource('/stream')</script>", nil)
	d, err := rendererOf(t, 1).Render(t.Context(), p)
	if err != nil || d.Cut != "" || len(d.Refused) != 1 || d.Refused[0].Reason != "a stream has no end" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestHistory: the pages that a tab has shown before are no part of the history of the next one.
func TestHistory(t *testing.T) {
	t.Parallel()
	r := rendererOf(t, 1)
	for _, url := range []string{u + "before", "http://b.test/"} {
		d, err := r.Render(t.Context(), pageOf(url, "<p id=p>text<script>history.back(); p.append(' is here')</script>", nil))
		if err != nil || d.Cut != "" || !strings.Contains(d.HTML, " is here") || len(d.Targets) > 0 {
			t.Errorf("%s: %+v, %v", url, d, err)
		}
	}
}

// TestLongEvents: events of many megabytes are no memory of this process, and a request with a body
// that is too long is refused.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	const script = `<p id=p>text<script>const s = 'x'.repeat(15 << 20); console.error(s, s, s); fetch('/', {method: 'POST', body: s}).catch(() => p.append(', refused'))</script>`
	if d, err := rendererOf(t, 1).Render(t.Context(), pageOf(u, script, nil)); err != nil || d.Cut != "" || !strings.Contains(d.HTML, "</script>, refused") {
		t.Errorf("%.300v, %v", d, err)
	}
}

// TestLongResponse: a response that is longer than a browser takes is refused; the browser lives.
func TestLongResponse(t *testing.T) {
	t.Parallel()
	r := rendererOf(t, 1)
	p := pageOf(u, "<p>text<script src=/long.js></script>", nil)
	p.Fetch = func(context.Context, *Request) (*Response, error) {
		return &Response{Status: 200, Body: make([]byte, 90<<20)}, nil
	}
	d, err := r.Render(t.Context(), p)
	if err != nil || len(d.Refused) != 1 || !strings.Contains(d.Refused[0].Reason, "longer than") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestBrowserHangs: a browser that answers nothing any more is ended, and its page is rendered by
// another.
func TestBrowserHangs(t *testing.T) {
	t.Parallel()
	r := rendererOf(t, 1)
	p := pageOf(u, "<p id=p><script>fetch('/a').then(() => { p.textContent = 'shown' })</script>", nil)
	answer, hung := p.Fetch, false
	p.Fetch = func(ctx context.Context, q *Request) (*Response, error) {
		if !hung {
			hung = true
			r.mu.Lock()
			all, _ := tree(r.browser.process.cmd.Process.Pid)
			r.mu.Unlock()
			for _, pid := range all[1:] {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		return answer(ctx, q)
	}
	began := time.Now()
	if d, err := r.Render(t.Context(), p); err != nil || !strings.Contains(d.HTML, "shown") {
		t.Errorf("%+v, %v", d, err)
	}
	t.Log(time.Since(began))
}

// TestDocumentsGo: a document is no memory any more when the next one is shown.
func TestDocumentsGo(t *testing.T) {
	t.Parallel()
	r := rendererOf(t, 1)
	for range 20 {
		if _, err := r.Render(t.Context(), pageOf(u, "<p id=p>text<script>setInterval(() => p.append('x'), 100)</script>", nil)); err != nil {
			t.Fatal(err)
		}
	}
	tab := r.browser.idle[0]
	var count struct{ Documents int }
	err := tab.conn.call(t.Context(), tab.session, "HeapProfiler.collectGarbage", nil, nil)
	if err == nil {
		err = tab.conn.call(t.Context(), tab.session, "Memory.getDOMCounters", nil, &count)
	}
	if err != nil || count.Documents > 3 {
		t.Errorf("%d documents, %v", count.Documents, err)
	}
}
