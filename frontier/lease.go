package frontier

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// maxRefusals bounds the refusals of one Lease, so that a host with a million
	// URLs that robots.txt disallows does not hold its caller up.
	maxRefusals = 1000

	// maxEnded is how many turns that Limit has ended are passed over by one Lease or Next: when
	// it is reached, a million hosts may have one.
	maxEnded = 1000

	// rateSlack is how late a timer may wake the crawler without lowering the rate:
	// that much later, two leases may be nearer than RateLimit says.
	rateSlack = time.Millisecond
)

// Refusal is a URL that is not fetched.
type Refusal struct {
	URL    URL
	Kind   string // "robots", or what RobotsFailed was told
	Reason string // the rule, "line 12: Disallow: /x"; a Crawl-delay that is too long; or what RobotsFailed was told. From the Web
}

// Refused returns what was refused since it was last called. The crawl is not over
// while there is any.
func (f *Frontier) Refused() []Refusal {
	refused := f.refused
	f.refused = nil
	return refused
}

// Lease hands out at most max URLs whose hosts may be asked now, hosts in turn. What
// robots.txt disallows is refused when its turn comes: see Refused. A host that has no
// URL in memory when its turn comes keeps it until it is refilled: see Wants.
func (f *Frontier) Lease(now time.Time, max int) []URL {
	f.tell(now)
	f.feed()
	var leases []URL
	refusals := len(f.refused) + maxRefusals
	for len(leases) < max && len(f.refused) < refusals && f.free <= f.now {
		s, at := f.nextTurn()
		if s == nil || at > f.now || f.ended(s) || f.stuck(s) {
			break
		}
		if leases == nil {
			leases = make([]URL, 0, min(max, 8)) // a URL is big: not from one on
		}
		leases = append(leases, URL{})
		if !f.lease(s, refusals, &leases[len(leases)-1]) {
			leases = leases[:len(leases)-1]
		}
	}
	if f.dormant.need = 0; f.free <= f.now && len(f.refused) < refusals {
		f.dormant.need = max - len(leases)
	}
	return leases
}

// lease takes from s, which is due, what is leased. It returns false, and u is of no use, if all
// that is due is refused or only in the ledger.
func (f *Frontier) lease(s *server, refusals int, u *URL) bool {
	f.withdraw(s) // to the end of those that are due
	h := s.top()
	if s.resolve == addressUnknown {
		s.resolve = addressAsked
		*u = URL{URL: rootOf(s.own.name), Resolve: true}
		s.own.leased++
		f.stats.Leased++
		return true
	}
	if h.index >= 0 {
		s.origins.due.Remove(int(h.index)) // the same
	}
	ok := f.pick(h, refusals, u)
	if ok {
		if u.Addr, u.Pinned = (netip.Addr{}), false; s.address != nil {
			u.Addr, u.Pinned = s.address.addr, f.pinned(s)
		}
		f.spend(h)
		f.dormant.leased(s, u)
	}
	f.want(h, !ok)
	f.place(h)
	return ok
}

// pick takes from h, which is due, what is leased: its robots.txt, or the first URL
// that is allowed. It returns false, and u is of no use, if all that is due is refused or
// only in the ledger.
func (f *Frontier) pick(h *host, refusals int, u *URL) bool {
	if h.isErrands() {
		return f.pickErrand(h, u)
	}
	if h.robots.wanted(f.now) {
		if depth, known := h.leastDepth(); known { // else a Want comes first
			if f.rulebook.full(f.now) && h.robots.lacks() {
				h.robots.postpone(f.now + noRoom)
				f.starve(h)
				return false
			}
			f.rulebook.asked++
			*u = URL{URL: h.robots.ask(h.name), Depth: depth, Tries: int(h.robots.tries), Seed: h.seeded(), Robots: true}
			return true
		}
	}
	for len(f.refused) < refusals && f.has(h) {
		if !h.retries(f.now) && f.full(h) && !h.capped {
			f.dropRest(h)
			continue
		}
		again := h.take(f.now, u)
		h.pending--
		f.stats.Pending--
		if !again {
			f.fresh--
			f.held -= u.cost()
		}
		if kind, reason := f.refuses(h, u.URL); kind != "" {
			f.turnDown(h, Refusal{*u, kind, reason})
			continue
		}
		u.Seed = h.seeded()
		f.leased[u.URL] = h
		f.leave(h, u)
		if !again {
			f.count(h)
		}
		return true
	}
	return false
}

// refuses returns why a URL of h is refused; kind is empty if it is not.
func (f *Frontier) refuses(h *host, u weburl.URL) (kind, reason string) {
	if f.refuse != nil {
		kind, reason = f.refuse(u)
	}
	if kind == "" && h.deadAt(f.now) {
		why := f.shut[h.server]
		kind, reason = why.kind, why.reason
	}
	if kind == "" {
		kind, reason = h.robots.refuse(u.RequestTarget())
		if rules := h.robots.said; rules != nil && rules.place != nil {
			f.rulebook.use(rules)
		}
	}
	return kind, reason
}

// turnDown refuses a URL of h that is taken out of its queue.
func (f *Frontier) turnDown(h *host, r Refusal) {
	f.refused = append(f.refused, r)
	f.stats.Refused++
	f.forgetHops(&r.URL)
	if r.URL.Tries > 0 {
		h.tried--
	}
	h.disk.gone(r.URL.Seq)
	f.note(h)
	if f.ledger != nil {
		f.ledger.Refused(r, f.time(f.now))
	}
}

// RefuseBy makes the frontier ask fn about each URL whose turn comes, before its host's
// robots.txt: the URL is refused if kind is not empty.
func (f *Frontier) RefuseBy(fn func(weburl.URL) (kind, reason string)) { f.refuse = fn }

// count counts a URL of h that is leased for the first time, and does what the limits
// ask for.
func (f *Frontier) count(h *host) {
	h.first++ // the host's others drop theirs when their turn comes
	if f.full(h) && !h.capped {
		f.dropRest(h)
	}
	f.first++
}

// nextTurn is nextServer, without the turns that Limit has ended. That is all of them if no URL is
// pending which was leased before; else each is taken when it comes, and not all, be they a million,
// when Limit is reached. After maxEnded it returns one of them.
func (f *Frontier) nextTurn() (s *server, at moment) {
	if f.Limited() && f.stats.Pending == f.fresh {
		return nil, 0
	}
	s, at = f.nextServer()
	for n := 0; s != nil && n < maxEnded && f.ended(s); n++ {
		f.placeServer(s)
		s, at = f.nextServer()
	}
	return s, at
}

// endOrigins places anew those of the hosts of s that come first for what Limit has ended.
func (f *Frontier) endOrigins(s *server) {
	for s.origins != nil && f.Limited() && s.origins.due.Len() > 0 {
		o := s.origins.due.First()
		if at, ok := f.own(o.host); ok && at <= max(o.at, f.now) {
			return
		}
		f.placeOrigin(o.host)
	}
}

// ended reports whether s has its turn for a URL that Limit keeps from being leased.
func (f *Frontier) ended(s *server) bool {
	if !f.Limited() {
		return false
	}
	at, ok := f.due(s)
	return !ok || at > max(s.at, f.now)
}

// full reports whether h has had LimitPerHost.
func (f *Frontier) full(h *host) bool {
	return f.cfg.LimitPerHost > 0 && (h.capped || int(h.first) >= f.cfg.LimitPerHost)
}

// dropRest drops the URLs of h that were never leased. What was tried is in memory by
// now, for it comes first.
func (f *Frontier) dropRest(h *host) {
	n := h.queued()
	f.held -= costOf(&h.queue)
	if len(f.hops) > 0 {
		for c, n := range h.queue.All() {
			u := n.of(c)
			f.forgetHops(&u)
		}
	}
	h.queue = hostQueue{}
	if d := h.disk; d != nil {
		n += d.n
		d.n, d.more = 0, false
		if d.refill != nil {
			d.refill.void = true
		}
		f.letGo(h)
	}
	h.pending -= int32(n)
	f.fresh -= n
	f.stats.Pending -= n
	f.stats.OverLimit += n
	h.capped = true
	f.note(h)
	f.noteOverLimit(h)
}

// maxSpacing bounds the time between two leases that a RateLimit can ask for.
const maxSpacing = 24 * time.Hour

// spend is the price of a lease of h.
func (f *Frontier) spend(h *host) {
	h.leased++
	f.stats.Leased++
	h.busy++
	h.asked, h.last = f.now, f.now // until the response says when it really ended
	h.domain().spend(f.now)
	h.address.spend(f.now)
	f.placeGroup(h.domain())
	f.placeGroup(h.address)
	f.note(h)
	if f.cfg.RateLimit > 0 {
		f.free = max(f.free, f.now-rateSlack) + f.spacing()
	}
}

// spacing is the time between two leases that RateLimit asks for.
func (f *Frontier) spacing() moment {
	if f.cfg.RateLimit <= 0 {
		return 0
	}
	return moment(min(float64(time.Second)/f.cfg.RateLimit, float64(maxSpacing)))
}

// place takes in that what h has to lease or refuse, or its server, has changed.
func (f *Frontier) place(h *host) {
	if h.origins != nil {
		f.placeOrigin(h)
	}
	f.placeServer(h.server)
}

// placeServer gives a server its turn at the time at which it may be asked next, but for its
// domain and address; or takes it away if time alone does not help. A server that stays due,
// or whose time is as before, keeps its turn.
func (f *Frontier) placeServer(s *server) {
	f.endOrigins(s)
	at, ok := f.due(s)
	if !ok {
		f.withdraw(s)
		return
	}
	at = max(at, f.now)
	switch {
	case !s.hasTurn():
		f.order++
		f.file(s, at, f.order)
	case s.at == at, s.at <= f.now && at <= f.now:
	default:
		f.order++
		f.rekey(s, at, f.order)
	}
	if f.inCell(s, at) != (s.sub >= 0) || s.index >= 0 && s.where != inReady && !f.asks(s, at) {
		f.refile(s)
	}
}

// own returns when the next URL of h may be leased or refused, or its robots.txt leased, as
// far as that depends on h alone.
func (f *Frontier) own(h *host) (at moment, ok bool) {
	switch {
	case !h.queue.Empty() && !f.Limited(), f.mayWant(h):
	case h.retry != nil:
		at = h.retry.First().at
	default:
		return 0, false
	}
	if f.refusing(h, max(at, f.now)) {
		return at, true // the host need not be asked
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
	at, ok = f.own(h)
	switch {
	case !ok, f.refusing(h, max(at, f.now)):
		return at, ok
	case s.resolve == addressUnknown:
		return 0, true
	case s.resolve == addressAsked, s.busy >= f.pace(s):
		return 0, false
	}
	return max(at, f.next(s)), true
}

// refusing reports whether all that is leased of h at a time is refused.
func (f *Frontier) refusing(h *host, at moment) bool {
	return h.robots.refuses(at) || h.deadAt(at)
}

// next is the time before which nothing of s is leased.
func (f *Frontier) next(s *server) moment {
	if s.last == never {
		return s.pace.hold
	}
	return max(s.pace.hold, s.last+f.delay(s))
}

// has reports whether h has a URL in memory that may be leased now.
func (f *Frontier) has(h *host) bool {
	return h.retries(f.now) || !h.queue.Empty() && !f.Limited()
}

// delay is the time between the end of a response of s and the next request. A server that
// is alone in its domain stands for it.
func (f *Frontier) delay(s *server) time.Duration {
	delay := max(f.cfg.Delay, s.crawlDelay())
	if s.domain() == nil {
		delay = max(delay, f.groupDelay(false))
	}
	return delay
}

// pace is how many leases s may have at once. One that is parked is tried with one.
func (f *Frontier) pace(s *server) int32 {
	n := s.pace.limit()
	switch {
	case f.cfg.PerHost > 0:
		n = min(n, f.cfg.PerHost)
	case f.delay(s) > 0:
		n = 1
	}
	if s.domain() == nil && f.cfg.PerDomain > 0 {
		n = min(n, f.cfg.PerDomain)
	}
	if s.fails >= parkFrom {
		n = min(n, 1)
	}
	return int32(n)
}

// rootOf is the URL of an origin.
func rootOf(origin string) weburl.URL {
	u, err := weburl.Parse(origin + "/")
	if err != nil {
		panic(fmt.Sprintf("frontier: %s: %v", origin, err)) // an origin is a URL
	}
	return u
}
