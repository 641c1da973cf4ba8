package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/weburl"
)

// Aio is the way of Weft: one thread and an epoll, as in callbacks.go, and each fetch written from
// top to bottom, as in blocking.go. A function that takes a *aio.Task may wait: the loop suspends
// its coroutine, runs others, and resumes it when the socket is ready. Between two such calls
// nothing else runs on the loop, so what tasks share needs no lock, and the code shows where others
// may run.
var Aio = Way{
	Name:  "aio",
	About: "coroutines on one event loop",
	Fetch: aioFetch,
	Crawl: aioCrawl,
}

func aioFetch(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	pages := make([]Page, len(urls))
	for i, u := range urls {
		pages[i] = Page{URL: u, Err: aio.ErrCanceled} // until it is fetched
	}
	next := 0
	worker := func(t *aio.Task) error {
		for next < len(urls) {
			i := next // no wait between these two lines: no other worker has the same i
			next++
			pages[i] = aioGet(t, urls[i])
			if errors.Is(pages[i].Err, aio.ErrCanceled) {
				return aio.ErrCanceled
			}
		}
		return nil
	}
	err := aio.Run(ctx, func(t *aio.Task) error {
		return t.Group(func(g *aio.Group) error {
			for range min(atOnce, len(urls)) {
				g.Go("worker", worker)
			}
			return nil
		})
	})
	return pages, unlessDone(ctx, err)
}

// aioCrawl is a queue and its workers. A page is done (TaskDone) when all URLs that it leads to are
// in the queue. So only at the end of the crawl is nothing unfinished, and Join waits for that.
func aioCrawl(ctx context.Context, root string, atOnce int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	var pages []Page
	var queue aio.Queue[string]
	seen := make(map[string]bool)
	add := func(u string) {
		if !seen[u] {
			seen[u] = true
			queue.TryPut(u)
		}
	}
	worker := func(t *aio.Task) error {
		for {
			u, err := queue.Get(t)
			if err != nil {
				return err
			}
			page := aioGet(t, u)
			pages = append(pages, page)
			for _, next := range page.Next() {
				add(next)
			}
			queue.TaskDone()
		}
	}
	err = aio.Run(ctx, func(t *aio.Task) error {
		return t.Group(func(g *aio.Group) error {
			add(first.Canonical().String())
			for range atOnce {
				g.Go("worker", worker)
			}
			if err := queue.Join(t); err != nil {
				return err
			}
			g.Cancel() // the workers wait for URLs that will not come
			return nil
		})
	})
	return pages, unlessDone(ctx, err)
}

// unlessDone returns err, unless ctx is done, which then is the reason for it.
func unlessDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// aioGet fetches one page.
func aioGet(t *aio.Task, rawURL string) Page {
	response, err := aioExchange(t, rawURL)
	if errors.Is(err, aio.ErrLimit) {
		return Page{URL: rawURL, Err: fmt.Errorf("lab: %s: the response is longer than %d bytes", rawURL, maxResponse)}
	}
	page := ParsePage(rawURL, response)
	if err != nil {
		page.Err = err
	}
	return page
}

// aioExchange is blockingExchange again. It waits in Dial, Write and ReadAll.
func aioExchange(t *aio.Task, rawURL string) ([]byte, error) {
	target, err := ParseTarget(rawURL)
	if err != nil {
		return nil, err
	}
	c, err := aio.Dial(t, "tcp", target.Host) // resolves the name on another goroutine
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Write(t, target.Request); err != nil {
		return nil, err
	}
	r := aio.NewReader(t.Loop(), c)
	defer r.Close()
	return r.ReadAll(t, maxResponse)
}
