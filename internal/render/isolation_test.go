package render_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// nested is a page with frames of its own site and of others in a frame of another site. One of
// another site is gone when the page is read.
func nested(path string) *render.Page {
	p := page("https://a.test/"+path, `<iframe src=https://b.test/outer></iframe><iframe id=gone src=https://d.test/></iframe><script>
const over = setInterval(async () => { if (await (await fetch('/over')).text() === 'true') { clearInterval(over); gone.remove() } }, 1)
</script>`, nil)
	p.Limits.Requests = 10_000 // stores take real time, as each request does
	over := make(chan bool, 1)
	p.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
		kind, body := "text/html", storing
		switch u, _ := url.Parse(q.URL); u.Path {
		case "/outer":
			body = "<iframe src=https://a.test/></iframe><iframe src=https://c.test/></iframe>"
		case "/sw.js":
			kind, body = "text/javascript", "oninstall = () => skipWaiting()"
		case "/tick":
			body = "x"
		case "/over":
			body = "false"
			select {
			case <-over:
				body = "true"
			default:
			}
		case "/":
			if u.Host == "d.test" {
				body = strings.Replace(storing, "stores = false", "await fetch('/done'); stores = false", 1)
			}
		case "/done":
			over <- true
		}
		return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", kind}}, Body: []byte(body)}, nil
	}
	return p
}

// testNoStateOfFrames: a frame finds nothing that those of earlier pages have stored, however deep
// they were.
func testNoStateOfFrames(t *testing.T, r *render.Renderer) {
	for i := range 3 {
		d, err := r.Render(t.Context(), nested(""))
		if err != nil || len(d.Frames) != 3 || d.Cut != "" {
			t.Fatalf("page %d: %+v, %v", i, d, err)
		}
		for _, f := range d.Frames[1:] {
			if !strings.Contains(f.HTML, "found: .") {
				t.Errorf("page %d: %s: %.100s", i, f.URL, f.HTML[strings.Index(f.HTML, "<pre"):])
			}
		}
	}
	p := page("https://a.test/", "<iframe src=https://d.test/></iframe>", nil)
	p.Fetch, p.Limits = nested("").Fetch, nested("").Limits
	if d, err := r.Render(t.Context(), p); err != nil || !strings.Contains(d.Frames[0].HTML, "found: .") {
		t.Errorf("%+v, %v", d, err)
	}
}

// testNoStateOfLostTabs: a page finds nothing that one has stored whose tab is closed since.
func testNoStateOfLostTabs(t *testing.T, r *render.Renderer) {
	for i := range 3 {
		p := page("https://a.test/", `<p id=found><script>
				found.textContent = 'found: ' + localStorage.length; localStorage.x = 'y'
				for (let i = 0; i < 20; i++) fetch('/' + i).catch(() => 0)</script>`, nil)
		p.Limits.Requests = 10
		d, err := r.Render(t.Context(), p)
		if err != nil || d.Cut != "requests" || !strings.Contains(d.HTML, "found: 0") {
			t.Errorf("page %d: %+v, %v", i, d, err)
		}
	}
}
