package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/natsserver"
)

func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>hello</title><a href="/b">b</a>`)
	}))
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	servers, end := startServer(filepath.Join(dir, "nats")) // weft-nats does the same
	defer end()

	// The same on each machine, each with a job of its own.
	crawl, err := cluster.Join(context.Background(),
		cluster.Options{Servers: []string{servers}, Name: "example", Partitions: 1},
		weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(dir, "job")})
	if err != nil {
		panic(err)
	}
	summary, err := crawl.Run(context.Background())
	fmt.Println(summary.Pages, "pages", err)

	// When the crawl is over, the jobs become one folder.
	all, err := cluster.Collect(context.Background(), filepath.Join(dir, "all"), []string{filepath.Join(dir, "job")})
	fmt.Println(all.Records, "records", err)
	// Output:
	// 2 pages <nil>
	// 2 records <nil>
}

// startServer runs a server of NATS, and returns its address.
func startServer(store string) (address string, end func()) {
	s, err := natsserver.Start(natsserver.Options{Store: store, Listen: "127.0.0.1:0", MaxDisk: 64 << 20})
	if err != nil {
		panic(err)
	}
	return s.URL(), s.Close
}
