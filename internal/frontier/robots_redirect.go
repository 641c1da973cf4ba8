package frontier

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// A robots.txt that redirects elsewhere (RFC 9309, section 2.3.1.2) is leased at the turn of the
// host there, under its delays and paces. A thousand origins that all point to one host ask it
// one by one.
//
// The robots.txt redirects to a host wait as retries of an origin without a name, which takes turns
// with the host's other origins. The origin that needs the robots.txt waits: it has one redirect at
// most, and its pending URLs keep the crawl from ending. Redirects do not outlive the process.

// RobotsAt ends a lease of robots.txt: a redirect says that the origin's rules are at another URL,
// of any http or https server. That is leased next, as robots.txt of the same origin, with one more
// in Hops, by which the caller bounds how many redirects are followed. With HostBytes that URL is
// one of the seeds last given to Prepare.
func (f *Frontier) RobotsAt(now time.Time, u URL, a Result, at weburl.URL) {
	o, _ := f.endRobots(now, u, a, true)
	if f.probed(o) {
		return
	}
	o.robots.phase = elsewhere
	u.At = &at
	u.Hops++
	h := f.residency.names.Find(Hostname(at.Origin()))
	if h == nil {
		h = f.newOrigin(at.Origin(), at.IsHTTP()).host
	}
	f.redirectRobots(h, u, now)
}

// redirectRobots makes u a robots.txt redirect to h, not leased before a time. If h is held, it is asked
// for anew later: by then another frontier may have h.
func (f *Frontier) redirectRobots(h *host, u URL, at time.Time) {
	if h.held {
		f.askLater(&u)
		return
	}
	all := f.originsOf(h)
	if all.redirects == nil {
		all.redirects = &origin{host: h, index: -1, doubtful: true}
	}
	f.queueAgain(all.redirects, u, at)
	f.place(all.redirects)
}

// isRobotsRedirects reports whether o stands for its host's robots.txt redirects.
func (o *origin) isRobotsRedirects() bool { return o.name == "" }

// pickRedirect takes the robots.txt redirect of o that is due. Those to a dead host fail; it
// returns false if no other is due.
func (f *Frontier) pickRedirect(o *origin, u *URL) bool {
	for o.retries(f.clock.now) {
		f.take(o, u)
		of := f.residency.origin(u.URL.Origin())
		if !o.deadAt(f.clock.now) {
			f.robots.asked++
			u.Seed = of.seeded()
			return true
		}
		why := o.trouble.why
		reason := fmt.Sprintf("robots.txt at %s: %s", Brief(u.At.String()), why.reason)
		of.robots.fail(failure{why.kind, reason}, f.clock.now, false, f.cfg.RobotsTries)
		f.journal.originChanged(of)
		f.place(of)
	}
	o.host.dropRedirects()
	return false
}

// robotsRedirects returns the origin that holds the robots redirects of a host. u is one of them,
// and is leased.
func (f *Frontier) robotsRedirects(u *URL) *origin {
	h := f.residency.names.Find(Hostname(u.At.Origin()))
	if h == nil || h.origins == nil {
		return nil
	}
	return h.origins.redirects
}

// isRedirecting reports whether robots.txt redirects to the host wait, or are leased.
func (all *origins) isRedirecting() bool {
	return all.redirects != nil && (all.redirects.retry != nil || all.redirects.leased > 0)
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
