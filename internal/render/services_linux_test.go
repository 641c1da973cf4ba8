package render_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestRendersAgain: pages are whole though their browser is not.
func TestRendersAgain(t *testing.T) {
	inBrowsers(t, 2, func(t *testing.T, r *render.Renderer) {
		t.Run("a service ends", func(t *testing.T) { testServiceEnds(t, r) })
		t.Run("renderers end", func(t *testing.T) { testEndless(t, r) })
		t.Run("the browser ends", func(t *testing.T) { testBrowserEnds(t, r) })
		t.Run("the browser hangs", func(t *testing.T) { testBrowserHangs(t, r) })
	})
}

// testBrowserEnds: a page whose browser has ended twice is rendered alone: another page may be the
// reason.
func testBrowserEnds(t *testing.T, r *render.Renderer) {
	p := page(u, `<p id=p><script>fetch('/a').then(r => r.text()).then(t => p.append(t))</script>`, nil)
	kills := 2
	p.Fetch = func(context.Context, *render.Request) (*render.Response, error) {
		if kills > 0 {
			kills--
			r.Kill()
		}
		return &render.Response{Status: 200, Body: []byte("filled")}, nil
	}
	d, err := r.Render(t.Context(), p)
	if err != nil || kills > 0 || d.Cut != "" || !strings.Contains(d.HTML, "filled</p>") {
		t.Errorf("%+v, %v, %d kills left", d, err, kills)
	}
}

// testServiceEnds: pages are rendered again if a process that all pages share has ended
// meanwhile, with requests of theirs; and as often as that happens.
func testServiceEnds(t *testing.T, r *render.Renderer) {
	for i := range 2 {
		p := page(u, `<p id=p><script>(async () => {
				for (let i = 0; i < 50; i++) p.append(await fetch('/' + i).then(r => r.text()).catch(() => 'fails'))
			})()</script>`, nil)
		kills := 1
		p.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
			if strings.HasSuffix(q.URL, "/5") && kills > 0 {
				kills--
				r.EndServices()
			}
			return &render.Response{Status: 200, Body: []byte(".")}, nil
		}
		d, err := r.Render(t.Context(), p)
		if err != nil || kills > 0 || d.Cut != "" || strings.Contains(d.HTML, "fails</p>") || strings.Count(d.HTML, ".") < 50 {
			t.Errorf("page %d: %+v, %v", i, d, err)
		}
	}
}
