package render_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/render"
)

// TestOpenRequests: a request that a server leaves open, as a long poll, holds a page for a while,
// and no timer and no other request of it; the document names it. One that waits for its turn is
// waited for.
func TestOpenRequests(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		const html = `<p id=p>text<script>
			const get = path => fetch(path).then(r => r.text()).then(t => p.append(', ' + t))
			get('/poll?1'); get('/turn'); setTimeout(() => get('/poll?2'), 500)
			setTimeout(() => get('/slow').then(() => setTimeout(() => get('/last'), 1000)), 2000)
		</script>`
		for range 2 {
			p := page(u, html, nil)
			p.Limits.Open = 1500 * time.Millisecond // and 100 ms are far from it on a busy machine, too
			p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
				wait := time.Duration(0)
				switch path := strings.TrimPrefix(q.URL, u); {
				case path == "turn":
					wait = 2 * time.Second // in the queue, which does not count
				case path == "slow":
					q.Sent()
					wait = 100 * time.Millisecond
				case strings.HasPrefix(path, "poll"):
					q.Sent()
					wait = time.Hour
				}
				res, err := slow(wait)(ctx, q)
				res.Body = []byte(strings.TrimPrefix(q.URL, u))
				return res, err
			}
			d, err := r.Render(t.Context(), p)
			if err != nil || d.Cut != "" || d.Took > 20*time.Second || !strings.Contains(d.HTML, ", turn, slow, last<") {
				t.Fatalf("%+v, %v", d, err)
			}
			if len(d.Refused) != 2 || d.Refused[0].URL != u+"poll?1" || d.Refused[1].URL != u+"poll?2" || !strings.HasPrefix(d.Refused[0].Reason, "left open") {
				t.Errorf("%+v", d.Refused)
			}
		}
	})
}
