package links

import "strings"

// An arena makes strings of bytes, many to one allocation. What it has made is never
// written again, so a string can be kept; it keeps the chunk it is part of.
type arena struct {
	chunk strings.Builder
}

const (
	chunkSize   = 4 << 10
	largeString = chunkSize / 4 // has an allocation of its own
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
