package httpclient

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/internal/budget"
)

// A client keeps at most keptBodies free buffers of each kind, of at most keptBody bytes each and
// Options.MaxKept together, for later responses.
const (
	keptBodies = 64
	keptBody   = 512 << 10
)

// Bodies of more than shortBody bytes, before or after decoding, take turns: the loop decodes at
// most decodeQuota bytes in a turn, plus one body. Shorter bodies do not wait.
const (
	decodeQuota = 1 << 20 // a few milliseconds of work
	shortBody   = 64 << 10
)

// Client fetches over HTTP/1.1 and HTTP/2. It belongs to one loop.
type Client struct {
	loop       *aio.Loop
	opt        Options
	invalid    *Error            // the error of opt.UserAgent, opt.Header or opt.Auth
	shared     Header            // of Options.Header, what is sent to every origin
	secrets    Header            // what is sent to trusted ones
	toProxy    string            // and its field Proxy-Authorization
	header     header            // shared, and the client's own fields
	auth       map[origin]string // values of the Authorization field
	names      names
	tls        *tls.Config
	verifier   verifier
	warm       warmth
	handshakes *aio.Semaphore
	sessions   sessions
	idle       pool
	muxes      muxes
	decoders   decoders
	decoding   *aio.Quota
	offLoop    struct { // for decoding off the loop
		decoders decoders
		turn     aio.Lock // held by the task that decodes
	}
	wire    buffers // for bodies as sent: one per response in progress, so that many are in use
	decoded buffers // for decoded bodies: few at once, so that few grow large
	opened  []byte  // a decrypted TLS record
}

// NewClient returns a client for tasks of l. Close it when it is no longer used. If
// Options.UserAgent, Options.Header or Options.Auth cannot be sent (see Header.Check,
// Credential.Check), all of its requests fail.
func NewClient(l *aio.Loop, opt Options) *Client {
	opt = opt.withDefaults()
	if opt.Resolver == nil {
		opt.Resolver = dns.New(l, dns.Options{})
	}
	c := &Client{
		loop:       l,
		opt:        opt,
		shared:     slices.DeleteFunc(slices.Clone(opt.Header), func(f Field) bool { return isSecret(f) || isForProxy(f) }),
		auth:       authorizations(opt.Auth),
		names:      names{resolver: opt.Resolver, overrides: opt.Resolve},
		verifier:   newVerifier(opt.RootCAs),
		handshakes: aio.NewSemaphore(mostHandshakes),
		decoding:   aio.NewQuota(l, decodeQuota),
		wire:       buffers{max: opt.MaxKept},
		decoded:    buffers{max: opt.MaxKept},
		idle:       newPool(l, &opt),
		sessions:   newSessions(opt.MaxSessionBytes),
		muxes:      newMuxes(),
	}
	c.header = newHeader(opt.UserAgent, c.shared)
	c.tls = newTLSConfig(l, len(opt.Auth) > 0 || opt.Cookies != nil || slices.ContainsFunc(opt.Header, isSecret))
	for _, f := range opt.Header {
		switch {
		case isSecret(f):
			c.secrets = append(c.secrets, f)
		case isForProxy(f):
			c.toProxy = f.Value
		}
	}
	if err := append(Header{{"User-Agent", opt.UserAgent}}, opt.Header...).Check(); err != nil {
		c.invalid = &Error{Kind: KindScheme, Err: err}
	}
	for _, credential := range opt.Auth {
		if err := credential.Check(); err != nil {
			c.invalid = &Error{Kind: KindScheme, Err: err}
		}
	}
	return c
}

// heard tells whoever wants to know that bytes of a server have arrived.
func (c *Client) heard(at time.Time) {
	if c.opt.OnBytes != nil {
		c.opt.OnBytes(at)
	}
}

// Close closes the idle connections; connections in use are closed after their exchange.
func (c *Client) Close() { c.idle.close() }

// Disconnect closes the idle connections. Others will be kept.
func (c *Client) Disconnect() { c.idle.clear() }

// stale reports whether the server ended a kept connection just when it was used again. Then no
// response began, or the response was not for this request: a 408 (RFC 9110, section 15.5.9). The
// request is sent once more, unless it says otherwise, over a new connection: the other kept ones
// have probably been ended too.
func (cn *conn) stale(failed *Error) bool {
	p := &cn.exchange.parser
	switch {
	case !cn.reused:
		return false
	case failed == nil:
		return p.res.Status == 408 && p.close
	}
	return p.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset)
}

// misjudged reports whether a server that asked for HTTP/1.1 has responded to it in HTTP/2. It
// understood nothing of the request, so that even a POST may be sent again.
func (cn *conn) misjudged(failed *Error) bool {
	return failed != nil && errors.Is(failed, errHTTP2) && cn.client.habit(cn.route).wanted && !cn.client.opt.HTTP1
}

// staleError returns the error of a request that is not sent again; failed is nil after a 408.
func (cn *conn) staleError(failed *Error) *Error {
	if failed == nil {
		return &Error{Kind: KindEarlyEnd, Err: ErrStale, Timing: cn.exchange.timing}
	}
	failed.Err = fmt.Errorf("%w: %w", ErrStale, failed.Err)
	return failed
}

// begin prepares for an exchange.
func (x *exchange) begin(req *Request, tm Timing) {
	x.req, x.timing, x.fields = req, tm, 0
	for _, f := range req.Header {
		x.fields += len(f.Value)
	}
	x.hold.Set(x.base(0))
	if x.hold.Size() > budget.Small { // others may wait for it before the response begins
		x.arrive()
		x.judgeFrom(x.client.loop.Now())
	}
}

// release returns the response, or what arrived of it when the exchange has failed, and keeps or
// closes the connection.
func (cn *conn) release(t *aio.Task, failed *Error) *Response {
	res := cn.exchange.response(cn, failed)
	// Bytes beyond the response are not ours to interpret.
	over := failed != nil || res.Truncated || cn.exchange.parser.close || cn.ended || cn.excess || cn.reader.Buffered() > 0 ||
		cn.tls != nil && !cn.tls.lasting()
	cn.exchange.req, cn.exchange.arrival = nil, nil // which refers to the response
	if over {
		cn.gaveUp = failed != nil
		if failed == nil && !cn.ended {
			cn.sendCloseNotify(t)
		}
		cn.Close()
	} else {
		cn.reused = true // from now on
		cn.client.idle.put(cn)
	}
	return res
}

// response returns the response of an exchange over cn, or what arrived of it when the exchange has
// failed.
func (x *exchange) response(cn *conn, failed *Error) *Response {
	p := &x.parser
	res := p.res
	if res != nil {
		res.Wire, res.Addr, res.Reused, res.Timing = p.wire, cn.addr(), cn.reused, x.timing
		res.Private = cn.lookup.private
		if cn.tls != nil {
			res.TLS, res.secured = cn.tls.state, cn.tls.secured
		}
		if p.keep {
			res.frames, res.Sent = p.frames, x.sent
		}
	}
	if failed != nil {
		failed.Wire, failed.Addr, failed.Timing = p.wire, cn.addr(), x.timing
		if p.keep && res != nil && p.body != nil {
			res.wire, res.pool, p.body = p.body, &x.client.wire, nil
		}
		x.client.wire.give(p.body)
		if res != nil {
			res.spoil()
		}
	}
	if res != nil && (failed == nil || res.wire != nil) {
		x.hold.Move(&res.hold)
	} else {
		x.hold.Release()
	}
	return res
}

// kept returns a kept connection for a request, or nil. One of HTTP/2 serves others, too, from then
// on. If the request was tried before, the server has probably ended its other connections of
// HTTP/1.1 as it ended the last one; one of HTTP/2 may only have refused the request.
func (c *Client) kept(t *aio.Task, req *Request, to route, tried int) *conn {
	for {
		cn := c.idle.take(to, tried == 0 && !req.fresh())
		switch {
		case cn == nil:
			return nil
		case !cn.permits(req) || cn.mux != nil && req.fresh() && !cn.mux.barsLately():
		case cn.mux == nil:
			if cn.quiet(t) {
				return cn
			}
		case c.wakes(t, cn):
			cn.exchange.hold = c.opt.Meter.Open(req.Prompt)
			cn.exchange.hold.Set(cn.exchange.chain)
			return cn
		}
		cn.Close()
	}
}

// record returns the buffer into which TLS records are decrypted, one after the other.
func (c *Client) record() []byte {
	if c.opened == nil {
		c.opened = make([]byte, maxRecord)
	}
	return c.opened
}

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
