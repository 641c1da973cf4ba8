package httpclient

import (
	"crypto/tls"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
)

// Response is a whole response, or with an error as much as arrived of it.
type Response struct {
	Proto   string // "HTTP/1.1", "HTTP/2"
	Status  int
	Header  Header
	Trailer Header // fields after a chunked body; none if they are malformed
	RawHead string // status line and header as received, including the empty line
	Sent    string // the request without its body, as it was sent; needs Options.KeepRaw
	Body    []byte // decoded; valid until Close; nil with an error

	// Truncated reports that Body is only a beginning, because of Request.Cut: the first MaxBody
	// bytes, or what the first MaxBody bytes of a compressed body decode to, if that is less. The
	// connection is not used again.
	Truncated bool

	// Encoding is the Content-Encoding that was decoded: a list in the order of application.
	Encoding string
	// Wire counts the bytes received, including interim responses; over TLS, after decryption.
	Wire int64

	Addr netip.AddrPort // the server's; invalid if a proxy has looked it up

	// Private reports that the look-up which led to Addr returned no public address: see package
	// guard. It is false with an Override.
	Private bool

	Reused bool // the connection was a kept one
	Timing Timing
	// TLS is shared by the responses of a connection, without chains; nil: plain http.
	TLS *tls.ConnectionState

	secured string

	whole  *[]byte  // the buffer of Body, returned by Close
	from   *buffers // owner of whole
	wire   *[]byte  // the body before it was decoded, with Options.KeepRaw; else nil
	pool   *buffers // owner of wire
	frames frames
	hold   budget.Hold
}

// Timing is the time of an exchange, step by step. Steps that were not reached are 0, and so are
// the first three steps over a kept connection. If a request was sent twice, because the end of a
// kept connection crossed it, the second try is described.
//
// A response is timed by when its bytes arrived, even if the loop was busy then and read them
// later: to a tick of the system's clock on Linux, elsewhere not. The first three steps last until
// the loop found out.
type Timing struct {
	DNS     time.Duration // until the host's addresses were known, possibly from a cache
	Connect time.Duration // until there was a connection
	TLS     time.Duration // the handshake
	// FirstByte is the time from the moment at which the system had taken the whole request to the
	// first bytes of a response, possibly interim.
	FirstByte time.Duration
	// Total is the first three and the time from the request to the last bytes of the response.
	// Decoding is not part of it. With an error, it is the time of the call of Do.
	Total time.Duration
}

// took completes the times: the response ended d after the request.
func (t *Timing) took(d time.Duration) { t.Total = t.DNS + t.Connect + t.TLS + d }

// Protocol returns the protocol of the response by its name in ALPN: "h2", "http/1.1".
func (r *Response) Protocol() string {
	if r.Proto == "HTTP/2" {
		return "h2"
	}
	return strings.ToLower(r.Proto)
}

// Secured returns the version of TLS and the cipher suite, such as "TLS 1.3,
// TLS_AES_128_GCM_SHA256"; empty for plain http.
func (r *Response) Secured() string { return r.secured }

// Keep counts n bytes that were made from the body, in addition to it, until Close: see
// Options.Meter. A negative n stops counting them.
func (r *Response) Keep(n int) { r.hold.Set(r.hold.Size() + n) }

// Make is Keep for n bytes that are not allocated yet: it waits for room. It returns the error of
// the wait.
func (r *Response) Make(t *aio.Task, n int) error { return r.hold.Grow(t, n) }

// Hand moves everything counted, including the body, to the caller's hold, who must release it:
// for data made from the body that outlives Close.
func (r *Response) Hand(to *budget.Hold) { r.hold.Move(to) }

// Lasting returns the body as memory that nobody counts, and that stays valid after Close. It is no
// copy if its buffer is too long to be used again.
func (r *Response) Lasting() []byte {
	if r.whole != nil && cap(*r.whole) > keptBody {
		return r.Body
	}
	return slices.Clone(r.Body)
}

// CountWith counts everything with another meter than Options.Meter from now on.
func (r *Response) CountWith(m *budget.Meter) { r.hold.MoveTo(m) }

// Detached returns a copy that outlives Close: without the body, also as it was received, and
// counted by nobody. Header is shared.
func (r *Response) Detached() Response {
	d := *r
	d.Body, d.whole, d.wire, d.frames, d.hold = nil, nil, nil, frames{}, budget.Hold{}
	return d
}

// Close returns the buffer of the body: Body is no longer valid.
func (r *Response) Close() {
	r.hold.Release()
	if r.wire != nil && r.wire != r.whole {
		r.pool.give(r.wire)
	}
	if r.whole != nil {
		r.from.give(r.whole)
	}
	r.whole, r.wire, r.frames, r.Body = nil, nil, frames{}, nil
}
