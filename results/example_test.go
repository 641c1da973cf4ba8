package results_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/results"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>Page ", r.URL.Path, "</title>")
	}))
	defer site.Close()
	job, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(job)
	for _, err := range weft.Crawl(context.Background(), weft.Options{Seeds: []string{site.URL + "/a"}, Job: job, Keep: weft.Keep{KeepBodies: true}}) {
		if err != nil {
			fmt.Println(err)
		}
	}

	bodies, err := results.OpenBodies(job)
	if err != nil {
		panic(err)
	}
	defer bodies.Close()
	for r, err := range results.Last(context.Background(), job, 0, "") {
		if err != nil {
			panic(err)
		}
		body, err := bodies.Read(r)
		fmt.Println(r.Status, r.Title, len(body), err)
	}
	// Output:
	// 200 Page /a 22 <nil>
}
