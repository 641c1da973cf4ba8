package fetch_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/weburl"
)

// TestPathsAsWritten: a server that tells %2f from %2F gets the path as seeds, links, sitemaps,
// redirects and hooks write it, in a resumed crawl and at a recrawl, too. Spellings of one URL are
// one URL, which records name in its canonical form.
func TestPathsAsWritten(t *testing.T) {
	var mu sync.Mutex
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = append(got, r.RequestURI)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch r.RequestURI {
		case "/robots.txt":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "Sitemap: /map%2f.xml\nUser-agent: *\nDisallow: /no%2Fthing\n")
		case "/map%2f.xml":
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/%%7Emap%%2fped</loc></url></urlset>", r.Host)
		case "/seed%2f1":
			_, _ = io.WriteString(w, `<a href="/a%2fb?q=%c3%a9#%2f">1</a><a href="/a%2Fb?q=%C3%A9">2</a><a href="/%7Euser/">3</a>
				<a href="/plain">5</a><a href="/no%2fthing">6</a><a href="/to%2f">7</a><a href="/%7Emoved/">8</a><a href="/%7Eendless">9</a>`)
		case "/%7Emoved/":
			http.Redirect(w, r, "/~moved/", http.StatusMovedPermanently)
		case "/%7Eendless":
			http.Redirect(w, r, "/~endless", http.StatusFound)
		case "/~endless":
			http.Redirect(w, r, "/%7Eendless", http.StatusFound)
		case "/to%2f":
			http.Redirect(w, r, "/target%2f", http.StatusFound)
		case "/a%2fb?q=%c3%a9", "/%7Euser/", "/plain", "/target%2f", "/~moved/", "/%7Emap%2fped", "/hook%2f":
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	take := func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := slices.DeleteFunc(got, func(u string) bool { return u == "/robots.txt" })
		got = nil
		slices.Sort(all)
		return all
	}
	o := weft.Options{Seeds: []string{s.URL + "/seed%2f1"}, Reach: weft.Reach{Sitemaps: true}, Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: 2}}
	o.Hooks.OnPage = func(_ context.Context, p *weft.Page) error { return p.Add("/hook%2f") }
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(t.Context()); err != nil || sum.Finished {
		t.Fatalf("%+v, %v, expected an end by the limit", sum, err)
	}
	o.Limits.Limit = 0
	crawltest.Finish(t, o)
	want := []string{"/%7Eendless", "/%7Eendless", "/%7Emap%2fped", "/%7Emoved/", "/%7Euser/", "/a%2fb?q=%c3%a9", "/hook%2f", "/map%2f.xml", "/plain", "/seed%2f1", "/target%2f", "/to%2f", "/~endless", "/~moved/"}
	if all := take(); !slices.Equal(all, want) {
		t.Errorf("requested %q, expected %q", all, want)
	}
	last := make(map[string]int)
	for _, r := range crawltest.Visits(t, o.Job)[1] {
		last[strings.TrimPrefix(r.URL, s.URL)] = r.Status
	}
	for u, status := range map[string]int{"/a%2Fb?q=%C3%A9": 200, "/~user/": 200, "/~moved/": 200, "/~endless": 302, "/no%2Fthing": 0, "/target%2F": 200} {
		if got, ok := last[u]; !ok || got != status {
			t.Errorf("%s: status %d, %v, expected %d", u, got, ok, status)
		}
	}
	if len(last) != 12 {
		t.Errorf("records of %d URLs, expected 12 in their canonical form: %v", len(last), last)
	}
	want = slices.DeleteFunc(want, func(u string) bool { return u == "/%7Emoved/" })
	crawltest.Finish(t, weft.Options{Job: o.Job, Rerun: weft.Rerun{Update: true}, Hooks: o.Hooks})
	if all := take(); !slices.Equal(all, want) {
		t.Errorf("recrawl: requested %q, expected %q", all, want)
	}

	sorted := weft.Options{Seeds: []string{s.URL + "/?b=%7E&a=%2f"}, Reach: weft.Reach{Depth: 1}}
	sorted.Reach.Canon, err = weburl.ParseRules("sort-query")
	if err != nil {
		t.Fatal(err)
	}
	crawltest.Finish(t, sorted)
	if all := take(); !slices.Equal(all, []string{"/?a=%2F&b=~"}) {
		t.Errorf("with a rule that changes the URL: %q", all)
	}
}

// TestLinksInAnyCharset checks that links are found in pages of any encoding, and that the record
// names the charset.
func TestLinksInAnyCharset(t *testing.T) {
	wide := func(mark, s string) string {
		b := []byte(mark)
		for _, u := range utf16.Encode([]rune(s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	w := crawltest.Web{
		"http://a.test/":         "\xef\xbb\xbf" + crawltest.Links("/marked") + "é",
		"http://a.test/marked":   wide("\xff\xfe", crawltest.Links("/unmarked")+"日本"),
		"http://a.test/unmarked": wide("", crawltest.Links("/declared")+"日本"),
		"http://a.test/declared": "<meta charset=shift_jis>\x93\xfa" + crawltest.Links("/detected"),
		"http://a.test/detected": "<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0" + crawltest.Links("/ascii"),
		"http://a.test/ascii":    "a page",
	}
	got, _, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{NoRobots: true}})
	for url, want := range map[string]string{
		"http://a.test/": "utf-8", "http://a.test/marked": "utf-16le", "http://a.test/unmarked": "utf-16le",
		"http://a.test/declared": "shift_jis", "http://a.test/detected": "windows-1251", "http://a.test/ascii": "windows-1252",
	} {
		if r := got[url]; r.Charset != want || r.Status != 200 {
			t.Errorf("%s: status %d, charset %q; expected 200, %q", url, r.Status, r.Charset, want)
		}
	}
}

// TestBytesInFields: URLs in header fields and in robots.txt, which name no encoding, are requested
// with the bytes that the server has written, be these UTF-8 or not.
func TestBytesInFields(t *testing.T) {
	var mu sync.Mutex
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = append(got, r.RequestURI)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch r.RequestURI {
		case "/robots.txt":
			w.Header().Set("Location", "/robots\xe9.txt")
			w.WriteHeader(http.StatusMovedPermanently)
		case "/robots%E9.txt":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "Sitemap: /s\xe9.xml\nSitemap: /\u00e9.xml\n")
		case "/":
			w.Header().Set("Link", "</link\xe9?\xfc>; rel=next")
			w.Header().Set("Refresh", "5; url=/refresh\xe9")
			fmt.Fprint(w, `<a href="/1">1</a><a href="/2">2</a>`)
		case "/1":
			w.Header().Set("Location", "/caf\xe9?q=\xfc&u=\u00fc#\xe9")
			w.WriteHeader(http.StatusFound)
		case "/2":
			w.Header().Set("Location", "http://\xe9.test/")
			w.WriteHeader(http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	sum := crawltest.Finish(t, weft.Options{Seeds: []string{s.URL + "/"}, Reach: weft.Reach{Sitemaps: true}})
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(got)
	want := []string{"/", "/%C3%A9.xml", "/1", "/2", "/caf%E9?q=%FC&u=%C3%BC", "/link%E9?%FC", "/refresh%E9", "/robots%E9.txt", "/robots.txt", "/s%E9.xml"}
	if !slices.Equal(got, want) || sum.Errors[weft.KindLocation].URLs != 1 {
		t.Errorf("requested %q, expected %q; errors %v", got, want, sum.Errors)
	}
}
