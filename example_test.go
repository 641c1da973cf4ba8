package weft_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing/fstest"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/robots"
)

func ExampleFetch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/home", http.StatusFound)
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\nSitemap: /maps/pages.xml\n")
		default:
			fmt.Fprint(w, "<h1>Welcome</h1>")
		}
	}))
	defer server.Close()
	ctx, site := context.Background(), server.URL

	page, err := weft.Fetch(ctx, site, weft.FetchOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := page.Document()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.TrimPrefix(page.URL, site), page.Status, page.IsPage(), doc.Find("h1").Text())

	sitemaps, named, err := weft.FindSitemaps(ctx, site, weft.FetchOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sitemaps[0].Path(), named)
	// Output:
	// /home 200 true Welcome
	// /maps/pages.xml true
}

func ExampleFetchRobots() {
	site := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"robots.txt": {Data: []byte("User-agent: *\nDisallow: /private/\n")},
	}))
	defer site.Close()

	page, err := weft.FetchRobots(context.Background(), site.URL+"/private/report", weft.FetchOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if robots.For(page.Status) == robots.Read {
		verdict := robots.Parse(page.Body).Agent("weft").Test("/private/report")
		fmt.Println(verdict.Allowed, verdict.Line, verdict.Rule)
	}
	// Output:
	// false 2 Disallow: /private/
}

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
