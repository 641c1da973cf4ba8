package aio

import (
	"sync"
	"sync/atomic"
)

// inbox takes the functions that other goroutines post to a loop, and wakes it for them.
type inbox struct {
	sleeping atomic.Bool // the loop waits, or is about to: a post must wake it
	filled   atomic.Bool // posted is not empty
	waker    interface { // the place in which the loop waits
		Wake()
	}
	mu struct {
		sync.Mutex
		posted []func()
		opened bool
		closed bool
	}
}

// open reports whether the loop may run: it does once.
func (in *inbox) open() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	first := !in.mu.opened
	in.mu.opened = true
	return first
}

// post schedules fn on the loop. Any goroutine may call it. It wakes the loop with the mutex held:
// once the inbox is closed, nobody is left at the selector, whose descriptors may be closed.
func (in *inbox) post(fn func()) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.mu.closed {
		return ErrLoopClosed
	}
	in.mu.posted = append(in.mu.posted, fn)
	in.filled.Store(true)
	if in.sleeping.Swap(false) {
		in.waker.Wake()
	}
	return nil
}

// take empties the inbox.
func (in *inbox) take() []func() {
	in.mu.Lock()
	defer in.mu.Unlock()
	posted := in.mu.posted
	in.mu.posted = nil
	in.filled.Store(false)
	return posted
}

// sleep lets a post wake the loop, which is about to wait. It reports whether it may: for what was
// posted before, nobody will wake it.
func (in *inbox) sleep() bool {
	in.sleeping.Store(true)
	return !in.filled.Load()
}

// wake is called when the loop no longer waits.
func (in *inbox) wake() { in.sleeping.Store(false) }

// close lets no more in.
func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mu.closed = true
}
