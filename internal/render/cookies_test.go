package render_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestCookies: a page has the cookies that it is given, each where it belongs, and none that the
// browser refuses; those of pages that are rendered beside it take none from it. Tabs of the shell
// have a jar each, those of the other browser share one.
func TestCookies(t *testing.T) {
	inEach(t, 0, browsers, func(t *testing.T, r *render.Renderer) {
		var lacking, requests atomic.Int32
		fetch := func(_ context.Context, q *render.Request) (*render.Response, error) {
			requests.Add(1)
			var sent []string
			for _, f := range q.Header {
				if strings.EqualFold(f.Name, "cookie") {
					sent = strings.Split(f.Value, "; ")
				}
			}
			want := []string{"every=1", "hidden=1", "here=1"}
			if strings.Contains(q.URL, "//api.") {
				want = []string{"api=1", "every=1", "hidden=1"}
			}
			for _, pair := range append([]string{"evil=1", "bad"}, want...) {
				if slices.Contains(sent, pair) != slices.Contains(want, pair) {
					lacking.Add(1)
					t.Logf("%s: %q", q.URL, sent)
				}
			}
			return &render.Response{Status: 200, Header: []render.Field{{"Access-Control-Allow-Origin", "https://www.a.test"}, {"Access-Control-Allow-Credentials", "true"}}}, nil
		}
		var pages sync.WaitGroup
		for i := range 6 {
			pages.Go(func() {
				p := page(fmt.Sprintf("https://www.a.test/%d", i), `<p id=p></p><script>(async () => {
					for (let i = 0; i < 10; i++) await fetch(i % 2 ? '/' + i : 'https://api.a.test/' + i, {credentials: 'include'})
					p.textContent = 'sees ' + document.cookie.split('; ').filter(c => !c.startsWith('evil')).sort().join(' ') + '.'
				})()</script>`, nil)
				p.Fetch = fetch
				p.Cookies = []render.Cookie{
					{Domain: ".a.test", Path: "/", Name: "hidden", Value: "1", HTTPOnly: true, Secure: true},
					{Domain: ".a.test", Path: "/", Name: "every", Value: "1"},
					{Domain: "www.a.test", Path: "/", Name: "here", Value: "1"},
					{Domain: "api.a.test", Path: "/", Name: "api", Value: "1"},
					{Domain: "www.a.test", Path: "/elsewhere", Name: "evil", Value: "1"},
				}
				if i%2 == 1 {
					p.Cookies = append(p.Cookies, render.Cookie{Domain: "www.a.test", Path: "/", Name: "bad", Value: "a;b\x00"})
				}
				d, err := r.Render(t.Context(), p)
				if err != nil {
					t.Error(err)
				} else if !strings.Contains(d.HTML, "sees every=1 here=1.") {
					t.Error(d.HTML)
				}
			})
		}
		pages.Wait()
		if lacking.Load() > 0 || requests.Load() != 6*10 {
			t.Errorf("%d requests, %d without their cookies", requests.Load(), lacking.Load())
		}
	})
}
