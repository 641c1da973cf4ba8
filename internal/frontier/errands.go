package frontier

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Errands are the requests of pages that are being rendered. Those that wait come before the URLs
// of all hosts. But what pages of other sites ask of a host or a domain alternates with what its
// own ask for, then with its URLs; at an address, whose hosts may belong to anybody, and under
// Config.RateLimit all errands do with URLs: no other site keeps a host from being crawled.
//
// An errand is refused when its turn comes, by robots.txt or because its host is dead; what is
// parked waits. The caller drops what it does not need any more.
type Errands struct {
	clock      *clock
	agenda     *agenda
	politeness *politeness
	residency  *residency
	robots     *Robots

	waiting []*origin // those with errands that wait, in turn
	leased  map[*Errand]*origin
	refused []Refusal // not collected

	yield func(*host, *Errand, *URL) bool // of the Frontier
}

// Bound has nothing leased, while so many pages are being rendered, of origins that have any of
// them; 0: any number may be. Errands are no part of that.
func (e *Errands) Bound(pages int) { e.politeness.rendering.most = pages }

// Add makes an errand wait: u.Errand is set. Its origin has been given to Prepare as that of a
// seed.
func (e *Errands) Add(now time.Time, u URL) {
	e.clock.advance(now)
	if !u.Errand.dropped {
		u.Errand.after = e.clock.now
		e.wait(e.residency.originOf(e.clock.now, u.URL), u)
	}
}

// wait makes an errand wait among those of o, which are in the order of their times.
func (e *Errands) wait(o *origin, u URL) {
	if o.errands == nil {
		o.errands = new(errands)
	}
	if !o.errands.wait() {
		e.waiting = append(e.waiting, o)
	}
	line := o.errands.line(u.Errand)
	i := len(*line)
	for i > 0 && (*line)[i-1].Errand.after > u.Errand.after {
		i--
	}
	*line = slices.Insert(*line, i, u)
}

// Drop forgets an errand that waits. One that is leased does not wait again.
func (e *Errands) Drop(u *URL) {
	u.Errand.dropped = true
	o := e.residency.origin(u.URL.Origin())
	if o == nil || o.errands == nil {
		return
	}
	line := o.errands.line(u.Errand)
	*line = slices.DeleteFunc(*line, func(w URL) bool { return w.Errand == u.Errand })
	e.emptied(o)
}

// emptied takes in that an origin may have no errand that waits.
func (e *Errands) emptied(o *origin) {
	if !o.errands.wait() {
		e.waiting = slices.DeleteFunc(e.waiting, func(w *origin) bool { return w == o })
		e.tidy(o)
		e.residency.consider(o.host)
	}
}

// tidy lets an origin go that has no errands any more.
func (e *Errands) tidy(o *origin) {
	if o.errands.over() {
		o.errands = nil
	}
}

// Lease hands out at most max errands whose hosts may be requested now, or what they need before:
// the address of a host, or its robots.txt; and URLs that are due before them. Alone: no URL may be
// leased, and none is due.
func (e *Errands) Lease(now time.Time, max int, alone bool) (leases []URL) {
	e.clock.advance(now)
	for _, o := range slices.Clone(e.waiting) {
		for len(leases) < max && e.politeness.free <= e.clock.now && o.errands.wait() {
			first := e.first(e.clock.now, o)
			u, ok := e.lease(e.clock.now, first, alone)
			e.emptied(first)
			if !ok {
				break
			}
			leases = append(leases, u)
			if u.Errand != nil && first.errands.wait() { // others of its domain or its address may wait
				e.waiting = append(slices.DeleteFunc(e.waiting, func(w *origin) bool { return w == first }), first)
			}
		}
	}
	return leases
}

// first returns the origin whose errand comes before those of o: another of its domain if it is the
// turn of the domain's own pages, else o.
func (e *Errands) first(now moment, o *origin) *origin {
	domain := o.host.domain()
	if domain == nil || !domain.visited {
		return o
	}
	if line, at, ok := e.due(now, o); !ok || at > now || line == &o.errands.own {
		return o
	}
	for _, other := range e.waiting {
		if other.host.domain() == domain {
			if line, at, ok := e.due(now, other); ok && at <= now && line == &other.errands.own {
				return other
			}
		}
	}
	return o
}

// lease takes a lease from o. It returns false if nothing of it is due. Alone: see Lease.
func (e *Errands) lease(now moment, o *origin, alone bool) (u URL, ok bool) {
	p, h := e.politeness, o.host
	for o.errands.wait() {
		line, at, ok := e.due(now, o)
		if !ok || at > now {
			break
		}
		next := (*line)[0]
		if kind, reason := e.refuses(now, o, &next); kind != "" {
			e.refused = append(e.refused, Refusal{next, kind, reason})
			*line = (*line)[1:]
			continue
		}
		switch {
		case h.resolve == addressUnknown:
			p.lendAddress(h)
			p.placeHost(now, h)
			return URL{URL: rootOf(h.own.name), Resolve: true}, true
		case !alone && e.yield(h, next.Errand, &u):
			return u, true
		case o.robots.wanted(now):
			if !e.robots.pick(now, o, next.Depth, &u) {
				return u, false
			}
		default:
			u = next
			*line = (*line)[1:]
			o.errands.leased++
			e.leased[u.Errand] = o
		}
		u.Seed, u.Prompt = o.seeded(), h.prompt
		if u.Addr, u.Pinned = (netip.Addr{}), false; h.address != nil {
			u.Addr, u.Pinned = h.address.addr, h.pinned(now)
		}
		p.lend(now, o, next.Errand)
		p.place(now, o)
		return u, true
	}
	return u, false
}

// refuses returns why an errand is refused; kind is empty if it is not.
func (e *Errands) refuses(now moment, o *origin, u *URL) (kind, reason string) {
	switch {
	case o.deadAt(now):
		return o.trouble.why.kind, o.trouble.why.reason
	case o.robots.wanted(now):
		return "", ""
	}
	if rules := o.robots.rules; rules != nil && rules.place != nil {
		e.politeness.rules.use(rules)
	}
	return o.robots.refuse(u.URL.RequestTarget())
}

// due returns when the next errand of o may be leased or refused, and its line; ok is false if
// time alone does not help.
func (e *Errands) due(now moment, o *origin) (line *[]URL, at moment, ok bool) {
	p, h := e.politeness, o.host
	at, refused, ok := o.chance(now)
	switch {
	case !ok || h.held || h.resolve == addressAsked:
		return nil, 0, false
	case refused:
		line, _ = e.next(now, o, at)
		return line, at, true
	}
	free, ok := p.freeAt(h)
	if !ok {
		return nil, 0, false
	}
	at = max(at, free, p.free)
	for _, g := range [...]*group{h.domain(), h.address} {
		if g != nil {
			if g.busy >= p.groups.limit(g) {
				return nil, 0, false
			}
			at = max(at, p.groups.freeAt(g))
		}
	}
	line, at = e.next(now, o, at)
	return line, at, true
}

// next returns which line of o is next, one of which is not empty, and when; both wait until a
// time.
func (e *Errands) next(now moment, o *origin, at moment) (line *[]URL, first moment) {
	h := o.host
	for _, l := range [...]*[]URL{&o.errands.own, &o.errands.foreign} {
		if len(*l) == 0 {
			continue
		}
		due := max(at, (*l)[0].Errand.after)
		sooner := max(due, now) - max(first, now)
		if line == nil || sooner < 0 || sooner == 0 && !h.visited && (*l)[0].Errand.after < (*line)[0].Errand.after {
			line, first = l, due
		}
	}
	return line, first
}

// Next returns the earliest time at which Lease will have a lease or a refusal, if nothing is added
// and no lease ends before; ok is false if there is no such time.
func (e *Errands) Next() (at time.Time, ok bool) {
	var first moment
	for _, o := range e.waiting {
		if _, due, may := e.due(e.clock.now, o); may && (!ok || due < first) {
			first, ok = due, true
		}
	}
	if !ok {
		return at, false
	}
	return e.clock.time(first), true
}

// Refused returns the refusals since the last call.
func (e *Errands) Refused() []Refusal {
	refused := e.refused
	e.refused = nil
	return refused
}

// End ends the lease of an errand. It waits again, until a time at least; zero: it is over.
func (e *Errands) End(now time.Time, u URL, a Result, again time.Time) {
	o := e.leased[u.Errand]
	if o == nil {
		panic(fmt.Sprintf("frontier: result of %s, which is not leased as an errand", u.URL))
	}
	e.clock.advance(now)
	delete(e.leased, u.Errand)
	o.errands.leased--
	if !again.IsZero() && !u.Errand.dropped {
		u.Errand.after = e.clock.moment(again)
		e.wait(o, u)
	}
	e.tidy(o)
	e.politeness.end(e.clock.now, o, a)
	e.politeness.changed(e.clock.now, o)
}

// Responded takes in that the response to a URL is here, which is leased: its host may be requested
// again. The lease goes on while the page is rendered. It ends as any other, but for the URL, which
// is Responded then, and for the result, which counts now.
func (e *Errands) Responded(now time.Time, u URL, a Result) {
	o := e.agenda.leased[u.leaseKey()]
	if o == nil {
		panic(fmt.Sprintf("frontier: response of %s, which is not leased", u.URL))
	}
	e.clock.advance(now)
	if o.errands == nil {
		o.errands = new(errands)
	}
	o.errands.rendering++
	e.politeness.rendered(e.clock.now, o)
	e.politeness.end(e.clock.now, o, a)
	e.politeness.changed(e.clock.now, o)
}

// ended takes in that the lease of a page of o has ended, which had responded.
func (e *Errands) ended(now moment, o *origin) {
	o.errands.rendering--
	e.tidy(o)
	e.politeness.endRendering(now, o)
}
