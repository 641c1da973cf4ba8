package archive_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello ", r.URL.Path)
	}))
	defer site.Close()
	job, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(job)
	for _, err := range weft.Crawl(context.Background(), weft.Options{Seeds: []string{site.URL + "/a"}, Job: job, Keep: weft.Keep{Archive: true}}) {
		if err != nil {
			fmt.Println(err)
		}
	}

	archived, err := archive.Open(job) // or a WARC, ARC or WACZ file
	if err != nil {
		panic(err)
	}
	defer archived.Close()
	captures, _ := archived.Captures(site.URL + "/a")
	for _, capture := range captures {
		record, err := archived.Read(capture)
		if err != nil {
			panic(err)
		}
		body, _ := record.Body()
		text, _ := io.ReadAll(body)
		fmt.Println(capture.Status, string(text))
		record.Close()
	}
	// Output:
	// 200 hello /a
}
