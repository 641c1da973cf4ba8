package httpclient

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// open returns a new connection for req. On failure tm says where the time went.
func (c *Client) open(t *aio.Task, req *Request, at route, total *limit, tm *Timing) (cn *conn, failed *Error) {
	err := apart(t, "connect", func(t *aio.Task) error {
		cn, failed = c.connect(t, req, at, total, tm)
		return nil
	})
	if cn == nil {
		if failed == nil { // cancelled before its first step
			failed = classify(err, KindConnect)
		}
		return nil, failed
	}
	if at.tls {
		failed = cn.secureInTurn(t, total, tm)
	}
	if failed == nil {
		failed = cn.agree()
	}
	if failed != nil {
		failed.Addr = cn.addr()
		cn.exchange.hold.Release()
		cn.Close()
		return nil, failed
	}
	return cn, nil
}

// apart runs fn in a task of its own, whose stack ends with it: connecting needs a deep one, which
// a task that then waits for its response would keep.
func apart(t *aio.Task, name string, fn func(t *aio.Task) error) error {
	return t.Group(func(g *aio.Group) error {
		g.Go(name, fn)
		return nil
	})
}

// connect looks up the server of req and connects to it, or to its proxy.
func (c *Client) connect(t *aio.Task, req *Request, at route, total *limit, tm *Timing) (*conn, *Error) {
	host, port, bad := req.server()
	if bad != nil {
		return nil, bad
	}
	began := c.loop.Now()
	var raw aio.Conn
	var to []netip.AddrPort
	var server netip.AddrPort
	var found lookup
	patience := total.within(c.opt.DialTimeout, began, KindDialTimeout)
	dial := func(t *aio.Task) (err error) {
		if at.via != nil {
			raw, server, found, err = c.through(t, req, at, host, port, tm)
			return err
		}
		to, err = c.names.resolve(t, host, port)
		tm.DNS = c.loop.Now().Sub(began)
		if err != nil {
			return err
		}
		found = c.lookup(host, port, to)
		if to, err = c.permit(req, host, port, to); err != nil {
			return err
		}
		to = c.prefer(req, host, port, to)
		patience = patience.within(req.ConnectTimeout, c.loop.Now(), KindDialTimeout)
		connect := func(t *aio.Task) (err error) {
			raw, err = aio.Connect(t, to)
			return err
		}
		if req.ConnectTimeout > 0 {
			err = t.Deadline(patience.at, connect)
		} else {
			err = connect(t)
		}
		tm.Connect = c.loop.Now().Sub(began) - tm.DNS
		return err
	}
	var err error
	if patience.at.IsZero() {
		err = dial(t)
	} else {
		err = t.Deadline(patience.at, dial)
	}
	if err != nil {
		if raw != nil { // connected in the very turn in which the time ran out
			raw.Close()
		}
		kind := KindConnect
		if noPort(err, to) {
			kind = KindResource
		}
		bad := patience.classify(err, kind, func() string {
			switch {
			case at.via != nil:
				return fmt.Sprintf("no connection through the proxy %v", at.via)
			case len(to) == 0:
				return fmt.Sprintf("no address of %.64q", host)
			}
			return "no connection to " + join(to)
		})
		bad.local = noRoute(err, to)
		return nil, bad
	}
	cn := &conn{Conn: raw, client: c, route: at, host: host, lookup: found, reader: aio.NewReader(c.loop, raw)}
	if at.via != nil {
		cn.server = &server
	}
	cn.exchange.client, cn.exchange.hold = c, c.opt.Meter.Open(req.Prompt)
	return cn, nil
}

// agree settles the protocol.
func (cn *conn) agree() *Error {
	c := cn.client
	switch {
	case c.muxes.speaksHTTP2(cn):
		cn.mux = newMux(cn)
		cn.exchange.hold.Set(cn.exchange.chain)
	case c.opt.HTTP2 && !cn.route.forwarded():
		return fail(KindProtocol, "the server does not speak HTTP/2, which was asked for")
	}
	return nil
}

// mostHandshakes bounds the TLS handshakes of a client that are under way at once: each has a deep
// stack and the buffers of crypto/tls, and more would only compete for the processor until they are
// late. One that takes longHandshake does not count any more, lest silent servers delay others.
const (
	mostHandshakes = 128
	longHandshake  = time.Second
)

// secureInTurn is secure, when few enough handshakes are under way, in a task of its own. Waiting
// for that is not the server's time.
func (cn *conn) secureInTurn(t *aio.Task, total *limit, tm *Timing) (failed *Error) {
	c := cn.client
	if err := c.handshakes.Acquire(t); err != nil {
		return classify(err, KindTLS)
	}
	late := c.loop.CallLater(longHandshake, c.handshakes.Release)
	err := apart(t, "TLS handshake", func(t *aio.Task) error {
		failed = cn.secure(t, total, tm)
		return nil
	})
	if late.Cancel() {
		c.handshakes.Release()
	}
	if failed == nil && err != nil { // cancelled before its first step
		failed = classify(err, KindTLS)
	}
	return failed
}

// secure does the TLS handshake. Time that it waits for room is not the server's.
func (cn *conn) secure(t *aio.Task, total *limit, tm *Timing) *Error {
	c := cn.client
	began := c.loop.Now()
	patience := total.within(c.opt.TLSTimeout, began, KindTLSTimeout)
	_ = cn.SetDeadline(patience.at)
	err := c.handshake(t, cn, func(t *aio.Task, n int) error {
		waited, failed := cn.exchange.holdMore(t, certBytes*n-plainChain-cn.exchange.hold.Size(), &patience)
		if failed != nil {
			return failed
		}
		if waited > 0 {
			total.extend(waited)
			_ = cn.SetDeadline(patience.at)
		}
		return nil
	})
	if err == nil {
		cn.exchange.chain = max(0, cn.tls.weight()-plainChain)
	}
	tm.TLS = c.loop.Now().Sub(began) - cn.exchange.waited
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrCertificate):
		return &Error{Kind: KindTLS, Err: err}
	}
	return inWords(patience.classify(err, KindTLS, func() string { return "TLS handshake not done" })).lost("during the TLS handshake")
}

// join formats addresses for an error.
func join(addrs []netip.AddrPort) string {
	s := addrs[0].String()
	if n := len(addrs) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
