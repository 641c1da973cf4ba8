package mirror_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/mirror"
)

// This copies a site to a folder, and prints what a file of it has become.
func ExampleSite() {
	server := httptest.NewServer(http.FileServerFS(fstest.MapFS{
		"index.html": {Data: []byte(`<title>Home</title><a href="/news">News</a><a href="https://example.org/">Away</a>`)},
		"news":       {Data: []byte(`<!doctype html><title>News</title><a href="/">Home</a>`)},
	}))
	defer server.Close()
	ctx, site := context.Background(), server.URL
	dir, err := os.MkdirTemp("", "copy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	report, err := mirror.Site(ctx, dir, mirror.SiteOptions{
		Crawl: weft.Options{Seeds: []string{site}}, // as weft mirror has it: assets from anywhere
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Files, "files, open", filepath.Base(report.Start))
	page, err := os.ReadFile(filepath.Join(dir, report.Start))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, links, _ := strings.Cut(string(page), "</title>")
	fmt.Println(links)
	// Output:
	// 2 files, open index.html
	// <a href="news.html">News</a><a href="https://example.org/">Away</a>
}
