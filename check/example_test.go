package check_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/fstest"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
)

// This prints what is wrong with the links of a site.
func ExampleSite() {
	server := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html": {Data: []byte("<title>Home</title>\n<a href=/gone>Gone</a> <a href='/news.html#top-story'>News</a>")},
		"news.html":  {Data: []byte("<title>News</title><h2 id=story>Nothing new</h2>")},
	}))
	defer server.Close()
	ctx, site := context.Background(), server.URL

	report, err := check.Site(ctx, check.SiteOptions{
		Crawl: weft.Options{Seeds: []string{site}}, // as weft check has it: assets, external links
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer report.Close()
	for f, err := range report.Findings() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.Line, f.Rule, strings.TrimPrefix(f.URL, site), f.Message)
	}
	fmt.Println("broken:", report.Failed())
	// Output:
	// 2 broken-link /gone 404 Not Found
	// 2 missing-fragment /news.html#top-story no element has this id or name: top-story
	// broken: true
}
