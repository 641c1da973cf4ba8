package render

import (
	"context"
	"slices"
	"sync"

	"github.com/weftcrawl/weft/weburl"
)

// queue hands tabs to pages that wait for one. The next one is for an origin that has the fewest,
// and of these for that which was served the longest ago: pages that hang hold up those of their
// own origin.
type queue struct {
	mu      sync.Mutex
	free    int
	taken   map[string]int // tabs, by the origins that have any
	waiting []*waiter      // those of an origin that was just served stand behind the others
}

// waiter is a page that waits for a tab.
type waiter struct {
	origin string
	has    chan struct{} // closed when it has one
}

func newQueue(tabs int) *queue { return &queue{free: tabs, taken: make(map[string]int)} }

// enter waits for a tab. leave gives it back.
func (q *queue) enter(ctx context.Context, origin string) (leave func(), err error) {
	w := &waiter{origin, make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, w)
	q.serve()
	q.mu.Unlock()
	select {
	case <-w.has:
		return func() { q.leave(w) }, nil
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
	if q.taken[w.origin]--; q.taken[w.origin] == 0 {
		delete(q.taken, w.origin)
	}
	q.free++
	q.serve()
}

// serve hands out the tabs that are free. q.mu is held.
func (q *queue) serve() {
	for q.free > 0 && len(q.waiting) > 0 {
		next := slices.MinFunc(q.waiting, func(a, b *waiter) int { return q.taken[a.origin] - q.taken[b.origin] })
		q.free--
		q.taken[next.origin]++
		close(next.has)
		var others, same []*waiter
		for _, w := range q.waiting {
			switch {
			case w == next:
			case w.origin == next.origin:
				same = append(same, w)
			default:
				others = append(others, w)
			}
		}
		q.waiting = append(others, same...)
	}
}

// originOf returns the origin of a page.
func originOf(url string) string {
	u, err := weburl.Parse(url)
	if err != nil {
		return url
	}
	return u.Origin()
}
