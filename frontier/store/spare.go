package store

import "sync"

// spare is buffers of committed lines, for later batches: growing one for each batch costs more than
// filling it. Batches are filled on the coordinator's loop and committed off it.
type spare struct {
	mu   sync.Mutex
	free [][]byte
	size int // of free, in bytes
}

// mostSpare bounds the size of all. A batch has a few outputs, of a MB together, and while one is
// committed another is filled.
const mostSpare = 6 << 20

func (s *spare) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	b := s.free[n-1]
	s.free = s.free[:n-1]
	s.size -= cap(b)
	return b
}

func (s *spare) give(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+cap(b) <= mostSpare {
		s.free = append(s.free, b[:0])
		s.size += cap(b)
	}
}
