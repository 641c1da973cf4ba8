package frontier

import "github.com/weftcrawl/weft/internal/heap"

// turn is the turn of a server with something to lease or refuse, now or at a later time. Turns
// have the same order everywhere: by the time at which the server may be leased from, then by when
// it got its turn.
//
// A turn is in the line of ready servers, or in the line of a group that the server waits for. A
// turn in the ready line promises nothing of the server's domain and address. When it comes to the
// front and one of these is not free at its time, the server moves to the line of that group; when
// that is free and the other is not, to the other's. It keeps its turn, so nobody starves.
//
// Servers with the same domain and the same address are siblings. Only the first of them is in a
// line: that it has to wait for either group says as much of the others, even if they are 100,000,
// and none of them moves. So a lease takes time logarithmic in all of these, apart from the moves:
// at most one per address of the domain, or domain of the address, that is held up.
type turn struct {
	at    moment
	order uint64
	index int32 // in a line; -1: in none
	rank  int32 // among the siblings; -1: not there
}

// line is a heap of servers by their turn.
type line = heap.Heap[*server, inLine]

type inLine struct{}

func (inLine) Before(a, b *server) bool { return a.before(b) }
func (inLine) Moved(s *server, i int)   { s.index = int32(i) }

// family is a heap of siblings by their turn.
type family = heap.Heap[*server, inFamily]

type inFamily struct{}

func (inFamily) Before(a, b *server) bool { return a.before(b) }
func (inFamily) Moved(s *server, i int)   { s.rank = int32(i) }

// blocker is what a server waits for.
type blocker uint8

const (
	nobody blocker = iota
	itsDomain
	itsAddress
)

func (s *server) before(t *server) bool {
	if s.at != t.at {
		return s.at < t.at
	}
	return s.order < t.order
}

// siblings are the servers of one domain with one address. A domain with a single server has none.
type siblings struct {
	domain, address *group
	turns           family // of servers with something to lease or refuse
	n               int    // all of them
}

func (b *siblings) first() *server {
	if b.turns.Len() == 0 {
		return nil
	}
	return b.turns.First()
}

// domain returns the group of the server's domain; nil if it is alone there.
func (s *server) domain() *group {
	if s.siblings == nil {
		return nil
	}
	return s.siblings.domain
}

// enter makes s, which has no turn, a sibling of the servers of a domain with its address; nil: of
// none.
func (s *server) enter(domain *group) {
	if b := s.siblings; b != nil {
		if b.n--; b.n == 0 {
			delete(b.domain.siblings, b.address)
		}
		s.siblings = nil
	}
	if domain == nil {
		return
	}
	b := domain.siblings[s.address]
	if b == nil {
		b = &siblings{domain: domain, address: s.address}
		if domain.siblings == nil {
			domain.siblings = make(map[*group]*siblings)
		}
		domain.siblings[s.address] = b
	}
	b.n++
	s.siblings = b
}

// hasTurn reports whether s has a turn, in a line or among its siblings.
func (s *server) hasTurn() bool { return s.index >= 0 || s.rank >= 0 }

// requests reports whether it takes a request to do what is due of s at a time.
func (s *server) requests(at moment) bool {
	return s.resolve == addressKnown && !s.top().refusing(at)
}

// waitsWithSiblings reports whether s, whose turn is at a time, waits among its siblings. What
// takes no request, such as refusing what is due, need not wait for domain and address.
func (s *server) waitsWithSiblings(now, at moment) bool {
	return s.siblings != nil && s.requests(max(at, now))
}

// lineOf returns the line in which s has its turn.
func (p *politeness) lineOf(s *server) *line {
	switch s.waitsFor {
	case itsDomain:
		return &s.domain().waiting
	case itsAddress:
		return &s.address.waiting
	}
	return &p.ready
}

// lineChanged takes in that the first in the line of s may have changed.
func (p *politeness) lineChanged(s *server) {
	switch s.waitsFor {
	case itsDomain:
		p.place(s.domain())
	case itsAddress:
		p.place(s.address)
	}
}

func (p *politeness) join(s *server, waitsFor blocker) {
	s.waitsFor = waitsFor
	p.lineOf(s).Push(s)
	p.lineChanged(s)
}

func (p *politeness) leave(s *server) {
	p.lineOf(s).Remove(int(s.index))
	p.lineChanged(s)
}

// giveTurn gives s a turn; it has none.
func (p *politeness) giveTurn(now moment, s *server, at moment, order uint64) {
	s.at, s.order = at, order
	if !s.waitsWithSiblings(now, at) {
		p.join(s, nobody)
		return
	}
	old := s.siblings.first()
	s.siblings.turns.Push(s)
	p.represent(s.siblings, old)
}

// withdraw takes the turn of s away, if it has one.
func (p *politeness) withdraw(s *server) {
	switch {
	case s.rank >= 0:
		old := s.siblings.first()
		s.siblings.turns.Remove(int(s.rank))
		p.represent(s.siblings, old)
	case s.index >= 0:
		p.leave(s)
	}
}

// move brings s, which has a turn, to where it belongs now.
func (p *politeness) move(now moment, s *server) {
	p.withdraw(s)
	p.giveTurn(now, s, s.at, s.order)
}

// changeTurn changes the turn of s, which has one.
func (p *politeness) changeTurn(s *server, at moment, order uint64) {
	s.at, s.order = at, order
	if s.rank >= 0 {
		old := s.siblings.first()
		s.siblings.turns.Set(int(s.rank), s)
		p.represent(s.siblings, old)
	}
	if s.index >= 0 {
		p.lineOf(s).Set(int(s.index), s)
		p.lineChanged(s)
	}
}

// represent puts the first of the siblings into the line in which old stood for them.
func (p *politeness) represent(b *siblings, old *server) {
	first := b.first()
	if first == old {
		return
	}
	waitsFor := nobody
	if old != nil {
		waitsFor = old.waitsFor
		p.leave(old)
	}
	if first != nil {
		p.join(first, waitsFor)
	}
}

// next returns the server whose turn is next, and when: at a time before now it is due. It
// considers everything that time alone decides, and returns nil if only a response or a new URL
// helps.
func (p *politeness) next(now moment) (s *server, at moment) {
	for {
		switch {
		case p.groups.Len() > 0 && (p.ready.Len() == 0 || p.groups.First().before(p.ready.First())):
			g := p.groups.First()
			s, at = g.waiting.First(), g.at
		case p.ready.Len() > 0:
			s, at = p.ready.First(), p.ready.First().at
		default:
			return nil, 0
		}
		if s.rank < 0 && s.waitsWithSiblings(now, at) { // it is not dead any more
			p.move(now, s)
			continue
		}
		by := p.heldUp(s, max(at, now))
		if by == nobody {
			return s, at
		}
		p.leave(s)
		p.join(s, by)
	}
}

// heldUp returns what keeps s from being leased from at a time at which it has its turn.
func (p *politeness) heldUp(s *server, at moment) blocker {
	switch {
	case !s.requests(at):
	case !p.open(s.domain(), at):
		return itsDomain
	case !p.open(s.address, at):
		return itsAddress
	}
	return nobody
}
