//go:build linux

package lab

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// sysFetcher is the state that the tasks of a fetch or a crawl share, without a lock.
type sysFetcher struct {
	known addresses
	buf   []byte // for recv
}

func newSysFetcher(ctx context.Context, urls ...string) *sysFetcher {
	f := &sysFetcher{known: make(addresses), buf: make([]byte, 16<<10)}
	for _, u := range urls { // first: a look-up blocks, and later it would hold up all tasks
		if target, err := ParseTarget(u); err == nil {
			_, _ = f.known.resolve(ctx, target.Host)
		}
	}
	return f
}

// fetch returns a Page.
func (f *sysFetcher) fetch(rawURL string) *program {
	return newProgram("fetch "+rawURL, func(y *caller) (any, error) {
		target, err := ParseTarget(rawURL)
		if err != nil {
			return nil, err
		}
		s, err := ask[asyncSocket](y, dialSocket(f.known[target.Host]))
		if err != nil {
			return nil, err
		}
		defer s.close()
		if _, err := y.Yield(s.send(target.Request)); err != nil {
			return nil, err
		}
		var response []byte
		for {
			some, err := ask[[]byte](y, s.recv(f.buf))
			if errors.Is(err, ErrClosed) {
				return nil, err
			}
			response = append(response, some...)
			if err != nil || len(some) == 0 || len(response) > maxResponse {
				page := ParsePage(rawURL, response)
				if err != nil {
					page.Err = err
				}
				return page, nil
			}
		}
	})
}

// page is fetch with the error in the page, unless the error ends everything: the task is killed,
// or no descriptor is left.
func (f *sysFetcher) page(y *caller, rawURL string) (Page, error) {
	page, err := ask[Page](y, f.fetch(rawURL))
	switch {
	case err == nil:
		return page, nil
	case errors.Is(err, ErrClosed), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return Page{}, err
	}
	return Page{URL: rawURL, Err: err}, nil
}

// startWorkers starts n tasks of one program and returns their numbers.
func startWorkers(y *caller, n int, body func(y *caller) (any, error)) ([]int, error) {
	var tids []int
	for range n {
		tid, err := ask[int](y, NewTask(newProgram("worker", body)))
		if err != nil {
			return nil, err
		}
		tids = append(tids, tid)
	}
	return tids, nil
}

func fetchSyscalls(ctx context.Context, urls []string, atOnce int) ([]Page, error) {
	f := newSysFetcher(ctx, urls...)
	pages := make([]Page, len(urls))
	next := 0 // index in urls
	worker := func(y *caller) (any, error) {
		for next < len(urls) {
			i := next
			next++
			page, err := f.page(y, urls[i])
			if err != nil {
				return nil, err
			}
			pages[i] = page
		}
		return nil, nil
	}
	err := runKernel(ctx, newProgram("main", func(y *caller) (any, error) {
		workers, err := startWorkers(y, min(atOnce, len(urls)), worker)
		if err != nil {
			return nil, err
		}
		for _, tid := range workers {
			if _, err := y.Yield(WaitTask(tid)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
	for i := range pages {
		if pages[i].URL == "" { // no worker got to it
			pages[i] = Page{URL: urls[i], Err: cmp.Or(context.Cause(ctx), err)}
		}
	}
	return pages, err
}
