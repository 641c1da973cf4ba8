package store

import "sync"

// blockSize is that of the blocks that lines are kept in, in bytes: a batch of a busy crawl fills
// some, and a write of one costs far more than the call.
const blockSize = 64 << 10

// lines are what a batch adds to an output: blocks, one after the other, filled but for the last.
// They do not move as they grow.
type lines [][]byte

func (l lines) append(b []byte, spare *spare) lines {
	for len(b) > 0 {
		if len(l) == 0 || len(l[len(l)-1]) == blockSize {
			l = append(l, spare.take())
		}
		last := &l[len(l)-1]
		n := min(len(b), blockSize-len(*last))
		*last = append(*last, b[:n]...)
		b = b[n:]
	}
	return l
}

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
