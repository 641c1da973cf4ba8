package rendered_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// bakery is a site whose servers and scripts set cookies. Each page asks /api what its scripts see.
type bakery struct {
	*wefttest.Site
	mu    sync.Mutex
	asked map[string]string // the cookies of requests, by path and what scripts saw
}

const bakeryPage = `<!doctype html><meta charset=utf-8><title>Page</title><div id=root></div><script>
const page = location.pathname.slice(1)
const seen = () => encodeURIComponent(document.cookie.split('; ').sort().join(' '))
const ask = (path, init) => fetch(path + '?' + page + ' ' + seen(), init).then(r => r.text())
;(async () => {
	await ask('/first')
	document.cookie = 'js=' + page
	if (page == 'two') document.cookie = 'srv=; max-age=0'
	if (page == 'two') document.cookie = 'csrf=mine; path=/'
	await ask('/second')
	await ask('/omit', {credentials: 'omit'})
	await ask('/sets')
	await ask('/third')
	await fetch('http://other.test:%[1]s/cross?' + page, {credentials: 'include'}).catch(() => 0)
	root.innerHTML = '<h1>Title</h1>' + (page == 'one' ? '<a href=/two>two</a>' : '')
})()
</script><iframe src="http://other.test:%[1]s/frame"></iframe>`

const bakeryFrame = `<script>document.cookie = 'theirs=1'
fetch('http://www.weft.test:%[1]s/forged', {credentials: 'include', mode: 'no-cors'})
fetch('/theirs')</script>`

func newBakery(t *testing.T) *bakery {
	t.Helper()
	b := &bakery{asked: make(map[string]string)}
	b.Site = wefttest.NewSite(t, b.serve)
	return b
}

func (b *bakery) serve(w http.ResponseWriter, r *http.Request) {
	sent := strings.Split(r.Header.Get("Cookie"), "; ")
	slices.Sort(sent)
	query, _ := url.QueryUnescape(r.URL.RawQuery)
	b.mu.Lock()
	b.asked[strings.TrimSpace(r.URL.Path+" "+query)] = strings.Join(sent, " ")
	b.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	switch r.URL.Path {
	case "/one":
		w.Header().Add("Set-Cookie", "srv=2; Path=/")
		w.Header().Add("Set-Cookie", "csrf=t; Domain=weft.test; Path=/")
		w.Header().Add("Set-Cookie", "sid=secret; HttpOnly; Path=/")
		fallthrough
	case "/two":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, bakeryPage, b.port())
	case "/frame":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, bakeryFrame, b.port())
	case "/sets":
		w.Header().Add("Set-Cookie", "late=1; Path=/")
	case "/robots.txt":
		http.NotFound(w, r)
	}
}

func (b *bakery) port() string {
	_, port, _ := strings.Cut(strings.TrimPrefix(b.URL, "http://"), ":")
	return port
}

// expect compares the cookies of requests.
func (b *bakery) expect(t *testing.T, all map[string]string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for request, want := range all {
		if sent, ok := b.asked[request]; !ok || sent != want {
			t.Errorf("%s: cookies %q, expected %q (asked: %v)", request, sent, want, ok)
		}
	}
	if t.Failed() {
		for request, sent := range b.asked {
			t.Logf("%s: %s", request, sent)
		}
	}
}

// args are the options of a command.
func (b *bakery) args(more ...string) []string {
	for _, host := range []string{"www.weft.test:", "other.test:"} {
		more = append(more, "--resolve", host+b.port()+":127.0.0.1")
	}
	return append(more, "--render=always", "--allow-private", "http://www.weft.test:"+b.port()+"/one")
}

// TestRenderCookies: the scripts of a page see the cookies of the jar that are not HttpOnly. Its
// requests carry the cookies that scripts have set, too, which end with the page. Weft sends no
// cookie that the browser leaves out, and none crosses sites.
func TestRenderCookies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := weft.FindBrowser(name); err != nil {
				t.Skip(err)
			}
			b := newBakery(t)
			e := wefttest.Crawl(t, wefttest.Done, b.args("--job", "job", "--accept-cookies", "--browser", name)...)
			b.expect(t, map[string]string{
				"/first one csrf=t srv=2":               "csrf=t sid=secret srv=2",
				"/second one csrf=t js=one srv=2":       "csrf=t js=one sid=secret srv=2",
				"/omit one csrf=t js=one srv=2":         "",
				"/third one csrf=t js=one late=1 srv=2": "csrf=t js=one late=1 sid=secret srv=2",
				"/two":                                  "csrf=t late=1 sid=secret srv=2",
				"/first two csrf=t late=1 srv=2":        "csrf=t late=1 sid=secret srv=2",
				"/cross two":                            "",
				"/forged":                               "",
			})
			// Cookies are secrets: the job has none of them.
			_ = filepath.WalkDir(filepath.Join(e.Dir, "job"), func(path string, d os.DirEntry, _ error) error {
				if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "secret") {
					t.Errorf("%s has cookies", path)
				}
				return nil
			})
		})
	}
}

// TestRenderCookiesOfPage: the same for a single page, with cookies of a file and one of -H.
func TestRenderCookiesOfPage(t *testing.T) {
	t.Parallel()
	b := newBakery(t)
	file := filepath.Join(t.TempDir(), "cookies.txt")
	reads := func(args []string) {
		t.Helper()
		if e := wefttest.Run(t, append([]string{"read"}, args...)...); e.Code != wefttest.Done {
			t.Fatalf("exit %d: %s", e.Code, e.Stderr)
		}
	}
	lines := "www.weft.test\tFALSE\t/\tFALSE\t0\tfile\t1\n#HttpOnly_.weft.test\tTRUE\t/\tFALSE\t0\thidden\t1\nother.test\tFALSE\t/\tFALSE\t0\ttheirs\t1\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	reads(b.args("--cookies", file))
	b.expect(t, map[string]string{
		"/first one csrf=t file=1 srv=2":         "csrf=t file=1 hidden=1 sid=secret srv=2",
		"/second one csrf=t file=1 js=one srv=2": "csrf=t file=1 hidden=1 js=one sid=secret srv=2",
		"/omit one csrf=t file=1 js=one srv=2":   "",
		"/cross one":                             "",
		"/frame":                                 "",
		"/forged":                                "",
	})
	b.asked = make(map[string]string)
	reads(b.args("-H", "Cookie: user=1"))
	b.expect(t, map[string]string{
		"/first one csrf=t srv=2":         "csrf=t sid=secret srv=2 user=1",
		"/second one csrf=t js=one srv=2": "csrf=t js=one sid=secret srv=2 user=1",
		"/cross one":                      "",
	})
}
