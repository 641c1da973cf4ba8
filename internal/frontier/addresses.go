package frontier

import (
	"fmt"
	"net/netip"
	"time"
)

// Addresses are the addresses of a frontier's hosts: it learns them, and shares the pace of each
// with other frontiers of a crawl that have hosts there.
type Addresses struct {
	clock      *clock
	politeness *politeness
	residency  *residency
}

// Resolved ends a lease of an address: the host has this one; an invalid one if none was found.
// Then the host has no address until it answers from one.
func (s *Addresses) Resolved(now time.Time, u URL, addr netip.Addr) {
	o := s.residency.origin(u.URL.Origin())
	if o == nil || !u.Resolve || o.host.resolve != addressAsked {
		panic(fmt.Sprintf("frontier: address of %s, which is not leased", u.URL))
	}
	s.clock.advance(now)
	s.politeness.endAddress(o.host)
	if addr.IsValid() {
		s.politeness.moveTo(s.clock.now, o.host, addr)
	}
	s.politeness.placeHost(s.clock.now, o.host)
	s.residency.consider(o.host)
}

// Share has the frontier share the pace of addresses with others: nothing is leased of an address
// before Admit, or after Shut. When a host whose address is shut has its turn, ask is called. If
// ask reports false, it is called again later, and no other host has its turn before.
func (s *Addresses) Share(ask func(netip.Addr) bool) {
	s.politeness.groups.ask = ask
	for _, g := range s.politeness.groups.addresses {
		s.politeness.groups.setShut(g, true)
	}
}

// Admit lets an address be leased from; if it waits, after a delay.
func (s *Addresses) Admit(now time.Time, addr netip.Addr, waits bool) {
	s.clock.advance(now)
	g := s.politeness.groups.address(s.clock.now, addr)
	if waits {
		g.waitFrom(s.clock.now)
	}
	s.politeness.groups.setShut(g, false)
}

// Shut undoes Admit.
func (s *Addresses) Shut(now time.Time, addr netip.Addr) {
	s.clock.advance(now)
	s.politeness.groups.setShut(s.politeness.groups.address(s.clock.now, addr), true)
}

// AskAgain has each address that is shut, and that hosts wait for, asked for once more.
func (s *Addresses) AskAgain(now time.Time) {
	s.clock.advance(now)
	p := s.politeness
	for _, g := range p.groups.addresses {
		for g.isShut() && g.waiting.Len() > 0 {
			h := g.waiting.First()
			p.leave(h)
			p.join(h, BlockedByNone)
		}
	}
}

// Use reports whether a host waits for an address, and whether it rests: nothing is leased there,
// and the delay is over. What waits for more to be allowed does not wait for the address. Soon is
// when a host there may have waited for its own delay; zero: none waits for that.
func (s *Addresses) Use(now time.Time, addr netip.Addr) (wanted, rests bool, soon time.Time) {
	s.clock.advance(now)
	g := s.politeness.groups.addresses[addr]
	if g == nil {
		return false, true, soon
	}
	for n := 0; n < maxEnded && g.waiting.Len() > 0 && s.politeness.endedByLimit(s.clock.now, g.waiting.First()); n++ {
		s.politeness.placeHost(s.clock.now, g.waiting.First())
	}
	if g.soon > s.clock.now {
		soon = s.clock.time(g.soon)
	}
	return g.waiting.Len() > 0, g.leases() == 0 && s.politeness.groups.freeAt(g) <= s.clock.now, soon
}

// Delay returns the time between the end of a response and the next request to an address.
func (s *Addresses) Delay() time.Duration { return s.politeness.groups.delay(true) }
