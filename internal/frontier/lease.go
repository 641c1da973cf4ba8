package frontier

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// maxWork bounds the request targets that one Lease compares with rules, in bytes, of which each
	// counts as leastWork or more. So an origin with a million URLs that robots.txt disallows does
	// not hold the caller up, nor do long URLs and a long robots.txt.
	maxWork   = 64 << 10
	leastWork = 64

	// maxEnded bounds the turns ended by Limit that one Lease or Next skips: when the limit is
	// reached, a million hosts may have one.
	maxEnded = 1000

	// rateSlack is how late a timer may wake the crawler without lowering the rate: that much
	// later, two leases may be closer together than RateLimit says.
	rateSlack = time.Millisecond

	// maxSpacing bounds the time between two leases that RateLimit can ask for.
	maxSpacing = 24 * time.Hour
)

// Refusal is a URL that is not fetched.
type Refusal struct {
	URL  URL
	Kind string // "robots", or the kind given to RobotsFailed

	// Reason is the rule, "line 12: Disallow: /x", a Crawl-delay that is too long, or the reason
	// given to RobotsFailed. It comes from the Web.
	Reason string
}

// Refused returns the refusals since the last call. The crawl is not over while there are any.
func (f *Frontier) Refused() []Refusal {
	refused := f.refused
	f.refused = nil
	return refused
}

// Lease hands out at most max URLs whose hosts may be requested now, hosts in turn. URLs that
// robots.txt disallows are refused when their turn comes: see Refused. An origin without a URL in
// memory keeps its turn until it is refilled: see Reads.
func (f *Frontier) Lease(now time.Time, max int) []URL {
	f.clock.tell(now)
	for _, o := range f.robots.admit(f.clock.now) {
		f.place(o)
	}
	leases := f.leaseOf(max, true)
	if f.dormant.need = 0; f.free <= f.clock.now && f.work < maxWork {
		f.dormant.need = max - len(leases)
	}
	return leases
}

// leaseOf hands out at most max URLs, of all hosts or of the prompt ones.
func (f *Frontier) leaseOf(max int, all bool) []URL {
	var leases []URL
	f.work = 0
	for len(leases) < max && f.work < maxWork && f.free <= f.clock.now {
		h, at := f.nextTurn(all)
		if h == nil || at > f.clock.now || f.ended(h) || f.stuck(h) {
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
		h.resolve = addressAsked
		*u = URL{URL: rootOf(h.own.name), Resolve: true}
		h.own.countLeases(1)
		f.stats.Leased++
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
		f.spend(o)
		f.dormant.leased(h, u)
	}
	if f.mayRefill(o) && f.mayDescend(o) {
		f.refills.want(o, !ok)
	}
	f.place(o)
	return ok
}

// pick takes a lease from o, which is due: its robots.txt, or the first URL that is allowed. It
// returns false, and u is of no use, if everything that is due is refused or only in the store.
func (f *Frontier) pick(o *origin, u *URL) bool {
	if o.isRobotsRedirects() {
		return f.pickRedirect(o, u)
	}
	if o.robots.wanted(f.clock.now) {
		if depth, known := o.leastDepth(); known { // else a refill comes first
			return f.pickRobots(o, depth, u)
		}
	}
	for f.work < maxWork && f.has(o) {
		if !o.retries(f.clock.now) && f.full(o) && !o.capped {
			f.dropRest(o)
			continue
		}
		again := f.take(o, u)
		o.pending--
		f.stats.Pending--
		if !again {
			f.fresh--
			f.refills.held -= u.cost()
		}
		if kind, reason := f.refuses(o, u); kind != "" {
			f.turnDown(o, Refusal{*u, kind, reason})
			continue
		}
		u.Seed = o.seeded()
		f.leased[u.leaseKey()] = o
		if f.cfg.LimitPerHost > 0 {
			f.journal.urlLeased(o, u)
		}
		if !again {
			f.count(o)
			o.descended(u.Depth)
		}
		return true
	}
	return false
}

// pickRobots leases the robots.txt of o, for URLs of a depth. It returns false if there is no room
// for its rules.
func (f *Frontier) pickRobots(o *origin, depth int, u *URL) bool {
	if f.robots.full(f.clock.now) && o.robots.lacks() {
		o.robots.postpone(f.clock.now + noRoom)
		f.robots.starve(o)
		return false
	}
	f.robots.asked++
	*u = URL{
		URL: o.robots.ask(o.name), Depth: depth, Tries: int(o.robots.tries),
		Seed: o.seeded(), Robots: true,
	}
	return true
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
			f.robots.use(rules)
		}
	}
	return kind, reason
}

// turnDown refuses a URL of o that was taken out of its queue.
func (f *Frontier) turnDown(o *origin, r Refusal) {
	f.refused = append(f.refused, r)
	f.stats.Refused++
	f.endRedirects(&r.URL)
	if r.URL.Tries > 0 {
		o.tried--
	}
	o.backlog.ended(r.URL.Seq)
	f.journal.originChanged(o)
	f.journal.record(func(l Journal) { l.Refused(r, f.clock.time(f.clock.now)) })
}

// count counts a URL of o that is leased for the first time, and applies the limits.
func (f *Frontier) count(o *origin) {
	o.host.leases++ // the host's other origins drop their URLs when their turn comes
	if f.full(o) && !o.capped {
		f.dropRest(o)
	}
	f.firsts.all++
	f.firsts.begun++
}

// full reports whether o has had LimitPerHost.
func (f *Frontier) full(o *origin) bool {
	return f.cfg.LimitPerHost > 0 && (o.capped || int(o.host.leases) >= f.cfg.LimitPerHost)
}

// dropRest drops the URLs of o that were never leased. Those that were tried are in memory by now,
// as they come first.
func (f *Frontier) dropRest(o *origin) {
	n := o.queued()
	f.refills.held -= costOf(&o.queue)
	if len(f.redirects.hops) > 0 {
		for c, queued := range o.queue.All() {
			u := queued.of(c)
			f.endRedirects(&u)
		}
	}
	o.queue = urlQueue{}
	if b := o.backlog; b != nil {
		n += b.n
		b.n, b.more = 0, false
		if b.refill != nil {
			b.refill.void = true
		}
		f.refills.release(o)
	}
	o.pending -= int32(n)
	f.fresh -= n
	f.stats.Pending -= n
	f.stats.OverLimit += n
	o.capped = true
	f.journal.originChanged(o)
	f.journal.overLimit(o)
}

// spend counts a lease of o.
func (f *Frontier) spend(o *origin) {
	o.countLeases(1)
	f.stats.Leased++
	if all := o.host.origins; all != nil && o.doubtful {
		all.probed, all.order = f.clock.now, f.nextOrder()
	}
	f.politeness.spend(f.clock.now, o.host)
	f.stir(o)
	f.journal.originChanged(o)
	if f.cfg.RateLimit > 0 {
		f.free = max(f.free, f.clock.now-rateSlack) + f.spacing()
	}
}

// spacing returns the time between two leases that RateLimit asks for.
func (f *Frontier) spacing() moment {
	if f.cfg.RateLimit <= 0 {
		return 0
	}
	return moment(min(float64(time.Second)/f.cfg.RateLimit, float64(maxSpacing)))
}

// has reports whether o has a URL in memory that may be leased now.
func (f *Frontier) has(o *origin) bool {
	return o.retries(f.clock.now) || !o.queue.Empty() && !f.Limited() && f.mayDescend(o)
}

// nextTurn returns the host whose turn is next, of all or of the prompt ones, and when, without the
// turns that Limit has ended. Those are all of them if no URL is pending that was leased before. Otherwise each is
// skipped when it comes, not all at once, which may be a million, when Limit is reached. After
// maxEnded it returns one of them.
func (f *Frontier) nextTurn(all bool) (h *host, at moment) {
	if f.Limited() && f.stats.Pending == f.fresh {
		return nil, 0
	}
	f.openLevels()
	h, at = f.politeness.next(f.clock.now, all)
	for n := 0; h != nil && n < maxEnded && f.ended(h); n++ {
		f.placeHost(h)
		h, at = f.politeness.next(f.clock.now, all)
	}
	return h, at
}

// ended reports whether h has its turn for a URL that Limit keeps from being leased.
func (f *Frontier) ended(h *host) bool {
	if !f.Limited() {
		return false
	}
	at, ok := f.due(h)
	return !ok || at > max(h.turn.at, f.clock.now)
}

// endOrigins places anew those origins of h that come first for what Limit has ended.
func (f *Frontier) endOrigins(h *host) {
	if h.origins == nil || !f.Limited() {
		return
	}
	for _, turns := range [...]*originHeap{&h.origins.due, &h.origins.doubts} {
		for turns.Len() > 0 {
			t := turns.First()
			if at, ok := f.dueOf(t.origin); ok && at <= max(t.at, f.clock.now) {
				break
			}
			f.placeOrigin(t.origin)
		}
	}
}

// place takes in that what o has to lease or refuse, or its host, has changed.
func (f *Frontier) place(o *origin) {
	f.stand(o)
	if o.host.origins != nil {
		f.placeOrigin(o)
	}
	f.placeHost(o.host)
}

// placeHost gives a host its turn at the time at which it may next be leased from, apart from
// its domain and address, or takes the turn away if time alone does not help. A host that stays
// due, or whose time is as before, keeps its turn.
func (f *Frontier) placeHost(h *host) {
	f.endOrigins(h)
	at, ok := f.due(h)
	if !ok {
		f.politeness.withdraw(h)
		return
	}
	at = max(at, f.clock.now)
	f.politeness.dueAt(f.clock.now, h, at)
	switch {
	case !h.hasTurn():
		f.politeness.giveTurn(f.clock.now, h, at, f.nextOrder())
	case h.turn.at == at, h.turn.at <= f.clock.now && at <= f.clock.now:
	default:
		f.politeness.changeTurn(h, at, f.nextOrder())
	}
	if f.politeness.waitsWithSiblings(f.clock.now, h, at) != (h.turn.rank >= 0) ||
		h.turn.index >= 0 && h.waitsFor != nobody && !f.politeness.requests(h, at) {
		f.politeness.move(f.clock.now, h)
	}
}

// dueOf returns when the next URL of o may be leased or refused, or its robots.txt leased, as far
// as that depends on o alone.
func (f *Frontier) dueOf(o *origin) (at moment, ok bool) {
	switch {
	case (!o.queue.Empty() && !f.Limited() || f.mayRefill(o)) && f.mayDescend(o):
	case o.retries(f.clock.now):
	case o.retry != nil:
		at = o.retry.First().at
	default:
		return 0, false
	}
	if o.refusing(max(at, f.clock.now)) {
		return at, true // without a request
	}
	if o.robots.waits() {
		return 0, false
	}
	return max(at, o.robots.notBefore(), o.parked()), true
}

// due returns the same of a host, as far as that depends on it alone.
func (f *Frontier) due(h *host) (at moment, ok bool) {
	o := f.politeness.top(h)
	if o == nil || h.held {
		return 0, false
	}
	at, ok = f.dueOf(o)
	switch {
	case !ok, o.refusing(max(at, f.clock.now)):
		return at, ok
	case h.resolve == addressUnknown:
		return 0, true
	case h.resolve == addressAsked, h.busy >= f.politeness.pace(h):
		return 0, false
	}
	if h.origins != nil && o.doubtful {
		at = max(at, h.origins.park)
	}
	return max(at, f.politeness.earliest(h)), true
}

// rootOf returns the URL of an origin.
func rootOf(origin string) weburl.URL {
	u, err := weburl.Parse(origin + "/")
	if err != nil {
		panic(fmt.Sprintf("frontier: %s: %v", origin, err)) // an origin is a URL
	}
	return u
}
