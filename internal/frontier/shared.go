package frontier

import (
	"net/netip"
	"time"
)

// closed is how many leases a group counts as having while it is shut: more than any limit allows. So a group
// that is shut costs no test of its own.
const closed = anyPace

// ShareBy has the frontier share the pace of addresses with others: nothing is leased of an address before
// Admit, or after Shut. When a host whose address is shut has its turn, ask is called. If ask reports false, it
// is called again later, and no other host has its turn before.
func (f *Frontier) ShareBy(ask func(netip.Addr) bool) {
	f.politeness.ask = ask
	for _, g := range f.politeness.addresses {
		f.politeness.setShut(g, true)
	}
}

// Admit lets an address be leased from; if it waits, after a delay.
func (f *Frontier) Admit(now time.Time, addr netip.Addr, waits bool) {
	f.clock.tell(now)
	g := f.politeness.address(f.clock.now, addr)
	if waits {
		g.waitFrom(f.clock.now)
	}
	f.politeness.setShut(g, false)
}

// Shut undoes Admit.
func (f *Frontier) Shut(now time.Time, addr netip.Addr) {
	f.clock.tell(now)
	f.politeness.setShut(f.politeness.address(f.clock.now, addr), true)
}

// AskAgain has each address that is shut, and that hosts wait for, asked for once more.
func (f *Frontier) AskAgain(now time.Time) {
	f.clock.tell(now)
	p := &f.politeness
	for _, g := range p.addresses {
		for g.isShut() && g.waiting.Len() > 0 {
			h := g.waiting.First()
			p.leave(h)
			p.join(h, nobody)
		}
	}
}

// Use reports whether a host waits for an address, and whether it rests: nothing is leased there, and the
// delay is over. What waits for more to be allowed does not wait for the address. Soon is when a host there may have
// waited for its own delay; zero: none waits for that.
func (f *Frontier) Use(now time.Time, addr netip.Addr) (wanted, rests bool, soon time.Time) {
	f.clock.tell(now)
	g := f.politeness.addresses[addr]
	if g == nil {
		return false, true, soon
	}
	for n := 0; n < maxEnded && g.waiting.Len() > 0 && f.ended(g.waiting.First()); n++ {
		f.placeHost(g.waiting.First())
	}
	if g.soon > f.clock.now {
		soon = f.clock.time(g.soon)
	}
	return g.waiting.Len() > 0, g.leases() == 0 && f.politeness.freeAt(g) <= f.clock.now, soon
}

// dueAt takes in that a host waits for its own delay, until at. Its address keeps the least of these times, until
// that is over: then one of those who were later says so again, or none is as soon.
func (p *politeness) dueAt(now moment, h *host, at moment) {
	if g := h.address; p.ask != nil && g != nil && at > now && (g.soon <= now || at < g.soon) {
		g.soon = at
	}
}

// AddressDelay returns the time between the end of a response and the next request to an address.
func (f *Frontier) AddressDelay() time.Duration { return f.politeness.groupDelay(true) }

// isShut reports whether g is the group of an address that is shut.
func (g *group) isShut() bool { return g.busy >= closed }

// leases returns how many leases there are.
func (g *group) leases() int32 {
	if g.isShut() {
		return g.busy - closed
	}
	return g.busy
}

func (p *politeness) setShut(g *group, on bool) {
	switch {
	case on == g.isShut():
		return
	case on:
		g.busy += closed
	default:
		g.busy -= closed
	}
	p.place(g)
}
