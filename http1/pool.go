package http1

import "slices"

// pool is the connections of a client that wait to be used again. When it is full,
// the one that has waited longest is closed: a broad crawl leaves most hosts for
// good, and their connections must not keep out those of the hosts it is at.
type pool struct {
	max            int // negative: none are kept
	n              int
	byAddress      map[string][]*conn // the one put last at the end; never empty
	oldest, newest *conn              // all of them, in the order in which they were put
}

func newPool(max int) pool { return pool{max: max, byAddress: make(map[string][]*conn)} }

// put keeps cn, or closes it.
func (p *pool) put(cn *conn) {
	if p.max < 0 {
		cn.Close()
		return
	}
	if p.n >= p.max {
		evicted := p.oldest
		p.remove(evicted, 0)
		evicted.Close()
	}
	p.byAddress[cn.address] = append(p.byAddress[cn.address], cn)
	if cn.older = p.newest; cn.older != nil {
		cn.older.newer = cn
	} else {
		p.oldest = cn
	}
	p.newest = cn
	p.n++
}

// take returns the connection to address that was put last, or nil.
func (p *pool) take(address string) *conn {
	conns := p.byAddress[address]
	if len(conns) == 0 {
		return nil
	}
	cn := conns[len(conns)-1]
	p.remove(cn, len(conns)-1)
	return cn
}

// close closes all of them, and those that are put from now on.
func (p *pool) close() {
	for p.oldest != nil {
		cn := p.oldest
		p.remove(cn, 0)
		cn.Close()
	}
	p.max = -1
}

// remove takes cn out, which is the i-th of its address.
func (p *pool) remove(cn *conn, i int) {
	if conns := slices.Delete(p.byAddress[cn.address], i, i+1); len(conns) > 0 {
		p.byAddress[cn.address] = conns
	} else {
		delete(p.byAddress, cn.address)
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
