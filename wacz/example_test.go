package wacz_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/wacz"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>hello</title>")
	}))
	defer site.Close()
	job, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(job)
	for _, err := range weft.Crawl(context.Background(), weft.Options{Seeds: []string{site.URL}, Job: job, Keep: weft.Keep{Archive: true}}) {
		if err != nil {
			fmt.Println(err)
		}
	}

	var file bytes.Buffer
	if err := wacz.PackJob(&file, job, wacz.Options{Title: "Example"}); err != nil {
		panic(err)
	}
	holds, err := wacz.Check(bytes.NewReader(file.Bytes()), int64(file.Len()), func(f wacz.Fault) { fmt.Println(f) })
	fmt.Println(holds.Captures > 0, holds.Pages, err)
	// Output:
	// true 1 <nil>
}
