package render_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestExcess: requests with a long URL or header are refused, and notes of them, and of long
// messages, are no memory of their length.
func TestExcess(t *testing.T) {
	const script = `<p id=p>text<script>const s = 'x'.repeat(256 << 10)
for (let i = 0; i < 5; i++) console.error(s + i, s)
Promise.allSettled(Array.from({length: 10}, (_, i) => i % 2 ? fetch('/?' + i + s) : fetch('/' + i, {headers: {a: s}}))).then(() => p.append(', refused'))</script>`
	r := anyRenderer(t, "") // no other test does at this time
	p := page(u, script, nil)
	var made atomic.Int32
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		made.Add(1)
		return &render.Response{Status: 200}, nil
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := allocated()
	d, err := r.Render(t.Context(), p)
	if err != nil || !strings.Contains(d.HTML, "</script>, refused") || made.Load() > 0 || len(d.Refused) != 10 || len(d.Errors) < 5 {
		t.Fatalf("%.300v, %v, %d made", d, err, made.Load())
	}
	if n := allocated() - before; n > 1<<20 {
		t.Errorf("%d KiB for notes", n>>10)
	}
	if why := d.Refused[0].Reason; !d.Refused[0].ByRule || !strings.Contains(why, "of at most") {
		t.Errorf("%q", why)
	}
	runtime.KeepAlive(d)
}

// TestMuchSent: what requests send that wait for an answer is bounded; a page may send more when
// they have one.
func TestMuchSent(t *testing.T) {
	t.Parallel()
	const script = `<p id=p>text<script>const post = n => fetch('/' + n, {method: 'POST', body: 'x'.repeat(900 << 10)}).then(() => true, () => false)
let refused = 0
const all = Array.from({length: 6}, (_, i) => post(i).then(ok => ok || ++refused < 2 || fetch('/go')))
Promise.all(all).then(() => post(7)).then(ok => p.append(', ' + refused + ' refused, then ' + ok))</script>`
	p := page("http://much.test/", script, nil)
	let := make(chan struct{})
	p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
		switch {
		case q.Method == "GET":
			close(let)
		case len(q.Body) != 900<<10:
			t.Errorf("%s sends %d bytes", q.URL, len(q.Body))
		}
		select {
		case <-let:
		case <-ctx.Done():
		}
		return &render.Response{Status: 200}, nil
	}
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil || !strings.Contains(d.HTML, ", 2 refused, then true") || len(d.Refused) != 2 || !strings.Contains(d.Refused[0].Reason, "4 MiB at most") {
		t.Errorf("%.900v, %v", d, err)
	}
}

// allocated returns the bytes that are in use.
func allocated() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
