package fetch_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// TestPostsOfOthers: POSTs to the page's site are made for documents of that site alone, and not
// for the frames and workers of others, whose other requests are those of strangers.
func TestPostsOfOthers(t *testing.T) {
	t.Parallel()
	page, err := weburl.Parse("https://www.a.test/")
	if err != nil {
		t.Fatal(err)
	}
	rules, cookies := fetch.PageRules{Page: page, OwnPosts: true}, fetch.NewPageCookies(nil, page)
	for origin, want := range map[string]bool{
		"https://www.a.test": true, "https://api.a.test": true, "": true,
		"https://evil.test": false, "https://a.test.evil.test": false, "null": false,
	} {
		post := render.Request{URL: "https://www.a.test/api", Method: "POST", Type: "Fetch"}
		ask := preflight(post.URL, "POST")
		for _, q := range []*render.Request{&post, &ask} {
			if origin != "" {
				q.Header = append(q.Header, render.Field{Name: "Origin", Value: origin})
			}
			if _, err := rules.Judge(q); (err == nil) != want {
				t.Errorf("%s of %q: %v", q.Method, origin, err)
			}
		}
		named, byFrame := render.Request{Header: post.Header}, render.Request{From: []string{"https://a.test"}}
		if origin != "" {
			byFrame.From = append(byFrame.From, origin)
		}
		if cookies.Stranger(&named, page) == want || cookies.Stranger(&byFrame, page) == want {
			t.Errorf("requests that name %q, or are by such a document: expected a stranger's: %t", origin, !want)
		}
	}
}
