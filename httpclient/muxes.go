package httpclient

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/http2"
)

// muxes are what a client knows of protocols: its connections of HTTP/2 that are in use, and which
// servers speak HTTP/1.1.
type muxes struct {
	busy    map[route][]*conn
	plain   map[route]struct{}
	meeting map[route]*meeting
}

// meeting is a new connection to a server of which it is not known what it takes: its protocol, and how
// many streams. Others wait, as it may serve them all.
type meeting struct {
	lot    aio.Lot
	failed *Error
}

// mostPlain bounds the servers that are known to speak HTTP/1.1. Beyond it all are forgotten, which
// costs each one connection that others wait for.
const mostPlain = 10_000

func newMuxes() muxes {
	return muxes{make(map[route][]*conn), make(map[route]struct{}), make(map[route]*meeting)}
}

// mostTries is how often a request is sent that servers did not look at, or that met the end of a
// connection.
const mostTries = 3

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
		if !req.Fresh {
			if cn := c.busy(req, to); cn != nil {
				return cn, nil
			}
		}
		if !req.Fresh && tried == 0 {
			if cn := c.kept(t, req, to); cn != nil {
				if cn.mux != nil {
					cn.hold = c.opt.Meter.Open(req.Prompt)
					cn.hold.Set(cn.chain)
					c.muxes.busy[to] = append(c.muxes.busy[to], cn)
				}
				return cn, nil
			}
		}
		if req.Fresh || !c.multiplexes(to) {
			return c.open(t, req, to, total, tm)
		}
		first := c.muxes.meeting[to]
		if first == nil {
			return c.meet(t, req, to, total, tm)
		}
		wait := func(t *aio.Task) error { return first.lot.Park(t, "the first connection to a server") }
		var err error
		if total.at.IsZero() {
			err = wait(t)
		} else {
			err = t.Deadline(total.at, wait)
		}
		if err != nil {
			return nil, total.classify(err, KindConnect, func() string { return "no connection" })
		}
		if first.failed != nil {
			failed := *first.failed
			return nil, &failed
		}
	}
}

// meet makes the first connection to a server.
func (c *Client) meet(t *aio.Task, req *Request, to route, total *limit, tm *Timing) (*conn, *Error) {
	m := new(meeting)
	c.muxes.meeting[to] = m
	cn, failed := c.open(t, req, to, total, tm)
	switch {
	case failed != nil && failed.Kind != KindCanceled && failed.Kind != KindBlocked:
		m.failed = failed
	case cn != nil && cn.mux != nil:
		c.muxes.busy[to] = append(c.muxes.busy[to], cn)
		cn.mux.meeting = m // until its settings are there
		return cn, failed
	case cn != nil:
		c.speaksPlain(to)
	}
	c.met(to, m)
	return cn, failed
}

// met lets those go on who wait for a meeting.
func (c *Client) met(to route, m *meeting) {
	if c.muxes.meeting[to] == m {
		delete(c.muxes.meeting, to)
	}
	m.lot.UnparkAll(nil)
}

// speaksPlain remembers that a server is to be spoken to in HTTP/1.1.
func (c *Client) speaksPlain(to route) {
	if len(c.muxes.plain) >= mostPlain {
		clear(c.muxes.plain)
	}
	c.muxes.plain[to] = struct{}{}
}

// busy returns a connection in use that takes one more request, or nil.
func (c *Client) busy(req *Request, to route) *conn {
	for _, cn := range c.muxes.busy[to] {
		if cn.mux.usable() && cn.mux.h2.Room() > 0 && cn.permits(req) {
			return cn
		}
	}
	return nil
}

// part takes a connection from those in use.
func (c *Client) part(cn *conn) {
	all := c.muxes.busy[cn.route]
	if i := slices.Index(all, cn); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if len(all) == 0 {
		delete(c.muxes.busy, cn.route)
	} else {
		c.muxes.busy[cn.route] = all
	}
}

// tryStream sends req over a connection of HTTP/2: see try.
func (c *Client) tryStream(t *aio.Task, cn *conn, req *Request, tm Timing, tried int, began time.Time, total limit) (*Response, *Error, bool) {
	m := cn.mux
	m.users++
	s := &stream{mux: m}
	s.client = c
	s.hold = c.opt.Meter.Open(req.Prompt)
	s.begin(req, tm)
	h2, err := m.h2.Open(c.header.fieldsOf(req), req.Body, s)
	if err != nil {
		s.failed, s.again = &Error{Kind: KindReset, Err: err}, true
	} else {
		s.h2 = h2
		if c.opt.KeepRaw {
			s.sent = string(c.header.append(nil, req))
		}
	}
	failed := s.failed
	if failed == nil {
		failed = s.do(t, total)
	}
	if failed != nil {
		failed = s.blame(failed)
		s.timing.Total = c.loop.Now().Sub(began)
	}
	if s.h2 != nil {
		s.h2.Cancel() // unless it has ended
	}
	res := s.response(cn, failed)
	cn.reused = true // from now on
	wanted1 := failed != nil && s.code == http2.HTTP11Required || failed == nil && res.Status == 421
	if wanted1 && !c.opt.HTTP2 {
		c.speaksPlain(cn.route)
	}
	m.leave(t)
	ended := failed != nil && s.parser.wire == 0 && m.failed != nil && failed.Kind == KindEarlyEnd && !req.Once
	return res, failed, tried+1 < mostTries && (wanted1 && !c.opt.HTTP2 || s.again && failed != nil || ended)
}
