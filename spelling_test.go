package weft_test

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

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/weburl"
)

// TestPathsAsWritten: a server that tells %2f from %2F gets the path as seeds, links, sitemaps, redirects
// and hooks write it, in a resumed crawl and at a recrawl, too. Spellings of one URL are one URL, which
// records name in its canonical form.
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
	o := weft.Options{Seeds: []string{s.URL + "/seed%2f1"}, Sitemaps: true, Job: filepath.Join(t.TempDir(), "job"), Limit: 2}
	o.Hooks.OnPage = func(_ context.Context, p *weft.Page) error { return p.Add("/hook%2f") }
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(t.Context()); err != nil || sum.Finished {
		t.Fatalf("%+v, %v, expected an end by the limit", sum, err)
	}
	o.Limit = 0
	finish(t, o)
	want := []string{"/%7Eendless", "/%7Eendless", "/%7Emap%2fped", "/%7Emoved/", "/%7Euser/", "/a%2fb?q=%c3%a9", "/hook%2f", "/map%2f.xml", "/plain", "/seed%2f1", "/target%2f", "/to%2f", "/~endless", "/~moved/"}
	if all := take(); !slices.Equal(all, want) {
		t.Errorf("requested %q, expected %q", all, want)
	}
	last := make(map[string]int)
	for _, r := range recordsOf(t, o.Job)[1] {
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
	finish(t, weft.Options{Job: o.Job, Update: true, Hooks: o.Hooks})
	if all := take(); !slices.Equal(all, want) {
		t.Errorf("recrawl: requested %q, expected %q", all, want)
	}

	sorted := weft.Options{Seeds: []string{s.URL + "/?b=%7E&a=%2f"}, Depth: 1}
	sorted.Canon, err = weburl.ParseRules("sort-query")
	if err != nil {
		t.Fatal(err)
	}
	finish(t, sorted)
	if all := take(); !slices.Equal(all, []string{"/?a=%2F&b=~"}) {
		t.Errorf("with a rule that changes the URL: %q", all)
	}
}
