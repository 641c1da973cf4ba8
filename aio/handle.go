package aio

import "sync/atomic"

// Handle is the one door into a loop from other goroutines. A loop with an open handle is never
// deadlocked: a call may still come.
type Handle struct {
	loop   *Loop
	closed atomic.Bool
}

// Handle opens a handle. Call it on the loop, or before Run.
func (l *Loop) Handle() *Handle {
	l.handles++
	return &Handle{loop: l}
}

// Post schedules fn on the loop, after everything posted before it. Any goroutine may call it,
// also a task of the same loop. If it returns nil, fn runs, even if the loop is about to end.
// Errors: ErrClosed, ErrLoopClosed.
//
// Post never waits: a caller that posts faster than the loop runs must bound itself.
func (h *Handle) Post(fn func()) error {
	if h.closed.Load() {
		return ErrClosed
	}
	return h.loop.inbox.post(fn)
}

// Close closes the handle. Any goroutine may call it, more than once; what was posted before still
// runs.
func (h *Handle) Close() {
	if !h.closed.Swap(true) {
		_ = h.loop.inbox.post(func() { h.loop.handles-- }) // an ended loop no longer counts
	}
}
