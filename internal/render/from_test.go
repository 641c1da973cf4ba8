package render_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestFrom: each request names the origins of the documents that may have made it: of those of
// the page none, of frames of others theirs, also of their workers, and of frames without a URL.
func TestFrom(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		const worker = `new Worker(URL.createObjectURL(new Blob(['fetch("http://a.test/%s")'])))`
		pages := map[string]string{
			"http://a.test/own":      `<script src=/by-own></script><iframe srcdoc="<script src=http://a.test/by-own-blank></script>"></iframe><script>` + fmt.Sprintf(worker, "by-own-worker") + `</script>`,
			"http://b.test/":         `<script src=http://a.test/by-other></script><iframe srcdoc="<script src=http://a.test/by-other-blank></script>"></iframe><iframe src=http://a.test/in-other></iframe><iframe src=http://a.test/taken?by=srcdoc onload="onload = null; srcdoc = '<script src=http://a.test/by-taken-srcdoc></script>'"></iframe><iframe src=http://a.test/taken?by=blank onload="onload = () => contentWindow.fetch('http://a.test/by-taken-blank'); contentWindow.location = 'about:blank'"></iframe><script>` + fmt.Sprintf(worker, "by-other-worker") + `</script>`,
			"http://a.test/in-other": `<script src=/by-own-in-other></script>`,
			"http://b.test/back":     `<script>location = 'http://a.test/back'</script>`,
			"http://a.test/back":     `<script src=/by-own-behind-other></script>`,
			"http://a.test/ends":     `done`,
		}
		fetch := site(pages)
		p := page("http://a.test/", `<p id=p>text <script src=/by-page></script><iframe src=/own></iframe><iframe src=http://b.test/></iframe><iframe src=http://b.test/back></iframe>
<iframe src="data:text/html,<script src=http://a.test/by-data></script>"></iframe><script>fetch('/by-page-fetch'); const f = document.createElement('iframe'); p.append(f); f.contentWindow.fetch('http://a.test/by-page-blank')</script>`, pages)
		p.Steps.Wait, _ = render.ParseWait("100ms")
		var mu sync.Mutex
		got := make(map[string]string)
		p.Fetch = func(ctx context.Context, q *render.Request) (*render.Response, error) {
			mu.Lock()
			got[strings.TrimPrefix(q.URL, "http://a.test/")] = strings.Join(slices.Compact(slices.Sorted(slices.Values(q.From))), " ")
			mu.Unlock()
			if res, err := fetch(ctx, q); err == nil {
				return res, nil
			}
			return &render.Response{Status: 200, Header: []render.Field{{Name: "Access-Control-Allow-Origin", Value: "*"}}}, nil
		}
		if _, err := r.Render(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		const own, other = "http://a.test", "http://b.test"
		for path, want := range map[string]string{
			"by-page": "", "by-page-fetch": "", "by-page-blank": "", "own": "", other + "/": "",
			"by-own": own, "by-own-blank": own, "by-own-worker": own, "by-own-in-other": own + " " + other,
			"by-other": other, "by-other-blank": other, "by-other-worker": other, "in-other": other,
			"taken?by=srcdoc": other, "by-taken-srcdoc": own + " " + other, "by-taken-blank": own + " " + other,
			"back": other, "by-own-behind-other": own + " " + other, "by-data": "null",
		} {
			if from, asked := got[path]; !asked || from != want {
				t.Errorf("%s is of %q (%t), expected %q", path, from, asked, want)
			}
		}
	})
}
