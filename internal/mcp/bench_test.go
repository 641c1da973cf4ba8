package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkRead is read of a page of 95 KB on this machine by 64 clients over HTTP, beside a GET of
// the page by as many of net/http. Known pages are those that were read before.
func BenchmarkRead(b *testing.B) {
	const clients = 64
	var page strings.Builder
	page.WriteString("<!doctype html><title>Kettles</title><main><h1>Kettles</h1>")
	for i := 0; page.Len() < 95_000; i++ {
		fmt.Fprintf(&page, "<h2>Kettle %d</h2><p>A kettle boils <a href=/%d>water</a>, and whoever buys one wants to know how long that takes.</p>", i, i)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page.String())
	}))
	defer site.Close()
	url := served(b, "")
	sessions := make([]*sdk.ClientSession, clients)
	for i := range sessions {
		var err error
		transport := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer("f")}, DisableStandaloneSSE: true}
		if sessions[i], err = sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(context.Background(), transport, nil); err != nil {
			b.Fatal(err)
		}
		defer sessions[i].Close()
	}
	plain := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for _, c := range []struct {
		name string
		call func(client, n int) error
	}{
		{"net-http", func(int, int) error {
			res, err := plain.Get(site.URL)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			_, err = io.Copy(io.Discard, res.Body)
			return err
		}},
		{"known", func(i, _ int) error {
			_, err := sessions[i].CallTool(context.Background(), &sdk.CallToolParams{Name: "read", Arguments: args{"url": site.URL}})
			return err
		}},
		{"fresh", func(i, n int) error {
			_, err := sessions[i].CallTool(context.Background(), &sdk.CallToolParams{Name: "read", Arguments: args{"url": fmt.Sprintf("%s/%d", site.URL, n)}})
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			took := make([]time.Duration, b.N)
			var all sync.WaitGroup
			next := make(chan int)
			for i := range clients {
				all.Go(func() {
					for n := range next {
						began := time.Now()
						if err := c.call(i, n); err != nil {
							b.Error(err)
						}
						took[n] = time.Since(began)
					}
				})
			}
			for n := range b.N {
				next <- n
			}
			close(next)
			all.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[b.N/2])/1e6, "p50-ms")
			b.ReportMetric(float64(took[b.N*99/100])/1e6, "p99-ms")
		})
	}
}
