package fetch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/blocklist"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// TestPageRules: of the requests of a page, those are made that it needs to show its text.
func TestPageRules(t *testing.T) {
	t.Parallel()
	list, err := blocklist.Read(strings.NewReader("||ads.test^\n"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := weburl.Parse("https://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q     render.Request
		seen  bool
		want  string // in the reason for not making it
		posts bool   // POSTs are allowed to the page's site
	}{
		{render.Request{URL: "https://a.test/app.js", Type: render.TypeScript}, false, "", false},
		{render.Request{URL: "https://a.test/i.png", Type: render.TypeImage}, false, "not needed", false},
		{render.Request{URL: "https://a.test/i.png", Type: render.TypeImage}, true, "", false},
		{render.Request{URL: "https://a.test/m.mp4", Type: render.TypeMedia}, false, "not needed", false},
		{render.Request{URL: "https://a.test/f.woff2", Type: render.TypeFont}, false, "not needed", false},
		{render.Request{URL: "https://ads.test/ad.js", Type: render.TypeScript}, true, "blocked: ||ads.test^", false},
		{render.Request{URL: "https://a.test/api", Method: "DELETE", Type: "Fetch"}, true, "method DELETE", false},
		{render.Request{URL: "https://b.test/api", Method: "HEAD", Type: "Fetch"}, true, "", false},
		{preflight("https://b.test/api", "GET"), true, "", false},
		{preflight("https://b.test/api", "POST"), true, "POST", false},
		{preflight("https://a.test/api", "DELETE"), true, "method DELETE", false},
		{render.Request{URL: "https://a.test/api", Method: "OPTIONS", Type: "Fetch"}, true, "method OPTIONS", false},
		{render.Request{URL: "file:///etc/passwd", Type: "Fetch"}, true, "http", false},
		{render.Request{URL: "ws://a.test/", Type: "WebSocket"}, true, "http", false},
		{render.Request{URL: "https://a.test/api", Method: "POST", Type: "Fetch"}, true, "--render-post", false},
		{render.Request{URL: "https://a.test/api", Method: "POST", Type: "Fetch"}, true, "", true},
		{render.Request{URL: "https://www.a.test/api", Method: "POST", Type: "Fetch"}, true, "", true},
		{render.Request{URL: "https://b.test/api", Method: "POST", Type: "Fetch"}, true, "another site", true},
		{preflight("https://b.test/api", "POST"), true, "another site", true},
		{render.Request{URL: "https://a.test/api", Method: "POST", Type: "Fetch", From: []string{"https://b.test"}}, true, "a frame of another site", true},
	} {
		if c.q.Method == "" {
			c.q.Method = "GET"
		}
		rules := fetch.PageRules{Page: page, Block: blocklist.Lists{list}, Seen: c.seen, OwnPosts: c.posts}
		_, err := rules.Judge(&c.q)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.q, err, c.want)
		}
	}
}

// preflight returns a request that asks whether one of a method may be made.
func preflight(url, method string) render.Request {
	return render.Request{URL: url, Method: "OPTIONS", Type: "Preflight", Header: []render.Field{{Name: "Access-Control-Request-Method", Value: method}}}
}

// TestFromBrowser: a server sees the fields that a script has set, and none by which a browser
// tells who it is.
func TestFromBrowser(t *testing.T) {
	t.Parallel()
	q := new(render.Request)
	for _, name := range strings.Fields("X-Token Accept Referer Origin Cookie User-Agent sec-ch-ua Sec-Fetch-Mode Host Accept-Encoding Cache-Control") {
		q.Header = append(q.Header, render.Field{Name: name, Value: "x"})
	}
	var names []string
	for _, f := range fetch.FromBrowser(q) {
		names = append(names, f.Name)
	}
	if want := strings.Fields("X-Token Accept Referer Origin"); !slices.Equal(names, want) {
		t.Errorf("%q, expected %q", names, want)
	}
	if all := fetch.ForBrowser(httpclient.Header{{Name: "A", Value: "1"}, {Name: "a", Value: "2"}}); len(all) != 2 || all[1].Value != "2" {
		t.Errorf("%v", all)
	}
}
