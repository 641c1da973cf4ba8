package render_test

import (
	"context"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestServiceEnds: pages are rendered again if the browser's process for its network has ended
// meanwhile, with requests of theirs; and as often as that happens.
func TestServiceEnds(t *testing.T) {
	inEach(t, 2, browsers, func(t *testing.T, r *render.Renderer) {
		for i := range 3 {
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
	})
}
