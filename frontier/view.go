package frontier

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// View is a look at a frontier. Like the frontier it belongs to one goroutine.
type View struct{ f *Frontier }

// View returns a look at the frontier.
func (f *Frontier) View() View { return View{f} }

// Seen reports whether a URL was added, whatever became of it. With SeenBytes it is a URL of the
// batch last given to Prepare.
func (v View) Seen(u weburl.URL) bool { return v.f.seen.has(u.Fingerprint()) }

// OnlyRank reports whether a host, named by its origin, waits with URLs of one rank only, none of
// which was leased before.
func (v View) OnlyRank(name string, rank int8) bool {
	h := v.f.residency.host(name)
	if h == nil || h.queue.Empty() || h.retry != nil || h.backlog != nil && h.backlog.n > 0 {
		return false
	}
	for c := range h.queue.Classes() {
		if c.rank != rank {
			return false
		}
	}
	return true
}

// SeenBytes returns how much memory the fingerprints take.
func (v View) SeenBytes() int { return v.f.seen.table.Bytes() }

// QueuedBytes returns how much memory the pending URLs take that were never leased.
func (v View) QueuedBytes() int { return v.f.refills.held }

// HostBytes returns about how much memory the hosts take, with their names and groups, without what
// their robots.txt say.
func (v View) HostBytes() int { return v.f.hostBytes() }

// Evicted returns how many hosts are not in memory, dormant ones included.
func (v View) Evicted() int { return v.f.residency.evicted }

// Dormant returns how many hosts are not in memory though something of them is pending.
func (v View) Dormant() int { return v.f.dormant.hosts }

// Leased yields the URLs that are leased, in no order.
func (v View) Leased() iter.Seq[weburl.URL] { return maps.Keys(v.f.leased) }

// IsLeased reports whether a canonical URL is leased.
func (v View) IsLeased(u weburl.URL) bool { return v.f.leased[u] != nil }

// HostInfo is all that is known of a host at a moment.
type HostInfo struct {
	HostState               // its times are up to now
	Leased    int           // URLs
	Asking    bool          // its robots.txt is leased
	Pace      int           // leases it may have at once now; 0: any number
	Delay     time.Duration // between the end of a response and the next lease
	Next      time.Time     // nothing of it is leased before, if that is later than now
	Resolving bool          // its address is leased
	Full      bool          // it has as many leases as it may have
	Starved   bool          // there is no room for its robots.txt among the rules in memory
	BackOff   string        // why it is left alone up to Hold, in words; empty: it is not
	HeldBy    Holder        // what keeps it from being requested, where it could be for itself
}

// Holder is a group that a host waits for.
type Holder int

// What may hold up a host.
const (
	HeldByNone Holder = iota
	HeldByDomain
	HeldByAddress
)

// Host describes a resident host, named by its origin.
func (v View) Host(now time.Time, name string) (info HostInfo, known bool) {
	f := v.f
	h := f.residency.host(name)
	if h == nil {
		return HostInfo{}, false
	}
	f.tell(now)
	info = HostInfo{
		HostState: f.state(h), Leased: int(h.leased), Asking: h.robots.waits(),
		Delay: f.politeness.delay(h.server), Starved: h.starved,
	}
	if h.robots.phase == asked {
		info.Leased--
	}
	if h.isResolving() {
		info.Leased--
	}
	f.describeHold(&info, h.server, h.robots.notBefore())
	return info, true
}

// describeHold says what keeps a server from being leased from, given that it has something to
// lease from a time on.
func (f *Frontier) describeHold(info *HostInfo, s *server, from moment) {
	p := &f.politeness
	if s.pace.hold > f.now {
		info.BackOff = s.backOffWords()
	}
	info.Resolving = s.resolve == addressAsked
	pace := p.pace(s)
	if pace < anyPace {
		info.Pace = int(pace)
	}
	next := max(p.earliest(s), from)
	if info.Full = s.busy >= pace; !info.Full {
		if !p.open(s.domain(), max(next, f.now)) {
			info.HeldBy, next = HeldByDomain, max(next, p.freeAt(s.domain()))
		}
		if !p.open(s.address, max(next, f.now)) {
			info.HeldBy, next = cmp.Or(info.HeldBy, HeldByAddress), max(next, p.freeAt(s.address))
		}
	}
	info.Next = f.time(next)
}

// RobotsRedirect returns where the robots.txt of a host, named by its origin, is to be requested
// next, with what is known of the server there and what keeps that from being requested; ok is
// false if no redirect has led elsewhere, or if that request is in flight. It looks at every
// server.
func (v View) RobotsRedirect(now time.Time, name string) (at weburl.URL, info HostInfo, ok bool) {
	f := v.f
	h := f.residency.host(name)
	if h == nil || h.robots.phase != elsewhere {
		return at, info, false
	}
	f.tell(now)
	for s := range f.residency.names.All {
		if s.origins == nil || s.origins.redirects == nil {
			continue
		}
		for _, w := range s.origins.redirects.again() {
			if w.url.URL.Origin() == name {
				info = HostInfo{HostState: f.state(&s.own), Delay: f.politeness.delay(s)}
				f.describeHold(&info, s, w.at)
				return *w.url.At, info, true
			}
		}
	}
	return at, info, false
}

// HostStat is the state of a host for a display.
type HostStat struct {
	Host    string // its origin
	Pending int
	Leased  int
	Took    time.Duration // response time, smoothed; 0: unknown
	Pace    int           // leases it may have at once now; 0: any number
	BackOff time.Time     // until when it is left alone; zero: it is not
	Why     string        // that is, in words
}

// maxLooked bounds the hosts without a lease that Slowest looks at: a million would take seconds in
// which nothing is leased.
const maxLooked = 4096

// Slowest returns at most n hosts with something pending or leased: first those in back-off, then
// those with the longest response time. It is for a display that changes once a second: if there
// are many hosts it looks at those with URLs leased, and at some of the others.
func (v View) Slowest(n int) []HostStat {
	f := v.f
	var slowest []*host
	held := func(h *host) moment {
		at, waits := h.robots.retryAt()
		if !waits {
			at = f.now
		}
		return max(0, h.pace.hold-f.now, at-f.now)
	}
	longer := func(a, b *host) int {
		return cmp.Or(
			cmp.Compare(held(b), held(a)), cmp.Compare(b.pace.took, a.pace.took), cmp.Compare(a.name, b.name))
	}
	look := func(h *host) {
		if h.pending == 0 && h.leased == 0 || len(slowest) == n && (n == 0 || longer(h, slowest[n-1]) > 0) {
			return
		}
		if i, found := slices.BinarySearchFunc(slowest, h, longer); !found {
			slowest = slices.Insert(slowest, i, h)
			slowest = slowest[:min(n, len(slowest))]
		}
	}
	for _, h := range f.leased {
		look(h)
	}
	left := maxLooked
	for h := range f.residency.each {
		if left--; left < 0 {
			break
		}
		look(h)
	}
	stats := make([]HostStat, len(slowest))
	for i, h := range slowest {
		s := HostStat{Host: h.name, Pending: int(h.pending), Leased: int(h.leased), Took: h.pace.took.duration()}
		if pace := f.politeness.pace(h.server); pace < anyPace {
			s.Pace = int(pace)
		}
		if wait := held(h); wait > 0 {
			s.BackOff, s.Why = f.time(f.now+wait), h.backOffWords()
			if f.now+wait > h.pace.hold {
				robots := f.state(h).Robots
				s.Why = robots.FailedWords()
			}
		}
		stats[i] = s
	}
	return stats
}
