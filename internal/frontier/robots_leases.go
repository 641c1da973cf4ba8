package frontier

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Robots are the robots.txt files of a frontier's origins: it leases them, and takes in how that
// ends.
//
// A robots.txt that redirects elsewhere (RFC 9309, section 2.3.1.2) is leased at the turn of the
// host there, under its delays and paces. A thousand origins that all point to one host ask it
// one by one.
//
// The robots.txt redirects to a host wait as retries of an origin without a name, which takes turns
// with the host's other origins. The origin that needs the robots.txt waits: it has one redirect at
// most, and its pending URLs keep the crawl from ending. Redirects do not outlive the process.
type Robots struct {
	cfg        *Config
	clock      *clock
	journal    *journal
	agenda     *agenda
	politeness *politeness
	residency  *residency
}

// pick leases the robots.txt of o, for URLs of a depth. It returns false if there is no room
// for its rules.
func (r *Robots) pick(now moment, o *origin, depth int, u *URL) bool {
	if r.politeness.rules.full(now) && o.robots.lacks() {
		o.robots.postpone(now + noRoom)
		r.politeness.rules.starve(o)
		return false
	}
	r.politeness.rules.asked++
	*u = URL{
		URL: o.robots.ask(o.name), Depth: depth, Tries: int(o.robots.tries),
		Seed: o.seeded(), Robots: true,
	}
	return true
}

// dropRedirects has the origins whose robots.txt redirects to h ask for it anew later: by then
// another frontier may have h.
func (r *Robots) dropRedirects(now moment, h *host) {
	if h.origins == nil || h.origins.redirects == nil {
		return
	}
	var u URL
	o := h.origins.redirects
	for o.retry != nil {
		r.agenda.takeRetry(o, &u)
		r.askLater(now, &u)
	}
	o.leaveTurns()
	h.dropRedirects()
}

// askLater has the robots.txt of an origin, which redirects, asked for anew.
func (r *Robots) askLater(now moment, u *URL) {
	asker := r.residency.origin(u.URL.Origin())
	asker.robots.postpone(now + noRoom)
	r.politeness.place(now, asker)
}

// Set ends a lease of robots.txt: these are the origin's rules, for [robots.CacheFor].
func (r *Robots) Set(now time.Time, u URL, rules robots.Rules, a Result) {
	r.clock.advance(now)
	o, _ := r.end(r.clock.now, u, a, true)
	if r.probed(r.clock.now, o) {
		return
	}
	before := o.robots.delay()
	if cached, ok := r.politeness.rules.add(r.clock.now, rules); ok {
		o.robots.set(r.clock.now, cached)
	} else { // it is leased again once others have used their rules
		o.robots.postpone(r.clock.now + noRoom)
	}
	o.host.rulesChanged(o, before)
	if o.robots.delay() > longDelay {
		r.politeness.patience.responded(r.clock.now, o, &Result{})
	}
	r.journal.record(func(l Journal) { l.Rules(o.name, rules) })
	r.politeness.place(r.clock.now, o)
}

// Failed ends a lease of robots.txt: the server has answered 5xx or not at all, as kind and
// reason say. It is leased again after a pause that grows. Old rules apply meanwhile; without any
// the origin's URLs wait, and after RobotsTries, or if this is final, they are refused for this
// kind and reason, new ones too, for an hour: RFC 9309, section 2.3.1.4. Then the origin has
// another chance.
func (r *Robots) Failed(now time.Time, u URL, a Result, kind, reason string, final bool) {
	r.clock.advance(now)
	o, leased := r.end(r.clock.now, u, a, false)
	switch {
	case o == leased && r.politeness.patience.bears(o, r.clock.now, &a): // it is parked
		o.robots.postpone(r.clock.now)
	case r.probed(r.clock.now, o):
		return
	default:
		o.robots.fail(r.clock.now, failure{kind, reason}, final, r.cfg.RobotsTries)
	}
	r.politeness.place(r.clock.now, o)
}

// end takes in the end of a lease of robots.txt, and whether there was a response, which
// nothing else shows through a proxy. It returns the origin that it is of, and the one that was
// requested.
func (r *Robots) end(now moment, u URL, a Result, responded bool) (o, leased *origin) {
	o = r.residency.origin(u.URL.Origin())
	leased, phase := o, asked
	if u.At != nil {
		leased, phase = r.redirectsOf(&u), elsewhere
	}
	if o == nil || leased == nil || !u.Robots || o.robots.phase != phase || leased.leased == 0 {
		panic(fmt.Sprintf("frontier: rules from %s, which is not leased as robots.txt", u.URL))
	}
	r.politeness.rules.answered()
	a.Took = 0 // a small file says nothing about how long pages take
	if a.Total <= PromptTime {
		a.Total = 0
	}
	r.politeness.end(now, leased, a)
	if responded {
		r.politeness.patience.responded(now, leased, &Result{})
	}
	r.journal.originChanged(leased.recorded())
	r.politeness.place(now, leased)
	if leased != o {
		leased.host.dropRedirects()
		r.journal.originChanged(o)
	}
	return o, leased
}

// postpone ends a lease of robots.txt that was not requested after all.
func (r *Robots) postpone(now moment, u URL, a Result, at moment) {
	o, leased := r.end(now, u, a, false)
	if u.At != nil {
		r.redirect(now, leased.host, u, at)
		return
	}
	o.robots.postpone(at)
	r.politeness.place(now, o)
}

// probed takes in the response to a probe without Config.Robots. It reports whether there was one.
func (r *Robots) probed(now moment, o *origin) bool {
	if r.cfg.Robots {
		return false
	}
	o.robots = robotsTxt{}
	r.politeness.place(now, o)
	return true
}

// Redirected ends a lease of robots.txt: a redirect says that the origin's rules are at another
// URL, of any http or https server. That is leased next, as robots.txt of the same origin, with one
// more in Hops, by which the caller bounds how many redirects are followed. With HostBytes that URL
// is one of the seeds last given to Prepare.
func (r *Robots) Redirected(now time.Time, u URL, a Result, at weburl.URL) {
	r.clock.advance(now)
	o, _ := r.end(r.clock.now, u, a, true)
	if r.probed(r.clock.now, o) {
		return
	}
	o.robots.phase = elsewhere
	u.At = &at
	u.Hops++
	h := r.residency.names.Find(Hostname(at.Origin()))
	if h == nil {
		h = r.residency.newOrigin(r.clock.now, at.Origin(), at.IsHTTP()).host
	}
	r.redirect(r.clock.now, h, u, r.clock.moment(now))
}

// redirect makes u a robots.txt redirect to h, not leased before a time. If h is held, it is asked
// for anew later: by then another frontier may have h.
func (r *Robots) redirect(now moment, h *host, u URL, at moment) {
	if h.held {
		r.askLater(now, &u)
		return
	}
	all := r.politeness.originsOf(now, h)
	if all.redirects == nil {
		all.redirects = new(origin)
		r.politeness.newOrigin(h, all.redirects, "", false)
	}
	r.agenda.queueAgain(all.redirects, u, at)
	r.politeness.place(now, all.redirects)
}

// pickRedirect takes the robots.txt redirect of o that is due. Those to a dead host fail; it
// returns false if no other is due.
func (r *Robots) pickRedirect(now moment, o *origin, u *URL) bool {
	for o.retries(now) {
		r.agenda.takeRetry(o, u)
		asker := r.residency.origin(u.URL.Origin())
		if !o.deadAt(now) {
			r.politeness.rules.asked++
			u.Seed = asker.seeded()
			return true
		}
		why := o.trouble.why
		reason := fmt.Sprintf("robots.txt at %s: %s", Brief(u.At.String()), why.reason)
		asker.robots.fail(now, failure{why.kind, reason}, false, r.cfg.RobotsTries)
		r.journal.originChanged(asker)
		r.politeness.place(now, asker)
	}
	o.host.dropRedirects()
	return false
}

// redirectsOf returns the origin that holds the robots redirects of a host. u is one of them,
// and is leased.
func (r *Robots) redirectsOf(u *URL) *origin {
	h := r.residency.names.Find(Hostname(u.At.Origin()))
	if h == nil || h.origins == nil {
		return nil
	}
	return h.origins.redirects
}

// dropRedirects drops the origin that stands for a host's robots.txt redirects once there are none:
// it takes as much memory as the host, at each host that a redirect has led to.
func (h *host) dropRedirects() {
	all := h.origins
	switch {
	case all.isRedirecting() || all.redirects.trouble != nil:
	case len(all.known) > 1:
		all.redirects.setDoubtful(true) // it vouches for nothing any more
		all.redirects = nil
	default:
		h.own.index, h.origins = -1, nil
	}
}
