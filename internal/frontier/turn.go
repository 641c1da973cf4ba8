package frontier

import (
	"strings"

	"github.com/weftcrawl/weft/internal/heap"
)

// originHeap is a heap of a host's origins by their turn.
type originHeap = heap.Heap[originTurn, byOriginTurn]

// originTurn is an origin and its turn among those of its host.
type originTurn struct {
	at     moment
	order  uint64
	origin *origin
}

type byOriginTurn struct{}

func (byOriginTurn) Before(a, b originTurn) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}

func (byOriginTurn) Moved(t originTurn, i int) { t.origin.index = int32(i) }

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

// line is a heap of hosts by their turn.
type line = heap.Heap[*host, inLine]

type inLine struct{}

func (inLine) Before(a, b *host) bool { return a.turn.before(&b.turn) }

func (inLine) Moved(h *host, i int) { h.turn.index = int32(i) }

// family is a heap of siblings by their turn.
type family = heap.Heap[*host, inFamily]

type inFamily struct{}

func (inFamily) Before(a, b *host) bool { return a.turn.before(&b.turn) }

func (inFamily) Moved(h *host, i int) { h.turn.rank = int32(i) }

// Blocker is the group that a host waits for.
type Blocker uint8

// The groups.
const (
	BlockedByNone Blocker = iota
	BlockedByDomain
	BlockedByAddress
)

func (t *turn) before(other *turn) bool {
	if t.at != other.at {
		return t.at < other.at
	}
	return t.order < other.order
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

// leaveSiblings makes h, which has no turn, a sibling of none. It returns its domain; nil: it was
// alone there.
func (h *host) leaveSiblings() (domain *group) {
	b := h.siblings
	if b == nil {
		return nil
	}
	if b.n--; b.n == 0 {
		delete(b.domain.siblings, b.address)
	}
	h.siblings = nil
	return b.domain
}

// enter makes h, which has no turn, one of the hosts of an address or a domain, and a sibling of
// those with which it shares both.
func (h *host) enter(g *group) {
	domain := h.leaveSiblings()
	if g.addr.IsValid() {
		h.address = g
	} else {
		domain = g
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

// regroup moves h, with what it has leased, from one address or domain to another; from nil if it
// had none. It keeps its turn, if it has one, whose time may be another now.
func (p *politeness) regroup(now moment, h *host, from, to *group) {
	had := h.hasTurn()
	p.withdraw(h)
	h.enter(to)
	p.groups.move(h, from, to)
	if had {
		p.giveTurn(now, h, h.turn.at, h.turn.order)
		p.placeHost(now, h)
	}
}

// turns returns the heap in which o has its turn, or would have it.
func (o *origin) turns() *originHeap {
	if o.inDoubts {
		return &o.host.origins.doubts
	}
	return &o.host.origins.due
}

// leaveTurns takes the turn of o among its host's origins away, if it has one.
func (o *origin) leaveTurns() {
	if o.index >= 0 {
		o.turns().Remove(int(o.index))
	}
}

// isFrontDoor reports whether o comes before other doubtful origins of its host: a seed is on it,
// or it has a default port. Anybody can link to the others.
func (o *origin) isFrontDoor() bool {
	_, authority, _ := strings.Cut(o.name, "://")
	return o.seed || authority != "" && authority == Hostname(o.name)
}

// nextOrder returns the number of the next turn: turns due at once are taken in this order.
func (p *politeness) nextOrder() uint64 {
	p.order++
	return p.order
}

// endedByLimit reports whether h has its turn for a URL that Limit keeps from being leased.
func (p *politeness) endedByLimit(now moment, h *host) bool {
	if !p.agenda.limited() {
		return false
	}
	at, ok := p.due(now, h)
	return !ok || at > max(h.turn.at, now)
}

// endOrigins places anew those origins of h that come first for what Limit has ended.
func (p *politeness) endOrigins(now moment, h *host) {
	if h.origins == nil || !p.agenda.limited() {
		return
	}
	for _, turns := range [...]*originHeap{&h.origins.due, &h.origins.doubts} {
		for turns.Len() > 0 {
			t := turns.First()
			if at, _, ok := p.dueOf(now, t.origin); ok && at <= max(t.at, now) {
				break
			}
			p.placeOrigin(now, t.origin)
		}
	}
}

// changed takes in that o has changed, in what it has to lease or refuse and in what is recorded.
func (p *politeness) changed(now moment, o *origin) {
	p.journal.originChanged(o)
	p.place(now, o)
}

// place takes in that what o has to lease or refuse, or its host, has changed.
func (p *politeness) place(now moment, o *origin) {
	p.agenda.levels.stand(now, o)
	if o.host.origins != nil {
		p.placeOrigin(now, o)
	}
	p.placeHost(now, o.host)
}

// placeHost gives a host its turn at the time at which it may next be leased from, apart from
// its domain and address, or takes the turn away if time alone does not help. A host that stays
// due, or whose time is as before, keeps its turn.
func (p *politeness) placeHost(now moment, h *host) {
	p.endOrigins(now, h)
	at, ok := p.due(now, h)
	if !ok {
		p.withdraw(h)
		return
	}
	p.dueAt(now, h, at)
	switch {
	case !h.hasTurn():
		p.giveTurn(now, h, at, p.nextOrder())
	case h.turn.at == at, h.turn.at <= now && at <= now:
	default:
		p.changeTurn(h, at, p.nextOrder())
	}
	if p.waitsWithSiblings(h, at) != (h.turn.rank >= 0) ||
		h.turn.index >= 0 && h.waitsFor != BlockedByNone && !p.requests(h, at) {
		p.move(now, h)
	}
}

// dueAt takes in that a host waits for its own delay, until at. Its address keeps the least of
// these times, until that is over: then one of those who were later says so again, or none is as
// soon.
func (p *politeness) dueAt(now moment, h *host, at moment) {
	if g := h.address; p.groups.ask != nil && g != nil && at > now && (g.soon <= now || at < g.soon) {
		g.soon = at
	}
}

// dueOf returns when the next URL of o may be leased or refused, or its robots.txt leased, as far
// as that depends on o alone. Refused: it takes no request.
func (p *politeness) dueOf(now moment, o *origin) (at moment, refused, ok bool) {
	if at, ok = p.agenda.due(now, o); !ok || p.bars(o) {
		return 0, false, false
	}
	return o.chance(at)
}

// rendering are the pages that are being rendered: those of Errands.Responded. While there are
// most of them, their origins have no turn, as what they have would be rendered, too, for the most
// part. Other origins go on, as theirs may need no rendering.
type rendering struct {
	most  int             // 0: any number
	pages int             // of all origins
	of    map[*origin]int // origins with any
}

// bars reports whether o has no turn for its pages that are being rendered.
func (p *politeness) bars(o *origin) bool {
	r := &p.rendering
	return r.most > 0 && r.pages >= r.most && r.of[o] > 0
}

// due returns the same of a host, as far as that depends on it alone.
func (p *politeness) due(now moment, h *host) (at moment, ok bool) {
	o := p.top(h)
	if o == nil || h.held {
		return 0, false
	}
	at, refused, ok := p.dueOf(now, o)
	switch {
	case !ok, refused:
		return at, ok
	case h.resolve == addressUnknown:
		return now, true
	case h.resolve == addressAsked:
		return 0, false
	}
	if h.origins != nil && o.doubtful {
		at = max(at, h.origins.park)
	}
	free, ok := p.freeAt(h)
	return max(at, free), ok
}

// originsOf makes h a host with several origins.
func (p *politeness) originsOf(now moment, h *host) *origins {
	if h.origins == nil {
		h.origins = newOrigins(&h.own)
		p.placeOrigin(now, &h.own)
	}
	return h.origins
}

func (all *origins) add(o *origin) { all.known[o.name] = o }

// newOrigins returns the origins of a host that has had one.
func newOrigins(own *origin) *origins {
	all := &origins{known: map[string]*origin{own.name: own}, delay: own.robots.delay()}
	if own.doubtful {
		all.probing = own.leased
	} else {
		all.vouchers = 1
	}
	if own.trouble != nil && own.trouble.fails > 0 {
		all.fails, all.failing = own.trouble.fails, 1
	}
	return all
}

// placeOrigin puts o among its host's origins that are due, or takes it out. One that stays due, or
// whose time is as before, keeps its turn.
func (p *politeness) placeOrigin(now moment, o *origin) {
	at, refused, ok := p.dueOf(now, o)
	if !ok {
		o.leaveTurns()
		return
	}
	if in := o.doubtful && !refused; in != o.inDoubts {
		o.leaveTurns()
		o.inDoubts = in
	}
	due := o.turns()
	switch {
	case o.index < 0 && at <= now && o.inDoubts && o.isFrontDoor():
		due.Push(originTurn{0, p.nextOrder(), o})
	case o.index < 0:
		due.Push(originTurn{at, p.nextOrder(), o})
	default:
		if t := due.Items()[o.index]; t.at != at && (t.at > now || at > now) {
			due.Set(int(o.index), originTurn{at, p.nextOrder(), o})
		}
	}
}

// maxEnded bounds the turns ended by Limit that one Lease or Next skips: when the limit is
// reached, a million hosts may have one.
const maxEnded = 1000

// nextWithin is next without the turns that Limit has ended. Each is skipped when it comes, not all
// at once, which may be a million, when Limit is reached. After maxEnded it returns one of them.
func (p *politeness) nextWithin(now moment, all bool) (h *host, at moment) {
	h, at = p.next(now, all)
	for n := 0; h != nil && n < maxEnded && p.endedByLimit(now, h); n++ {
		p.placeHost(now, h)
		h, at = p.next(now, all)
	}
	return h, at
}

// top returns the origin of h whose turn is next; nil if none has anything to lease.
func (p *politeness) top(h *host) *origin {
	all := h.origins
	switch {
	case all == nil:
		return &h.own
	case !p.mayProbe(h):
		if all.due.Len() == 0 {
			return nil
		}
		return all.due.First().origin
	}
	probe := all.doubts.First()
	if all.due.Len() > 0 {
		turn := probe
		if all.failing > 0 {
			turn.at = max(turn.at, all.park, all.probed)
			turn.order = max(turn.order, all.order)
		}
		if first := all.due.First(); !(byOriginTurn{}).Before(turn, first) {
			return first.origin
		}
	}
	return probe.origin
}

// mayProbe reports whether a doubtful origin of h may take its turn: while others respond, the
// doubtful ones have a quarter of the leases, one at least.
func (p *politeness) mayProbe(h *host) bool {
	all := h.origins
	switch {
	case all.doubts.Len() == 0:
		return false
	case all.probing == 0, all.vouchers == 0, all.due.Len() == 0:
		return true
	}
	return all.probing < p.pace(h)/4
}

// setPrompt makes h prompt, or not. It keeps its turn, if it has one.
func (p *politeness) setPrompt(now moment, h *host, prompt bool) {
	had := h.hasTurn()
	p.withdraw(h)
	h.prompt = prompt
	if had {
		p.giveTurn(now, h, h.turn.at, h.turn.order)
	}
}

// first returns the host whose turn is first of those that are prompt, or are not, and the turn's
// time and order; nil if there is none.
func (p *politeness) first(prompt bool) (h *host, at moment, order uint64) {
	ready, groups := p.readyOf(prompt), p.groups.heapOf(prompt)
	switch {
	case groups.Len() > 0 && (ready.Len() == 0 || groups.First().before(ready.First())):
		g := groups.First()
		return g.waiting.First(), g.at, g.order
	case ready.Len() > 0:
		h = ready.First()
		return h, h.turn.at, h.turn.order
	}
	return nil, 0, 0
}

// requests reports whether it takes a request to do what is due of h at a time, now or later.
func (p *politeness) requests(h *host, at moment) bool {
	if h.resolve != addressKnown {
		return false
	}
	_, refused, _ := p.top(h).chance(at)
	return !refused
}

// waitsWithSiblings reports whether h, whose turn is at a time, now or later, waits among its
// siblings. What takes no request, such as refusing what is due, need not wait for domain and
// address.
func (p *politeness) waitsWithSiblings(h *host, at moment) bool {
	return h.siblings != nil && p.requests(h, at)
}

// groupOf returns the group that h waits for; nil: none.
func (h *host) groupOf() *group {
	switch h.waitsFor {
	case BlockedByDomain:
		return h.siblings.domain
	case BlockedByAddress:
		return h.address
	}
	return nil
}

// lineOf returns the line in which h has its turn.
func (p *politeness) lineOf(h *host) *line {
	if g := h.groupOf(); g != nil {
		return &g.waiting
	}
	return p.readyOf(h.prompt)
}

// readyOf returns the line of ready hosts that are prompt, or are not.
func (p *politeness) readyOf(prompt bool) *line {
	if prompt {
		return &p.prompt
	}
	return &p.others
}

// lineChanged takes in that the first in the line of h may have changed.
func (p *politeness) lineChanged(h *host) { p.groups.place(h.groupOf()) }

func (p *politeness) join(h *host, waitsFor Blocker) {
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
	if !p.waitsWithSiblings(h, max(at, now)) {
		p.join(h, BlockedByNone)
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
	waitsFor := BlockedByNone
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
		h, at, order := p.first(true)
		if all {
			if o, oAt, oOrder := p.first(false); h == nil || o != nil && (oAt < at || oAt == at && oOrder < order) {
				h, at = o, oAt
			}
		}
		if h == nil {
			return nil, 0
		}
		if h.prompt && h.stalls(now) {
			h.quick = 0
			p.setPrompt(now, h, false)
			continue
		}
		if h.turn.rank < 0 && p.waitsWithSiblings(h, max(at, now)) { // it is not dead any more
			p.move(now, h)
			continue
		}
		by := p.blockedBy(h, max(at, now))
		switch {
		case by == BlockedByNone:
			return h, at
		case by == BlockedByAddress && h.address.isShut() && !p.groups.ask(h.address.addr):
			return nil, 0
		}
		p.leave(h)
		p.join(h, by)
	}
}

// blockedBy returns what keeps h from being leased from at a time at which it has its turn.
func (p *politeness) blockedBy(h *host, at moment) Blocker {
	switch {
	case !p.requests(h, at):
	case !p.groups.free(h.domain(), at):
		return BlockedByDomain
	case !p.groups.free(h.address, at):
		return BlockedByAddress
	}
	return BlockedByNone
}
