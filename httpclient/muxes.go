package httpclient

import (
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/http2"
)

// muxes are what a client knows of protocols: its connections of HTTP/2 that are in use, and which
// servers are spoken to in HTTP/1.1.
type muxes struct {
	servers map[route]*server
	plain   map[route]struct{}
}

// server is one that speaks HTTP/2, or may, while there are requests for it.
type server struct {
	conns   []*conn // that take requests, now or later
	meeting bool    // of a new connection it is not known what it takes: others wait, as it may serve all
	waiting aio.Lot // requests that wait for one, or for room
}

// mostConns is how many connections a server gets over which it allows few streams.
const mostConns = 6

// mostPlain bounds the servers that are known to speak HTTP/1.1. Beyond it all are forgotten, which
// costs each one connection that others wait for.
const mostPlain = 10_000

// mostTries is how often a request is sent that servers did not look at, or that met the end of a
// connection.
const mostTries = 3

// fewAnswers is how many responses a connection must have brought, if it leaves requests without one,
// for its server to be spoken to in HTTP/2 again. Over shorter ones HTTP/1.1 loses nothing, and fails
// less often.
const fewAnswers = 10

func newMuxes() muxes {
	return muxes{make(map[route]*server), make(map[route]struct{})}
}

// multiplexes reports whether a connection may speak HTTP/2.
func (c *Client) multiplexes(to route) bool {
	_, plain := c.muxes.plain[to]
	return !plain && !c.opt.HTTP1 && !to.forwarded() && (to.tls || c.opt.HTTP2)
}

// protocols returns what to offer a server.
func (c *Client) protocols(to route) []string {
	switch {
	case !c.multiplexes(to):
		return []string{"http/1.1"}
	case c.opt.HTTP2:
		return []string{"h2"}
	}
	return []string{"h2", "http/1.1"}
}

// speaksHTTP2 reports whether a new connection speaks HTTP/2.
func (c *Client) speaksHTTP2(cn *conn) bool {
	if cn.tls != nil {
		return cn.tls.state.NegotiatedProtocol == "h2"
	}
	return c.multiplexes(cn.route)
}

// connection returns a connection for a request: one of HTTP/2 that takes more requests, a kept one,
// or a new one.
func (c *Client) connection(t *aio.Task, req *Request, to route, tried int, total *limit, tm *Timing) (*conn, *Error) {
	for {
		if cn := c.muxes.servers[to].busy(req); cn != nil {
			return cn, nil
		}
		if !req.Fresh && tried == 0 {
			if cn := c.kept(t, req, to); cn != nil {
				if cn.mux != nil {
					cn.hold = c.opt.Meter.Open(req.Prompt)
					cn.hold.Set(cn.chain)
					c.server(to).add(cn)
				}
				return cn, nil
			}
		}
		if !c.waits(to) {
			return c.open(t, req, to, total, tm)
		}
		s := c.server(to)
		if !s.meeting && s.usable() < mostConns {
			return c.meet(t, req, to, total, tm)
		}
		wait := func(t *aio.Task) error { return s.waiting.Park(t, "a connection of HTTP/2") }
		var err error
		if total.at.IsZero() {
			err = wait(t)
		} else {
			err = t.Deadline(total.at, wait)
		}
		c.forget(to)
		if err != nil {
			failed := *total.classify(err, KindConnect, func() string { return "no connection" })
			return nil, &failed
		}
	}
}

// meet makes a connection to a server that may serve the requests of others, too, or bring a session.
// They fail with it.
func (c *Client) meet(t *aio.Task, req *Request, to route, total *limit, tm *Timing) (*conn, *Error) {
	s := c.server(to)
	s.meeting = true
	cn, failed := c.open(t, req, to, total, tm)
	switch {
	case failed != nil && failed.Kind != KindCanceled && failed.Kind != KindBlocked:
		s.waiting.UnparkAll(failed)
	case cn != nil && cn.mux != nil:
		s.add(cn)
		cn.mux.meets = true // until its settings are there
		return cn, failed
	case cn != nil:
		c.speaksPlain(to)
	}
	c.met(to)
	return cn, failed
}

// waits reports whether requests wait for the connections of others to a server: one may serve all,
// and the first over TLS brings a session, in the time in which the next ones connect.
func (c *Client) waits(to route) bool {
	if s := c.muxes.servers[to]; s != nil && s.meeting {
		return true
	}
	_, plain := c.muxes.plain[to]
	return !plain && to.tls || c.multiplexes(to)
}

// met takes in that it is known what the server of a new connection takes.
func (c *Client) met(to route) {
	s := c.server(to)
	s.meeting = false
	s.waiting.UnparkAll(nil)
	c.forget(to)
}

// server returns what is known of a server.
func (c *Client) server(to route) *server {
	s := c.muxes.servers[to]
	if s == nil {
		s = new(server)
		c.muxes.servers[to] = s
	}
	return s
}

// forget forgets a server that nobody has to do with.
func (c *Client) forget(to route) {
	if s := c.muxes.servers[to]; s != nil && len(s.conns) == 0 && !s.meeting && s.waiting.Len() == 0 {
		delete(c.muxes.servers, to)
	}
}

// speaksPlain remembers that a server is to be spoken to in HTTP/1.1.
func (c *Client) speaksPlain(to route) {
	if len(c.muxes.plain) >= mostPlain {
		clear(c.muxes.plain)
	}
	c.muxes.plain[to] = struct{}{}
}

// add adds a connection.
func (s *server) add(cn *conn) { s.conns = append(s.conns, cn) }

// usable returns how many connections take more requests, now or later.
func (s *server) usable() (n int) {
	for _, cn := range s.conns {
		if cn.mux.usable() {
			n++
		}
	}
	return n
}

// busy returns a connection that takes one more request, or nil.
func (s *server) busy(req *Request) *conn {
	if s == nil {
		return nil
	}
	for _, cn := range s.conns {
		if cn.mux.usable() && cn.mux.h2.Room() > 0 && cn.permits(req) {
			return cn
		}
	}
	return nil
}

// part takes in that a connection is no longer in use.
func (c *Client) part(cn *conn) {
	s := c.muxes.servers[cn.route]
	if s == nil {
		return
	}
	if i := slices.Index(s.conns, cn); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
	s.waiting.UnparkAll(nil) // one of them connects
	c.forget(cn.route)
}

// newStream begins an exchange over a connection of HTTP/2.
func (c *Client) newStream(cn *conn, req *Request, tm Timing) *stream {
	m := cn.mux
	m.users++
	s := &stream{mux: m}
	s.client = c
	s.hold = c.opt.Meter.Open(req.Prompt)
	s.begin(req, tm)
	var err error
	if s.h2, err = m.h2.Open(c.header.fieldsOf(req), req.Body, s); err != nil {
		s.failed, s.unseen = &Error{Kind: KindReset, Err: err}, true
	} else if c.opt.KeepRaw {
		s.sent = string(c.header.append(nil, req))
	}
	return s
}

// end ends the exchange of a call: see attempt.
func (s *stream) end(t *aio.Task, k *call, failed *Error) (res *Response, err *Error, again bool) {
	m := s.mux
	if failed != nil {
		failed = s.blame(failed)
		s.timing.Total = s.client.loop.Now().Sub(k.began)
	}
	if s.h2 != nil {
		s.h2.Cancel() // unless it has ended
	}
	res = s.response(m.cn, failed)
	m.cn.reused = true // from now on
	again = k.tried+1 < mostTries && s.client.again(s, k.req, res, failed)
	if failed != nil && !again && s.stale(failed) {
		failed.Err = fmt.Errorf("%w: %w", ErrStale, failed.Err)
	}
	m.leave(t)
	return res, failed, again
}

// again reports whether the request of a stream is to be sent once more, and learns from its end which
// protocol its server gets.
func (c *Client) again(s *stream, req *Request, res *Response, failed *Error) bool {
	m := s.mux
	wants1 := failed != nil && s.code == http2.HTTP11Required || failed == nil && res.Status == 421
	ends := failed != nil && m.h2.Draining() && (s.unseen || s.cutShort(failed))
	if (wants1 || ends && m.answered < fewAnswers) && !c.opt.HTTP2 {
		c.speaksPlain(m.cn.route)
		m.retire()
	}
	switch {
	case wants1, ends && s.unseen && m.answered == 0:
		return !c.opt.HTTP2
	case failed == nil:
		return false
	}
	return s.unseen || s.stale(failed) && req.repeats()
}

// stale reports whether the end of a connection that had served others met the request: see conn.stale.
func (s *stream) stale(failed *Error) bool { return s.cutShort(failed) && s.mux.answered > 0 }

// cutShort reports whether the connection ended before anything of the response.
func (s *stream) cutShort(failed *Error) bool {
	return s.mux.failed != nil && s.parser.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset)
}
