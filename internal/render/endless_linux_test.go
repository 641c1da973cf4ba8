package render_test

import (
	"context"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestEndless: a page that computes without end is rendered again where it may wait for the clock,
// as its clock was a virtual one; not if it had the real one.
func TestEndless(t *testing.T) {
	t.Parallel()
	r := renderer(t, 1)
	tries := func() (n int) {
		p := page(u, "<p>text<script>fetch('/a'); for (;;);</script>", nil)
		p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
			n++
			r.EndRenderers()
			return &render.Response{Status: 200}, nil
		}
		if _, err := r.Render(t.Context(), p); render.KindOf(err) != render.KindCPU {
			t.Errorf("%v, expected kind %s", err, render.KindCPU)
		}
		return n
	}
	first := 2
	for range 3 { // the clock may just become virtual before the script begins
		first = min(first, tries())
	}
	if _, err := r.Render(t.Context(), page(u, "<p>text", nil)); err != nil {
		t.Fatal(err)
	}
	if second := tries(); first != 1 || second != 2 {
		t.Errorf("%d and %d tries, expected one in a tab without a past, two in another", first, second)
	}
}
