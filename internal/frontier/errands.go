package frontier

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Errand is a request that a page makes while it is rendered: for a script, or what a script asks
// for. It obeys robots.txt, delays and paces as a URL does, and is none: it is in no queue and not
// in the seen set, no limit counts it, and it does not outlive the process. Its pointer identifies
// it.
type Errand struct {
	For any // the caller's

	after   moment // it is not leased before
	dropped bool
}

// Errands are the requests of pages that are being rendered. Those that wait come before the URLs
// of all hosts.
//
// An errand is refused when its turn comes, by robots.txt or because its host is dead; what is
// parked waits. The caller drops what it does not need any more.
type Errands struct {
	clock      *clock
	agenda     *agenda
	politeness *politeness
	residency  *residency
	robots     *Robots

	waiting []*origin // those with errands that wait, in the order in which they began to
	leased  map[*Errand]*origin
	refused []Refusal // not collected
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
	if len(o.errands.waiting) == 0 {
		e.waiting = append(e.waiting, o)
	}
	i := len(o.errands.waiting)
	for i > 0 && o.errands.waiting[i-1].Errand.after > u.Errand.after {
		i--
	}
	o.errands.waiting = slices.Insert(o.errands.waiting, i, u)
}

// Drop forgets an errand that waits. One that is leased does not wait again.
func (e *Errands) Drop(u *URL) {
	u.Errand.dropped = true
	o := e.residency.origin(u.URL.Origin())
	if o == nil || o.errands == nil {
		return
	}
	o.errands.waiting = slices.DeleteFunc(o.errands.waiting, func(w URL) bool { return w.Errand == u.Errand })
	e.emptied(o)
}

// emptied takes in that an origin may have no errand that waits.
func (e *Errands) emptied(o *origin) {
	if len(o.errands.waiting) == 0 {
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
// the address of a host, or its robots.txt.
func (e *Errands) Lease(now time.Time, max int) (leases []URL) {
	e.clock.advance(now)
	for _, o := range slices.Clone(e.waiting) {
		for len(leases) < max && e.politeness.free <= e.clock.now {
			u, ok := e.lease(e.clock.now, o)
			if !ok {
				break
			}
			leases = append(leases, u)
		}
		e.emptied(o)
	}
	return leases
}

// lease takes a lease from o. It returns false if nothing of it is due.
func (e *Errands) lease(now moment, o *origin) (u URL, ok bool) {
	p, h := e.politeness, o.host
	for len(o.errands.waiting) > 0 {
		if at, ok := e.due(now, o); !ok || at > now {
			break
		}
		next := &o.errands.waiting[0]
		if kind, reason := e.refuses(now, o, next); kind != "" {
			e.refused = append(e.refused, Refusal{*next, kind, reason})
			o.errands.waiting = o.errands.waiting[1:]
			continue
		}
		switch {
		case h.resolve == addressUnknown:
			p.lendAddress(h)
			p.placeHost(now, h)
			return URL{URL: rootOf(h.own.name), Resolve: true}, true
		case o.robots.wanted(now):
			if !e.robots.pick(now, o, next.Depth, &u) {
				return u, false
			}
		default:
			u = *next
			o.errands.waiting = o.errands.waiting[1:]
			o.errands.leased++
			e.leased[u.Errand] = o
		}
		u.Seed, u.Prompt = o.seeded(), h.prompt
		if u.Addr, u.Pinned = (netip.Addr{}), false; h.address != nil {
			u.Addr, u.Pinned = h.address.addr, h.pinned(now)
		}
		p.lend(now, o)
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

// due returns when the next errand of o may be leased or refused; ok is false if time alone does
// not help.
func (e *Errands) due(now moment, o *origin) (at moment, ok bool) {
	p, h := e.politeness, o.host
	at, refused, ok := o.chance(now)
	switch {
	case !ok || h.held || h.resolve == addressAsked:
		return 0, false
	case refused:
		return at, true
	}
	free, ok := p.freeAt(h)
	if !ok {
		return 0, false
	}
	at = max(at, free, p.free, o.errands.waiting[0].Errand.after)
	for _, g := range [...]*group{h.domain(), h.address} {
		if g != nil {
			if g.busy >= p.groups.limit(g) {
				return 0, false
			}
			at = max(at, p.groups.freeAt(g))
		}
	}
	return at, true
}

// Next returns the earliest time at which Lease will have a lease or a refusal, if nothing is added
// and no lease ends before; ok is false if there is no such time.
func (e *Errands) Next() (at time.Time, ok bool) {
	var first moment
	for _, o := range e.waiting {
		if due, may := e.due(e.clock.now, o); may && (!ok || due < first) {
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
	o.errands.held++
	e.politeness.rendered(e.clock.now, o)
	e.politeness.end(e.clock.now, o, a)
}

// ended ends the lease of a page that had responded, and returns its origin.
func (e *Errands) ended(now time.Time, u *URL) *origin {
	e.clock.advance(now)
	o := e.agenda.end(u)
	o.errands.held--
	e.tidy(o)
	e.politeness.endRendering(e.clock.now, o)
	e.politeness.journal.originChanged(o)
	return o
}

// held returns how many pages are leased whose response is here.
func (e *Errands) held() int { return e.politeness.rendering.pages }

// any reports whether an errand waits, or a page is held.
func (e *Errands) any() bool {
	return e.held() > 0 || len(e.waiting) > 0 || len(e.refused) > 0
}
