package httpclient

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// pool holds the idle connections of a client. When it is full, of connections or of bytes, it
// closes the one that has been idle longest: a broad crawl leaves most hosts for good, and their
// connections must not displace those of active hosts.
type pool struct {
	loop           *aio.Loop
	max            int // negative: none are kept
	maxPerRoute    int // 0: no limit
	maxBytes       int
	age            time.Duration
	n, bytes       int
	byRoute        map[route][]*conn // most recently put last; never empty
	oldest, newest *conn             // all of them, in the order in which they were put
	// Runs when the oldest is due, or earlier; nil while there is none.
	reaper *aio.Callback
}

func newPool(l *aio.Loop, opt *Options) pool {
	return pool{
		loop: l, max: opt.MaxIdle, maxPerRoute: opt.MaxIdlePerHost, maxBytes: opt.MaxIdleBytes, age: opt.KeepAlive,
		byRoute: make(map[route][]*conn),
	}
}

// The memory of an idle connection, in bytes, without what its server has sent.
const (
	idlePlain = 1 << 10
	idleTLS   = 5 << 10
)

// weight returns what an idle connection counts of the pool's bytes.
func weight(cn *conn) int {
	if cn.tls == nil {
		return idlePlain
	}
	return idleTLS + cn.tls.weight()
}

// put keeps cn, or closes it.
func (p *pool) put(cn *conn) {
	if p.max < 0 || weight(cn) > p.maxBytes {
		cn.Close()
		return
	}
	if same := p.byRoute[cn.route]; p.maxPerRoute > 0 && len(same) >= p.maxPerRoute {
		p.drop(same[0])
	} else if p.n >= p.max {
		p.drop(p.oldest)
	}
	for p.bytes += weight(cn); p.bytes > p.maxBytes; {
		p.drop(p.oldest)
	}
	p.byRoute[cn.route] = append(p.byRoute[cn.route], cn)
	if cn.older = p.newest; cn.older != nil {
		cn.older.newer = cn
	} else {
		p.oldest = cn
	}
	p.newest = cn
	p.n++
	cn.since = p.loop.Now()
	if p.reaper == nil {
		p.reaper = p.loop.CallAt(cn.since.Add(p.age), p.reap)
	}
}

// take returns the most recently used connection of a route, or nil; only one of HTTP/2 unless any
// is set.
func (p *pool) take(to route, any bool) *conn {
	conns := p.byRoute[to]
	for i, cn := range slices.Backward(conns) {
		if any || cn.mux != nil {
			p.remove(cn, i)
			return cn
		}
	}
	return nil
}

// reap closes connections that have been idle too long.
func (p *pool) reap() {
	p.reaper = nil
	now := p.loop.Now()
	for p.oldest != nil {
		due := p.oldest.since.Add(p.age)
		if due.After(now) {
			p.reaper = p.loop.CallAt(due, p.reap)
			return
		}
		p.drop(p.oldest)
	}
}

// close closes all connections, and any that are put later.
func (p *pool) close() {
	p.clear()
	p.max = -1
}

// clear closes all connections.
func (p *pool) clear() {
	for p.oldest != nil {
		p.drop(p.oldest)
	}
	if p.reaper != nil {
		p.reaper.Cancel()
		p.reaper = nil
	}
}

// drop closes cn, which has been idle longest on its route.
func (p *pool) drop(cn *conn) {
	p.remove(cn, 0)
	cn.Close()
}

// remove removes cn, the i-th of its route.
func (p *pool) remove(cn *conn, i int) {
	if conns := slices.Delete(p.byRoute[cn.route], i, i+1); len(conns) > 0 {
		p.byRoute[cn.route] = conns
	} else {
		delete(p.byRoute, cn.route)
	}
	if cn.older != nil {
		cn.older.newer = cn.newer
	} else {
		p.oldest = cn.newer
	}
	if cn.newer != nil {
		cn.newer.older = cn.older
	} else {
		p.newest = cn.older
	}
	cn.older, cn.newer = nil, nil
	p.n--
	p.bytes -= weight(cn)
}
