package render_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/render"
)

// slow answers requests after a time.
func slow(after time.Duration) func(context.Context, *render.Request) (*render.Response, error) {
	return func(ctx context.Context, q *render.Request) (*render.Response, error) {
		ctx, cancel := context.WithTimeout(ctx, after)
		defer cancel()
		<-ctx.Done()
		return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", "text/plain"}}, Body: []byte("x")}, nil
	}
}

// TestSlowRequests: the time of a page is that of the browser, without the waits for requests.
// These are bounded on their own, but for pauses of the renderer.
func TestSlowRequests(t *testing.T) {
	t.Parallel()
	r := anyRenderer(t, "")
	const html = "<p id=p><script>(async () => { for (let i = 0; i < 8; i++) p.append(await (await fetch('/' + i)).text()); p.append('end') })()</script>"
	for name, c := range map[string]struct {
		each   time.Duration
		limits render.Limits
		cut    string
	}{
		"requests take longer than the page may": {750 * time.Millisecond, render.Limits{Time: 5 * time.Second}, ""},
		"longer than all may take":               {time.Hour, render.Limits{Total: 8 * time.Second}, "time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := page("http://slow.test/", html, nil)
			p.Fetch, p.Limits = slow(c.each), c.limits
			d, err := r.Render(t.Context(), p)
			if err != nil || d.Cut != c.cut || strings.Contains(d.HTML, "xxxxxxxxend") != (c.cut == "") {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	t.Run("paused", func(t *testing.T) {
		t.Parallel()
		r := strictRenderer(t) // that has no other page meanwhile
		p := page("http://slow.test/", html, nil)
		p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
			r.Pause(true)
			defer r.Pause(false)
			return slow(750*time.Millisecond)(ctx, q)
		}
		p.Limits = render.Limits{Time: 5 * time.Second, Total: 5500 * time.Millisecond}
		d, err := r.Render(t.Context(), p)
		if err != nil || d.Cut != "" || !strings.Contains(d.HTML, "xxxxxxxxend") {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// TestManyRequests: of a page that makes more requests than it may, the first ones are answered.
func TestManyRequests(t *testing.T) {
	t.Parallel()
	p := page("http://many.test/", "<p id=p>x<script>for (let i = 0; i < 700; i++) fetch('/' + i).then(r => r.text()).then(t => p.append(t)).catch(() => 0)</script>", nil)
	p.Fetch = slow(0)
	d, err := anyRenderer(t, "").Render(t.Context(), p)
	if err != nil || d.Cut != "requests" || d.Requests < 501 || !strings.Contains(d.HTML, "<p id=\"p\">x") {
		t.Errorf("%.300s, %v", fmt.Sprint(d), err)
	}
}
