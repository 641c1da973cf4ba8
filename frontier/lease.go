package frontier

import (
	"container/heap"
	"slices"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// maxRefusals bounds the refusals of one Lease, so that a host with a million
	// URLs that robots.txt disallows does not hold its caller up.
	maxRefusals = 1000

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
	var leases []URL
	refusals := len(f.refused) + maxRefusals
	for len(leases) < max && len(f.refused) < refusals && len(f.ready) > 0 && f.ready[0].at <= f.now && f.free <= f.now && !f.stuck() {
		h := heap.Pop(&f.ready).(*host) // goes to the end of those that are due
		if leases == nil {
			leases = make([]URL, 0, min(max, 8)) // a URL is big: not from one on
		}
		leases = append(leases, URL{})
		ok := f.pick(h, refusals, &leases[len(leases)-1])
		if ok {
			f.spend(h)
		} else {
			leases = leases[:len(leases)-1]
		}
		f.want(h, !ok)
		f.placeAll(h.server)
	}
	return leases
}

// pick takes from h, which is due, what is leased: its robots.txt, or the first URL
// that is allowed. It returns false, and u is of no use, if all that is due is refused or
// only in the ledger.
func (f *Frontier) pick(h *host, refusals int, u *URL) bool {
	if h.robots.wanted(f.now) {
		if depth, known := h.leastDepth(); known { // else a Want comes first
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
			f.held -= cost(u.URL)
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
	if kind == "" {
		kind, reason = h.robots.refuse(u.RequestTarget())
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
	f.countFirst(1)
}

// countFirst counts URLs that are leased for the first time.
func (f *Frontier) countFirst(n int) {
	limited := f.Limited()
	f.first += n
	if f.Limited() && !limited {
		for _, h := range slices.Clone(f.ready) {
			f.place(h)
		}
	}
}

// full reports whether h has had LimitPerHost.
func (f *Frontier) full(h *host) bool {
	return f.cfg.LimitPerHost > 0 && (h.capped || int(h.first) >= f.cfg.LimitPerHost)
}

// dropRest drops the URLs of h that were never leased. What was tried is in memory by
// now, for it comes first.
func (f *Frontier) dropRest(h *host) {
	n := h.queued()
	f.held -= h.queue.cost()
	h.queue = nil
	if d := h.disk; d != nil {
		n += d.n
		d.n, d.more = 0, false
		if d.refill != nil {
			d.refill.void = true
		}
		f.settle(h)
	}
	h.pending -= int32(n)
	f.fresh -= n
	f.stats.Pending -= n
	f.stats.OverLimit += n
	h.capped = true
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

// placeAll places the hosts of a server, which is asked or has answered.
func (f *Frontier) placeAll(s *server) {
	for _, h := range s.hosts {
		f.place(h)
	}
}

// place puts h into the heap at the time at which it may be asked next, or takes
// it out if time alone does not help. A host that stays due, or whose time is as
// before, keeps its turn.
func (f *Frontier) place(h *host) {
	at, ok := f.due(h)
	if !ok {
		if h.index >= 0 {
			heap.Remove(&f.ready, int(h.index))
		}
		return
	}
	at = max(at, f.now)
	switch {
	case h.index < 0:
		f.order++
		h.at, h.order = at, f.order
		heap.Push(&f.ready, h)
	case h.at == at, h.at <= f.now && at <= f.now:
	default:
		f.order++
		f.rekey(h, at, f.order)
	}
}

// rekey moves a host within the heap.
func (f *Frontier) rekey(h *host, at moment, order uint64) {
	h.at, h.order = at, order
	heap.Fix(&f.ready, int(h.index))
}

// due returns when the next URL of h may be leased or refused, or its robots.txt leased.
func (f *Frontier) due(h *host) (at moment, ok bool) {
	switch {
	case !h.queue.empty() && !f.Limited(), f.mayWant(h):
	case len(h.retry) > 0:
		at = h.retry[0].at
	default:
		return 0, false
	}
	if h.robots.refuses(max(at, f.now)) {
		return at, true // the host need not be asked
	}
	if h.robots.waits() || h.busy >= f.pace(h) {
		return 0, false
	}
	return max(at, f.next(h)), true
}

// next is the time before which nothing of h is leased.
func (f *Frontier) next(h *host) moment {
	at := max(h.pace.hold, h.robots.notBefore())
	if h.last != never {
		at = max(at, h.last+f.delay(h))
	}
	return at
}

// has reports whether h has a URL in memory that may be leased now.
func (f *Frontier) has(h *host) bool {
	return h.retries(f.now) || !h.queue.empty() && !f.Limited()
}

// delay is the time between the end of a response of h and the next request.
func (f *Frontier) delay(h *host) time.Duration {
	return max(f.cfg.Delay, h.robots.delay())
}

// pace is how many leases h may have at once.
func (f *Frontier) pace(h *host) int32 {
	n := h.pace.limit()
	switch {
	case f.cfg.PerHost > 0:
		n = min(n, f.cfg.PerHost)
	case f.delay(h) > 0:
		n = 1
	}
	return int32(n)
}
