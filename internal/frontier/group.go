package frontier

import (
	"math"
	"net/netip"
	"time"
	"unsafe"

	"github.com/weftcrawl/weft/internal/heap"
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
	visited  bool   // its last lease was for an errand: of a domain, for a page of another site
}

func (g *group) before(h *host) bool {
	if g.at != h.turn.at {
		return g.at < h.turn.at
	}
	return g.order < h.turn.order
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

// lend counts a lease.
func (g *group) lend(now moment, visited bool) {
	if g != nil {
		g.busy++
		g.visited = visited
		g.last = now // until the response says when it really ended
	}
}

// domain returns the group of the host's domain; nil if it is alone there.
func (h *host) domain() *group {
	if h.siblings == nil {
		return nil
	}
	return h.siblings.domain
}

// waitFrom makes the delay of a group count from now on.
func (g *group) waitFrom(now moment) {
	if g != nil {
		g.last = max(g.last, now)
	}
}

// groups are the domains and the addresses whose hosts share a delay and a pace, and those of them
// that hosts wait for.
type groups struct {
	cfg       *Config
	addresses map[netip.Addr]*group
	domains   map[string]*group // of several hosts
	empty     int               // without a host in memory
	sweepAt   int               // so many are swept next
	restored  moment            // until then another process may have asked any host; never: none

	prompt, others groupHeap // of those whose first waiting host is prompt, or is not

	ask func(netip.Addr) bool // wants an address that is shut: see Addresses.Share; nil: none is
}

func newGroups(cfg *Config) groups {
	return groups{
		cfg: cfg, addresses: make(map[netip.Addr]*group), domains: make(map[string]*group),
		sweepAt: sweepFrom, restored: never,
	}
}

// heapOf returns the heap of groups whose first waiting host is prompt, or is not.
func (gs *groups) heapOf(prompt bool) *groupHeap {
	if prompt {
		return &gs.prompt
	}
	return &gs.others
}

// costOfGroup is the size of a group in memory, in bytes, with its place in the table that finds
// it.
const costOfGroup = int(unsafe.Sizeof(group{})) + 120

// sweepFrom is the number of groups without a host that are left alone.
const sweepFrom = 64

// bytes returns the memory that the groups take, roughly.
func (gs *groups) bytes() int { return costOfGroup * gs.len() }

func (gs *groups) len() int { return len(gs.addresses) + len(gs.domains) }

// add returns a new group without hosts, of an address or, if that is invalid, a domain.
func (gs *groups) add(addr netip.Addr, unbounded bool) *group {
	gs.empty++
	g := &group{addr: addr, last: gs.restored, index: -1}
	if !unbounded {
		// What the user allows for one host, two may have.
		g.most = uint8(max(startPace, min(gs.cfg.PerHost, math.MaxUint8)))
	}
	return g
}

// domainOf returns the group of a domain that has a further host besides first.
func (gs *groups) domainOf(domain string, first *host) *group {
	g := gs.domains[domain]
	if g == nil {
		g = gs.add(netip.Addr{}, first.pace.most == 0 && gs.cfg.PerHost == 0)
		gs.domains[domain] = g
	}
	return g
}

// address returns the group of an address.
func (gs *groups) address(now moment, addr netip.Addr) *group {
	g := gs.addresses[addr]
	if g == nil {
		gs.sweep(now)
		g = gs.add(addr, addr.IsLoopback())
		if gs.ask != nil {
			g.busy = closed
		}
		gs.addresses[addr] = g
	}
	return g
}

// move moves h, with what it has leased, from one group to another.
func (gs *groups) move(h *host, from, to *group) {
	gs.drop(h, from)
	if to.hosts == 0 {
		gs.empty--
	}
	to.hosts++
	to.busy += h.busy
	to.last = max(to.last, h.last)
	gs.place(to)
}

// drop takes h out of a group, with what it has leased.
func (gs *groups) drop(h *host, g *group) {
	if g == nil {
		return
	}
	g.hosts--
	g.busy -= h.busy
	if g.hosts == 0 {
		gs.empty++
	}
	gs.place(g)
}

// learn takes in the end of a lease of h.
func (gs *groups) learn(now moment, h *host, a *Result, as speed, overloaded bool) {
	bound := uint8(max(maxPace, min(gs.cfg.PerHost, math.MaxUint8)))
	for _, g := range [...]*group{h.domain(), h.address} {
		if g != nil {
			g.busy--
			g.last = now
			h.pace.inform(&g.window, a, as, overloaded, g.addr.IsValid(), bound)
			gs.place(g)
		}
	}
}

// sweep drops groups without a host once there are many, unless their delay is running.
func (gs *groups) sweep(now moment) {
	if gs.empty <= gs.sweepAt {
		return
	}
	over := func(g *group) bool {
		return g.hosts == 0 && gs.freeAt(g) <= now && (gs.ask == nil || !g.addr.IsValid() || g.isShut())
	}
	before := gs.len()
	for addr, g := range gs.addresses {
		if over(g) {
			delete(gs.addresses, addr)
		}
	}
	for domain, g := range gs.domains {
		if over(g) {
			delete(gs.domains, domain)
		}
	}
	gs.empty -= before - gs.len()
	gs.sweepAt = 2*gs.empty + sweepFrom + gs.len()/4
}

// limit returns how many leases a group may have at once. A group of a single host has no limit
// of its own.
func (gs *groups) limit(g *group) int32 {
	n, most := g.window.limit(), gs.cfg.PerDomain
	if g.addr.IsValid() {
		most = gs.cfg.PerAddress
	}
	switch {
	case most > 0:
		n = most
	case g.hosts == 1 && gs.cfg.PerHost > 0:
		n = anyPace
	case gs.delay(g.addr.IsValid()) > 0:
		n = 1
	case g.hosts == 1:
		n = anyPace
	}
	return int32(min(n, anyPace))
}

// delay returns the time between the end of a response and the next request to a group.
func (gs *groups) delay(isAddress bool) time.Duration {
	delay := gs.cfg.DomainDelay
	if isAddress {
		delay = gs.cfg.AddressDelay
	}
	if delay == 0 {
		delay = gs.cfg.Delay
	}
	return max(0, delay)
}

// freeAt returns when the delay of a group is over.
func (gs *groups) freeAt(g *group) moment {
	delay := gs.delay(g.addr.IsValid())
	if delay == 0 || g.last == never {
		return 0 // or the last lease would cost waiting hosts their turn
	}
	return g.last + delay
}

// free reports whether a group may have another lease at a time.
func (gs *groups) free(g *group, at moment) bool {
	return g == nil || g.busy < gs.limit(g) && gs.freeAt(g) <= at
}

// place puts a group into the heap of groups at the time at which the first that waits for it may
// be leased from, or takes it out if time alone does not help. That one may have waited for long:
// it comes before hosts that became due later.
func (gs *groups) place(g *group) {
	switch {
	case g == nil:
	case g.waiting.Len() == 0 || g.busy >= gs.limit(g):
		if g.index >= 0 {
			gs.heapOf(g.prompt).Remove(int(g.index))
		}
	default:
		first := g.waiting.First()
		if g.index >= 0 && g.prompt != first.prompt {
			gs.heapOf(g.prompt).Remove(int(g.index))
		}
		g.at, g.order, g.prompt = max(first.turn.at, gs.freeAt(g)), first.turn.order, first.prompt
		if groups := gs.heapOf(g.prompt); g.index < 0 {
			groups.Push(g)
		} else {
			groups.Set(int(g.index), g)
		}
	}
}

// closed is the number of leases that a group counts in addition while it is shut: more than any
// limit allows. So a group that is shut costs no test of its own.
const closed = anyPace

// isShut reports whether g is the group of an address that is shut.
func (g *group) isShut() bool { return g.busy >= closed }

// leases returns how many leases there are.
func (g *group) leases() int32 {
	if g.isShut() {
		return g.busy - closed
	}
	return g.busy
}

// setShut shuts g, or opens it.
func (gs *groups) setShut(g *group, on bool) {
	switch {
	case on == g.isShut():
		return
	case on:
		g.busy += closed
	default:
		g.busy -= closed
	}
	gs.place(g)
}
