package replay_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/replay"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>hello</title>")
	}))
	job, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(job)
	for _, err := range weft.Crawl(context.Background(), weft.Options{Seeds: []string{site.URL}, Job: job, Keep: weft.Keep{Archive: true}}) {
		if err != nil {
			fmt.Println(err)
		}
	}
	site.Close() // the archive needs no site

	archived, err := archive.Open(job)
	if err != nil {
		panic(err)
	}
	defer archived.Close()
	pages := replay.New(archived, "Example", func(err error) { fmt.Println(err) })
	server := httptest.NewServer(pages)
	defer server.Close()
	response, err := http.Get(server.URL + pages.Root() + "2026id_/" + site.URL + "/")
	if err != nil {
		panic(err)
	}
	response.Body.Close()
	fmt.Println(response.StatusCode, response.Header.Get("Content-Type"))
	// Output:
	// 200 text/html
}
