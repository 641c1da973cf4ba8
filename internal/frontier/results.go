package frontier

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/robots"
)

// Done ends a lease: the URL is finished.
func (f *Frontier) Done(now time.Time, u URL, a Result) {
	o := f.endLease(now, &u, a)
	f.stats.Done++
	f.endRedirects(&u)
	o.triedOnce(u.Tries, -1)
	f.journal.done(u)
	if o.step != nil && u.Tries > 0 { // its next URL may have waited for this one
		f.place(o)
	}
}

// Retry ends a lease: the URL is pending again, not before at. It counts as a try.
func (f *Frontier) Retry(now time.Time, u URL, a Result, at time.Time) {
	o := f.endLease(now, &u, a)
	was := u.QueueKey()
	o.triedOnce(u.Tries, 1)
	u.Tries++
	u.NotBefore = at
	f.journal.record(func(l Journal) { l.Retried(u, was) })
	f.wait(o, u, at)
}

// Again makes a URL pending that is done: its response was to a request that would be another one now. It
// is the URL as Done was given it, and has been given to Prepare as a seed. It comes before all that were
// never tried, and no limit counts it twice. Again reports whether it is pending here: one of another
// partition is sent.
func (f *Frontier) Again(now time.Time, u URL) bool {
	if f.leaves(&u) {
		return false
	}
	f.clock.tell(now)
	o := f.origin(u.URL)
	f.stats.Done--
	o.tried++
	u.Tries++
	u.NotBefore = now
	f.journal.pending(u)
	f.journal.originChanged(o)
	f.wait(o, u, now)
	return true
}

// Postpone is a Retry that counts as no try: the obstacle was not the host's. It ends a lease of
// robots.txt too, but none of an address.
func (f *Frontier) Postpone(now time.Time, u URL, at time.Time) {
	if u.Robots {
		o, leased := f.endRobots(now, u, Result{}, false)
		if u.At != nil {
			f.redirectRobots(leased.host, u, at)
			return
		}
		o.robots.postpone(f.clock.moment(at))
		f.place(o)
		return
	}
	f.wait(f.endLease(now, &u, Result{}), u, at)
}

// Await is a Postpone of a URL that has failed, as Outlasts says: its origin is parked.
func (f *Frontier) Await(now time.Time, u URL, a Result) {
	f.wait(f.endLease(now, &u, a), u, now)
}

// SetRobots ends a lease of robots.txt: these are the origin's rules, for [robots.CacheFor].
func (f *Frontier) SetRobots(now time.Time, u URL, r robots.Rules, a Result) {
	o, _ := f.endRobots(now, u, a, true)
	if f.probed(o) {
		return
	}
	before := o.robots.delay()
	if rules, ok := f.robots.add(r, f.clock.now); ok {
		o.robots.set(rules, f.clock.now)
	} else { // it is leased again once others have used their rules
		o.robots.postpone(f.clock.now + noRoom)
	}
	o.host.rulesChanged(o, before)
	if o.robots.delay() > longDelay {
		f.responded(o, &Result{})
	}
	f.journal.record(func(l Journal) { l.Rules(o.name, r) })
	f.place(o)
}

// RobotsFailed ends a lease of robots.txt: the server has answered 5xx or not at all, as kind and
// reason say. It is leased again after a pause that grows. Old rules apply meanwhile; without any
// the origin's URLs wait, and after RobotsTries, or if this is final, they are refused for this
// kind and reason, new ones too, for an hour: RFC 9309, section 2.3.1.4. Then the origin has
// another chance.
func (f *Frontier) RobotsFailed(now time.Time, u URL, a Result, kind, reason string, final bool) {
	o, leased := f.endRobots(now, u, a, false)
	switch {
	case o == leased && f.bears(o, f.clock.now, &a): // it is parked
		o.robots.postpone(f.clock.now)
	case f.probed(o):
		return
	default:
		o.robots.fail(failure{kind, reason}, f.clock.now, final, f.cfg.RobotsTries)
	}
	f.place(o)
}

// Resolved ends a lease of an address: the host has this one; an invalid one if none was found.
// Then the host has no address until it answers from one.
func (f *Frontier) Resolved(now time.Time, u URL, addr netip.Addr) {
	o := f.residency.origin(u.URL.Origin())
	if o == nil || !u.Resolve || o.host.resolve != addressAsked {
		panic(fmt.Sprintf("frontier: address of %s, which is not leased", u.URL))
	}
	f.clock.tell(now)
	o.countLeases(-1)
	f.stats.Leased--
	o.host.resolve = addressKnown
	if addr.IsValid() {
		f.moveTo(o.host, addr)
	}
	f.placeHost(o.host)
	f.consider(o.host)
}

// wait makes a URL pending that was leased before.
func (f *Frontier) wait(o *origin, u URL, at time.Time) {
	f.queueAgain(o, u, at)
	o.pending++
	f.stats.Pending++
	f.place(o)
}

// queueAgain queues a URL for another try, not before a time.
func (f *Frontier) queueAgain(o *origin, u URL, at time.Time) {
	if o.retry == nil {
		o.retry = new(retries)
	}
	w := &waiting{u, f.clock.moment(at), f.nextOrder()}
	o.retry.Push(w)
	o.retry.bytes += w.cost()
	f.residency.bytes += w.cost()
}

// endLease takes in the end of a lease of a URL.
func (f *Frontier) endLease(now time.Time, u *URL, a Result) *origin {
	o := f.leased[u.leaseKey()]
	if o == nil || u.Robots {
		panic(fmt.Sprintf("frontier: result of %s, which is not leased", u.URL))
	}
	delete(f.leased, u.leaseKey())
	f.journal.leaseEnded(o, u.Seq)
	o.backlog.ended(u.Seq)
	f.learn(o, now, a)
	return o
}

// endRobots takes in the end of a lease of robots.txt, and whether there was a response, which
// nothing else shows through a proxy. It returns the origin that it is of, and the one that was
// requested.
func (f *Frontier) endRobots(now time.Time, u URL, a Result, responded bool) (o, leased *origin) {
	o = f.residency.origin(u.URL.Origin())
	leased, phase := o, asked
	if u.At != nil {
		leased, phase = f.robotsRedirects(&u), elsewhere
	}
	if o == nil || leased == nil || !u.Robots || o.robots.phase != phase || leased.leased == 0 {
		panic(fmt.Sprintf("frontier: rules from %s, which is not leased as robots.txt", u.URL))
	}
	f.robots.answered()
	a.Took = 0 // a small file says nothing about how long pages take
	if a.Total <= PromptTime {
		a.Total = 0
	}
	f.learn(leased, now, a)
	if responded {
		f.responded(leased, &Result{})
		f.place(leased)
	}
	if leased != o {
		leased.host.dropRedirects()
		f.journal.originChanged(o)
	}
	return o, leased
}

// learn takes in the end of a lease of o.
func (f *Frontier) learn(o *origin, now time.Time, a Result) {
	f.clock.tell(now)
	o.countLeases(-1)
	f.stats.Leased--
	f.stir(o)
	h := o.host
	f.politeness.learn(f.clock.now, h, a)
	f.judge(o, &a)
	h.asked, h.last = f.clock.now, f.clock.now
	if a.Addr.IsValid() && f.cfg.Resolve {
		f.moveTo(h, a.Addr)
	}
	o.seed = o.seed && !a.Public
	f.journal.originChanged(o)
	f.place(o)
}
