package store

import "sync"

// spare is blocks of committed batches, for later ones: memory that is touched for the first time
// costs more than filling it. Batches are filled on the coordinator's loop and committed off it.
type spare struct {
	mu   sync.Mutex
	free [][]byte
}

// mostSpare bounds the blocks. A batch has a few outputs, of a MB together, and while one is
// committed another is filled.
const mostSpare = 6 << 20 / blockSize

// take returns an empty block.
func (s *spare) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return make([]byte, 0, blockSize)
	}
	b := s.free[n-1]
	s.free = s.free[:n-1]
	return b[:0]
}

func (s *spare) give(all lines) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, all[:min(len(all), mostSpare-len(s.free))]...)
}
