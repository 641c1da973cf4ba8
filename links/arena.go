package links

import "strings"

// An arena makes strings from bytes, many per allocation. It never writes to them again, so a
// string may be kept; it keeps the whole chunk alive.
type arena struct {
	chunk strings.Builder
}

const (
	chunkSize   = 4 << 10
	largeString = chunkSize / 4 // gets an allocation of its own
)

func (a *arena) string(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case len(b) >= largeString:
		return string(b)
	case a.chunk.Cap()-a.chunk.Len() < len(b):
		a.chunk = strings.Builder{}
		a.chunk.Grow(chunkSize)
	}
	from := a.chunk.Len()
	a.chunk.Write(b)
	return a.chunk.String()[from:]
}
