//go:build linux

package lab

import (
	"context"
	"errors"
	"io"

	"github.com/weftcrawl/weft/weburl"
)

// futureQueue holds the URLs of a crawl for its workers. It counts URLs that were put and are not
// done, so that join knows the end of the crawl: not when the queue is empty, as a page in flight
// may put more.
type futureQueue struct {
	loop       *Loop
	urls       []string
	getters    []*Future[none] // one per worker that found no URL
	unfinished int
	joiners    []*Future[none]
	closed     bool
}

func (q *futureQueue) put(rawURL string) {
	q.urls = append(q.urls, rawURL)
	q.unfinished++
	if len(q.getters) > 0 {
		q.getters[0].Resolve(none{}, nil)
		q.getters = q.getters[1:]
	}
}

// get takes a URL; its caller must call taskDone. It waits while there is none, and returns io.EOF
// once the queue is closed.
//
// A cancelled caller leaves its future behind, and may have been the one that was woken, while
// others wait in vain. Here all are cancelled together; for the cure see aio.Lot.
func (q *futureQueue) get(y *awaiter) (string, error) {
	for len(q.urls) == 0 {
		if q.closed {
			return "", io.EOF
		}
		f := NewFuture[none](q.loop)
		q.getters = append(q.getters, f)
		if _, err := f.Await(y); err != nil {
			return "", err
		}
	}
	rawURL := q.urls[0]
	q.urls = q.urls[1:]
	return rawURL, nil
}

func (q *futureQueue) taskDone() {
	q.unfinished--
	if q.unfinished == 0 {
		for _, f := range q.joiners {
			f.Resolve(none{}, nil)
		}
		q.joiners = nil
	}
}

// join waits until all URLs that were put are done.
func (q *futureQueue) join(y *awaiter) error {
	if q.unfinished == 0 {
		return nil
	}
	f := NewFuture[none](q.loop)
	q.joiners = append(q.joiners, f)
	_, err := f.Await(y)
	return err
}

// close ends the workers.
func (q *futureQueue) close() {
	q.closed = true
	for _, f := range q.getters {
		f.Resolve(none{}, nil)
	}
	q.getters = nil
}

func crawlFutures(ctx context.Context, root string, atOnce int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	root = first.Canonical().String() // as Page.Next gives them
	var pages []Page
	err = runFutures(ctx, []string{root}, func(f *futureFetcher) *async[none] {
		todo := &futureQueue{loop: f.loop}
		todo.put(root)
		seen := map[string]bool{root: true}

		// visit fetches one page and puts the URLs that it leads to, by links or a redirect.
		// Only then is the page done, so that the count cannot reach 0 in between.
		visit := func(y *awaiter, rawURL string) error {
			defer todo.taskDone()
			page, err := f.page(y, rawURL)
			if err != nil {
				return err
			}
			pages = append(pages, page)
			for _, next := range page.Next() {
				if !seen[next] {
					seen[next] = true
					todo.put(next)
				}
			}
			return nil
		}
		worker := func(y *awaiter) (none, error) {
			for {
				rawURL, err := todo.get(y)
				if errors.Is(err, io.EOF) {
					return none{}, nil
				}
				if err == nil {
					err = visit(y, rawURL)
				}
				if err != nil {
					return none{}, err
				}
			}
		}
		atTheEnd := func(y *awaiter) (none, error) {
			defer todo.close()
			return none{}, todo.join(y)
		}
		return newAsync("main", func(y *awaiter) (none, error) {
			tasks := []*Task[none]{Go(f.loop, newAsync("at the end", atTheEnd))}
			for range atOnce {
				tasks = append(tasks, Go(f.loop, newAsync("worker", worker)))
			}
			return none{}, gather(y, f.loop, tasks)
		})
	})
	return pages, err
}
