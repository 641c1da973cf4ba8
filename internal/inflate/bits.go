package inflate

import "io"

// stream is the state within a stream.
type stream struct {
	src []byte
	pos int    // in src
	b   uint64 // bits read from src, the next one lowest; those beyond n belong to src[pos:], or are 0
	n   uint   // number of bits in b that count

	out  []byte // the current room for output
	w    int    // bytes written to it
	base int    // position where the stream begins
	end  int    // position of the limit
}

// refill reads from src until there are 56 to 63 bits, or src ends.
func (s *stream) refill() {
	for s.n < 56 && s.pos < len(s.src) {
		s.b |= uint64(s.src[s.pos]) << s.n
		s.pos++
		s.n += 8
	}
}

// take consumes a number of bits, at most 16.
func (s *stream) take(bits uint) (uint, error) {
	s.refill()
	if s.n < bits {
		return 0, io.ErrUnexpectedEOF
	}
	v := uint(s.b) & (1<<bits - 1)
	s.drop(bits)
	return v, nil
}

func (s *stream) drop(bits uint) {
	s.b >>= bits
	s.n -= bits
}
