package render_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// storing is a document that shows what it finds stored, and then stores something in every way
// that there is, as it is left, too.
const storing = `<!doctype html><pre id=found>NONE</pre><script>
let stores = true;
(async () => { while (stores) { await fetch('/tick'); await new Promise(then => setTimeout(then, 1)) } })();
(async () => {
  const all = []
  const sees = (what, there) => { if (there) all.push(what) }
  sees('cookie', document.cookie)
  sees('local', localStorage.length)
  sees('session', sessionStorage.length)
  sees('name', window === top && window.name)
  document.cookie = 'a=b; max-age=100000'; localStorage.x = 'y'; sessionStorage.x = 'y'; window.name = 'x'
  for (const type of ['pagehide', 'unload', 'beforeunload', 'visibilitychange']) for (const of of [window, document]) of.addEventListener(type, () => { localStorage.left = type; document.cookie = 'left=' + type + '; max-age=100000' })
  const opened = await new Promise(then => { const q = indexedDB.open('db', 1); let made = false; q.onupgradeneeded = () => { made = true; q.result.createObjectStore('s') }; q.onsuccess = () => then(made ? '' : 'db'); q.onerror = () => then('error') })
  sees('indexed db ' + opened, opened)
  if (window.caches) {
    sees('cache', (await caches.keys()).length)
    await (await caches.open('c')).put('/x', new Response('y'))
    sees('worker', (await navigator.serviceWorker.getRegistrations()).length)
    await navigator.serviceWorker.register('/sw.js').catch(() => 0)
  } else all.push('no caches')
  if (navigator.storage?.getDirectory) {
    const d = await navigator.storage.getDirectory()
    for await (const name of d.keys()) sees('file', name)
    await d.getFileHandle('f', {create: true})
  }
  document.getElementById('found').textContent = 'found: ' + all.join(', ') + '.'
  stores = false
})()
</script>`

// TestOneTab: pages that a tab shows one after the other know nothing of each other.
func TestOneTab(t *testing.T) {
	inBrowsers(t, 1, func(t *testing.T, r *render.Renderer) {
		for name, test := range map[string]func(*testing.T, *render.Renderer){
			"no state": testNoState, "no state of frames": testNoStateOfFrames, "no state of lost tabs": testNoStateOfLostTabs,
			"stores": testStores, "no requests": testNoRequestsOfEarlierPages, "history": testHistory, "documents go": testDocumentsGo,
		} {
			t.Run(name, func(t *testing.T) { test(t, r) })
		}
	})
}

// TestSharedStores: nor do they where tabs share their stores, as in all browsers but the shell.
func TestSharedStores(t *testing.T) { inEach(t, 1, browsers[1:], testNoState) }

// testNoState: a page finds nothing of those that its tab has shown before, whatever they have
// stored, in frames of other sites, too.
func testNoState(t *testing.T, r *render.Renderer) {
	for i := range 4 {
		p := page("https://a.test/", storing+"<iframe src=https://b.test/></iframe><iframe src=https://a.test/frame></iframe>", nil)
		p.Header = append(p.Header, render.Field{"Set-Cookie", "h=i; HttpOnly; Max-Age=100000"})
		p.Limits.Requests = 10_000 // stores take real time, as each request does
		cookies := make(chan string, 100)
		p.Fetch = func(_ context.Context, q *render.Request) (*render.Response, error) {
			kind, body := "text/html", "x"
			switch u, _ := url.Parse(q.URL); u.Path {
			case "/sw.js":
				kind, body = "text/javascript", "oninstall = () => skipWaiting()"
			case "/":
				body = storing
				for _, f := range q.Header {
					if strings.EqualFold(f.Name, "cookie") {
						cookies <- f.Value
					}
				}
			}
			return &render.Response{Status: 200, Header: []render.Field{{"Content-Type", kind}}, Body: []byte(body)}, nil
		}
		d, err := r.Render(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(d.Took, d.Cut, d.Errors)
		if len(d.Frames) != 2 || d.Cut != "" || len(cookies) > 0 {
			t.Fatalf("page %d: %d frames, cut %q, %d cookies", i, len(d.Frames), d.Cut, len(cookies))
		}
		for _, html := range []string{d.HTML, d.Frames[0].HTML} {
			if !strings.Contains(html, "found: .") {
				t.Errorf("page %d: %.100s", i, html[strings.Index(html, "<pre"):])
			}
		}
	}
}

// testHistory: the pages that a tab has shown before are no part of the history of the next one,
// and a page has no request made once it is left.
func testHistory(t *testing.T, r *render.Renderer) {
	const script = `history.back(); navigation.back()
		navigation.traverseTo(navigation.entries()[0].key).committed.catch(() => 0)
		p.append(' is here ' + [history.length, navigation.entries().length, navigation.canGoBack, typeof fetchLater])`
	for _, url := range []string{"https://a.test/1", "https://a.test/2", "https://a.test/3", "https://b.test/"} {
		d, err := r.Render(t.Context(), page(url, "<p id=p>text<script>"+script+"</script>", nil))
		if err != nil || d.Cut != "" || !strings.Contains(d.HTML, " is here 1,1,false,undefined") || len(d.Targets) > 0 {
			t.Errorf("%s: %+v, %v", url, d, err)
		}
	}
}

// testDocumentsGo: a document is no memory any more when the next one is shown.
func testDocumentsGo(t *testing.T, r *render.Renderer) {
	for range 20 {
		if _, err := r.Render(t.Context(), page(u, "<p id=p>text<script>setInterval(() => p.append('x'), 100)</script>", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := r.Documents(t.Context()); err != nil || n > 3 {
		t.Errorf("%d documents, %v", n, err)
	}
}
