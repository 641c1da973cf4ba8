package render_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/render"
)

// forging starts requests without end of a site that is not its own, without a Referer.
const forging = `let n = 0
const forge = () => fetch('http://victim.test/forged?' + n++, {method: n % 2 ? 'POST' : 'GET', mode: 'no-cors', referrerPolicy: 'no-referrer'}).catch(() => 0)`

// testNoRequestsOfEarlierPages: nothing that an earlier page of a tab has begun makes a request in
// the name of the next one.
func testNoRequestsOfEarlierPages(t *testing.T, r *render.Renderer) {
	scripts := map[string]string{
		"worker": `new Worker(URL.createObjectURL(new Blob([` + "`" + forging + `
			for (let i = 0; i < 4e6; i++) Math.sqrt(i)
			const c = new MessageChannel()
			c.port1.onmessage = () => { forge(); c.port2.postMessage(0) }
			c.port2.postMessage(0)` + "`" + `])))`,
		"worker of a worker": `new Worker(URL.createObjectURL(new Blob([` + "`" + `new Worker(URL.createObjectURL(new Blob([` + "'" + strings.NewReplacer("'", `\\'`, "\n", ";").Replace(forging) +
			`; setInterval(forge, 1); for (let i = 0; i < 4e6; i++) Math.sqrt(i); for (;;) { const x = new XMLHttpRequest(); try { x.open("GET", "http://victim.test/forged", false); x.send() } catch {} }` + "'" + `])))` + "`" + `])))`,
		"document, later": forging + `
			const again = () => forge().then(again)
			setTimeout(again, 9998 + +location.pathname.slice(1))`,
		"document, without timers": forging + `
			const again = async () => { await crypto.subtle.digest('SHA-1', new Uint8Array(1)).catch(() => 0); await new Blob(['x']).text(); forge(); again() }
			setTimeout(again, 9998 + +location.pathname.slice(1))`,
		"pageswap":          "addEventListener('pageswap', () => fetch('http://victim.test/forged', {mode: 'no-cors', referrerPolicy: 'no-referrer', keepalive: true}))",
		"navigation, later": "setTimeout(() => { location = 'http://victim.test/forged' }, 9998 + +location.pathname.slice(1))",
		"refresh, later":    "const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '10; http://victim.test/forged'; document.head.append(m)",
	}
	for name, script := range scripts {
		for _, i := range long.Or([]int{1, 2}, []int{0, 1, 2, 3, 4, 5}) {
			evil := page(fmt.Sprintf("http://evil.test/%d", i), "<p>evil<script>"+script+"</script>", nil)
			if _, err := r.Render(t.Context(), evil); err != nil {
				t.Fatal(err)
			}
			var forged atomic.Int32
			victim := page("http://victim.test/", "<p>text<script src=/app.js></script>", nil)
			victim.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
				if strings.Contains(q.URL, "/forged") {
					forged.Add(1)
				}
				return &render.Response{Status: 200, Body: []byte("document.body.append('own')")}, nil
			}
			d, err := r.Render(t.Context(), victim)
			if err != nil || forged.Load() > 0 || d.Requests != 1 || len(d.Refused) > 0 || !strings.Contains(d.HTML, "own</body>") {
				t.Errorf("%s %d: %d requests of the page before, %.300v, %v", name, i, forged.Load(), d, err)
			}
		}
	}
}
