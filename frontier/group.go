package frontier

import (
	"math"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
	"github.com/weftcrawl/weft/weburl"
)

// group is servers that bear a load together: those with one address, or those in one
// registrable domain. It has a delay and a pace like a server's, in addition to theirs.
// What robots.txt asks for, and a hold, are matters of the server alone.
//
// Invariant: a group is in the heap of groups if and only if servers wait for it and it has
// room for another lease, now or when its delay is over.
type group struct {
	window
	addr    netip.Addr // of an address; invalid: a domain
	servers int32
	busy    int32  // leases
	last    moment // from which its delay counts
	waiting seats  // servers that it held up when their turn came
	cells   map[*group]*cell
	at      moment // key in the heap of groups: when the first of those waiting may be asked
	order   uint64 // of that one
	index   int32  // in it, −1 while not there
}

func (f *Frontier) newGroup(addr netip.Addr, any bool) *group {
	f.idle.empty++
	g := &group{addr: addr, last: f.last, index: -1}
	if !any {
		g.most = uint8(max(startPace, min(f.cfg.PerHost, math.MaxUint8))) // what the user has one host bear, two do
	}
	return g
}

// joinDomain makes s, which is new, one of the servers of its registrable domain. A name that
// has none is a domain of its own.
func (f *Frontier) joinDomain(s *server, name string) {
	domain := weburl.RegistrableDomain(name)
	first := f.names.Member(domain)
	f.names.Add(name, s)
	switch g := f.domains[domain]; {
	case domain == "":
	case g != nil:
		f.regroup(s, g, s.address)
	case first == nil:
		if !f.names.ShareKey(name, domain) {
			f.names.Add(domain, s)
		}
	default:
		g = f.newGroup(netip.Addr{}, first.pace.most == 0 && f.cfg.PerHost == 0)
		f.domains[domain] = g
		f.regroup(first, g, first.address)
		f.regroup(s, g, s.address)
	}
}

// moveTo takes in the address that s has, or where it has answered from.
func (f *Frontier) moveTo(s *server, addr netip.Addr) {
	addr = addr.Unmap()
	g := f.addresses[addr]
	if g == nil {
		f.dropGroups()
		g = f.newGroup(addr, addr.IsLoopback())
		f.addresses[addr] = g
	}
	if s.address != g || !f.pinned(s) {
		s.located = f.minute()
	}
	if s.address != g {
		f.regroup(s, s.domain(), g)
	}
}

// pinFor is for how many minutes a server is asked where it was found, though each look-up of its
// name may lead elsewhere: the turn of a lease is that of one address, and if names with answers that
// rotate went by these, a turn would mostly be another address's. Then names count again. Heritrix
// takes a name to be at one address for 6 hours, too.
const pinFor = 6 * 60

// pinned reports whether s, whose address is known, is to be asked there.
func (f *Frontier) pinned(s *server) bool { return f.minute()-s.located < pinFor }

// minute is that of now; it begins again after 45 days.
func (f *Frontier) minute() uint16 { return uint16(f.now / time.Minute) }

// regroup makes s one of the servers of a domain, nil if it is alone there, and of an address,
// nil if it is not known; with what it has under way. It keeps its turn.
func (f *Frontier) regroup(s *server, domain, address *group) {
	turn := s.hasTurn()
	f.withdraw(s)
	oldDomain, oldAddress := s.domain(), s.address
	s.address = address
	s.enterCell(domain)
	for _, change := range [][2]*group{{oldDomain, domain}, {oldAddress, address}} {
		old, g := change[0], change[1]
		if old == g {
			continue
		}
		f.leaveGroup(s, old)
		if g.servers == 0 {
			f.idle.empty--
		}
		g.servers++
		g.busy += s.busy
		g.last = max(g.last, s.last)
		f.placeGroup(g)
	}
	if turn {
		f.file(s, s.at, s.order)
		f.placeServer(s)
	}
}

// leaveGroup takes s out of a group, with what it has under way.
func (f *Frontier) leaveGroup(s *server, g *group) {
	if g == nil {
		return
	}
	g.servers--
	g.busy -= s.busy
	if g.servers == 0 {
		f.idle.empty++
	}
	f.placeGroup(g)
}

// spend is the price of a lease.
func (g *group) spend(now moment) {
	if g != nil {
		g.busy++
		g.last = now // until the response says when it really ended
	}
}

// learn takes in the end of a lease of s: an overload halves the pace of the group, and an
// answer that is slow, or fast, for its server counts as the same for the group, as its servers
// may be of any speed.
func (g *group) learn(now moment, s *server, a Answer, as speed, overloaded bool, bound uint8) {
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

// limit is how many leases a group may have at once. While it is a single server it is as
// that one bears it.
func (f *Frontier) limit(g *group) int32 {
	n, most := g.window.limit(), f.cfg.PerDomain
	if g.addr.IsValid() {
		most = f.cfg.PerAddress
	}
	switch {
	case most > 0:
		n = most
	case g.servers == 1 && f.cfg.PerHost > 0:
		n = anyPace
	case f.groupDelay(g.addr.IsValid()) > 0:
		n = 1
	case g.servers == 1:
		n = anyPace
	}
	return int32(min(n, anyPace))
}

// groupDelay is the time between the end of a response and the next request to a group.
func (f *Frontier) groupDelay(isAddress bool) time.Duration {
	delay := f.cfg.DomainDelay
	if isAddress {
		delay = f.cfg.AddressDelay
	}
	if delay == 0 {
		delay = f.cfg.Delay
	}
	return max(0, delay)
}

// freeAt is when the delay of a group is over.
func (f *Frontier) freeAt(g *group) moment {
	delay := f.groupDelay(g.addr.IsValid())
	if delay == 0 || g.last == never {
		return 0 // or the last lease would cost those that wait their turn
	}
	return g.last + delay
}

// open reports whether a group may be asked at a time.
func (f *Frontier) open(g *group, at moment) bool {
	return g == nil || g.busy < f.limit(g) && f.freeAt(g) <= at
}

// placeGroup puts a group into the heap of groups at the time at which the first of those
// that wait for it may be asked, or takes it out if time alone does not help. That one may
// have waited for long: it comes before servers that were due later.
func (f *Frontier) placeGroup(g *group) {
	switch {
	case g == nil:
	case g.waiting.Len() == 0 || g.busy >= f.limit(g):
		if g.index >= 0 {
			f.groups.Remove(int(g.index))
		}
	default:
		first := g.waiting.First()
		g.at, g.order = max(first.at, f.freeAt(g)), first.order
		if g.index < 0 {
			f.groups.Push(g)
		} else {
			f.groups.Set(int(g.index), g)
		}
	}
}

// groupHeap is a heap of groups by the turn of the first server that waits for each.
type groupHeap = heap.Heap[*group, byFirst]

type byFirst struct{}

func (byFirst) Before(a, b *group) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}
func (byFirst) Moved(g *group, i int) { g.index = int32(i) }

// wait makes the delay of a group count from now on.
func (g *group) wait(now moment) {
	if g != nil {
		g.last = max(g.last, now)
	}
}
