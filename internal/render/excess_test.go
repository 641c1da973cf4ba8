package render_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestExcess: requests with a URL or a header of megabytes are refused, and notes of them, and of
// long messages, are no memory of megabytes.
func TestExcess(t *testing.T) {
	const script = `<p id=p>text<script>const s = 'x'.repeat(1 << 20)
for (let i = 0; i < 20; i++) console.error(s + i, s)
Promise.allSettled(Array.from({length: 20}, (_, i) => i % 2 ? fetch('/?' + i + s) : fetch('/' + i, {headers: {a: s}}))).then(() => p.append(', refused'))</script>`
	r := renderer(t, 1)
	p := page(u, script, nil)
	var made atomic.Int32
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		made.Add(1)
		return &render.Response{Status: 200}, nil
	}
	before := allocated()
	d, err := r.Render(t.Context(), p)
	if err != nil || !strings.Contains(d.HTML, "</script>, refused") || made.Load() > 0 || len(d.Refused) != 20 || len(d.Errors) < 20 {
		t.Fatalf("%.300v, %v, %d made", d, err, made.Load())
	}
	if n := allocated() - before; n > 6<<20 {
		t.Errorf("%d MiB for notes", n>>20)
	}
	if why := d.Refused[0].Reason; !d.Refused[0].ByRule || !strings.Contains(why, "of at most") {
		t.Errorf("%q", why)
	}
	runtime.KeepAlive(d)
}

// allocated returns the bytes that are in use.
func allocated() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
