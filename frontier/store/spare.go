package store

import "sync"

// spare is buffers of committed lines, for later batches: growing one for each batch costs more than
// filling it. Batches are filled on the coordinator's loop and committed off it.
type spare struct {
	mu   sync.Mutex
	free map[string][][]byte // by output, whose lines are of like length in all batches
	size int                 // of free, in bytes
}

// mostSpare bounds the size of all. A batch has a few outputs, of a MB together, and while one is
// committed another is filled.
const mostSpare = 6 << 20

func (s *spare) take(output string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.free[output]
	n := len(all)
	if n == 0 {
		return nil
	}
	b := all[n-1]
	s.free[output] = all[:n-1]
	s.size -= cap(b)
	return b
}

func (s *spare) give(output string, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+cap(b) > mostSpare {
		return
	}
	if s.free == nil {
		s.free = make(map[string][][]byte)
	}
	s.free[output] = append(s.free[output], b[:0])
	s.size += cap(b)
}
