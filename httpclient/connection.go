package httpclient

import "github.com/weftcrawl/weft/aio"

// connection returns a connection for a request: one of HTTP/2 that takes more requests, a kept
// one, or a new one.
func (c *Client) connection(t *aio.Task, req *Request, to route, tried int, total *limit, tm *Timing) (*conn, *Error) {
	for {
		s := c.muxes.servers[to]
		calm := c.muxes.habit(to).calm
		full := calm > 0 && s.users() >= calm
		if cn := s.busy(req); cn != nil && !full {
			if !req.fresh() || cn.mux.lively() {
				return cn, nil
			}
			if err := cn.mux.revive(t, total); err != nil {
				return nil, classify(err, KindConnect)
			}
			continue
		}
		if !full && (s == nil || !s.meeting) {
			if cn := c.kept(t, req, to, tried); cn != nil {
				return cn, nil
			}
		}
		if !full && !c.waits(to) {
			cn, failed := c.open(t, req, to, total, tm)
			if cn != nil && cn.mux != nil { // the server has changed its mind
				delete(c.muxes.habits, to)
				c.join(cn)
			}
			return cn, failed
		}
		s = c.muxes.server(to)
		if !full && !s.meeting && s.usable() < mostConns {
			return c.meet(t, req, to, total, tm)
		}
		wait := func(t *aio.Task) error { return s.waiting.Park(t, "a connection of HTTP/2") }
		var err error
		if total.at.IsZero() {
			err = wait(t)
		} else {
			err = t.Deadline(total.at, wait)
		}
		c.muxes.forget(to)
		if err != nil {
			failed := *total.classify(err, KindConnect, func() string { return "no connection" })
			return nil, &failed
		}
	}
}

// meet makes a connection to a server that may serve the requests of others, too, or bring a
// session. They fail with it.
func (c *Client) meet(t *aio.Task, req *Request, to route, total *limit, tm *Timing) (*conn, *Error) {
	s := c.muxes.server(to)
	s.meeting = true
	cn, failed := c.open(t, req, to, total, tm)
	switch {
	case failed != nil && failed.Kind != KindCanceled && failed.Kind != KindBlocked:
		s.waiting.UnparkAll(failed)
	case cn != nil && cn.mux != nil:
		c.join(cn)
		return cn, failed
	case cn != nil:
		c.muxes.remember(to, habit{http1: true})
	}
	c.muxes.met(to)
	return cn, failed
}

// join lets a new connection serve others, once its server's settings are there. Until then they
// wait.
func (c *Client) join(cn *conn) {
	s := c.muxes.server(cn.route)
	s.conns = append(s.conns, cn)
	s.meeting, cn.mux.meets, cn.mux.most = true, true, c.muxes.habit(cn.route).most
}

// waits reports whether requests wait for the connections of others to a server: one may serve all,
// and the first over TLS brings a session, in the time in which the next ones connect.
func (c *Client) waits(to route) bool {
	if s := c.muxes.servers[to]; s != nil && s.meeting {
		return true
	}
	return !c.muxes.habit(to).http1 && (to.tls || c.muxes.multiplexes(to))
}

// wakes reports whether an idle connection of HTTP/2 is fit for use, and lets it serve others, too.
// These wait meanwhile, and do not connect.
func (c *Client) wakes(t *aio.Task, cn *conn) bool {
	s := c.muxes.server(cn.route)
	s.meeting = true
	quiet := cn.mux.quiet(t)
	if quiet {
		s.conns = append(s.conns, cn)
	}
	c.muxes.met(cn.route)
	return quiet
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

// mostConns bounds the connections to a server that allows few streams over each.
const mostConns = 6

// usable returns how many connections take more requests, now or later.
func (s *server) usable() (n int) {
	for _, cn := range s.conns {
		if cn.mux.usable() {
			n++
		}
	}
	return n
}

// busy returns a connection that takes one more request; or else one whose server allows none for
// now, as a new connection would not be allowed any, either; or nil.
func (s *server) busy(req *Request) (best *conn) {
	if s == nil {
		return nil
	}
	for _, cn := range s.conns {
		switch m := cn.mux; {
		case !m.usable() || !cn.permits(req):
		case m.takes():
			return cn
		case m.bars():
			best = cn
		}
	}
	return best
}
