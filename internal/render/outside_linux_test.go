package render_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/render"
)

// TestOutside: a page that takes memory or disk outside its own process costs itself. The pages
// beside it and after it are whole.
func TestOutside(t *testing.T) {
	t.Parallel()
	const bytes = "const a = new Uint8Array(16 << 20).fill(n); "
	for kind, script := range map[string]string{
		"memory": "const all = []; (async () => { for (let n = 1; n < 150; n++) { await fetch('/took?' + n); " + bytes + "all.push(new Blob([a])); await all.at(-1).slice(0, 9).text() } await fetch('/all') })()",
		"disk":   "fetch('/store')",
	} {
		t.Run(kind, func(t *testing.T) {
			r := rendererWith(t, render.Options{Tabs: 2, Memory: 500 << 20})
			done := soundBeside(t, r)
			p := page("https://hog.test/", "<p>x<script>fetch('/hold').catch(() => 0); "+script+"</script>", nil)
			p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
				switch q.URL {
				case "https://hog.test/all":
					t.Error("it has all")
				case "https://hog.test/store": // as a page does
					name := filepath.Join(r.Profile(), "stored")
					if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 600<<20)); err != nil {
						t.Error(err)
					}
				case "https://hog.test/hold": // so that the page is not done
					<-ctx.Done()
				}
				return &render.Response{Status: 200}, nil
			}
			p.Limits.Open, p.Limits.Total = time.Minute, 20*time.Second
			d, err := r.Render(t.Context(), p)
			besides := done()
			if d == nil && string(render.KindOf(err)) != kind || d != nil && d.Cut != kind {
				t.Errorf("%+v, %v", d, err)
			}
			if besides != nil {
				t.Error(besides)
			}
		})
	}
}
