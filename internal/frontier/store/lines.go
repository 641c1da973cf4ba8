package store

// blockSize is that of the blocks that lines are kept in, in bytes: a batch of a busy crawl fills
// some, and a write of one costs far more than the call.
const blockSize = 64 << 10

// lines are the additions of a batch to an output: blocks, one after the other, filled but for the
// last. They do not move as they grow.
type lines [][]byte

func (l *lines) append(b []byte, spare *spare) {
	for len(b) > 0 {
		if n := len(*l); n == 0 || len((*l)[n-1]) == blockSize {
			*l = append(*l, spare.take())
		}
		last := &(*l)[len(*l)-1]
		n := min(len(b), blockSize-len(*last))
		*last = append(*last, b[:n]...)
		b = b[n:]
	}
}
