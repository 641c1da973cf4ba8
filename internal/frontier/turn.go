package frontier

import "github.com/weftcrawl/weft/internal/heap"

// turn is the turn of a host with something to lease or refuse, now or at a later time. Turns
// have the same order everywhere: by the time at which the host may be leased from, then by when
// it got its turn.
//
// A turn is in the line of ready hosts, or in the line of a group that the host waits for. A
// turn in the ready line promises nothing of the host's domain and address. When it comes to the
// front and one of these is not free at its time, the host moves to the line of that group; when
// that is free and the other is not, to the other's. It keeps its turn, so nobody starves.
//
// Hosts with the same domain and the same address are siblings. Only the first of them is in a
// line: that it has to wait for either group says as much of the others, even if they are 100,000,
// and none of them moves. So a lease takes time logarithmic in all of these, apart from the moves:
// at most one per address of the domain, or domain of the address, that is held up.
type turn struct {
	at    moment
	order uint64
	index int32 // in a line; -1: in none
	rank  int32 // among the siblings; -1: not there
}

// turns are the hosts that have a turn: those in the ready line, and by their first those that wait
// for a group.
type turns struct {
	ready  line      // by the time at which the host may next be leased from
	groups groupHeap // by the time at which the first that waits for the group may be
}

// first returns the host whose turn is first, and the turn's time and order; nil if there is none.
func (t *turns) first() (h *host, at moment, order uint64) {
	switch {
	case t.groups.Len() > 0 && (t.ready.Len() == 0 || t.groups.First().before(t.ready.First())):
		g := t.groups.First()
		return g.waiting.First(), g.at, g.order
	case t.ready.Len() > 0:
		h = t.ready.First()
		return h, h.turn.at, h.turn.order
	}
	return nil, 0, 0
}

// line is a heap of hosts by their turn.
type line = heap.Heap[*host, inLine]

type inLine struct{}

func (inLine) Before(a, b *host) bool { return a.before(b) }
func (inLine) Moved(h *host, i int)   { h.turn.index = int32(i) }

// family is a heap of siblings by their turn.
type family = heap.Heap[*host, inFamily]

type inFamily struct{}

func (inFamily) Before(a, b *host) bool { return a.before(b) }
func (inFamily) Moved(h *host, i int)   { h.turn.rank = int32(i) }

// blocker is what a host waits for.
type blocker uint8

const (
	nobody blocker = iota
	itsDomain
	itsAddress
)

func (h *host) before(t *host) bool {
	if h.turn.at != t.turn.at {
		return h.turn.at < t.turn.at
	}
	return h.turn.order < t.turn.order
}

// siblings are the hosts of one domain with one address. A domain with a single host has none.
type siblings struct {
	domain, address *group
	turns           family // of hosts with something to lease or refuse
	n               int    // all of them
}

func (b *siblings) first() *host {
	if b.turns.Len() == 0 {
		return nil
	}
	return b.turns.First()
}

// domain returns the group of the host's domain; nil if it is alone there.
func (h *host) domain() *group {
	if h.siblings == nil {
		return nil
	}
	return h.siblings.domain
}

// enter makes h, which has no turn, a sibling of the hosts of a domain with its address; nil: of
// none.
func (h *host) enter(domain *group) {
	if b := h.siblings; b != nil {
		if b.n--; b.n == 0 {
			delete(b.domain.siblings, b.address)
		}
		h.siblings = nil
	}
	if domain == nil {
		return
	}
	b := domain.siblings[h.address]
	if b == nil {
		b = &siblings{domain: domain, address: h.address}
		if domain.siblings == nil {
			domain.siblings = make(map[*group]*siblings)
		}
		domain.siblings[h.address] = b
	}
	b.n++
	h.siblings = b
}

// hasTurn reports whether h has a turn, in a line or among its siblings.
func (h *host) hasTurn() bool { return h.turn.index >= 0 || h.turn.rank >= 0 }

// requests reports whether it takes a request to do what is due of h at a time.
func (p *politeness) requests(h *host, at moment) bool {
	return h.resolve == addressKnown && !p.top(h).refusing(at)
}

// waitsWithSiblings reports whether h, whose turn is at a time, waits among its siblings. What
// takes no request, such as refusing what is due, need not wait for domain and address.
func (p *politeness) waitsWithSiblings(now moment, h *host, at moment) bool {
	return h.siblings != nil && p.requests(h, max(at, now))
}

// lineOf returns the line in which h has its turn.
func (p *politeness) lineOf(h *host) *line {
	switch h.waitsFor {
	case itsDomain:
		return &h.domain().waiting
	case itsAddress:
		return &h.address.waiting
	}
	return &p.turnsOf(h.prompt).ready
}

// turnsOf returns the turns of hosts that are prompt, or are not.
func (p *politeness) turnsOf(prompt bool) *turns {
	if prompt {
		return &p.prompt
	}
	return &p.others
}

// lineChanged takes in that the first in the line of h may have changed.
func (p *politeness) lineChanged(h *host) {
	switch h.waitsFor {
	case itsDomain:
		p.place(h.domain())
	case itsAddress:
		p.place(h.address)
	}
}

func (p *politeness) join(h *host, waitsFor blocker) {
	h.waitsFor = waitsFor
	p.lineOf(h).Push(h)
	p.lineChanged(h)
}

func (p *politeness) leave(h *host) {
	p.lineOf(h).Remove(int(h.turn.index))
	p.lineChanged(h)
}

// giveTurn gives h a turn; it has none.
func (p *politeness) giveTurn(now moment, h *host, at moment, order uint64) {
	h.turn.at, h.turn.order = at, order
	if !p.waitsWithSiblings(now, h, at) {
		p.join(h, nobody)
		return
	}
	old := h.siblings.first()
	h.siblings.turns.Push(h)
	p.represent(h.siblings, old)
}

// withdraw takes the turn of h away, if it has one.
func (p *politeness) withdraw(h *host) {
	switch {
	case h.turn.rank >= 0:
		old := h.siblings.first()
		h.siblings.turns.Remove(int(h.turn.rank))
		p.represent(h.siblings, old)
	case h.turn.index >= 0:
		p.leave(h)
	}
}

// move brings h, which has a turn, to where it belongs now.
func (p *politeness) move(now moment, h *host) {
	p.withdraw(h)
	p.giveTurn(now, h, h.turn.at, h.turn.order)
}

// changeTurn changes the turn of h, which has one.
func (p *politeness) changeTurn(h *host, at moment, order uint64) {
	h.turn.at, h.turn.order = at, order
	if h.turn.rank >= 0 {
		old := h.siblings.first()
		h.siblings.turns.Set(int(h.turn.rank), h)
		p.represent(h.siblings, old)
	}
	if h.turn.index >= 0 {
		p.lineOf(h).Set(int(h.turn.index), h)
		p.lineChanged(h)
	}
}

// represent puts the first of the siblings into the line in which old stood for them.
func (p *politeness) represent(b *siblings, old *host) {
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

// next returns the host whose turn is next, of all or of the prompt ones, and when: at a time
// before now it is due. It considers everything that time alone decides, and returns nil if only a
// response, a new URL or an address that is admitted helps.
func (p *politeness) next(now moment, all bool) (h *host, at moment) {
	for {
		h, at, order := p.prompt.first()
		if all {
			if o, oAt, oOrder := p.others.first(); h == nil || o != nil && (oAt < at || oAt == at && oOrder < order) {
				h, at = o, oAt
			}
		}
		if h == nil {
			return nil, 0
		}
		if h.prompt && p.stalls(now, h) {
			h.quick = 0
			p.setPrompt(now, h, false)
			continue
		}
		if h.turn.rank < 0 && p.waitsWithSiblings(now, h, at) { // it is not dead any more
			p.move(now, h)
			continue
		}
		by := p.heldUp(h, max(at, now))
		switch {
		case by == nobody:
			return h, at
		case by == itsAddress && h.address.isShut() && !p.ask(h.address.addr):
			return nil, 0
		}
		p.leave(h)
		p.join(h, by)
	}
}

// heldUp returns what keeps h from being leased from at a time at which it has its turn.
func (p *politeness) heldUp(h *host, at moment) blocker {
	switch {
	case !p.requests(h, at):
	case !p.open(h.domain(), at):
		return itsDomain
	case !p.open(h.address, at):
		return itsAddress
	}
	return nobody
}
