package http1

import (
	"crypto/tls"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
)

// Response is an answer: a whole one, or what there was of it beside an error.
type Response struct {
	Proto   string // "HTTP/1.1"
	Status  int
	Header  Header
	Trailer Header // fields after a chunked body; none if they are ill-formed
	RawHead string // status line and header as received, with the empty line
	Raw     []byte // with Options.KeepRaw: all bytes of the answer as received, the interim ones before it left out
	Body    []byte // decoded; valid until Close; nil beside an error

	// Truncated says that Body is only the beginning, because Request.Cut was set: the
	// first MaxBody bytes; or what the first MaxBody bytes of a compressed body decode to,
	// if that is less. The connection is not used again.
	Truncated bool

	Encoding string // the Content-Encoding that was decoded, as a list in the order in which it was applied; empty for none
	Wire     int64  // bytes of the answer as received, interim answers included; over TLS, after decryption

	Addr   netip.AddrPort // of the server; invalid if a proxy has looked it up
	Reused bool           // the connection was a kept one
	Timing Timing
	TLS    *tls.ConnectionState // of the connection, shared by all of its answers; nil for plain http

	whole *[]byte  // the buffer Body is in, given back by Close
	from  *buffers // which it came from
	hold  budget.Hold
}

// Timing is where the time of an exchange went. What was not reached is 0, and so are
// the first three of an exchange over a kept connection. Of a request that was sent
// twice, because the end of a kept connection crossed it, the second try counts, but
// in Total. Times are the loop's, read at most once a turn.
type Timing struct {
	DNS       time.Duration // until the addresses of the host were known, from a cache too
	Connect   time.Duration // until there was a connection
	TLS       time.Duration // the handshake
	FirstByte time.Duration // from when the system had taken the whole request to the first bytes of an answer, interim ones included
	Total     time.Duration // of the call of Do
}

// Keep counts n bytes that were made of the body, until Close, beside it: see Options.Meter. With
// a negative n they are gone.
func (r *Response) Keep(n int) { r.hold.Set(r.hold.Size() + n) }

// Make is Keep for n bytes that are not there yet: it waits for room. The error is that of the wait.
func (r *Response) Make(t *aio.Task, n int) error { return r.hold.Grow(t, n) }

// Hand moves what is counted, of the body too, to the caller, who is to release it: for what is
// made of the body and outlives Close.
func (r *Response) Hand(to *budget.Hold) { r.hold.Move(to) }

// Close gives the buffer of the body back: Body is not valid any more.
func (r *Response) Close() {
	r.hold.Release()
	if r.whole != nil {
		r.from.give(r.whole)
		r.whole, r.Body = nil, nil
	}
}
