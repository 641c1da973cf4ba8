package render_test

import (
	"context"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// testEndless: a page that computes without end is rendered again where the clock of its tab was a
// virtual one, as it may wait for that.
func testEndless(t *testing.T, r *render.Renderer) {
	if _, err := r.Render(t.Context(), page(u, "<p>text", nil)); err != nil {
		t.Fatal(err)
	}
	tries := 0
	p := page(u, "<p>text<script>fetch('/a'); for (;;);</script>", nil)
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		tries++
		r.EndRenderers()
		return &render.Response{Status: 200}, nil
	}
	if _, err := r.Render(t.Context(), p); render.KindOf(err) != render.KindCPU || tries != 2 {
		t.Errorf("%d tries, %v; expected 2, kind %s", tries, err, render.KindCPU)
	}
}
