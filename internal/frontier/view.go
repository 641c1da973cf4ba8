package frontier

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Outlasts reports whether a leased URL stays pending after a failure: its origin has responded
// before, cannot be reached, and may be reached later. Then Postpone ends the lease.
func (v View) Outlasts(now time.Time, u URL, a Result) bool {
	o := v.f.agenda.leased[u.leaseKey()]
	return o != nil && !u.Robots && !a.Silent && v.f.politeness.patience.bears(o, v.f.clock.moment(now), &a)
}

// Over reports whether nothing is pending, nothing leased, every refusal collected and every
// request of Reads answered.
func (v View) Over() bool { return v.f.agenda.stats.Pending == 0 && v.f.quiet() }

// Stopped reports whether nothing is leased nor ever will be: the crawl is over, or everything
// pending is beyond Limit.
func (v View) Stopped() bool {
	return v.Over() || v.f.agenda.exhausted() && v.f.quiet()
}

// Stats returns the counts.
func (v View) Stats() Stats { return v.f.stats() }

// Limited reports whether Limit URLs were leased, or as many as were allowed: no other will be.
func (v View) Limited() bool { return v.f.agenda.limited() }

// Begun returns how many URLs were leased for the first time since New.
func (v View) Begun() int { return v.f.agenda.firsts.begun }

// Reserves reports whether prompt hosts need a reserve: there were some lately.
func (v View) Reserves(now time.Time) bool {
	p := v.f.politeness
	return p.lastly != never && v.f.clock.moment(now) < p.lastly+reserveFor
}

// View is a look at a frontier. Like the frontier it belongs to one goroutine.
type View struct{ f *Frontier }

// View returns a look at the frontier.
func (f *Frontier) View() View { return View{f} }

// Seen reports whether a URL was added, whatever became of it; false if it is of another partition.
// With SeenBytes it is a URL of the batch last given to Prepare.
func (v View) Seen(u weburl.URL) bool {
	return !v.f.residency.ownership.foreign(u.Hostname()) && v.f.agenda.seen.has(u.Fingerprint())
}

// SeenAs is Seen for a URL with its role.
func (v View) SeenAs(u URL) bool {
	return !v.f.residency.ownership.foreign(u.URL.Hostname()) && (v.f.agenda.crawled(&u) || v.f.agenda.seen.has(u.Fingerprint()))
}

// IsLeasedAs reports whether a URL is leased in its role.
func (v View) IsLeasedAs(u URL) bool { return v.f.agenda.leased[u.leaseKey()] != nil }

// OnlyRank reports whether an origin waits with URLs of one rank only, none of
// which was leased before.
func (v View) OnlyRank(name string, rank int8) bool {
	o := v.f.residency.origin(name)
	if o == nil || o.queue.Empty() || o.retry != nil || o.backlog != nil && o.backlog.n > 0 {
		return false
	}
	for c := range o.queue.Classes() {
		if c.rank != rank {
			return false
		}
	}
	return true
}

// Bytes returns how much memory a frontier takes.
func (v View) Bytes() Bytes {
	return Bytes{v.f.agenda.seen.table.Bytes(), v.f.agenda.refills.bytes, v.f.residency.hostBytes(), v.f.politeness.rules.bytes}
}

// Bytes is the memory of a frontier, in bytes: that of the fingerprints; of the pending URLs that
// were never leased; about, of the hosts with their origins, names and groups; and of what their
// robots.txt say.
type Bytes struct{ Seen, Queued, Hosts, Rules int }

// Evicted returns how many origins are not in memory, dormant ones included.
func (v View) Evicted() int { return v.f.residency.evicted }

// Dormant returns how many origins are not in memory though something of them is pending.
func (v View) Dormant() int { return v.f.residency.dormant.origins }

// Leased yields the URLs that are leased, in no order, as text.
func (v View) Leased() iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range v.f.agenda.leased {
			if !yield(key.url) {
				return
			}
		}
	}
}

// LeasedURLs returns how many URLs are leased, not counting robots.txt and addresses.
func (v View) LeasedURLs() int { return len(v.f.agenda.leased) }

// IsLeased reports whether a canonical URL is leased.
func (v View) IsLeased(u weburl.URL) bool {
	return v.f.agenda.leased[leaseKey{u.String(), false}] != nil || v.f.agenda.leased[leaseKey{u.String(), true}] != nil
}

// Responded reports whether the origin of a URL has ever responded; false if it is not resident.
func (v View) Responded(u weburl.URL) bool {
	o := v.f.residency.origin(u.Origin())
	return o != nil && o.responded
}

// OriginInfo is all that is known of an origin at a moment.
type OriginInfo struct {
	OriginState               // its times are up to now
	Leased      int           // URLs
	Asking      bool          // its robots.txt is leased
	Pace        int           // leases it may have at once now; 0: any number
	Delay       time.Duration // between the end of a response and the next lease
	Next        time.Time     // nothing of it is leased before, if that is later than now
	Resolving   bool          // its address is leased
	Full        bool          // it has as many leases as it may have
	Ahead       bool          // its next URL is deeper than its level: nearer ones come first
	Starved     bool          // there is no room for its robots.txt among the rules in memory
	BackOff     string        // the reason to leave it alone up to BackOffEnd, in words; empty: none
	WaitsFor    Blocker       // the group that keeps it from being requested by itself
}

// Origin describes a resident origin.
func (v View) Origin(now time.Time, name string) (info OriginInfo, known bool) {
	o := v.f.residency.origin(name)
	if o == nil {
		return OriginInfo{}, false
	}
	v.f.clock.advance(now)
	return v.info(o), true
}

// info describes an origin.
func (v View) info(o *origin) OriginInfo {
	info := OriginInfo{
		OriginState: v.f.residency.state(v.f.clock.now, o), Leased: int(o.leased), Asking: o.robots.waits(),
		Delay: v.f.politeness.delay(o.host), Starved: o.starved, Ahead: o.step != nil && o.step.index >= 0,
	}
	if o.robots.phase == asked {
		info.Leased--
	}
	if o.isResolving() {
		info.Leased--
	}
	v.describe(&info, o, max(o.robots.notBefore(), o.parked()))
	return info
}

// Waiting yields resident origins with URLs that wait, of as many as maxLooked, for a display.
func (v View) Waiting(now time.Time) iter.Seq[OriginInfo] {
	v.f.clock.advance(now)
	return func(yield func(OriginInfo) bool) {
		left := maxLooked
		for o := range v.f.residency.each {
			if left--; left < 0 || o.pending > 0 && !o.isRobotsRedirects() && !yield(v.info(o)) {
				return
			}
		}
	}
}

// RobotsRedirect returns where the robots.txt of an origin is to be requested
// next, with what is known of the host there and what keeps that from being requested; ok is
// false if no redirect has led elsewhere, or if that request is in flight. It looks at every
// host.
func (v View) RobotsRedirect(now time.Time, name string) (at weburl.URL, info OriginInfo, ok bool) {
	o := v.f.residency.origin(name)
	if o == nil || o.robots.phase != elsewhere {
		return at, info, false
	}
	v.f.clock.advance(now)
	for h := range v.f.residency.names.All {
		if h.origins == nil || h.origins.redirects == nil {
			continue
		}
		for _, w := range h.origins.redirects.again() {
			if w.url.URL.Origin() == name {
				info = OriginInfo{OriginState: v.f.residency.state(v.f.clock.now, &h.own), Delay: v.f.politeness.delay(h)}
				info.Trouble = v.f.politeness.patience.state(v.f.clock.now, h.origins.redirects)
				v.describe(&info, h.origins.redirects, max(w.at, h.origins.redirects.parked()))
				return *w.url.At, info, true
			}
		}
	}
	return at, info, false
}

// OriginStat is the state of an origin for a display.
type OriginStat = record.Origin

// maxLooked bounds the origins without a lease that Slowest and Waiting look at: a million would
// take seconds in which nothing is leased.
const maxLooked = 4096

// looked yields origins for a display, some of them twice: those with URLs leased, and up to
// maxLooked of all.
func (v View) looked(yield func(*origin) bool) {
	for _, o := range v.f.agenda.leased {
		if !yield(o) {
			return
		}
	}
	left := maxLooked
	for o := range v.f.residency.each {
		if left--; left < 0 || !yield(o) {
			return
		}
	}
}

// Slowest returns at most n origins with something pending or leased: first those in back-off, then
// those with the longest response time. It is for a display that changes once a second: if there
// are many origins it looks at those with URLs leased, and at some of the others.
func (v View) Slowest(n int) []OriginStat {
	var slowest []*origin
	longer := func(a, b *origin) int {
		return cmp.Or(
			cmp.Compare(v.leftAlone(b), v.leftAlone(a)), cmp.Compare(b.host.pace.took, a.host.pace.took), cmp.Compare(a.name, b.name))
	}
	look := func(o *origin) {
		if o.pending == 0 && o.leased == 0 || len(slowest) == n && (n == 0 || longer(o, slowest[n-1]) > 0) {
			return
		}
		if i, found := slices.BinarySearchFunc(slowest, o, longer); !found {
			slowest = slices.Insert(slowest, i, o)
			slowest = slowest[:min(n, len(slowest))]
		}
	}
	for o := range v.looked {
		look(o)
	}
	stats := make([]OriginStat, len(slowest))
	for i, o := range slowest {
		s := OriginStat{Origin: o.name, Pending: int(o.pending), Leased: int(o.leased), Took: o.host.pace.took.duration()}
		if pace := v.f.politeness.pace(o.host); pace < anyPace {
			s.Pace = int(pace)
		}
		if until := v.leftAlone(o); until > v.f.clock.now {
			s.BackOff, s.Why = v.f.clock.time(until), v.leftAloneWords(o, until)
		}
		stats[i] = s
	}
	return stats
}

// longWait is the least delay that explains a host which is left alone.
const longWait = time.Minute
