package diff_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/diff"
)

func Example() {
	var price atomic.Value
	price.Store("19 €")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Red shoes</title><p>Red shoes for %s, in all sizes</p>", price.Load())
	}))
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	ctx := context.Background()
	visit := func(o weft.Options) {
		for _, err := range weft.Crawl(ctx, o) {
			if err != nil {
				fmt.Println(err)
			}
		}
	}
	visit(weft.Options{Seeds: []string{site.URL}, Job: dir, Keep: weft.Keep{KeepBodies: true}})
	price.Store("17 €")
	visit(weft.Options{Job: dir, Rerun: weft.Rerun{Update: true}})

	report, err := diff.Compare(ctx, diff.Source{Path: dir, Visit: 1}, diff.Source{Path: dir, Visit: 2}, diff.Options{})
	if err != nil {
		panic(err)
	}
	defer report.Close()
	for change, err := range report.Changes() {
		if err != nil {
			panic(err)
		}
		fmt.Println(change.Kind, change.Title)
		for _, d := range change.Details {
			fmt.Println(d.Field, d.Words)
		}
	}
	// Output:
	// changed Red shoes
	// text [{same Red shoes for} {old 19} {new 17} {same €, in all sizes}]
}
