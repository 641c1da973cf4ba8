package weft_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing/fstest"

	"github.com/weftcrawl/weft"
)

// This is a complete crawler: it prints the title and the first heading of each page of a site.
func ExampleCrawl() {
	site := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html": {Data: []byte(`<title>Home</title><h1>Welcome</h1><a href="news.html">News</a> <a href=lost.html>Lost</a>`)},
		"news.html":  {Data: []byte(`<title>News</title><h1>Nothing new</h1><a href="/">Home</a>`)},
	}))
	defer site.Close()

	for page, err := range weft.Crawl(context.Background(), weft.Options{Seeds: []string{site.URL}, Pace: weft.Pace{Concurrency: 1}}) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		doc, err := page.Document()
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%d %q %q\n", page.Status, page.Title, doc.Find("h1").Text())
	}
	// Output:
	// 200 "Home" "Welcome"
	// 200 "News" "Nothing new"
	// 404 "" ""
}
