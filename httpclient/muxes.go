package httpclient

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// muxes are the servers of a client by protocol: those with connections of HTTP/2 in use, and the
// habits of all.
type muxes struct {
	loop         *aio.Loop
	http1, http2 bool // Options.HTTP1 and HTTP2
	servers      map[route]*server
	habits       map[route]habit
}

// habit is the memory of how a server speaks, for a time.
type habit struct {
	until  time.Time
	http1  bool  // it speaks HTTP/1.1
	wanted bool  // it has asked for that, and is not offered HTTP/2; else it has chosen it
	barred bool  // with wanted: it has not said so, but allowed no requests over HTTP/2
	only2  bool  // it does not speak HTTP/1.1, as was found then
	most   int32 // requests at once that a connection begins with: see mux.most
	calm   int32 // requests at once over all connections, as it has asked for calm; 0: any number
}

// habitsFor is the lifetime of a habit: after that, HTTP/2 is tried again.
const habitsFor = time.Hour

// server is one that speaks HTTP/2, or may, while there are requests for it.
type server struct {
	conns []*conn // that take requests, now or later
	// A new connection is on the way: others wait for it, as it may serve all.
	meeting bool
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

// mostHabits bounds the servers whose habits are remembered. Beyond it the client forgets all. For
// each server that costs one connection that others wait for, or that ends with requests under way.
const mostHabits = 10_000

func newMuxes(l *aio.Loop, opt *Options) muxes {
	return muxes{l, opt.HTTP1, opt.HTTP2, make(map[route]*server), make(map[route]habit)}
}

// multiplexes reports whether a connection may speak HTTP/2.
func (ms *muxes) multiplexes(to route) bool {
	return !ms.habit(to).wanted && !ms.http1 && !to.forwarded() && (to.tls || ms.http2)
}

// habit returns what is remembered of a server, or the zero value.
func (ms *muxes) habit(to route) habit {
	h, ok := ms.habits[to]
	if ok && !ms.loop.Now().Before(h.until) {
		delete(ms.habits, to)
		return habit{}
	}
	return h
}

// remember remembers the habit of a server.
func (ms *muxes) remember(to route, h habit) {
	if len(ms.habits) >= mostHabits {
		clear(ms.habits)
	}
	h.until = ms.loop.Now().Add(habitsFor)
	ms.habits[to] = h
}

// calmDown has a server get half as many requests at once as it has, unless it was to get fewer
// already than when a request of them was sent.
func (ms *muxes) calmDown(to route, sentAt int32) {
	h := ms.habit(to)
	if s := ms.servers[to]; s != nil && h.calm == sentAt {
		h.calm = max(1, s.users()/2)
		ms.remember(to, h)
	}
}

// wants1 remembers that a server wants HTTP/1.1, or is tried over that as it bars requests over
// HTTP/2.
func (ms *muxes) wants1(to route, barred bool) {
	ms.remember(to, habit{http1: true, wanted: true, barred: barred})
}

// unwants1 takes in that a server does not speak the HTTP/1.1 that it seemed to want.
func (ms *muxes) unwants1(to route) {
	if ms.habit(to).barred {
		ms.remember(to, habit{only2: true})
	} else {
		delete(ms.habits, to)
	}
}

// protocols returns what to offer a server.
func (ms *muxes) protocols(to route) []string {
	switch {
	case !ms.multiplexes(to):
		return []string{"http/1.1"}
	case ms.http2:
		return []string{"h2"}
	}
	return []string{"h2", "http/1.1"}
}

// speaksHTTP2 reports whether a new connection speaks HTTP/2.
func (ms *muxes) speaksHTTP2(cn *conn) bool {
	if cn.tls != nil {
		return cn.tls.state.NegotiatedProtocol == "h2"
	}
	return ms.multiplexes(cn.route)
}

// met takes in that it is known what the server of a new connection takes.
func (ms *muxes) met(to route) {
	ms.server(to).meeting = false
	ms.hasRoom(to)
	ms.forget(to)
}

// hasRoom wakes the requests that wait for a server, to look for room again.
func (ms *muxes) hasRoom(to route) {
	if s := ms.servers[to]; s != nil {
		s.waiting.UnparkAll(nil)
	}
}

// roomForOne wakes one request that waits for a server.
func (ms *muxes) roomForOne(to route) {
	if s := ms.servers[to]; s != nil {
		s.waiting.Unpark(nil)
	}
}

// server returns what is known of a server.
func (ms *muxes) server(to route) *server {
	s := ms.servers[to]
	if s == nil {
		s = new(server)
		ms.servers[to] = s
	}
	return s
}

// forget forgets a server that nobody has to do with.
func (ms *muxes) forget(to route) {
	if s := ms.servers[to]; s != nil && len(s.conns) == 0 && !s.meeting && s.waiting.Len() == 0 {
		delete(ms.servers, to)
	}
}

// part takes in that a connection is no longer in use.
func (ms *muxes) part(cn *conn) {
	s := ms.servers[cn.route]
	if s == nil {
		return
	}
	if i := slices.Index(s.conns, cn); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
	s.waiting.UnparkAll(nil) // one of them connects
	ms.forget(cn.route)
}
