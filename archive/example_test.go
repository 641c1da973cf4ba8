package archive_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
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

// A WARC file has no index: one is made, and leads to a record.
func ExampleIndexer() {
	file, _ := warc.NewEncoder(warc.Options{}).Exchange(nil, &warc.Exchange{
		URL: "https://example.org/", Date: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC),
		Response: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello"),
	})

	indexer := archive.NewIndexer("")
	defer indexer.Close()
	damaged := func(d *warc.DamageError) { fmt.Println(d) }
	if err := indexer.File("a.warc.gz", strings.NewReader(string(file)), damaged); err != nil {
		panic(err)
	}
	var index strings.Builder
	if _, err := indexer.WriteTo(&index); err != nil {
		panic(err)
	}
	line, err := warc.ParseIndex(index.String())
	if err != nil {
		panic(err)
	}
	fmt.Println(line.Key, line.Filename, line.Status)

	record, err := archive.ReadAt(strings.NewReader(string(file)), line.Offset)
	if err != nil {
		panic(err)
	}
	body, _ := warc.MessageOf(record).Body()
	text, _ := io.ReadAll(body)
	fmt.Println(string(text))
	// Output:
	// org,example)/ a.warc.gz 200
	// hello
}
