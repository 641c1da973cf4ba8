package cluster

import (
	"context"
	"math"
	"sync"
	"time"
)

// mailbox has functions for the goroutine of a loop, from any other.
type mailbox struct {
	mu   sync.Mutex
	all  []func()
	wake chan struct{}
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) post(fn func()) {
	m.mu.Lock()
	m.all = append(m.all, fn)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// forever is a time to wait that does not end.
const forever time.Duration = math.MaxInt64

// wait waits for functions, for a time at most, and returns them. It reports false when ctx ends.
func (m *mailbox) wait(ctx context.Context, most time.Duration) (all []func(), ok bool) {
	var late <-chan time.Time
	switch {
	case most <= 0:
		return m.take(), ctx.Err() == nil
	case most < forever:
		timer := time.NewTimer(most)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-m.wake:
	case <-late:
	case <-ctx.Done():
		return nil, false
	}
	return m.take(), true
}

func (m *mailbox) take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.all
	m.all = nil
	return all
}
