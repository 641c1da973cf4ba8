package render

import (
	"context"
	"slices"
	"sync"

	"github.com/weftcrawl/weft/weburl"
)

// queue hands tabs to pages that wait for one. The next one is for a site that has the fewest, and
// of these for that which was served the longest ago: pages that hang hold up those of their own
// site. A site has as many hosts as it likes.
type queue struct {
	mu      sync.Mutex
	free    int            // below zero: some that are taken are not given out again
	taken   map[string]int // tabs, by the sites that have any
	waiting []*waiter      // those of a site that was just served stand behind the others
}

// waiter is a page that waits for a tab.
type waiter struct {
	site string
	has  chan struct{} // closed when it has one
}

func newQueue(tabs int) *queue { return &queue{free: tabs, taken: make(map[string]int)} }

// grow adds tabs, or takes some away as they are given back.
func (q *queue) grow(by int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free += by
	q.serve()
}

// enter waits for a tab. leave gives it back, once.
func (q *queue) enter(ctx context.Context, site string) (leave func(), err error) {
	w := &waiter{site, make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, w)
	q.serve()
	q.mu.Unlock()
	select {
	case <-w.has:
		return sync.OnceFunc(func() { q.leave(w) }), nil
	case <-ctx.Done():
		q.leave(w)
		return nil, context.Cause(ctx)
	}
}

// leave takes a page out, with the tab that it may have.
func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	if q.taken[w.site]--; q.taken[w.site] == 0 {
		delete(q.taken, w.site)
	}
	q.free++
	q.serve()
}

// serve hands out the tabs that are free. q.mu is held.
func (q *queue) serve() {
	for q.free > 0 && len(q.waiting) > 0 {
		next := slices.MinFunc(q.waiting, func(a, b *waiter) int { return q.taken[a.site] - q.taken[b.site] })
		q.free--
		q.taken[next.site]++
		close(next.has)
		var others, same []*waiter
		for _, w := range q.waiting {
			switch {
			case w == next:
			case w.site == next.site:
				same = append(same, w)
			default:
				others = append(others, w)
			}
		}
		q.waiting = append(others, same...)
	}
}

// domainOf returns the registrable domain of a page, or its host.
func domainOf(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return url
	}
	return weburl.Site(u.Hostname())
}

// originOf returns the origin of a page.
func originOf(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return url
	}
	return u.Origin()
}
