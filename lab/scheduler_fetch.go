//go:build linux

package lab

import (
	"context"
	"errors"

	"github.com/weftcrawl/weft/weburl"

	"golang.org/x/sys/unix"
)

// A sysFetcher is what the tasks of a fetch or a crawl share, unlocked.
type sysFetcher struct {
	known addresses
	buf   []byte // for recv
}

func newSysFetcher(ctx context.Context, urls ...string) *sysFetcher {
	f := &sysFetcher{known: make(addresses), buf: make([]byte, 16<<10)}
	for _, u := range urls { // before: a look-up blocks, and later it would hold up all tasks
		if target, err := ParseTarget(u); err == nil {
			_, _ = f.known.of(ctx, target.Host)
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
		var answer []byte
		for {
			some, err := ask[[]byte](y, s.recv(f.buf))
			if errors.Is(err, ErrClosed) {
				return nil, err
			}
			answer = append(answer, some...)
			if err != nil || len(some) == 0 || len(answer) > maxAnswer {
				page := ParsePage(rawURL, answer)
				if err != nil {
					page.Err = err
				}
				return page, nil
			}
		}
	})
}

// page is fetch with the error put into the page, unless it is one that ends everything: the
// task is killed, or there is no descriptor to be had.
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

// startWorkers starts so many tasks of one program and returns their numbers.
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
	next := 0 // to be fetched, of urls
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
		workers, err := startWorkers(y, min(max(atOnce, 1), len(urls)), worker)
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
		if pages[i].URL == "" { // it was not reached
			pages[i] = Page{URL: urls[i], Err: context.Cause(ctx)}
		}
	}
	return pages, err
}

// A lot is where tasks wait for each other. The two system calls on it are all that a
// kernel needs for locks, queues and the like to be made in programs: they are futex(2).
type lot []*kernelTask

// Park waits in a lot until Unpark.
func Park(l *lot) SystemCall {
	return func(_ *kernel, t *kernelTask) { *l = append(*l, t) }
}

// Unpark wakes the n that have waited longest, or all.
func Unpark(l *lot, n int) SystemCall {
	return func(k *kernel, t *kernelTask) {
		for ; n > 0 && len(*l) > 0; *l = (*l)[1:] {
			if first := (*l)[0]; k.tasks[first.tid] != nil { // or it was killed
				k.resume(first, nil, nil)
				n--
			}
		}
		k.resume(t, nil, nil)
	}
}

// A sysQueue is what workers take URLs from, and put URLs into. It counts those that were put
// and are not done: when none is left, not when it is empty, a crawl is at its end.
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

// take waits for a URL; done is to be called for it.
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

// join waits until all that was put is done.
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
			// Only now, when what the page leads to is counted, may it be off the count.
			if err := todo.done(y); err != nil {
				return nil, err
			}
		}
	}
	err = runKernel(ctx, newProgram("main", func(y *caller) (any, error) {
		if err := todo.put(y, root); err != nil {
			return nil, err
		}
		if _, err := startWorkers(y, max(atOnce, 1), worker); err != nil {
			return nil, err
		}
		return nil, todo.join(y) // the workers, who wait for more, end with the first task
	}))
	return pages, err
}
