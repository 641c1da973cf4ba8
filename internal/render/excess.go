package render

import "fmt"

// The longest URL and header of a request that is made, in bytes. Scripts can make up any.
const (
	longestURL    = 16 << 10
	longestHeader = 64 << 10
)

// excess returns what is too long of a request; or "".
func (p *paused) excess() ByRule {
	if n := len(p.Request.URL); n > longestURL {
		return ByRule(fmt.Sprintf("a URL of %d bytes, of at most %d", n, longestURL))
	}
	n := 0
	for name, value := range p.Request.Headers {
		n += len(name) + len(value)
	}
	if n > longestHeader {
		return ByRule(fmt.Sprintf("a header of %d bytes, of at most %d", n, longestHeader))
	}
	return ""
}

// mostSent bounds the bytes that requests of a page send while they have no answer, which may be
// long.
const mostSent = 4 << 20

// errMuchSent refuses a request beyond that.
const errMuchSent ByRule = "requests under way send 4 MiB at most"
