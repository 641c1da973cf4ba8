package httpclient

// A client keeps at most keptBodies free buffers of each kind, of at most keptBody bytes each and
// Options.MaxKept together, for later responses.
const (
	keptBodies = 64
	keptBody   = 512 << 10
)

// buffers is a free list.
type buffers struct {
	free []*[]byte
	size int // total capacity
	max  int // limit of size
}

func (b *buffers) take() *[]byte {
	n := len(b.free)
	if n == 0 {
		buf := make([]byte, 0, 512)
		return &buf
	}
	buf := b.free[n-1]
	b.free = b.free[:n-1]
	b.size -= cap(*buf)
	return buf
}

func (b *buffers) give(buf *[]byte) {
	if buf != nil && cap(*buf) <= keptBody && b.size+cap(*buf) <= b.max && len(b.free) < keptBodies {
		*buf = (*buf)[:0]
		b.free = append(b.free, buf)
		b.size += cap(*buf)
	}
}
