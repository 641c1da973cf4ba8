package export_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/export"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Page ", r.URL.Path, `</title><a href="/b">b</a>`)
	}))
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	ctx := context.Background()
	for _, err := range weft.Crawl(ctx, weft.Options{Seeds: []string{site.URL + "/a"}, Job: dir}) {
		if err != nil {
			fmt.Println(err)
		}
	}

	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		panic(err)
	}
	defer job.Close()
	table, err := export.New(export.Options{Format: "csv", Fields: []string{"status", "title", "depth"}})
	if err != nil {
		panic(err)
	}
	if err := table.Write(ctx, dir, job, os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// status,title,depth
	// 200,Page /a,0
	// 200,Page /b,1
}
