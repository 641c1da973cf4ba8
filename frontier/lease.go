package frontier

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// maxWork bounds the request targets that one Lease compares with rules, in bytes, of which each
	// counts as leastWork or more. So a host with a million URLs that robots.txt disallows does not
	// hold the caller up, nor do long URLs and a long robots.txt.
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
// robots.txt disallows are refused when their turn comes: see Refused. A host without a URL in
// memory keeps its turn until it is refilled: see Reads.
func (f *Frontier) Lease(now time.Time, max int) []URL {
	f.tell(now)
	for _, h := range f.robots.admit(f.now) {
		f.place(h)
	}
	var leases []URL
	f.work = 0
	for len(leases) < max && f.work < maxWork && f.free <= f.now {
		s, at := f.nextTurn()
		if s == nil || at > f.now || f.ended(s) || f.stuck(s) {
			break
		}
		if leases == nil {
			leases = make([]URL, 0, min(max, 8)) // a URL is big: do not start with one
		}
		leases = append(leases, URL{})
		if !f.lease(s, &leases[len(leases)-1]) {
			leases = leases[:len(leases)-1]
		}
	}
	if f.dormant.need = 0; f.free <= f.now && f.work < maxWork {
		f.dormant.need = max - len(leases)
	}
	return leases
}

// lease takes a lease from s, which is due. It returns false, and u is of no use, if everything
// that is due is refused or only in the store.
func (f *Frontier) lease(s *server, u *URL) bool {
	f.politeness.withdraw(s) // to the end of the due servers
	h := s.top()
	if s.resolve == addressUnknown {
		s.resolve = addressAsked
		*u = URL{URL: rootOf(s.own.name), Resolve: true}
		s.own.leased++
		f.stats.Leased++
		return true
	}
	if h.index >= 0 {
		s.origins.due.Remove(int(h.index)) // to the end of its server's, too
	}
	ok := f.pick(h, u)
	if ok {
		if u.Addr, u.Pinned = (netip.Addr{}), false; s.address != nil {
			u.Addr, u.Pinned = s.address.addr, s.pinned(f.now)
		}
		f.spend(h)
		f.dormant.leased(s, u)
	}
	if f.mayRefill(h) {
		f.refills.want(h, !ok)
	}
	f.place(h)
	return ok
}

// pick takes a lease from h, which is due: its robots.txt, or the first URL that is allowed. It
// returns false, and u is of no use, if everything that is due is refused or only in the store.
func (f *Frontier) pick(h *host, u *URL) bool {
	if h.isRobotsRedirects() {
		return f.pickRedirect(h, u)
	}
	if h.robots.wanted(f.now) {
		if depth, known := h.leastDepth(); known { // else a refill comes first
			return f.pickRobots(h, depth, u)
		}
	}
	for f.work < maxWork && f.has(h) {
		if !h.retries(f.now) && f.full(h) && !h.capped {
			f.dropRest(h)
			continue
		}
		again := h.take(f.now, u)
		h.pending--
		f.stats.Pending--
		if !again {
			f.fresh--
			f.refills.held -= u.cost()
		}
		if kind, reason := f.refuses(h, u.URL); kind != "" {
			f.turnDown(h, Refusal{*u, kind, reason})
			continue
		}
		u.Seed = h.seeded()
		f.leased[u.URL] = h
		if f.cfg.LimitPerHost > 0 {
			f.journal.urlLeased(h, u)
		}
		if !again {
			f.count(h)
		}
		return true
	}
	return false
}

// pickRobots leases the robots.txt of h, for URLs of a depth. It returns false if there is no room
// for its rules.
func (f *Frontier) pickRobots(h *host, depth int, u *URL) bool {
	if f.robots.full(f.now) && h.robots.lacks() {
		h.robots.postpone(f.now + noRoom)
		f.robots.starve(h)
		return false
	}
	f.robots.asked++
	*u = URL{
		URL: h.robots.ask(h.name), Depth: depth, Tries: int(h.robots.tries),
		Seed: h.seeded(), Robots: true,
	}
	return true
}

// refuses returns why a URL of h is refused; kind is empty if it is not.
func (f *Frontier) refuses(h *host, u weburl.URL) (kind, reason string) {
	target := u.RequestTarget()
	if f.refuse != nil || h.robots.rules != nil || h.deadAt(f.now) {
		f.work += max(leastWork, len(target))
	}
	if f.refuse != nil {
		kind, reason = f.refuse(u)
	}
	if kind == "" && h.deadAt(f.now) {
		why := f.failures[h.server]
		kind, reason = why.kind, why.reason
	}
	if kind == "" {
		kind, reason = h.robots.refuse(target)
		if rules := h.robots.rules; rules != nil && rules.place != nil {
			f.robots.use(rules)
		}
	}
	return kind, reason
}

// turnDown refuses a URL of h that was taken out of its queue.
func (f *Frontier) turnDown(h *host, r Refusal) {
	f.refused = append(f.refused, r)
	f.stats.Refused++
	f.endRedirects(&r.URL)
	if r.URL.Tries > 0 {
		h.tried--
	}
	h.backlog.ended(r.URL.Seq)
	f.journal.hostChanged(h)
	f.journal.record(func(l Journal) { l.Refused(r, f.time(f.now)) })
}

// count counts a URL of h that is leased for the first time, and applies the limits.
func (f *Frontier) count(h *host) {
	h.leases++ // the server's other hosts drop their URLs when their turn comes
	if f.full(h) && !h.capped {
		f.dropRest(h)
	}
	f.first++
}

// full reports whether h has had LimitPerHost.
func (f *Frontier) full(h *host) bool {
	return f.cfg.LimitPerHost > 0 && (h.capped || int(h.leases) >= f.cfg.LimitPerHost)
}

// dropRest drops the URLs of h that were never leased. Those that were tried are in memory by now,
// as they come first.
func (f *Frontier) dropRest(h *host) {
	n := h.queued()
	f.refills.held -= costOf(&h.queue)
	if len(f.redirects.hops) > 0 {
		for c, queued := range h.queue.All() {
			u := queued.of(c)
			f.endRedirects(&u)
		}
	}
	h.queue = hostQueue{}
	if b := h.backlog; b != nil {
		n += b.n
		b.n, b.more = 0, false
		if b.refill != nil {
			b.refill.void = true
		}
		f.refills.release(h)
	}
	h.pending -= int32(n)
	f.fresh -= n
	f.stats.Pending -= n
	f.stats.OverLimit += n
	h.capped = true
	f.journal.hostChanged(h)
	f.journal.overLimit(h)
}

// spend counts a lease of h.
func (f *Frontier) spend(h *host) {
	h.leased++
	f.stats.Leased++
	f.politeness.spend(f.now, h.server)
	f.journal.hostChanged(h)
	if f.cfg.RateLimit > 0 {
		f.free = max(f.free, f.now-rateSlack) + f.spacing()
	}
}

// spacing returns the time between two leases that RateLimit asks for.
func (f *Frontier) spacing() moment {
	if f.cfg.RateLimit <= 0 {
		return 0
	}
	return moment(min(float64(time.Second)/f.cfg.RateLimit, float64(maxSpacing)))
}

// has reports whether h has a URL in memory that may be leased now.
func (f *Frontier) has(h *host) bool {
	return h.retries(f.now) || !h.queue.Empty() && !f.Limited()
}

// nextTurn returns the server whose turn is next, and when, without the turns that Limit has
// ended. Those are all of them if no URL is pending that was leased before. Otherwise each is
// skipped when it comes, not all at once, which may be a million, when Limit is reached. After
// maxEnded it returns one of them.
func (f *Frontier) nextTurn() (s *server, at moment) {
	if f.Limited() && f.stats.Pending == f.fresh {
		return nil, 0
	}
	s, at = f.politeness.next(f.now)
	for n := 0; s != nil && n < maxEnded && f.ended(s); n++ {
		f.placeServer(s)
		s, at = f.politeness.next(f.now)
	}
	return s, at
}

// ended reports whether s has its turn for a URL that Limit keeps from being leased.
func (f *Frontier) ended(s *server) bool {
	if !f.Limited() {
		return false
	}
	at, ok := f.due(s)
	return !ok || at > max(s.at, f.now)
}

// endOrigins places anew those hosts of s that come first for what Limit has ended.
func (f *Frontier) endOrigins(s *server) {
	for s.origins != nil && f.Limited() && s.origins.due.Len() > 0 {
		o := s.origins.due.First()
		if at, ok := f.dueOf(o.host); ok && at <= max(o.at, f.now) {
			return
		}
		f.placeOrigin(o.host)
	}
}

// place takes in that what h has to lease or refuse, or its server, has changed.
func (f *Frontier) place(h *host) {
	if h.origins != nil {
		f.placeOrigin(h)
	}
	f.placeServer(h.server)
}

// placeServer gives a server its turn at the time at which it may next be leased from, apart from
// its domain and address, or takes the turn away if time alone does not help. A server that stays
// due, or whose time is as before, keeps its turn.
func (f *Frontier) placeServer(s *server) {
	f.endOrigins(s)
	at, ok := f.due(s)
	if !ok {
		f.politeness.withdraw(s)
		return
	}
	at = max(at, f.now)
	switch {
	case !s.hasTurn():
		f.politeness.giveTurn(f.now, s, at, f.nextOrder())
	case s.at == at, s.at <= f.now && at <= f.now:
	default:
		f.politeness.changeTurn(s, at, f.nextOrder())
	}
	if s.waitsWithSiblings(f.now, at) != (s.rank >= 0) ||
		s.index >= 0 && s.waitsFor != nobody && !s.requests(at) {
		f.politeness.move(f.now, s)
	}
}

// dueOf returns when the next URL of h may be leased or refused, or its robots.txt leased, as far
// as that depends on h alone.
func (f *Frontier) dueOf(h *host) (at moment, ok bool) {
	switch {
	case !h.queue.Empty() && !f.Limited(), f.mayRefill(h):
	case h.retry != nil:
		at = h.retry.First().at
	default:
		return 0, false
	}
	if h.refusing(max(at, f.now)) {
		return at, true // without a request
	}
	if h.robots.waits() {
		return 0, false
	}
	return max(at, h.robots.notBefore()), true
}

// due returns the same of a server, as far as that depends on it alone.
func (f *Frontier) due(s *server) (at moment, ok bool) {
	h := s.top()
	if h == nil {
		return 0, false
	}
	at, ok = f.dueOf(h)
	switch {
	case !ok, h.refusing(max(at, f.now)):
		return at, ok
	case s.resolve == addressUnknown:
		return 0, true
	case s.resolve == addressAsked, s.busy >= f.politeness.pace(s):
		return 0, false
	}
	return max(at, f.politeness.earliest(s)), true
}

// rootOf returns the URL of an origin.
func rootOf(origin string) weburl.URL {
	u, err := weburl.Parse(origin + "/")
	if err != nil {
		panic(fmt.Sprintf("frontier: %s: %v", origin, err)) // an origin is a URL
	}
	return u
}
