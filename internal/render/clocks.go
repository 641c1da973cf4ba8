package render

import (
	"context"
	"sync"
	"time"
)

// clocks are the stopwatches of pages that are being rendered. The zero value has none.
type clocks struct {
	mu     sync.Mutex
	paused bool
	all    map[*stopwatch]bool
}

// begin adds a stopwatch.
func (c *clocks) begin(w *stopwatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[*stopwatch]bool)
	}
	c.all[w] = true
	if c.paused {
		w.hold()
	}
}

// end removes a stopwatch, and stops it.
func (c *clocks) end(w *stopwatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, w)
	w.stop()
}

// pause has all stand still, or go on.
func (c *clocks) pause(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == on {
		return
	}
	c.paused = on
	for w := range c.all {
		if on {
			w.hold()
		} else {
			w.release()
		}
	}
}

// extend gives all some more time.
func (c *clocks) extend(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.all {
		w.extend(by)
	}
}

// within returns a context that ends, with errLate, after a time on a stopwatch of these.
func (c *clocks) within(ctx context.Context, most time.Duration) (_ context.Context, w *stopwatch, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w = startStopwatch(most, func() { cancel(errLate) })
	c.begin(w)
	return ctx, w, func() {
		c.end(w)
		cancel(nil)
	}
}
