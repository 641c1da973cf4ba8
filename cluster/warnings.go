package cluster

import (
	"sync"
	"time"
)

// warnings are those of things that may go wrong again and again. Any goroutine may use them.
type warnings struct {
	warn func(error)

	mu   sync.Mutex
	said map[string]time.Time // by the kind of a warning
}

func newWarnings(warn func(error)) *warnings {
	return &warnings{warn: warn, said: make(map[string]time.Time)}
}

// once warns, unless it has warned of that kind.
func (w *warnings) once(kind string, err func() error) { w.seldom(kind, forever, err) }

// seldom warns, unless it has warned of that kind within a time.
func (w *warnings) seldom(kind string, quiet time.Duration, err func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, ok := w.said[kind]; ok && time.Since(at) <= quiet {
		return
	}
	w.said[kind] = time.Now()
	w.warn(err())
}
