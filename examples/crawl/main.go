// Command crawl prints the titles of a site's pages: a crawler in 30 lines. Without URLs it crawls
// a site of its own.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weftcrawl/weft"
)

//go:embed site
var site embed.FS

func main() {
	flag.Parse()
	seeds := flag.Args()
	if len(seeds) == 0 {
		server := httptest.NewServer(http.FileServerFS(site))
		defer server.Close()
		seeds = []string{server.URL + "/site/"}
	}
	for page, err := range weft.Crawl(context.Background(), weft.Options{Seeds: seeds}) {
		if err != nil { // concerns one URL: the crawl continues
			fmt.Println(err)
			continue
		}
		fmt.Printf("%d %q, links: %d\n", page.Status, page.Title, len(page.Links))
	}
}
