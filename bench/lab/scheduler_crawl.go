//go:build linux

package lab

import (
	"context"

	"github.com/weftcrawl/weft/weburl"
)

// sysQueue holds the URLs of a crawl for its workers. It counts URLs that were put and are not
// done: the crawl ends when none is left, not when the queue is empty.
type sysQueue struct {
	urls       []string
	takers     lot
	unfinished int
	joiners    lot
}

func (q *sysQueue) put(y *caller, rawURL string) error {
	q.urls = append(q.urls, rawURL)
	q.unfinished++
	_, err := y.Yield(Unpark(&q.takers, 1))
	return err
}

// take waits for a URL; its caller must call done.
func (q *sysQueue) take(y *caller) (string, error) {
	for len(q.urls) == 0 {
		if _, err := y.Yield(Park(&q.takers)); err != nil {
			return "", err
		}
	}
	rawURL := q.urls[0]
	q.urls = q.urls[1:]
	return rawURL, nil
}

func (q *sysQueue) done(y *caller) error {
	if q.unfinished--; q.unfinished > 0 {
		return nil
	}
	_, err := y.Yield(Unpark(&q.joiners, len(q.joiners)))
	return err
}

// join waits until all URLs that were put are done.
func (q *sysQueue) join(y *caller) error {
	for q.unfinished > 0 {
		if _, err := y.Yield(Park(&q.joiners)); err != nil {
			return err
		}
	}
	return nil
}

func crawlSyscalls(ctx context.Context, root string, atOnce int) ([]Page, error) {
	first, err := weburl.Parse(root)
	if err != nil {
		return nil, err
	}
	root = first.Canonical().String() // as Page.Next gives them
	f := newSysFetcher(ctx, root)
	todo, seen := &sysQueue{}, map[string]bool{root: true}
	var pages []Page
	worker := func(y *caller) (any, error) {
		for {
			rawURL, err := todo.take(y)
			if err != nil {
				return nil, err
			}
			page, err := f.page(y, rawURL)
			if err != nil {
				return nil, err
			}
			pages = append(pages, page)
			for _, next := range page.Next() {
				if !seen[next] {
					seen[next] = true
					if err := todo.put(y, next); err != nil {
						return nil, err
					}
				}
			}
			// The page may leave the count only now that the URLs it leads to are in it.
			if err := todo.done(y); err != nil {
				return nil, err
			}
		}
	}
	err = runKernel(ctx, newProgram("main", func(y *caller) (any, error) {
		if err := todo.put(y, root); err != nil {
			return nil, err
		}
		if _, err := startWorkers(y, atOnce, worker); err != nil {
			return nil, err
		}
		return nil, todo.join(y) // the waiting workers end with the first task
	}))
	return pages, err
}
