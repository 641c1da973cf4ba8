package cluster

import (
	"context"
	"sync"
)

// mailbox has functions for the node's goroutine, from any other.
type mailbox struct {
	mu   sync.Mutex
	all  []func()
	wake chan struct{}
}

func (m *mailbox) post(fn func()) {
	m.mu.Lock()
	m.all = append(m.all, fn)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.all
	m.all = nil
	return all
}

// revision is how far something has come, and who waits for that.
type revision struct {
	mu      sync.Mutex
	at      uint64
	changed chan struct{} // closed when it goes on
}

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

// wait waits until it has come as far, or for the end of ctx.
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
