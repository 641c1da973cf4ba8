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

// TestPosts: the caller gets what a page sends: texts, bytes, blobs and forms, of beacons and of
// frames, too.
func TestPosts(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		var mu sync.Mutex
		var got []string
		page := &render.Page{URL: "http://www.a.test/", Status: 200, Header: []render.Field{{"Content-Type", "text/html; charset=utf-8"}}, Body: []byte(`<p><script>
const post = (path, body) => fetch(path, {method: 'POST', body})
post('/text', 'é')
post('/bytes', new Uint8Array([0, 255, 128, 10]))
post('/blob', new Blob(['x'.repeat(300000)]))
post('/long', 'y'.repeat(300000))
post('/nothing')
const form = new FormData()
form.append('file', new File(['of a file'], 'a.txt'))
post('/file', form)
navigator.sendBeacon('/beacon', 'b')
</script><iframe name=f></iframe><form target=f method=post action=/frame><input name=a value=b></form><script>document.forms[0].submit()</script>`)}
		page.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			text := string(q.Body)
			switch {
			case len(text) > 1000:
				text = fmt.Sprint(text[:1], " ", len(text))
			case strings.HasSuffix(q.URL, "/file"):
				text = fmt.Sprint(strings.Contains(text, "filename=\"a.txt\"") && strings.Contains(text, "of a file"))
			}
			got = append(got, fmt.Sprintf("%s %s %q", q.Method, strings.TrimPrefix(q.URL, page.URL), text))
			return &render.Response{Status: 204}, nil
		}
		if _, err := r.Render(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(got)
		want := []string{
			`POST beacon "b"`, `POST blob "x 300000"`, `POST bytes "\x00\xff\x80\n"`, `POST file "true"`, `POST frame "a=b"`,
			`POST long "y 300000"`, `POST nothing ""`, `POST text "é"`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("requests: %q, expected %q", got, want)
		}
	})
}

// TestWebSockets: no WebSocket of a page leads anywhere, nor one of its workers, and the document
// says which there were.
func TestWebSockets(t *testing.T) {
	inBrowsers(t, 0, func(t *testing.T, r *render.Renderer) {
		page := &render.Page{URL: "http://www.a.test/", Status: 200, Header: []render.Field{{"Content-Type", "text/html"}}, Body: []byte(`<p id=p><script>
const worker = new Worker(URL.createObjectURL(new Blob(['new WebSocket("ws://c.test/").onerror = () => postMessage(1)'])))
let n = 0
const ended = () => { if (++n == 3) p.id = 'ended' }
worker.onmessage = new WebSocket('ws://www.a.test/a?b').onerror = new WebSocket('wss://b.test:81/').onerror = ended
console.error("WebSocket connection to 'ws://said.test/' failed: x")
</script>`)}
		page.Steps.Wait, _ = render.ParseWait("#ended") // a worker has a clock of its own
		doc, err := r.Render(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, x := range doc.Refused {
			all = append(all, fmt.Sprint(x.Type, " ", x.URL, " ", x.Reason, " ", x.ByRule))
		}
		slices.Sort(all)
		want := []string{
			"WebSocket ws://c.test/ WebSockets are refused true", "WebSocket ws://www.a.test/a?b WebSockets are refused true",
			"WebSocket wss://b.test:81/ WebSockets are refused true",
		}
		if !slices.Equal(all, want) || doc.Requests != 3 || !strings.Contains(doc.HTML, `<p id="ended"`) {
			t.Errorf("refused: %q, of %d requests; %s", all, doc.Requests, doc.HTML)
		}
	})
}
