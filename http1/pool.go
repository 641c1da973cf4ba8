package http1

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// pool is the connections of a client that wait to be used again. When it is full,
// the one that has waited longest is closed: a broad crawl leaves most hosts for
// good, and their connections must not keep out those of the hosts it is at.
type pool struct {
	loop           *aio.Loop
	max            int // negative: none are kept
	maxPerPlace    int // 0: no limit
	age            time.Duration
	n              int
	byPlace        map[place][]*conn // the one put last at the end; never empty
	oldest, newest *conn             // all of them, in the order in which they were put
	reaper         *aio.Callback     // when the oldest is due, or before; nil while there is none
}

func newPool(l *aio.Loop, max, maxPerPlace int, age time.Duration) pool {
	return pool{loop: l, max: max, maxPerPlace: maxPerPlace, age: age, byPlace: make(map[place][]*conn)}
}

// put keeps cn, or closes it.
func (p *pool) put(cn *conn) {
	if p.max < 0 {
		cn.Close()
		return
	}
	if beside := p.byPlace[cn.place]; p.maxPerPlace > 0 && len(beside) >= p.maxPerPlace {
		p.drop(beside[0])
	} else if p.n >= p.max {
		p.drop(p.oldest)
	}
	p.byPlace[cn.place] = append(p.byPlace[cn.place], cn)
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

// take returns the connection to a place that was put last, or nil.
func (p *pool) take(to place) *conn {
	conns := p.byPlace[to]
	if len(conns) == 0 {
		return nil
	}
	cn := conns[len(conns)-1]
	p.remove(cn, len(conns)-1)
	return cn
}

// reap closes those that have waited too long.
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

// close closes all of them, and those that are put from now on.
func (p *pool) close() {
	for p.oldest != nil {
		p.drop(p.oldest)
	}
	if p.reaper != nil {
		p.reaper.Cancel()
		p.reaper = nil
	}
	p.max = -1
}

// drop closes cn, which has waited longest of its place.
func (p *pool) drop(cn *conn) {
	p.remove(cn, 0)
	cn.Close()
}

// remove takes cn out, which is the i-th of its place.
func (p *pool) remove(cn *conn, i int) {
	if conns := slices.Delete(p.byPlace[cn.place], i, i+1); len(conns) > 0 {
		p.byPlace[cn.place] = conns
	} else {
		delete(p.byPlace, cn.place)
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
}
