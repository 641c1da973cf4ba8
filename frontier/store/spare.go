package store

import "sync"

// spare is buffers of committed lines, for later batches: growing one for each batch costs more than
// filling it. Batches are filled on the coordinator's loop and committed off it.
type spare struct {
	mu   sync.Mutex
	free [][]byte
}

// A batch has a few outputs, and while one is committed another is filled. Longer buffers are rare.
const (
	mostSpare = 3
	longSpare = 3 << 19 // bytes
)

func (s *spare) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	b := s.free[n-1]
	s.free = s.free[:n-1]
	return b
}

func (s *spare) give(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < mostSpare && cap(b) <= longSpare {
		s.free = append(s.free, b[:0])
	}
}
