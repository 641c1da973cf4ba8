package weft_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/weftcrawl/weft"
)

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
	w := web{
		"http://a.test/":         "\xef\xbb\xbf" + a("/marked") + "é",
		"http://a.test/marked":   wide("\xff\xfe", a("/unmarked")+"日本"),
		"http://a.test/unmarked": wide("", a("/declared")+"日本"),
		"http://a.test/declared": "<meta charset=shift_jis>\x93\xfa" + a("/detected"),
		"http://a.test/detected": "<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0" + a("/ascii"),
		"http://a.test/ascii":    "a page",
	}
	got, _, _ := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, NoRobots: true})
	for url, want := range map[string]string{
		"http://a.test/": "utf-8", "http://a.test/marked": "utf-16le", "http://a.test/unmarked": "utf-16le",
		"http://a.test/declared": "shift_jis", "http://a.test/detected": "windows-1251", "http://a.test/ascii": "windows-1252",
	} {
		if r := got[url]; r.Charset != want || r.Status != 200 {
			t.Errorf("%s: status %d, charset %q; expected 200, %q", url, r.Status, r.Charset, want)
		}
	}
}

// TestBytesInFields: URLs in header fields and in robots.txt, which name no encoding, are requested with
// the bytes that the server has written, be these UTF-8 or not.
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
	sum := finish(t, weft.Options{Seeds: []string{s.URL + "/"}, Sitemaps: true})
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(got)
	want := []string{"/", "/%C3%A9.xml", "/1", "/2", "/caf%E9?q=%FC&u=%C3%BC", "/link%E9?%FC", "/refresh%E9", "/robots%E9.txt", "/robots.txt", "/s%E9.xml"}
	if !slices.Equal(got, want) || sum.Errors[weft.KindLocation].URLs != 1 {
		t.Errorf("requested %q, expected %q; errors %v", got, want, sum.Errors)
	}
}
