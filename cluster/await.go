package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// revision is a number that grows, and for which others may wait.
type revision struct {
	mu      sync.Mutex
	at      uint64
	changed chan struct{} // closed when it grows
}

func newRevision() *revision { return &revision{changed: make(chan struct{})} }

// reach has the number grow to at least this.
func (r *revision) reach(at uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at > r.at {
		r.at = at
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

func (r *revision) now() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// wait waits until the number is at least this, or for the end of ctx.
func (r *revision) wait(ctx context.Context, at uint64) error {
	for {
		r.mu.Lock()
		now, changed := r.at, r.changed
		r.mu.Unlock()
		if now >= at {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// promise is a value that comes later, once.
type promise[T any] struct {
	made  chan struct{} // closed when the value is there
	value T
}

func newPromise[T any]() *promise[T] { return &promise[T]{made: make(chan struct{})} }

func (p *promise[T]) keep(value T) {
	p.value = value
	close(p.made)
}

// wait waits for the value, or for the end of ctx.
func (p *promise[T]) wait(ctx context.Context) (T, error) {
	select {
	case <-p.made:
		return p.value, nil
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// countdown counts calls, which come on any goroutine, down to the last.
type countdown struct{ missing atomic.Int64 }

func newCountdown(calls int) *countdown {
	c := new(countdown)
	c.missing.Store(int64(calls))
	return c
}

// last counts a call, and reports whether it is the last.
func (c *countdown) last() bool { return c.missing.Add(-1) == 0 }

// pause waits for a time, or for the end of ctx, which it returns.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
