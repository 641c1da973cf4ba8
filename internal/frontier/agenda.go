package frontier

import (
	"math/bits"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/variants"
	"github.com/weftcrawl/weft/weburl"
)

// agenda is the part of a frontier that decides which URL of an origin is next: it owns the URLs
// seen, the pending ones in their order and the leased ones, with their counts and limits. When
// anything of an origin may be leased is no matter of its own.
type agenda struct {
	cfg     *Config
	epoch   *epoch
	journal *journal

	seen      seenSet
	redirects redirects
	variants  variants.Counter
	levels    levels
	refills   refills

	leased  map[leaseKey]*origin // without robots.txt
	refused []Refusal            // not collected
	stats   Stats                // without Leased, Origins and LimitReached
	firsts  firsts
	fresh   int    // pending URLs that were never leased
	seq     uint64 // of the last URL added
	retries uint64 // that ever waited
	bytes   int    // of the URLs that wait for a retry, in memory

	above above
}

// above are the questions and calls of the agenda to the parts above it.
type above struct {
	changed  func(moment, *origin)     // takes in that what an origin has to lease has changed
	resident func(name string) *origin // nil: it is not in memory
}

func newAgenda(cfg *Config, e *epoch, j *journal, up above) *agenda {
	return &agenda{
		cfg: cfg, epoch: e, journal: j, above: up,
		seen:      newSeenSet(cfg.SeenBytes),
		redirects: newRedirects(cfg),
		levels:    levels{cfg: cfg, journal: j, changed: up.changed},
		refills:   refills{cfg: cfg},
		leased:    make(map[leaseKey]*origin),
	}
}

// leaseKey identifies a lease of a URL.
type leaseKey struct {
	url    string
	beyond bool
}

func (u *URL) leaseKey() leaseKey { return leaseKey{u.URL.String(), u.Role.Beyond()} }

// firsts are URLs leased for the first time.
type firsts struct {
	all     int
	begun   int // since New
	allowed int // the most of these, with Metered
}

// limited reports whether Limit URLs were leased, or as many as were allowed: no other will be.
func (a *agenda) limited() bool {
	return a.cfg.Limit > 0 && a.firsts.all >= a.cfg.Limit || a.cfg.Metered && a.firsts.begun >= a.firsts.allowed
}

// exhausted reports whether everything pending is beyond Limit.
func (a *agenda) exhausted() bool { return a.limited() && a.stats.Pending == a.fresh }

// allow sets how many URLs may be leased for the first time, which is no less than were. It reports
// whether that lets pending ones be leased which were beyond the limit.
func (a *agenda) allow(most int) bool {
	limited := a.limited()
	a.firsts.allowed = max(a.firsts.begun, most)
	return limited && !a.limited()
}

// full reports whether o has had LimitPerHost.
func (a *agenda) full(o *origin) bool {
	return a.cfg.LimitPerHost > 0 && (o.capped || int(o.host.leases) >= a.cfg.LimitPerHost)
}

// crawled reports whether a URL that is to be requested for its role is crawled anyway.
func (a *agenda) crawled(u *URL) bool {
	return u.Role.Beyond() && a.seen.has(u.URL.Fingerprint())
}

// number gives a new URL, by its fingerprint, its place in the order.
func (a *agenda) number(u *URL, fp fingerprint) {
	a.seq++
	u.Seq = a.seq
	u.Tries, u.NotBefore, u.Past = 0, time.Time{}, nil
	u.ByDepth = a.cfg.Levels && u.Depth > 0
	if u.Hops > 0 {
		if h := a.redirects.reached(fp, u.Hops); h != nil {
			a.recordHops(fp, h)
		}
	}
}

// dropped reports whether a new URL of o, by its fingerprint, is beyond a limit. Then it never
// becomes pending.
func (a *agenda) dropped(o *origin, u *URL, fp fingerprint) bool {
	switch {
	case a.full(o):
		a.stats.OverLimit++
		a.drop(fp, *u, DropHost)
	case u.From != "" && a.tooMany(u.URL):
		a.stats.OverVariants++
		a.drop(fp, *u, DropVariants)
	default:
		return false
	}
	return true
}

// drop records that a new URL, by its fingerprint, is seen and never becomes pending.
func (a *agenda) drop(fp fingerprint, u URL, why Drop) {
	a.journal.record(func(l Journal) { l.Dropped(u, why) })
	if u.Hops > 0 {
		delete(a.redirects.hops, fp)
		a.recordForgotten(fp)
	}
}

// tooMany reports whether MaxVariants of u were taken. If not, u is one of them.
func (a *agenda) tooMany(u weburl.URL) bool {
	if a.cfg.MaxVariants <= 0 {
		return false
	}
	key, ok := variants.Key(u)
	if !ok {
		return false
	}
	n := a.variants.Add(key, a.cfg.MaxVariants)
	if worthRecording(n) || n == a.cfg.MaxVariants {
		a.journal.record(func(l Journal) { l.Variants(u.Origin(), key, n) })
	}
	return n == 0
}

// worthRecording reports whether the journal records a count: from 64 on, counts with zeros after
// the first four bits. So the journal lags by less than 64, or an eighth.
func worthRecording(n int) bool {
	return n >= 64 && bits.TrailingZeros(uint(n)) >= bits.Len(uint(n))-4
}

// add makes a new URL of o pending.
func (a *agenda) add(o *origin, u *URL) {
	a.journal.pending(*u)
	o.pending++
	a.fresh++
	a.stats.Pending++
	a.journal.originChanged(o)
	a.refills.add(o, u)
}

// due returns when the next URL of o may be leased, as far as it depends on that: now, or, of a
// retry, later.
func (a *agenda) due(now moment, o *origin) (at moment, ok bool) {
	switch {
	case (!o.queue.Empty() && !a.limited() || a.mayRefill(o)) && a.levels.mayDescend(o):
	case o.retries(now):
	case o.retry != nil:
		return o.retry.First().at, true
	default:
		return 0, false
	}
	return now, true
}

// mayRefill reports whether o has URLs that are only in the store, may be leased, and are not
// wanted yet.
func (a *agenda) mayRefill(o *origin) bool {
	b := o.backlog
	return b != nil && b.more && b.refill == nil && (b.tried > 0 || !a.limited())
}

// has reports whether o has a URL in memory that may be leased now.
func (a *agenda) has(now moment, o *origin) bool {
	return o.retries(now) || !o.queue.Empty() && !a.limited() && a.levels.mayDescend(o)
}

// take removes the URL of o that is due: a retry whose time has come before URLs that were never
// leased.
func (a *agenda) take(now moment, o *origin, u *URL) (again bool) {
	again = o.retries(now)
	if again {
		a.takeRetry(o, u)
	} else {
		pop(&o.queue, u)
		a.fresh--
		a.refills.bytes -= u.cost()
	}
	o.pending--
	a.stats.Pending--
	return again
}

// takeRetry removes the first retry of o, which has one.
func (a *agenda) takeRetry(o *origin, u *URL) {
	w := o.retry.Pop()
	*u = w.url
	o.retry.bytes -= w.cost()
	a.bytes -= w.cost()
	if o.retry.Len() == 0 {
		o.retry = nil
	}
}

// lend counts the lease of a URL of o, which was taken; again: not for the first time.
func (a *agenda) lend(o *origin, u *URL, again bool) {
	a.leased[u.leaseKey()] = o
	if a.cfg.LimitPerHost > 0 {
		a.journal.urlLeased(o, u)
	}
	if again {
		return
	}
	o.host.leases++ // the host's other origins drop their URLs when their turn comes
	if a.full(o) && !o.capped {
		a.dropRest(o)
	}
	a.firsts.all++
	a.firsts.begun++
	o.descended(u.Depth)
}

// end takes in that the lease of a URL has ended, and returns its origin; nil: it is not leased.
func (a *agenda) end(u *URL) *origin {
	key := u.leaseKey()
	o := a.leased[key]
	if o == nil || u.Robots {
		return nil
	}
	delete(a.leased, key)
	a.journal.leaseEnded(o, u.Seq)
	o.backlog.ended(u.Seq)
	return o
}

// done takes in that a URL of o, whose lease has ended, is finished.
func (a *agenda) done(o *origin, u *URL) {
	a.stats.Done++
	a.endRedirects(u)
	o.triedOnce(u.Tries, -1)
	if u.Erred() {
		o.errors++
	}
	a.journal.done(*u)
}

// Erred reports whether the last try at u has ended with an error, or with a status from 400 on.
func (u *URL) Erred() bool {
	if len(u.Past) == 0 {
		return false
	}
	last := u.Past[len(u.Past)-1]
	return last.Kind != "" || last.Status >= 400
}

// failed takes in that a URL of o, whose lease has ended, is to be tried again, not before a time.
func (a *agenda) failed(o *origin, u *URL, at time.Time) {
	was := u.QueueKey()
	o.triedOnce(u.Tries, 1)
	u.Tries++
	u.NotBefore = at
	a.journal.record(func(l Journal) { l.Retried(*u, was) })
}

// reopen takes in that a URL of o that is done is to be requested once more.
func (a *agenda) reopen(o *origin, u *URL, now time.Time) {
	a.stats.Done--
	o.tried++
	u.Tries++
	u.NotBefore = now
	a.journal.pending(*u)
	a.journal.originChanged(o)
}

// wait makes a URL of o pending that was leased before, not before a time.
func (a *agenda) wait(o *origin, u URL, at moment) {
	u.Responded = false // that was the lease before
	a.queueAgain(o, u, at)
	o.pending++
	a.stats.Pending++
}

// queueAgain queues a URL for another try, not before a time.
func (a *agenda) queueAgain(o *origin, u URL, at moment) {
	if o.retry == nil {
		o.retry = new(retries)
	}
	a.retries++
	w := &waiting{u, at, a.retries}
	o.retry.Push(w)
	o.retry.bytes += w.cost()
	a.bytes += w.cost()
}

// refuse refuses a URL of o that was taken out of its queue.
func (a *agenda) refuse(now moment, o *origin, r Refusal) {
	a.refused = append(a.refused, r)
	a.stats.Refused++
	a.endRedirects(&r.URL)
	if r.URL.Tries > 0 {
		o.tried--
	}
	o.backlog.ended(r.URL.Seq)
	a.journal.originChanged(o)
	a.journal.record(func(l Journal) { l.Refused(r, a.epoch.time(now)) })
}

// dropRest drops the URLs of o that were never leased. Those that were tried are in memory by now,
// as they come first.
func (a *agenda) dropRest(o *origin) {
	n := o.queued()
	a.refills.bytes -= costOf(&o.queue)
	if len(a.redirects.hops) > 0 {
		for c, queued := range o.queue.All() {
			u := queued.as(c)
			a.endRedirects(&u)
		}
	}
	o.queue = urlQueue{}
	if b := o.backlog; b != nil {
		n += b.n
		b.n, b.more = 0, false
		if b.refill != nil {
			b.refill.void = true
		}
		a.refills.release(o)
	}
	o.pending -= int32(n)
	a.fresh -= n
	a.stats.Pending -= n
	a.stats.OverLimit += n
	o.capped = true
	a.journal.originChanged(o)
	a.journal.overLimit(o)
}

// evicted takes in that o leaves memory, and returns where it stood when it was last recorded.
func (a *agenda) evicted(o *origin) LevelState {
	at := a.levels.stepOut(o)
	if o.retry != nil {
		a.bytes -= o.retry.bytes
	}
	if o.pending > 0 {
		a.refills.dropped(o)
	}
	return at
}

// restore brings a new origin to its recorded counts and place. What is pending of it is in the
// store.
func (a *agenda) restore(now moment, o *origin, s *OriginState) {
	o.pending, o.tried, o.answered = int32(s.Pending), int32(s.Tried), int32(s.Answered)
	o.errors, o.capped = int32(s.Errors), s.Capped
	o.host.leases += o.answered
	a.levels.restore(now, o, s.Levels, s.Pending)
	a.refills.restore(o, s)
}

// adopt counts the dormant URLs of a partition, or with -1 not any more.
func (a *agenda) adopt(t *tally, n int) {
	a.stats.Pending += n * t.dormant.urls
	a.fresh += n * (t.dormant.urls - t.dormant.tried)
	a.firsts.all += n * t.answered
	a.levels.adopt(t, n)
}

// shortened takes in another way to a URL that was seen, over a number of redirects. If that is
// the shortest, it returns the target of the URL's own redirect, which may be near enough now.
func (a *agenda) shortened(fp fingerprint, n int) *hops {
	h, forgotten := a.redirects.shortened(fp, n)
	switch {
	case h == nil:
	case forgotten:
		a.recordForgotten(fp)
	default:
		a.recordHops(fp, h)
	}
	return h
}

// redirected takes in that a leased URL was answered by a redirect to a target.
func (a *agenda) redirected(u *URL, target *URL) *hops {
	fp := u.Fingerprint()
	h := a.redirects.hops[fp]
	switch {
	case h == nil && a.redirects.full:
		return &hops{fewest: u.Hops, target: target}
	case h != nil && h.fewest == 0:
		a.redirects.forget(fp, h)
		fallthrough
	case h == nil: // a link or seed: there is no shorter way
		return &hops{target: target}
	}
	forgotten := a.redirects.redirected(fp, h, target)
	a.recordHops(fp, h)
	for _, oldest := range forgotten {
		a.recordForgotten(oldest)
	}
	return h
}

// endRedirects forgets the hops of a URL that is not fetched again.
func (a *agenda) endRedirects(u *URL) {
	if fp, forgotten := a.redirects.ended(u); forgotten {
		a.recordForgotten(fp)
	}
}

func (a *agenda) recordHops(fp fingerprint, h *hops) {
	a.journal.record(func(l Journal) { l.Redirected(fp, h.fewest, h.target) })
}

func (a *agenda) recordForgotten(fp fingerprint) {
	a.journal.record(func(l Journal) { l.Redirected(fp, 0, nil) })
}

// triedOnce counts a try that has ended, of a URL with so many tries before. More is 1 if there is
// to be another, else -1.
func (o *origin) triedOnce(tries int, more int32) {
	if tries == 0 {
		o.answered++
	}
	if (tries > 0) != (more > 0) {
		o.tried += more
	}
}
