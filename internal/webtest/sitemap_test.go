package webtest_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/webtest"
)

// TestSitemaps: the web has sitemaps of every style, in the places that robots.txt names or that
// are usual, and the URLs they list exist.
func TestSitemaps(t *testing.T) {
	web, err := webtest.New(webtest.Config{Seed: 1, Hosts: 60, Pages: 2, Listed: 5, Clean: true})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(u string) webtest.Response {
		p, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		return web.Response(p.Host, p.RequestURI(), 0)
	}
	sorts := make(map[string]int)
	for i := range web.Hosts() {
		root := strings.TrimSuffix(web.Home(i), "/")
		at := root + "/sitemap.xml"
		if _, named, ok := strings.Cut(string(ask(root+"/robots.txt").Body), "Sitemap: "); ok {
			at = strings.TrimSpace(named)
		}
		found := make(map[string]bool)
		for queue := []string{at}; len(queue) > 0; queue = queue[1:] {
			a := ask(queue[0])
			if a.Status != 200 {
				sorts["none"]++
				break
			}
			body := a.Body
			if strings.HasSuffix(queue[0], ".gz") {
				z, err := gzip.NewReader(bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				if body, err = io.ReadAll(z); err != nil {
					t.Fatal(err)
				}
				sorts["gzip"]++
			}
			text := string(body)
			switch {
			case strings.HasSuffix(text, "half-a-u"):
				sorts["broken"]++
			case strings.HasPrefix(text, "http"):
				sorts["text"]++
				for _, u := range strings.Fields(text) {
					found[u] = true
				}
			}
			for _, part := range strings.Split(text, "<loc>")[1:] {
				switch u, _, closed := strings.Cut(part, "</loc>"); {
				case !closed:
				case strings.Contains(text, "<sitemapindex"):
					sorts["in an index"]++
					queue = append(queue, u)
				default:
					found[u] = true
				}
			}
		}
		if len(found) > 0 && len(found) != 6 { // the home page, too
			t.Errorf("host %d: %v", i, found)
		}
		for u := range found {
			if a := ask(u); a.Status != 200 {
				t.Errorf("%s: status %d", u, a.Status)
			}
		}
	}
	for _, sort := range []string{"none", "gzip", "broken", "text", "in an index"} {
		if sorts[sort] < 4 {
			t.Errorf("sorts: %v", sorts)
		}
	}
}
