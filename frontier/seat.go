package frontier

import "github.com/weftcrawl/weft/internal/heap"

// A server that has something to lease or refuse, now or at a time, has a seat: in the
// heap ready, or among those waiting for its domain or its address. They are in the same
// order everywhere: by the time at which the server may be asked, then by its turn.
//
// A seat in ready promises nothing of domain and address. When it comes to the front, and
// one of these is not free at its time, the server moves to those that wait for it; when
// that is free, and the other one is not, to the other's. It keeps its turn, so nobody
// starves.
//
// Servers with one domain and one address make a cell. Only the first of them has a seat: that
// it has to wait for either says as much of the others, be they 100,000, and none of them
// moves. So a lease takes time logarithmic in all of these, but for the moves, which are at
// most as many as a domain has addresses, or an address domains, that are held up.
type seat struct {
	at    moment
	order uint64
	index int32 // among the seats, −1: it has none
	sub   int32 // among the servers of its cell, −1: it is not there
}

// place is where a seat is.
type place uint8

const (
	inReady place = iota
	atDomain
	atAddress
)

func (s *server) before(t *server) bool {
	if s.at != t.at {
		return s.at < t.at
	}
	return s.order < t.order
}

// cell is the servers of one domain with one address; of a domain with a single server there
// is none.
type cell struct {
	key     [2]*group
	servers members // those that have something to lease or refuse
	n       int     // all of them
}

// domain is that of s; nil if it is alone in its domain.
func (s *server) domain() *group {
	if s.cell == nil {
		return nil
	}
	return s.cell.key[0]
}

// enterCell brings s, which has no turn, into the cell of a domain and its address.
func (s *server) enterCell(domain *group) {
	if c := s.cell; c != nil {
		if c.n--; c.n == 0 {
			delete(c.key[0].cells, c.key[1])
		}
		s.cell = nil
	}
	if domain == nil {
		return
	}
	c := domain.cells[s.address]
	if c == nil {
		c = &cell{key: [2]*group{domain, s.address}}
		if domain.cells == nil {
			domain.cells = make(map[*group]*cell)
		}
		domain.cells[s.address] = c
	}
	c.n++
	s.cell = c
}

// hasTurn reports whether s has a turn: a seat, or a place in its cell.
func (s *server) hasTurn() bool { return s.index >= 0 || s.sub >= 0 }

// seats are those that s has its own among.
func (f *Frontier) seats(s *server) *seats {
	switch s.where {
	case atDomain:
		return &s.domain().waiting
	case atAddress:
		return &s.address.waiting
	}
	return &f.ready
}

// settle has the heaps agree with a seat whose group's first may have changed.
func (f *Frontier) settle(s *server) {
	switch s.where {
	case atDomain:
		f.placeGroup(s.domain())
	case atAddress:
		f.placeGroup(s.address)
	}
}

func (f *Frontier) sit(s *server, where place) {
	s.where = where
	f.seats(s).Push(s)
	f.settle(s)
}

func (f *Frontier) stand(s *server) {
	f.seats(s).Remove(int(s.index))
	f.settle(s)
}

// file gives s, which has none, a turn.
func (f *Frontier) file(s *server, at moment, order uint64) {
	s.at, s.order = at, order
	if !f.inCell(s, at) {
		f.sit(s, inReady)
		return
	}
	old := s.cell.first()
	s.cell.servers.Push(s)
	f.seatFirst(s.cell, old)
}

// inCell reports whether s, whose turn is at a time, waits among others of its cell. What
// takes no request, as to refuse what is due, has not to wait for domain and address.
func (f *Frontier) inCell(s *server, at moment) bool {
	return s.cell != nil && f.asks(s, max(at, f.now))
}

// withdraw takes its turn from s, if it has one.
func (f *Frontier) withdraw(s *server) {
	switch {
	case s.sub >= 0:
		old := s.cell.first()
		s.cell.servers.Remove(int(s.sub))
		f.seatFirst(s.cell, old)
	case s.index >= 0:
		f.stand(s)
	}
}

// refile brings s, which has a turn, to where it waits for it.
func (f *Frontier) refile(s *server) {
	f.withdraw(s)
	f.file(s, s.at, s.order)
}

// rekey changes the turn of s, which has one.
func (f *Frontier) rekey(s *server, at moment, order uint64) {
	s.at, s.order = at, order
	if s.sub >= 0 {
		old := s.cell.first()
		s.cell.servers.Set(int(s.sub), s)
		f.seatFirst(s.cell, old)
	}
	if s.index >= 0 {
		f.seats(s).Set(int(s.index), s)
		f.settle(s)
	}
}

// seatFirst gives the seat of a cell, which old had, to the server that is now its first.
func (f *Frontier) seatFirst(c *cell, old *server) {
	first := c.first()
	if first == old {
		return
	}
	where := inReady
	if old != nil {
		where = old.where
		f.stand(old)
	}
	if first != nil {
		f.sit(first, where)
	}
}

func (c *cell) first() *server {
	if c.servers.Len() == 0 {
		return nil
	}
	return c.servers.First()
}

// nextServer returns the server whose turn is next, and when: at a time before now it is due. All
// that time alone decides is considered. It is nil if nothing but an answer, or a new URL, helps.
func (f *Frontier) nextServer() (s *server, at moment) {
	for {
		switch {
		case f.groups.Len() > 0 && (f.ready.Len() == 0 || f.groups.First().before(f.ready.First())):
			s, at = f.groups.First().waiting.First(), f.groups.First().at
		case f.ready.Len() > 0:
			s, at = f.ready.First(), f.ready.First().at
		default:
			return nil, 0
		}
		if s.sub < 0 && f.inCell(s, at) { // it is not dead any more
			f.refile(s)
			continue
		}
		where, free := f.heldUp(s, max(at, f.now))
		if free {
			return s, at
		}
		f.stand(s)
		f.sit(s, where)
	}
}

func (g *group) before(s *server) bool {
	if g.at != s.at {
		return g.at < s.at
	}
	return g.order < s.order
}

// heldUp returns what keeps s from being asked at a time at which that is its turn.
func (f *Frontier) heldUp(s *server, at moment) (by place, free bool) {
	switch {
	case !f.asks(s, at):
	case !f.open(s.domain(), at):
		return atDomain, false
	case !f.open(s.address, at):
		return atAddress, false
	}
	return inReady, true
}

// asks reports whether it takes a request to do what is due of s at a time.
func (f *Frontier) asks(s *server, at moment) bool {
	return s.resolve == addressKnown && !f.refusing(s.top(), at)
}

// seats is a heap of servers by their turn.
type seats = heap.Heap[*server, bySeat]

type bySeat struct{}

func (bySeat) Before(a, b *server) bool { return a.before(b) }
func (bySeat) Moved(s *server, i int)   { s.index = int32(i) }

// members is another, of the servers of a cell.
type members = heap.Heap[*server, byCell]

type byCell struct{}

func (byCell) Before(a, b *server) bool { return a.before(b) }
func (byCell) Moved(s *server, i int)   { s.sub = int32(i) }
