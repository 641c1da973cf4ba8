package lab

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// Ways are all ways, in the order in which they are told.
var Ways = []Way{
	{Name: "blocking", About: "one after the other", Fetch: oneByOne},
	{Name: "goroutines", About: "net/http, a goroutine for each", Fetch: allAtOnce},
}

func oneByOne(ctx context.Context, urls []string, _ int) ([]Page, error) {
	var d net.Dialer
	var pages []Page
	for _, u := range urls {
		t, err := ParseTarget(u)
		if err != nil {
			pages = append(pages, Page{URL: u, Err: err})
			continue
		}
		c, err := d.DialContext(ctx, "tcp", t.Host)
		if err != nil {
			pages = append(pages, Page{URL: u, Err: err})
			continue
		}
		_, _ = c.Write(t.Request)
		answer, _ := io.ReadAll(c)
		c.Close()
		pages = append(pages, ParsePage(u, answer))
	}
	return pages, nil
}

func allAtOnce(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	pages := make([]Page, len(urls))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, u := range urls {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			pages[i].URL = u
			req, err := http.NewRequestWithContext(ctx, "GET", u, nil)
			if err != nil {
				pages[i].Err = err
				return
			}
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				pages[i].Err = err
				return
			}
			defer res.Body.Close()
			pages[i].Status = res.StatusCode
			pages[i].Body, pages[i].Err = io.ReadAll(res.Body)
		})
	}
	wg.Wait()
	return pages, nil
}
