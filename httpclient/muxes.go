package httpclient

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/http2"
)

// muxes are what a client knows of protocols: its connections of HTTP/2 that are in use, and the
// habits of servers.
type muxes struct {
	servers map[route]*server
	habits  map[route]habit
}

// habit is what is remembered of a server, and how long.
type habit struct {
	until  time.Time
	http1  bool  // it speaks HTTP/1.1
	wanted bool  // it has asked for that, and is not offered HTTP/2; else it has chosen it
	barred bool  // with wanted: it has not said so, but allowed no requests over HTTP/2
	only2  bool  // it does not speak HTTP/1.1, as was found then
	most   int32 // requests at once that a connection begins with: see mux.most
	calm   int32 // requests at once over all connections, as it has asked for calm; 0: any number
}

// habitsFor is how long a habit is remembered: after that, HTTP/2 is tried again.
const habitsFor = time.Hour

// server is one that speaks HTTP/2, or may, while there are requests for it.
type server struct {
	conns   []*conn // that take requests, now or later
	meeting bool    // of a new connection it is not known what it takes: others wait, as it may serve all
	waiting aio.Lot // requests that wait for one, or for room
}

// users returns how many requests are under way over HTTP/2.
func (s *server) users() (n int32) {
	if s != nil {
		for _, cn := range s.conns {
			n += cn.mux.users
		}
	}
	return n
}

// mostConns is how many connections a server gets over which it allows few streams.
const mostConns = 6

// mostHabits bounds the servers whose habits are remembered. Beyond it the client forgets all. For
// each server that costs one connection that others wait for, or that ends with requests under way.
const mostHabits = 10_000

// mostTries is how often a request is sent at most that a server refuses, or whose connection ends:
// see stream.tries.
const mostTries = 3

func newMuxes() muxes {
	return muxes{make(map[route]*server), make(map[route]habit)}
}

// multiplexes reports whether a connection may speak HTTP/2.
func (c *Client) multiplexes(to route) bool {
	return !c.habit(to).wanted && !c.opt.HTTP1 && !to.forwarded() && (to.tls || c.opt.HTTP2)
}

// habit returns what is remembered of a server, or the zero value.
func (c *Client) habit(to route) habit {
	h, ok := c.muxes.habits[to]
	if ok && !c.loop.Now().Before(h.until) {
		delete(c.muxes.habits, to)
		return habit{}
	}
	return h
}

// remember remembers the habit of a server.
func (c *Client) remember(to route, h habit) {
	if len(c.muxes.habits) >= mostHabits {
		clear(c.muxes.habits)
	}
	h.until = c.loop.Now().Add(habitsFor)
	c.muxes.habits[to] = h
}

// calmDown has a server get half as many requests at once as it has, unless it was to get fewer
// already than when a request of them was sent.
func (c *Client) calmDown(to route, sentAt int32) {
	h := c.habit(to)
	if s := c.muxes.servers[to]; s != nil && h.calm == sentAt {
		h.calm = max(1, s.users()/2)
		c.remember(to, h)
	}
}

// wants1 remembers that a server wants HTTP/1.1, or is tried over that as it bars requests over
// HTTP/2.
func (c *Client) wants1(to route, barred bool) {
	c.remember(to, habit{http1: true, wanted: true, barred: barred})
}

// unwants1 takes in that a server does not speak the HTTP/1.1 that it seemed to want.
func (c *Client) unwants1(to route) {
	if c.habit(to).barred {
		c.remember(to, habit{only2: true})
	} else {
		delete(c.muxes.habits, to)
	}
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

// connection returns a connection for a request: one of HTTP/2 that takes more requests, a kept
// one, or a new one.
func (c *Client) connection(t *aio.Task, req *Request, to route, tried int, total *limit, tm *Timing) (*conn, *Error) {
	for {
		s := c.muxes.servers[to]
		calm := c.habit(to).calm
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
		s = c.server(to)
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
		c.forget(to)
		if err != nil {
			failed := *total.classify(err, KindConnect, func() string { return "no connection" })
			return nil, &failed
		}
	}
}

// meet makes a connection to a server that may serve the requests of others, too, or bring a
// session. They fail with it.
func (c *Client) meet(t *aio.Task, req *Request, to route, total *limit, tm *Timing) (*conn, *Error) {
	s := c.server(to)
	s.meeting = true
	cn, failed := c.open(t, req, to, total, tm)
	switch {
	case failed != nil && failed.Kind != KindCanceled && failed.Kind != KindBlocked:
		s.waiting.UnparkAll(failed)
	case cn != nil && cn.mux != nil:
		c.join(cn)
		return cn, failed
	case cn != nil:
		c.remember(to, habit{http1: true})
	}
	c.met(to)
	return cn, failed
}

// join lets a new connection serve others, once its server's settings are there. Until then they
// wait.
func (c *Client) join(cn *conn) {
	s := c.server(cn.route)
	s.conns = append(s.conns, cn)
	s.meeting, cn.mux.meets, cn.mux.most = true, true, c.habit(cn.route).most
}

// waits reports whether requests wait for the connections of others to a server: one may serve all,
// and the first over TLS brings a session, in the time in which the next ones connect.
func (c *Client) waits(to route) bool {
	if s := c.muxes.servers[to]; s != nil && s.meeting {
		return true
	}
	return !c.habit(to).http1 && (to.tls || c.multiplexes(to))
}

// wakes reports whether an idle connection of HTTP/2 is fit for use, and lets it serve others, too.
// These wait meanwhile, and do not connect.
func (c *Client) wakes(t *aio.Task, cn *conn) bool {
	s := c.server(cn.route)
	s.meeting = true
	quiet := cn.mux.quiet(t)
	if quiet {
		s.conns = append(s.conns, cn)
	}
	c.met(cn.route)
	return quiet
}

// met takes in that it is known what the server of a new connection takes.
func (c *Client) met(to route) {
	c.server(to).meeting = false
	c.hasRoom(to)
	c.forget(to)
}

// hasRoom wakes the requests that wait for a server, to look for room again.
func (c *Client) hasRoom(to route) {
	if s := c.muxes.servers[to]; s != nil {
		s.waiting.UnparkAll(nil)
	}
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

// end ends the exchange of a call: see attempt.
func (s *stream) end(t *aio.Task, k *call, failed *Error) (res *Response, err *Error, again bool) {
	s.exchange.arrive() // for what is said of a failure
	m := s.mux
	if failed != nil {
		m.cn.gaveUp = true
		failed = s.exchange.blame(failed)
		failed.unseen, failed.overloaded, failed.alone = s.unseen, s.overloads(), s.alone
		s.exchange.timing.Total = s.mux.client.loop.Now().Sub(k.began)
	}
	if s.h2 != nil {
		s.h2.Cancel() // unless it has ended
	}
	m.barred = without(m.barred, s)
	res = s.exchange.response(m.cn, failed)
	m.cn.reused = true // from now on
	again = int(k.tried) < s.tries() && s.mux.client.again(s, k.req, res, failed)
	if s.unseen && m.bars() {
		k.barred++
	}
	if h := s.mux.client.habit(m.cn.route); !h.http1 {
		if h.most = s.served(); h.most > 0 {
			s.mux.client.remember(m.cn.route, h)
		}
	}
	if failed != nil && !again && !failed.overloaded && s.stale(failed) {
		failed.Err = fmt.Errorf("%w: %w", ErrStale, failed.Err)
	}
	m.leave(t)
	return res, failed, again
}

// again reports whether the request of a stream is to be sent once more, and learns from its end
// whether its server wants HTTP/1.1.
func (c *Client) again(s *stream, req *Request, res *Response, failed *Error) bool {
	barred := s.barredOut(failed)
	wants1 := barred || failed != nil && s.code == http2.HTTP11Required || failed == nil && res.Status == 421
	switch {
	case wants1 && !c.opt.HTTP2:
		c.wants1(s.mux.cn.route, barred)
		s.mux.retire()
		return true
	case failed == nil || wants1 || s.code == http2.EnhanceYourCalm: // the caller says when it is calm
		return false
	}
	return s.unseen || s.bystander && req.Method != "POST" || s.stale(failed) && req.repeats()
}

// tries returns how often a request may be sent again that was refused, or whose connection has
// ended. A server that has responded over the connection probably responds over the next one; one
// that has not is tried once more, and then the caller decides when to come back.
func (s *stream) tries() int {
	switch m := s.mux; {
	case s.bystander, // whoever is to blame is not sent again
		s.unseen && m.bars(): // it waits
		return math.MaxInt
	case s.unseen && (s.taken > 0 || m.answered > s.before): // it takes others
		return math.MaxInt
	case s.unseen && m.answered == 0:
		return 1
	case s.unseen && m.h2.Draining():
		return math.MaxInt
	}
	return mostTries - 1
}

// served returns how many requests the connection had served, if it ended with this one under way;
// else 0. After a fault of the server it is 1: of the requests that are under way at the next all
// but one are sent in vain.
func (s *stream) served() int32 {
	switch m := s.mux; {
	case s.failed == nil || !m.h2.Draining():
		return 0
	case m.faulty:
		return 1
	case s.unseen:
		return s.taken
	default:
		return m.answered
	}
}

// stale reports whether the end of a connection that had served others met the request: see
// conn.stale.
func (s *stream) stale(failed *Error) bool { return s.cutShort(failed) && s.mux.answered > 0 }

// cutShort reports whether the connection ended before anything of the response.
func (s *stream) cutShort(failed *Error) bool {
	return s.mux.failed != nil && s.exchange.parser.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset)
}
