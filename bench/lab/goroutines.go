package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/weftcrawl/weft/weburl"
)

// Goroutines is the way of most Go programs: a goroutine for each page, and net/http. A waiting
// goroutine sleeps in Go's scheduler, which has an epoll of its own and wakes the goroutine when
// its socket is ready: it reads like blocking.go, and runs like callbacks.go. Goroutines run on all
// processors, so what they share needs a lock, or an owner.
var Goroutines = Way{
	Name:  "goroutines",
	About: "a goroutine for each page, with net/http",
	Fetch: goroutinesFetch,
	Crawl: goroutinesCrawl,
}

func goroutinesFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	client := newTransport()
	defer client.CloseIdleConnections() // including those still connecting for abandoned pages
	pages := make([]Page, len(urls))
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i, u := range urls {
		slots <- struct{}{} // waits for a free one
		running.Go(func() {
			pages[i] = goroutineGet(ctx, client, u)
			<-slots
		})
	}
	running.Wait()
	return pages, nil
}

// goroutinesCrawl shares nothing: one goroutine owns todo and seen, and the fetching goroutines
// send it the links they find.
func goroutinesCrawl(ctx context.Context, root string, atOnce int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	type found struct {
		page Page
		next []string
	}
	client := newTransport()
	defer client.CloseIdleConnections()
	results := make(chan found)
	todo := []string{first.Canonical().String()}
	seen := map[string]bool{todo[0]: true}
	var pages []Page
	for running := 0; ; {
		for ; len(todo) > 0 && running < atOnce && ctx.Err() == nil; running++ {
			u := todo[0]
			todo = todo[1:]
			go func() {
				page := goroutineGet(ctx, client, u)
				results <- found{page, page.Next()}
			}()
		}
		if running == 0 {
			return pages, nil
		}
		result := <-results
		running--
		pages = append(pages, result.page)
		for _, next := range result.next {
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
}

// newTransport returns a client that does what the other ways do: a connection per page, no proxy,
// and bodies as received.
func newTransport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DisableCompression: true}
}

// goroutineGet fetches one page. It uses the transport rather than an http.Client, which would
// follow redirects.
func goroutineGet(ctx context.Context, client *http.Transport, rawURL string) Page {
	page := Page{URL: rawURL}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		page.Err = err
		return page
	}
	request.Header.Set("User-Agent", userAgent)
	response, err := client.RoundTrip(request)
	if err != nil {
		page.Err = err
		return page
	}
	defer response.Body.Close()
	var header bytes.Buffer
	_ = response.Header.Write(&header) // to memory
	page.Status, page.Header = response.StatusCode, header.Bytes()
	page.Body, page.Err = io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if len(page.Body) > maxResponse {
		page = Page{URL: rawURL, Err: fmt.Errorf("lab: %s: the response is longer than %d bytes", rawURL, maxResponse)}
	}
	return page
}
