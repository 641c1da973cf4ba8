package render_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// TestPreloadedByHeader: what a response asks for by its header, before the page is shown, is
// requested for the page.
func TestPreloadedByHeader(t *testing.T) {
	t.Parallel()
	r := anyRenderer(t, "")
	for i := range long.Or(10, 40) {
		const html = "<p id=p><script src=/app.js></script>"
		p := page(u, html, map[string]string{u + "app.js": "p.textContent = 'shown'"})
		p.Header = append(p.Header, render.Field{"Link", "</app.js>; rel=preload; as=script"})
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
		kind   render.Kind
	}{
		"computes without end": {"setTimeout(() => { for (;;); }, 1500)", "cpu", ""},
		"grows":                {"setTimeout(() => document.append(document.createComment('x'.repeat(5 << 20))), 3000)", "length", ""},
		"is too long at once":  {"document.append(document.createComment('x'.repeat(5 << 20)))", "", render.KindLength},
		"in frames":            {"const c = document.createComment('x'.repeat(1 << 20)); for (let i = 0; i < 20; i++) { const f = document.createElement('iframe'); document.body.append(f); f.contentDocument.append(f.contentDocument.importNode(c)) }", "", render.KindLength},
		// On the way, each of its bytes takes six: more than replies may have.
		"in a huge frame": {"const f = document.createElement('iframe'); document.body.append(f); f.contentDocument.append(f.contentDocument.createComment('\x01'.repeat(2 << 20)))", "", render.KindLength},
		"goes to no page": {"location = 'about:blank'", "", render.KindLeft},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := anyRenderer(t, "")
			if name == "computes without end" || name == "in a huge frame" {
				r = strictRenderer(t)
			}
			p := page(u, "<p id=p>seen<script>"+c.script+"</script>", nil)
			p.Limits.Document = 4 << 20
			d, err := r.Render(t.Context(), p)
			switch {
			case c.kind != "":
				if err == nil || render.KindOf(err) != c.kind {
					t.Errorf("%v, expected kind %s", err, c.kind)
				}
			case c.cut == "cpu" && d != nil && d.Cut == "time" && strings.Contains(d.HTML, "seen"):
				t.Log("a busy machine gave it little CPU time, and the limit of real time came first")
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
	if d, err := strictRenderer(t).Render(t.Context(), page(u, wait, nil)); err != nil || !strings.Contains(d.HTML, "awake, later") {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestStream: a stream that a page opens is refused, and not waited for.
func TestStream(t *testing.T) {
	t.Parallel()
	p := page(u, "<p id=p>text<script>new EventSource('/stream')</script>", nil)
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil || d.Cut != "" || len(d.Refused) != 1 || d.Refused[0].Reason != "a stream has no end" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestLongEvents: events that are too long are no memory of this process, and a request with such a
// body is refused.
func TestLongEvents(t *testing.T) {
	t.Parallel()
	const script = `<p id=p>text<script>const s = 'x'.repeat(600 << 10); console.error(s); fetch('/', {method: 'POST', body: s}).catch(() => p.append(', refused'))</script>`
	p := page(u, script, nil)
	p.Fetch = slow(0)
	if d, err := strictRenderer(t).Render(t.Context(), p); err != nil || d.Cut != "" || !strings.Contains(d.HTML, "</script>, refused") {
		t.Errorf("%.300v, %v", d, err)
	}
}

// TestLongResponse: a response that is longer than a browser takes is refused; the browser lives.
func TestLongResponse(t *testing.T) {
	t.Parallel()
	r := anyRenderer(t, "")
	p := page(u, "<p>text<script src=/long.js></script>", nil)
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		return &render.Response{Status: 200, Body: make([]byte, 90<<20)}, nil
	}
	d, err := r.Render(t.Context(), p)
	if err != nil || len(d.Refused) != 1 || !strings.Contains(d.Refused[0].Reason, "longer than") {
		t.Errorf("%+v, %v", d, err)
	}
}

// testBrowserHangs: a browser that answers nothing any more is ended, and its page is rendered by
// another.
func testBrowserHangs(t *testing.T, r *render.Renderer) {
	p := page(u, "<p id=p><script>fetch('/a').then(() => { p.textContent = 'shown' })</script>", nil)
	hung := false
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		if !hung {
			hung = true
			for _, pid := range r.Processes()[1:] {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		return &render.Response{Status: 200}, nil
	}
	began := time.Now()
	if d, err := r.Render(t.Context(), p); err != nil || !strings.Contains(d.HTML, "shown") {
		t.Errorf("%+v, %v", d, err)
	}
	t.Log(time.Since(began))
}
