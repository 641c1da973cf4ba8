package inspect_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/inspect"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>hello</title>")
	}))
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	ctx := context.Background()
	for _, err := range weft.Crawl(ctx, weft.Options{Seeds: []string{site.URL}, Job: dir}) {
		if err != nil {
			fmt.Println(err)
		}
	}

	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		panic(err)
	}
	defer job.Close()
	status, err := job.Status(ctx)
	fmt.Println(status.State == inspect.JobFinished, status.Pages, err)
	for u, err := range job.URLs(ctx, inspect.URLFilter{State: inspect.URLDone}) {
		fmt.Println(u.State, u.Status, err)
	}
	// Output:
	// true 1 <nil>
	// done 200 <nil>
}
