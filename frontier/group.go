package frontier

import (
	"math"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
	"github.com/weftcrawl/weft/weburl"
)

// group is servers that share a load: those with one address, or those of one registrable domain.
// It has a delay and a pace as a server has, on top of the servers' own. What robots.txt asks for,
// and back-off, concern a single server.
//
// Invariant: a group is in the heap of groups if and only if servers wait for it and it may have
// another lease, now or when its delay is over.
type group struct {
	window
	addr     netip.Addr // of an address; invalid: a domain
	servers  int32
	busy     int32  // leases
	last     moment // from which its delay counts
	waiting  line   // servers that it held up when their turn came
	siblings map[*group]*siblings
	at       moment // key in the heap of groups: when the first waiting server may be leased from
	order    uint64 // of that server
	index    int32  // in that heap; -1: it is not there
}

// groupHeap is a heap of groups by the turn of the first server that waits for each.
type groupHeap = heap.Heap[*group, byTurn]

type byTurn struct{}

func (byTurn) Before(a, b *group) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}
func (byTurn) Moved(g *group, i int) { g.index = int32(i) }

func (g *group) before(s *server) bool {
	if g.at != s.at {
		return g.at < s.at
	}
	return g.order < s.order
}

// spend counts a lease.
func (g *group) spend(now moment) {
	if g != nil {
		g.busy++
		g.last = now // until the response says when it really ended
	}
}

// learn takes in the end of a lease of s. An overload halves the pace of the group; a response that
// is slow, or fast, for its server counts as such for the group, since its servers may be of any
// speed.
func (g *group) learn(now moment, s *server, a Result, as speed, overloaded bool, bound uint8) {
	if g == nil {
		return
	}
	g.busy--
	g.last = now
	switch {
	case a.loopback() && !s.pace.overload:
		g.most = 0
	case overloaded:
		g.halve()
	case a.Took > 0 && g.count(as, bound):
		s.pace.settle()
	}
}

// waitFrom makes the delay of a group count from now on.
func (g *group) waitFrom(now moment) {
	if g != nil {
		g.last = max(g.last, now)
	}
}

// politeness decides which server may be leased from, and when: it keeps the turns of the servers,
// and the groups whose delay and pace they share.
type politeness struct {
	cfg       *Config
	ready     line      // by the time at which the server may next be leased from
	groups    groupHeap // by the time at which the first that waits for the group may be
	addresses map[netip.Addr]*group
	domains   map[string]*group // of several servers
	empty     int               // groups without a server in memory
	sweepAt   int               // so many are swept next
	restored  moment            // until then another process may have asked any host; never: none
}

func newPoliteness(cfg *Config) politeness {
	return politeness{
		cfg: cfg, addresses: make(map[netip.Addr]*group), domains: make(map[string]*group),
		sweepAt: sweepFrom, restored: never,
	}
}

// sweepFrom is how many groups without a server are left alone.
const sweepFrom = 64

// bytes is about how much memory the groups take.
func (p *politeness) bytes() int { return costOfGroup * p.len() }

func (p *politeness) len() int { return len(p.addresses) + len(p.domains) }

// add returns a new group without servers, of an address or, if that is invalid, a domain.
func (p *politeness) add(addr netip.Addr, unbounded bool) *group {
	p.empty++
	g := &group{addr: addr, last: p.restored, index: -1}
	if !unbounded {
		// What the user allows for one host, two may have.
		g.most = uint8(max(startPace, min(p.cfg.PerHost, math.MaxUint8)))
	}
	return g
}

// domainOf returns the group of a domain that has a further server besides first.
func (p *politeness) domainOf(domain string, first *server) *group {
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
		p.addresses[addr] = g
	}
	return g
}

// regroup makes s, with what it has leased, one of the servers of a domain, nil if it is alone
// there, and of an address, nil if that is unknown. It keeps its turn, and regroup reports whether
// it has one: the time of that may be another now.
func (p *politeness) regroup(now moment, s *server, domain, address *group) (turn bool) {
	turn = s.hasTurn()
	p.withdraw(s)
	oldDomain, oldAddress := s.domain(), s.address
	s.address = address
	s.enter(domain)
	for _, change := range [][2]*group{{oldDomain, domain}, {oldAddress, address}} {
		old, g := change[0], change[1]
		if old == g {
			continue
		}
		p.drop(s, old)
		if g.servers == 0 {
			p.empty--
		}
		g.servers++
		g.busy += s.busy
		g.last = max(g.last, s.last)
		p.place(g)
	}
	if turn {
		p.giveTurn(now, s, s.at, s.order)
	}
	return turn
}

// drop takes s out of a group, with what it has leased.
func (p *politeness) drop(s *server, g *group) {
	if g == nil {
		return
	}
	g.servers--
	g.busy -= s.busy
	if g.servers == 0 {
		p.empty++
	}
	p.place(g)
}

// remove takes s, which leaves memory, out of all groups.
func (p *politeness) remove(s *server) {
	p.drop(s, s.domain())
	p.drop(s, s.address)
	s.enter(nil)
}

// sweep drops groups without a server once there are many, unless their delay is running.
func (p *politeness) sweep(now moment) {
	if p.empty <= p.sweepAt {
		return
	}
	over := func(g *group) bool { return g.servers == 0 && p.freeAt(g) <= now }
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

// limit returns how many leases a group may have at once. A group of a single server has no limit
// of its own.
func (p *politeness) limit(g *group) int32 {
	n, most := g.window.limit(), p.cfg.PerDomain
	if g.addr.IsValid() {
		most = p.cfg.PerAddress
	}
	switch {
	case most > 0:
		n = most
	case g.servers == 1 && p.cfg.PerHost > 0:
		n = anyPace
	case p.groupDelay(g.addr.IsValid()) > 0:
		n = 1
	case g.servers == 1:
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
		return 0 // or the last lease would cost waiting servers their turn
	}
	return g.last + delay
}

// open reports whether a group may have another lease at a time.
func (p *politeness) open(g *group, at moment) bool {
	return g == nil || g.busy < p.limit(g) && p.freeAt(g) <= at
}

// place puts a group into the heap of groups at the time at which the first that waits for it may
// be leased from, or takes it out if time alone does not help. That one may have waited for long:
// it comes before servers that became due later.
func (p *politeness) place(g *group) {
	switch {
	case g == nil:
	case g.waiting.Len() == 0 || g.busy >= p.limit(g):
		if g.index >= 0 {
			p.groups.Remove(int(g.index))
		}
	default:
		first := g.waiting.First()
		g.at, g.order = max(first.at, p.freeAt(g)), first.order
		if g.index < 0 {
			p.groups.Push(g)
		} else {
			p.groups.Set(int(g.index), g)
		}
	}
}

// placeGroups places the groups of a server.
func (p *politeness) placeGroups(s *server) {
	p.place(s.domain())
	p.place(s.address)
}

// spend counts a lease of a server.
func (p *politeness) spend(now moment, s *server) {
	s.busy++
	s.asked, s.last = now, now // until the response says when it really ended
	s.domain().spend(now)
	s.address.spend(now)
	p.placeGroups(s)
}

// learn takes in the end of a lease of a server.
func (p *politeness) learn(now moment, s *server, a Result) {
	s.busy--
	as, overloaded := s.pace.learn(now, a)
	bound := uint8(max(maxPace, min(p.cfg.PerHost, math.MaxUint8)))
	for _, g := range [...]*group{s.domain(), s.address} {
		g.learn(now, s, a, as, overloaded, bound)
		p.place(g)
	}
}

// delay returns the time between the end of a response of s and the next request. A server that is
// alone in its domain stands for it.
func (p *politeness) delay(s *server) time.Duration {
	delay := max(p.cfg.Delay, s.crawlDelay())
	if s.domain() == nil {
		delay = max(delay, p.groupDelay(false))
	}
	return delay
}

// pace returns how many leases s may have at once. One that is parked is tried with one.
func (p *politeness) pace(s *server) int32 {
	n := s.pace.limit()
	switch {
	case p.cfg.PerHost > 0:
		n = min(n, p.cfg.PerHost)
	case p.delay(s) > 0:
		n = 1
	}
	if s.domain() == nil && p.cfg.PerDomain > 0 {
		n = min(n, p.cfg.PerDomain)
	}
	if s.fails >= parkFrom {
		n = min(n, 1)
	}
	return int32(n)
}

// earliest returns the time before which nothing of s is leased.
func (p *politeness) earliest(s *server) moment {
	if s.last == never {
		return s.pace.hold
	}
	return max(s.pace.hold, s.last+p.delay(s))
}

// pinFor is for how many minutes requests to a server go to the address found, even if its name
// leads elsewhere by then. The turn of a lease belongs to one address; if names whose records
// rotate were looked up each time, the request would mostly go to another. Heritrix keeps an
// address for 6 hours, too.
const pinFor = 6 * 60

// pinned reports whether s, whose address is known, is to be requested there.
func (s *server) pinned(now moment) bool { return minute(now)-s.located < pinFor }

// minute returns the minute of a moment; it wraps around after 45 days.
func minute(now moment) uint16 { return uint16(now / time.Minute) }

// joinDomain makes s, which is new, one of the servers of its registrable domain. A name that has
// none is a domain of its own.
func (f *Frontier) joinDomain(s *server, name string) {
	names := f.residency.names
	domain := weburl.RegistrableDomain(name)
	first := names.Member(domain)
	names.Add(name, s)
	switch {
	case domain == "":
	case f.politeness.domains[domain] != nil:
		f.regroup(s, f.politeness.domains[domain], s.address)
	case first == nil:
		if !names.ShareKey(name, domain) {
			names.Add(domain, s)
		}
	default:
		g := f.politeness.domainOf(domain, first)
		f.regroup(first, g, first.address)
		f.regroup(s, g, s.address)
	}
}

// moveTo takes in the address that s has, or has answered from.
func (f *Frontier) moveTo(s *server, addr netip.Addr) {
	g := f.politeness.address(f.now, addr.Unmap())
	if s.address != g || !s.pinned(f.now) {
		s.located = minute(f.now)
	}
	if s.address != g {
		f.regroup(s, s.domain(), g)
	}
}

func (f *Frontier) regroup(s *server, domain, address *group) {
	if f.politeness.regroup(f.now, s, domain, address) {
		f.placeServer(s)
	}
}
