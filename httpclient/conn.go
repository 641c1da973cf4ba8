package httpclient

import (
	"net"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// conn is a connection, and one exchange after the other.
type conn struct {
	aio.Conn
	client   *Client
	exchange exchange // the one under way, over HTTP/1.1
	route    route
	host     string          // of the server, without a port
	server   *netip.AddrPort // behind a proxy, invalid if the proxy has looked it up; nil without one
	tls      *channel        // nil for plain http
	mux      *mux            // of HTTP/2, or nil
	reader   *aio.Reader
	step     func() // feed, on the loop's stack; nil: no response has arrived yet
	ended    bool   // input of feed: nothing more comes; output: TLS has ended
	excess   bool   // output of feed: TLS carried bytes beyond the response
	short    bool   // reader has only the beginning of a TLS record
	reused   bool
	gaveUp   bool // on a request, which the system may still have
	lookup   lookup

	since        time.Time // in the pool
	older, newer *conn
}

// Close also returns the reader's buffer.
func (cn *conn) Close() error {
	cn.reader.Close()
	if cn.tls != nil {
		cn.client.warm.drop(&cn.tls.get, &cn.tls.send)
	}
	if cn.gaveUp { // it must not arrive when the network is back: others may ask this host by then
		return aio.Abort(cn.Conn)
	}
	return cn.Conn.Close()
}

// addr returns the server's address; invalid if a proxy has looked it up.
func (cn *conn) addr() netip.AddrPort {
	if cn.route.via != nil {
		return *cn.server
	}
	tcp, ok := cn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	to := tcp.AddrPort()
	return netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
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

// quiet reports whether nothing has arrived over cn while it was kept. Anything that has means
// that cn has ended, or carries unrequested bytes such as a 408, which would pass for the response
// to the next request. Only the session tickets that a TLS server may send at any time belong to
// no response.
func (cn *conn) quiet(t *aio.Task) bool {
	if !cn.Ready() {
		return true
	}
	if cn.tls == nil {
		return false
	}
	_ = cn.SetDeadline(time.Time{})
	b, err := cn.arrived(t) // does not wait: cn is ready
	if err != nil {
		return false
	}
	quiet, used := true, 0
	t.OnLoop(func() {
		used, err = cn.tls.open(cn.client.record(), b, func([]byte) { quiet = false })
	})
	cn.use(used)
	return quiet && err == nil && !cn.Ready()
}

// permits reports whether req may use a kept connection: its Allow may have become stricter since
// the connection was made.
func (cn *conn) permits(req *Request) bool {
	return req.Allow == nil || !cn.lookup.judged || req.Allow(cn.addr()) == nil
}

// whenReadable lets the task wait for something to read, until a time, and go on with next.
func (cn *conn) whenReadable(t *aio.Task, until time.Time, next func(t *aio.Task) error) error {
	if cn.reader.Buffered() > 0 { // session tickets, that came with the end of the handshake
		return t.Then(next)
	}
	return cn.WhenReadable(t, until, next)
}

// arrived returns the bytes that have arrived, and waits while there are none beyond those that use
// has left.
func (cn *conn) arrived(t *aio.Task) ([]byte, error) {
	if cn.short {
		return cn.reader.More(t)
	}
	return cn.reader.Peek(t)
}

// use drops the first n bytes that have arrived. If there is nothing to drop, more must arrive.
func (cn *conn) use(n int) {
	cn.reader.Discard(n)
	cn.short = n == 0 && cn.reader.Buffered() > 0
}

// heard tells whoever wants to know that bytes of a server have arrived.
func (c *Client) heard(at time.Time) {
	if c.opt.OnBytes != nil {
		c.opt.OnBytes(at)
	}
}

// record returns the buffer into which TLS records are decrypted, one after the other.
func (c *Client) record() []byte {
	if c.opened == nil {
		c.opened = make([]byte, maxRecord)
	}
	return c.opened
}
