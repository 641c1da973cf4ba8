package frontier

import (
	"net/netip"
	"slices"
	"time"
)

const (
	// maxWork bounds the request targets that one Lease compares with rules, in bytes, of which each
	// counts as leastWork or more. So an origin with a million URLs that robots.txt disallows does
	// not hold the caller up, nor do long URLs and a long robots.txt.
	maxWork   = 64 << 10
	leastWork = 64
)

// Lease hands out at most max URLs whose hosts may be requested now, hosts in turn. URLs that
// robots.txt disallows are refused when their turn comes: see Refused. An origin without a URL in
// memory keeps its turn until it is refilled: see Reads.
func (f *Frontier) Lease(now time.Time, max int) []URL {
	f.clock.advance(now)
	for _, o := range f.politeness.rules.admit(f.clock.now) {
		f.politeness.place(f.clock.now, o)
	}
	leases := f.leaseOf(max, true)
	if f.residency.dormant.need = 0; f.politeness.free <= f.clock.now && f.work < maxWork {
		f.residency.dormant.need = max - len(leases)
	}
	return leases
}

// LeasePrompt is Lease for prompt hosts only.
func (f *Frontier) LeasePrompt(now time.Time, max int) []URL {
	f.clock.advance(now)
	return f.leaseOf(max, false)
}

// leaseOf hands out at most max URLs, of all hosts or of the prompt ones.
func (f *Frontier) leaseOf(max int, all bool) []URL {
	var leases []URL
	f.work = 0
	for len(leases) < max && f.work < maxWork && f.politeness.free <= f.clock.now {
		h, at := f.nextTurn(all)
		if h == nil || at > f.clock.now || f.politeness.endedByLimit(f.clock.now, h) || f.stuck(h) {
			break
		}
		if len(leases) == cap(leases) { // a URL is big: neither begin with one, nor grow by a quarter
			leases = slices.Grow(leases, min(max-len(leases), len(leases)+8))
		}
		leases = append(leases, URL{})
		if !f.lease(h, &leases[len(leases)-1]) {
			leases = leases[:len(leases)-1]
		}
	}
	return leases
}

// lease takes a lease from h, which is due. It returns false, and u is of no use, if everything
// that is due is refused or only in the store.
func (f *Frontier) lease(h *host, u *URL) bool {
	f.politeness.withdraw(h) // to the end of the due hosts
	o := f.politeness.top(h)
	if h.resolve == addressUnknown {
		f.politeness.lendAddress(h)
		*u = URL{URL: rootOf(h.own.name), Resolve: true}
		return true
	}
	if o.host.origins != nil {
		o.leaveTurns() // to the end of its host's, too
	}
	ok := f.pick(o, u)
	if ok {
		if u.Addr, u.Pinned = (netip.Addr{}), false; h.address != nil {
			u.Addr, u.Pinned = h.address.addr, h.pinned(f.clock.now)
		}
		u.Prompt = h.prompt
		f.politeness.lend(f.clock.now, o, nil)
		f.residency.dormant.leased(h, u)
	}
	if f.agenda.mayRefill(o) && f.agenda.levels.mayDescend(o) {
		f.agenda.refills.want(o, !ok)
	}
	f.politeness.place(f.clock.now, o)
	return ok
}

// Errands returns the part that leases what pages need while they are rendered.
func (f *Frontier) Errands() *Errands {
	if f.errands.yield == nil {
		f.errands.yield = f.yield
	}
	return &f.errands
}

// yield takes the lease that is due before an errand at h, which could be leased now: of the host
// or group where it would follow another errand, or of any under RateLimit. It returns false if
// there is none.
func (f *Frontier) yield(h *host, e *Errand, u *URL) bool {
	p, now := f.politeness, f.clock.now
	owed := p.owed(now, h, e)
	if owed == nil && p.visited {
		if next, at := f.nextTurn(true); next != nil && at <= now && !p.endedByLimit(now, next) {
			owed = next
		}
	}
	f.work = 0
	return owed != nil && !f.stuck(owed) && f.lease(owed, u)
}

// pick takes a lease from o, which is due: its robots.txt, or the first URL that is allowed. It
// returns false, and u is of no use, if everything that is due is refused or only in the store.
func (f *Frontier) pick(o *origin, u *URL) bool {
	if o.isRobotsRedirects() {
		return f.robots.pickRedirect(f.clock.now, o, u)
	}
	if o.robots.wanted(f.clock.now) {
		if depth, known := o.leastDepth(); known { // else a refill comes first
			return f.robots.pick(f.clock.now, o, depth, u)
		}
	}
	for f.work < maxWork && f.agenda.has(f.clock.now, o) {
		if !o.retries(f.clock.now) && f.agenda.full(o) && !o.capped {
			f.agenda.dropRest(o)
			continue
		}
		again := f.agenda.take(f.clock.now, o, u)
		if kind, reason := f.refuses(o, u); kind != "" {
			f.agenda.refuse(f.clock.now, o, Refusal{*u, kind, reason})
			continue
		}
		u.Seed = o.seeded()
		f.agenda.lend(o, u, again)
		return true
	}
	return false
}

// refuses returns why a URL of o is refused; kind is empty if it is not.
func (f *Frontier) refuses(o *origin, u *URL) (kind, reason string) {
	target := u.URL.RequestTarget()
	if f.refuse != nil || o.robots.rules != nil || o.deadAt(f.clock.now) {
		f.work += max(leastWork, len(target))
	}
	if f.refuse != nil {
		kind, reason = f.refuse(u)
	}
	if kind == "" && o.deadAt(f.clock.now) {
		kind, reason = o.trouble.why.kind, o.trouble.why.reason
	}
	if kind == "" {
		kind, reason = o.robots.refuse(target)
		if rules := o.robots.rules; rules != nil && rules.place != nil {
			f.politeness.rules.use(rules)
		}
	}
	return kind, reason
}

// Next returns the earliest time at which Lease will have a lease or a refusal, or Reads a request,
// if no URL is added, no lease ends and no page is provided before; ok is false if there is no such
// time. Beyond Limit it may be too early.
func (f *Frontier) Next() (at time.Time, ok bool) {
	h, due := f.nextTurn(true)
	if ok = h != nil && !f.stuck(h); ok {
		due = max(due, f.politeness.free)
	}
	d := &f.residency.dormant
	if d.need > f.agenda.refills.unread || h == nil && f.agenda.refills.unread == 0 {
		if revival := max(d.notBefore, f.politeness.free); d.useful(f.agenda.limited()) && (!ok || revival < due) {
			due, ok = revival, true
		}
	}
	if wait, waits := f.agenda.nextLevel(f.clock.now, f.leased()); waits && (!ok || wait < due) {
		due, ok = wait, true
	}
	if !ok {
		return time.Time{}, false
	}
	return f.clock.time(due), true
}

// NextPrompt returns the earliest time at which LeasePrompt will have a lease or a refusal, as Next
// does.
func (f *Frontier) NextPrompt() (at time.Time, ok bool) {
	h, due := f.nextTurn(false)
	if h == nil || f.stuck(h) {
		return time.Time{}, false
	}
	return f.clock.time(max(due, f.politeness.free)), true
}

// nextTurn returns the host whose turn is next, of all or of the prompt ones, and when, without the
// turns that Limit has ended. Those are all of them if no URL is pending that was leased before.
func (f *Frontier) nextTurn(all bool) (h *host, at moment) {
	if f.agenda.exhausted() {
		return nil, 0
	}
	f.agenda.openLevels(f.clock.now, f.leased())
	return f.politeness.nextWithin(f.clock.now, all)
}

// stuck reports whether h, whose turn it is, cannot even want its URLs, because too many others do.
// Those behind it wait with it, or it would lose its turn.
func (f *Frontier) stuck(h *host) bool {
	o := f.politeness.top(h)
	if f.agenda.refills.unread < maxRefills || h.resolve != addressKnown || !f.agenda.mayRefill(o) || f.agenda.has(f.clock.now, o) ||
		!f.agenda.levels.mayDescend(o) {
		return false
	}
	_, known := o.leastDepth() // with which its robots.txt would be leased
	return !known || !o.robots.wanted(f.clock.now)
}

// Refusals are URLs and origins that were refused.
type Refusals struct {
	URLs    []Refusal
	GivenUp []GivenUp // origins, of those with something pending
}

// Refused returns the refusals since the last call. The crawl is not over while there are any.
func (f *Frontier) Refused() Refusals {
	r := Refusals{f.agenda.refused, f.politeness.patience.givenUp}
	f.agenda.refused, f.politeness.patience.givenUp = nil, nil
	return r
}
