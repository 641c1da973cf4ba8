package frontier

import (
	"time"

	"github.com/weftcrawl/weft/internal/frontier/variants"
)

// Frontier holds the URLs of a crawl.
//
// Invariants: every URL seen is in exactly one state. A host has a turn if and only if time
// alone will let it have another lease, refusal or refill, as far as that depends on the host;
// but a turn for what Limit ends stays until it comes: see nextTurn. No turn is set to a time
// before now: a host that is new, or whose delay is long over, comes after the hosts that are
// already due.
type Frontier struct {
	cfg   Config
	clock clock

	// The URLs seen, and their state.
	seen      seenSet
	lookup    lookup
	redirects redirects
	variants  variants.Counter

	// Which hosts there are, and when each may be leased from.
	residency  residency
	dormant    dormant
	politeness politeness
	levels     levels
	robots     robotsCache
	refills    refills
	partitions partitions

	leased  map[leaseKey]*origin // without robots.txt
	refused []Refusal            // not collected
	work    int                  // of this Lease: see maxWork
	givenUp []GivenUp            // not collected
	refuse  func(*URL) (kind, reason string)

	stats  Stats
	firsts firsts
	fresh  int    // pending URLs that were never leased
	seq    uint64 // of the last URL added
	order  uint64 // of the last turn given
	free   moment // RateLimit allows nothing before

	journal journal
}

// firsts are URLs leased for the first time.
type firsts struct {
	all     int
	begun   int // since New
	allowed int // how many these may be, with Metered
}

// New returns an empty frontier.
func New(cfg Config) *Frontier {
	f := &Frontier{
		cfg:       cfg,
		seen:      newSeenSet(cfg.SeenBytes),
		redirects: newRedirects(&cfg),
		residency: newResidency(cfg.HostBytes),
		robots:    robotsCache{limit: cfg.RulesBytes},
		leased:    make(map[leaseKey]*origin),
		journal:   newJournal(),
	}
	f.partitions = newPartitions(&f.cfg)
	f.politeness = newPoliteness(&f.cfg)
	f.refills.cfg = &f.cfg
	return f
}

// Stats returns the counts.
func (f *Frontier) Stats() Stats {
	s := f.stats
	s.Origins = f.residency.origins + f.residency.evicted
	s.LimitReached = f.Limited() && f.fresh > 0
	return s
}

// Over reports whether nothing is pending, nothing leased, every refusal collected and every
// request of Reads answered.
func (f *Frontier) Over() bool { return f.stats.Pending == 0 && f.quiet() }

// Stopped reports whether nothing is leased nor ever will be: the crawl is over, or everything
// pending is beyond Limit.
func (f *Frontier) Stopped() bool {
	return f.Over() || f.Limited() && f.stats.Pending == f.fresh && f.quiet()
}

// quiet reports whether nothing is leased, refused and not collected, or being read.
func (f *Frontier) quiet() bool {
	return f.stats.Leased == 0 && len(f.refused) == 0 &&
		f.refills.open == 0 && f.dormant.request == nil && f.levels.nearer.asked == nil
}

// Limited reports whether Limit URLs were leased, or as many as were allowed: no other will be.
func (f *Frontier) Limited() bool {
	return f.cfg.Limit > 0 && f.firsts.all >= f.cfg.Limit || f.cfg.Metered && f.firsts.begun >= f.firsts.allowed
}

// Allow sets how many URLs may be leased for the first time since New, with Metered. It returns how many were,
// which is the least that may be.
func (f *Frontier) Allow(now time.Time, most int) (begun int) {
	f.clock.tell(now)
	limited := f.Limited()
	f.firsts.allowed = max(f.firsts.begun, most)
	if limited && !f.Limited() {
		for _, o := range f.residency.all() {
			f.place(o)
		}
	}
	return f.firsts.begun
}

// Begun returns how many URLs were leased for the first time since New.
func (f *Frontier) Begun() int { return f.firsts.begun }

// Add makes a URL pending, and reports whether it did: not if the URL was seen before, if it is of
// another partition, which SendBy is told, if its host has had LimitPerHost or, unless it is a seed, if
// its path has had MaxVariants. With SeenBytes or
// HostBytes it is a URL of the batch last given to Prepare.
func (f *Frontier) Add(u URL) bool {
	if f.lookup.open {
		panic("frontier: Add: the page for the batch was not provided")
	}
	if f.leaves(&u) {
		return false
	}
	if u.From == "" {
		f.addSeed(u.URL)
	}
	fp := u.Fingerprint()
	if f.crawled(&u) || !f.seen.add(fp) {
		f.stats.Duplicates++
		f.shorten(fp, u.Hops)
		f.foundAgain(&u)
		return false
	}
	f.seq++
	u.Seq = f.seq
	u.Tries, u.NotBefore, u.Past = 0, time.Time{}, nil
	u.ByDepth = f.cfg.Levels && u.Depth > 0
	if u.Hops > 0 {
		if h := f.redirects.reached(fp, u.Hops); h != nil {
			f.recordHops(fp, h)
		}
	}
	o := f.origin(u.URL)
	f.found(o, &u)
	if f.full(o) {
		f.stats.OverLimit++
		f.drop(fp, u, DropHost)
		return false
	}
	if u.From != "" && f.tooMany(u.URL) {
		f.stats.OverVariants++
		f.drop(fp, u, DropVariants)
		return false
	}
	f.journal.pending(u)
	o.pending++
	f.fresh++
	f.stats.Pending++
	f.journal.originChanged(o)
	f.refills.add(o, &u)
	f.place(o)
	return true
}

// crawled reports whether a URL that is to be requested for its role is crawled anyway.
func (f *Frontier) crawled(u *URL) bool {
	return u.Role.Beyond() && f.seen.has(u.URL.Fingerprint())
}

// leaseKey is what a lease is known by.
type leaseKey struct {
	url    string
	beyond bool
}

func (u *URL) leaseKey() leaseKey { return leaseKey{u.URL.String(), u.Role.Beyond()} }

// drop records that a new URL, by its fingerprint, is seen and never becomes pending.
func (f *Frontier) drop(fp fingerprint, u URL, why Drop) {
	f.journal.record(func(l Journal) { l.Dropped(u, why) })
	if u.Hops > 0 {
		delete(f.redirects.hops, fp)
		f.recordForgotten(fp)
	}
}

// Next returns the earliest time at which Lease will have a lease or a refusal, or Reads a request,
// if no URL is added, no lease ends and no page is provided before; ok is false if there is no such
// time. Beyond Limit it may be too early.
func (f *Frontier) Next() (at time.Time, ok bool) {
	h, due := f.nextTurn(true)
	if ok = h != nil && !f.stuck(h); ok {
		due = max(due, f.free)
	}
	d := &f.dormant
	if d.need > f.refills.open || h == nil && f.refills.open == 0 {
		if revival := max(d.notBefore, f.free); d.useful(f.Limited()) && (!ok || revival < due) {
			due, ok = revival, true
		}
	}
	if wait, waits := f.nextLevel(); waits && (!ok || wait < due) {
		due, ok = wait, true
	}
	if !ok {
		return time.Time{}, false
	}
	return f.clock.time(due), true
}

// RefuseBy makes the frontier ask fn about each URL whose turn comes, before its origin's
// robots.txt: the URL is refused if kind is not empty.
func (f *Frontier) RefuseBy(fn func(*URL) (kind, reason string)) { f.refuse = fn }

// nextOrder returns the number of the next turn: turns due at once are taken in this order.
func (f *Frontier) nextOrder() uint64 {
	f.order++
	return f.order
}

// moment is the time since the first call that passed a time. Every host has several moments, and
// each takes a third of a time.Time.
type moment = time.Duration

// clock is the time of the last call. It never goes back.
type clock struct {
	epoch time.Time // the first
	set   bool
	now   moment
}

func (c *clock) tell(now time.Time) {
	if !c.set {
		c.epoch, c.set = now, true
	}
	c.now = max(c.now, c.moment(now))
}

func (c *clock) moment(t time.Time) moment { return t.Sub(c.epoch) }

func (c *clock) time(m moment) time.Time { return c.epoch.Add(m) }
