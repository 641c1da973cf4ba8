package frontier

import (
	"math"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
	"github.com/weftcrawl/weft/weburl"
)

// group is hosts that share a load: those with one address, or those of one registrable domain.
// It has a delay and a pace as a host has, on top of the hosts' own. What robots.txt asks for,
// and back-off, concern a single host.
//
// Invariant: a group is in the heap of groups if and only if hosts wait for it and it may have
// another lease, now or when its delay is over.
type group struct {
	window
	addr     netip.Addr // of an address; invalid: a domain
	hosts    int32
	busy     int32  // leases, and closed while it is shut
	last     moment // from which its delay counts
	waiting  line   // hosts that it held up when their turn came
	siblings map[*group]*siblings
	at       moment // key in the heap of groups: when the first waiting host may be leased from
	order    uint64 // of that host
	soon     moment // of an address that is shared: see dueAt
	index    int32  // in that heap; -1: it is not there
	prompt   bool   // that heap is of prompt hosts, as that host is
}

// groupHeap is a heap of groups by the turn of the first host that waits for each.
type groupHeap = heap.Heap[*group, byTurn]

type byTurn struct{}

func (byTurn) Before(a, b *group) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}
func (byTurn) Moved(g *group, i int) { g.index = int32(i) }

func (g *group) before(h *host) bool {
	if g.at != h.turn.at {
		return g.at < h.turn.at
	}
	return g.order < h.turn.order
}

// spend counts a lease.
func (g *group) spend(now moment) {
	if g != nil {
		g.busy++
		g.last = now // until the response says when it really ended
	}
}

// learn takes in the end of a lease of h. An overload halves the pace of its domain, not of its
// address: anybody can point names there, and have them refused. A response that is slow, or fast,
// for its host counts as such for the group, since its hosts may be of any speed.
func (g *group) learn(now moment, h *host, a Result, as speed, overloaded bool, bound uint8) {
	if g == nil {
		return
	}
	g.busy--
	g.last = now
	switch {
	case a.loopback() && !h.pace.overload:
		g.most = 0
	case a.Overload && g.addr.IsValid():
	case overloaded:
		g.halve()
	case a.Took > 0 && g.count(as, bound):
		h.pace.settle()
	}
}

// waitFrom makes the delay of a group count from now on.
func (g *group) waitFrom(now moment) {
	if g != nil {
		g.last = max(g.last, now)
	}
}

// politeness decides which host may be leased from, and when: it keeps the turns of the hosts,
// and the groups whose delay and pace they share.
type politeness struct {
	cfg       *Config
	prompt    turns // of hosts that are: see prompt.go
	others    turns
	lastly    moment // when a prompt lease ended last; never: none did
	addresses map[netip.Addr]*group
	domains   map[string]*group // of several hosts
	empty     int               // groups without a host in memory
	sweepAt   int               // so many are swept next
	restored  moment            // until then another process may have asked any host; never: none

	ask func(netip.Addr) bool // wants an address that is shut: see ShareBy; nil: none is
}

func newPoliteness(cfg *Config) politeness {
	return politeness{
		cfg: cfg, addresses: make(map[netip.Addr]*group), domains: make(map[string]*group),
		sweepAt: sweepFrom, restored: never, lastly: never,
	}
}

// sweepFrom is how many groups without a host are left alone.
const sweepFrom = 64

// bytes is about how much memory the groups take.
func (p *politeness) bytes() int { return costOfGroup * p.len() }

func (p *politeness) len() int { return len(p.addresses) + len(p.domains) }

// add returns a new group without hosts, of an address or, if that is invalid, a domain.
func (p *politeness) add(addr netip.Addr, unbounded bool) *group {
	p.empty++
	g := &group{addr: addr, last: p.restored, index: -1}
	if !unbounded {
		// What the user allows for one host, two may have.
		g.most = uint8(max(startPace, min(p.cfg.PerHost, math.MaxUint8)))
	}
	return g
}

// domainOf returns the group of a domain that has a further host besides first.
func (p *politeness) domainOf(domain string, first *host) *group {
	g := p.domains[domain]
	if g == nil {
		g = p.add(netip.Addr{}, first.pace.most == 0 && p.cfg.PerHost == 0)
		p.domains[domain] = g
	}
	return g
}

// address returns the group of an address.
func (p *politeness) address(now moment, addr netip.Addr) *group {
	g := p.addresses[addr]
	if g == nil {
		p.sweep(now)
		g = p.add(addr, addr.IsLoopback())
		if p.ask != nil {
			g.busy = closed
		}
		p.addresses[addr] = g
	}
	return g
}

// regroup makes h, with what it has leased, one of the hosts of a domain, nil if it is alone
// there, and of an address, nil if that is unknown. It keeps its turn, and regroup reports whether
// it has one: the time of that may be another now.
func (p *politeness) regroup(now moment, h *host, domain, address *group) (turn bool) {
	turn = h.hasTurn()
	p.withdraw(h)
	oldDomain, oldAddress := h.domain(), h.address
	h.address = address
	h.enter(domain)
	for _, change := range [][2]*group{{oldDomain, domain}, {oldAddress, address}} {
		old, g := change[0], change[1]
		if old == g {
			continue
		}
		p.drop(h, old)
		if g.hosts == 0 {
			p.empty--
		}
		g.hosts++
		g.busy += h.busy
		g.last = max(g.last, h.last)
		p.place(g)
	}
	if turn {
		p.giveTurn(now, h, h.turn.at, h.turn.order)
	}
	return turn
}

// drop takes h out of a group, with what it has leased.
func (p *politeness) drop(h *host, g *group) {
	if g == nil {
		return
	}
	g.hosts--
	g.busy -= h.busy
	if g.hosts == 0 {
		p.empty++
	}
	p.place(g)
}

// remove takes h, which leaves memory, out of all groups.
func (p *politeness) remove(h *host) {
	p.drop(h, h.domain())
	p.drop(h, h.address)
	h.enter(nil)
}

// sweep drops groups without a host once there are many, unless their delay is running.
func (p *politeness) sweep(now moment) {
	if p.empty <= p.sweepAt {
		return
	}
	over := func(g *group) bool {
		return g.hosts == 0 && p.freeAt(g) <= now && (p.ask == nil || !g.addr.IsValid() || g.isShut())
	}
	before := p.len()
	for addr, g := range p.addresses {
		if over(g) {
			delete(p.addresses, addr)
		}
	}
	for domain, g := range p.domains {
		if over(g) {
			delete(p.domains, domain)
		}
	}
	p.empty -= before - p.len()
	p.sweepAt = 2*p.empty + sweepFrom + p.len()/4
}

// limit returns how many leases a group may have at once. A group of a single host has no limit
// of its own.
func (p *politeness) limit(g *group) int32 {
	n, most := g.window.limit(), p.cfg.PerDomain
	if g.addr.IsValid() {
		most = p.cfg.PerAddress
	}
	switch {
	case most > 0:
		n = most
	case g.hosts == 1 && p.cfg.PerHost > 0:
		n = anyPace
	case p.groupDelay(g.addr.IsValid()) > 0:
		n = 1
	case g.hosts == 1:
		n = anyPace
	}
	return int32(min(n, anyPace))
}

// groupDelay returns the time between the end of a response and the next request to a group.
func (p *politeness) groupDelay(isAddress bool) time.Duration {
	delay := p.cfg.DomainDelay
	if isAddress {
		delay = p.cfg.AddressDelay
	}
	if delay == 0 {
		delay = p.cfg.Delay
	}
	return max(0, delay)
}

// freeAt returns when the delay of a group is over.
func (p *politeness) freeAt(g *group) moment {
	delay := p.groupDelay(g.addr.IsValid())
	if delay == 0 || g.last == never {
		return 0 // or the last lease would cost waiting hosts their turn
	}
	return g.last + delay
}

// open reports whether a group may have another lease at a time.
func (p *politeness) open(g *group, at moment) bool {
	return g == nil || g.busy < p.limit(g) && p.freeAt(g) <= at
}

// place puts a group into the heap of groups at the time at which the first that waits for it may
// be leased from, or takes it out if time alone does not help. That one may have waited for long:
// it comes before hosts that became due later.
func (p *politeness) place(g *group) {
	switch {
	case g == nil:
	case g.waiting.Len() == 0 || g.busy >= p.limit(g):
		if g.index >= 0 {
			p.turnsOf(g.prompt).groups.Remove(int(g.index))
		}
	default:
		first := g.waiting.First()
		if g.index >= 0 && g.prompt != first.prompt {
			p.turnsOf(g.prompt).groups.Remove(int(g.index))
		}
		g.at, g.order, g.prompt = max(first.turn.at, p.freeAt(g)), first.turn.order, first.prompt
		if groups := &p.turnsOf(g.prompt).groups; g.index < 0 {
			groups.Push(g)
		} else {
			groups.Set(int(g.index), g)
		}
	}
}

// placeGroups places the groups of a host.
func (p *politeness) placeGroups(h *host) {
	p.place(h.domain())
	p.place(h.address)
}

// spend counts a lease of a host.
func (p *politeness) spend(now moment, h *host) {
	if h.busy++; h.busy == 1 {
		h.moved = now
	}
	h.asked, h.last = now, now // until the response says when it really ended
	h.domain().spend(now)
	h.address.spend(now)
	p.placeGroups(h)
}

// learn takes in the end of a lease of a host.
func (p *politeness) learn(now moment, h *host, a Result) {
	h.busy--
	p.judgePrompt(now, h, &a)
	as, overloaded := h.pace.learn(now, a)
	bound := uint8(max(maxPace, min(p.cfg.PerHost, math.MaxUint8)))
	for _, g := range [...]*group{h.domain(), h.address} {
		g.learn(now, h, a, as, overloaded, bound)
		p.place(g)
	}
}

// delay returns the time between the end of a response of h and the next request. A host that is
// alone in its domain stands for it.
func (p *politeness) delay(h *host) time.Duration {
	delay := max(p.cfg.Delay, h.crawlDelay())
	if h.domain() == nil {
		delay = max(delay, p.groupDelay(false))
	}
	return delay
}

// pace returns how many leases h may have at once. One that is parked is tried with one.
func (p *politeness) pace(h *host) int32 {
	n := h.pace.limit()
	switch {
	case p.cfg.PerHost > 0:
		n = min(n, p.cfg.PerHost)
	case p.delay(h) > 0:
		n = 1
	}
	if h.domain() == nil && p.cfg.PerDomain > 0 {
		n = min(n, p.cfg.PerDomain)
	}
	if h.failing() {
		n = min(n, 1)
	}
	return int32(n)
}

// earliest returns the time before which nothing of h is leased.
func (p *politeness) earliest(h *host) moment {
	if h.last == never {
		return h.pace.hold
	}
	return max(h.pace.hold, h.last+p.delay(h))
}

// pinFor is for how many minutes requests to a host go to the address found, even if its name
// leads elsewhere by then. The turn of a lease belongs to one address; if names whose records
// rotate were looked up each time, the request would mostly go to another. Heritrix keeps an
// address for 6 hours, too.
const pinFor = 6 * 60

// pinned reports whether h, whose address is known, is to be requested there.
func (h *host) pinned(now moment) bool { return minute(now)-h.located < pinFor }

// minute returns the minute of a moment; it wraps around after 45 days.
func minute(now moment) uint16 { return uint16(now / time.Minute) }

// joinDomain makes h, which is new, one of the hosts of its registrable domain. A name that has
// none is a domain of its own.
func (f *Frontier) joinDomain(h *host, name string) {
	names := f.residency.names
	domain := weburl.RegistrableDomain(name)
	first := names.Member(domain)
	names.Add(name, h)
	switch {
	case domain == "":
	case f.politeness.domains[domain] != nil:
		f.regroup(h, f.politeness.domains[domain], h.address)
	case first == nil:
		if !names.ShareKey(name, domain) {
			names.Add(domain, h)
		}
	default:
		g := f.politeness.domainOf(domain, first)
		f.regroup(first, g, first.address)
		f.regroup(h, g, h.address)
	}
}

// moveTo takes in the address that h has, or has answered from.
func (f *Frontier) moveTo(h *host, addr netip.Addr) {
	g := f.politeness.address(f.clock.now, addr.Unmap())
	if h.address != g || !h.pinned(f.clock.now) {
		h.located = minute(f.clock.now)
	}
	if h.address != g {
		f.regroup(h, h.domain(), g)
	}
}

func (f *Frontier) regroup(h *host, domain, address *group) {
	if f.politeness.regroup(f.clock.now, h, domain, address) {
		f.placeHost(h)
	}
}
