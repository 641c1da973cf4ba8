package frontier

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/robots"
)

// Done ends a lease: the URL is finished.
func (f *Frontier) Done(now time.Time, u URL, a Result) {
	h := f.endLease(now, &u, a)
	f.stats.Done++
	f.endRedirects(&u)
	h.triedOnce(u.Tries, -1)
	f.journal.done(u)
}

// Retry ends a lease: the URL is pending again, not before at. It counts as a try.
func (f *Frontier) Retry(now time.Time, u URL, a Result, at time.Time) {
	h := f.endLease(now, &u, a)
	was := u.QueueKey()
	h.triedOnce(u.Tries, 1)
	u.Tries++
	u.NotBefore = at
	f.journal.record(func(l Journal) { l.Retried(u, was) })
	f.wait(h, u, at)
}

// Postpone is a Retry that counts as no try: the obstacle was not the host's. It ends a lease of
// robots.txt too, but none of an address.
func (f *Frontier) Postpone(now time.Time, u URL, at time.Time) {
	if u.Robots {
		h, asked := f.endRobots(now, u, Result{})
		if u.At != nil {
			f.redirectRobots(asked, u, at)
			return
		}
		h.robots.postpone(f.moment(at))
		f.place(h)
		return
	}
	f.wait(f.endLease(now, &u, Result{}), u, at)
}

// SetRobots ends a lease of robots.txt: these are the host's rules, for [robots.CacheFor].
func (f *Frontier) SetRobots(now time.Time, u URL, r robots.Rules, a Result) {
	h, asked := f.endRobots(now, u, a)
	f.failures.revive(asked) // through a proxy nothing else shows that it responds
	before := h.robots.delay()
	if rules, ok := f.robots.add(r, f.now); ok {
		h.robots.set(rules, f.now)
	} else { // it is leased again once others have used their rules
		h.robots.postpone(f.now + noRoom)
	}
	h.rulesChanged(h, before)
	f.journal.record(func(l Journal) { l.Rules(h.name, r) })
	f.place(h)
}

// RobotsFailed ends a lease of robots.txt: the server has answered 5xx or not at all, as kind and
// reason say. It is leased again after a pause that grows. Old rules apply meanwhile; without any
// the host's URLs wait, and after RobotsTries, or if this is final, they are refused for this kind
// and reason, new ones too, for an hour: RFC 9309, section 2.3.1.4. Then the host has another
// chance.
func (f *Frontier) RobotsFailed(now time.Time, u URL, a Result, kind, reason string, final bool) {
	h, _ := f.endRobots(now, u, a)
	h.robots.fail(failure{kind, reason}, f.now, final, f.cfg.RobotsTries)
	f.place(h)
}

// Resolved ends a lease of an address: the host has this one; an invalid one if none was found.
// Then the host has no address until it answers from one.
func (f *Frontier) Resolved(now time.Time, u URL, addr netip.Addr) {
	h := f.residency.host(u.URL.Origin())
	if h == nil || !u.Resolve || h.resolve != addressAsked {
		panic(fmt.Sprintf("frontier: address of %s, which is not leased", u.URL))
	}
	f.tell(now)
	h.leased--
	f.stats.Leased--
	h.resolve = addressKnown
	if addr.IsValid() {
		f.moveTo(h.server, addr)
	}
	f.placeServer(h.server)
	f.consider(h.server)
}

// wait makes a URL pending that was leased before.
func (f *Frontier) wait(h *host, u URL, at time.Time) {
	f.queueAgain(h, u, at)
	h.pending++
	f.stats.Pending++
	f.place(h)
}

// queueAgain queues a URL for another try, not before a time.
func (f *Frontier) queueAgain(h *host, u URL, at time.Time) {
	if h.retry == nil {
		h.retry = new(retryHeap)
	}
	h.retry.Push(&waiting{u, f.moment(at), f.nextOrder()})
}

// endLease takes in the end of a lease of a URL.
func (f *Frontier) endLease(now time.Time, u *URL, a Result) *host {
	h := f.leased[u.URL]
	if h == nil || u.Robots {
		panic(fmt.Sprintf("frontier: result of %s, which is not leased", u.URL))
	}
	delete(f.leased, u.URL)
	f.journal.leaseEnded(h, u.Seq)
	h.backlog.ended(u.Seq)
	f.learn(h, now, a)
	return h
}

// endRobots takes in the end of a lease of robots.txt. It returns the host that it is of, and the
// server that was requested.
func (f *Frontier) endRobots(now time.Time, u URL, a Result) (*host, *server) {
	h := f.residency.host(u.URL.Origin())
	leased, phase := h, asked
	if u.At != nil {
		leased, phase = f.robotsRedirects(&u), elsewhere
	}
	if h == nil || leased == nil || !u.Robots || h.robots.phase != phase || leased.leased == 0 {
		panic(fmt.Sprintf("frontier: rules from %s, which is not leased as robots.txt", u.URL))
	}
	f.robots.answered()
	a.Took = 0 // a small file says nothing about how long pages take
	f.learn(leased, now, a)
	if leased != h {
		leased.dropRedirects()
		f.journal.hostChanged(h)
	}
	return h, leased.server
}

// learn takes in the end of a lease of h.
func (f *Frontier) learn(h *host, now time.Time, a Result) {
	f.tell(now)
	h.leased--
	f.stats.Leased--
	s := h.server
	f.politeness.learn(f.now, s, a)
	if f.failures.learn(f.now, s, a) {
		f.placeOrigins(s)
	}
	s.asked, s.last = f.now, f.now
	if a.Addr.IsValid() && f.cfg.Resolve {
		f.moveTo(s, a.Addr)
	}
	h.seed = h.seed && !a.Public
	f.journal.hostChanged(h)
	f.placeServer(s)
}
