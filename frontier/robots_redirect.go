package frontier

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// A robots.txt that redirects elsewhere (RFC 9309, section 2.3.1.2) is leased at the turn of the
// server there, under its delays and paces. A thousand hosts that all point to one server ask it
// one by one.
//
// The robots.txt redirects to a server wait as retries of a host without a name, which takes turns
// with the server's other hosts. The host that needs the robots.txt waits: it has one redirect at
// most, and its pending URLs keep the crawl from ending. Redirects do not outlive the process.

// RobotsAt ends a lease of robots.txt: a redirect says that the host's rules are at another URL, of
// any http or https server. That is leased next, as robots.txt of the same host, with one more in
// Hops, by which the caller bounds how many redirects are followed. With HostBytes that URL is one
// of the seeds last given to Prepare.
func (f *Frontier) RobotsAt(now time.Time, u URL, a Result, at weburl.URL) {
	h, asked := f.endRobots(now, u, a)
	f.failures.revive(asked)
	h.robots.phase = elsewhere
	u.At = &at
	u.Hops++
	s := f.residency.names.Find(Hostname(at.Origin()))
	if s == nil {
		s = f.newHost(at.Origin(), at.IsHTTP()).server
	}
	f.redirectRobots(s, u, now)
}

// redirectRobots makes u a robots.txt redirect to s, not leased before a time.
func (f *Frontier) redirectRobots(s *server, u URL, at time.Time) {
	o := f.originsOf(s)
	if o.redirects == nil {
		o.redirects = &host{server: s, index: -1}
	}
	f.queueAgain(o.redirects, u, at)
	f.place(o.redirects)
}

// isRobotsRedirects reports whether h stands for its server's robots.txt redirects.
func (h *host) isRobotsRedirects() bool { return h.name == "" }

// pickRedirect takes the robots.txt redirect of h that is due. Those to a dead server fail; it
// returns false if no other is due.
func (f *Frontier) pickRedirect(h *host, u *URL) bool {
	for h.retries(f.now) {
		h.take(f.now, u)
		of := f.residency.host(u.URL.Origin())
		if !h.deadAt(f.now) {
			f.robots.asked++
			u.Seed = of.seeded()
			return true
		}
		why := f.failures[h.server]
		reason := fmt.Sprintf("robots.txt at %s: %s", Brief(u.At.String()), why.reason)
		of.robots.fail(failure{why.kind, reason}, f.now, false, f.cfg.RobotsTries)
		f.journal.hostChanged(of)
		f.place(of)
	}
	h.dropRedirects()
	return false
}

// robotsRedirects returns the host that holds the robots redirects of a server. u is one of them,
// and is leased.
func (f *Frontier) robotsRedirects(u *URL) *host {
	s := f.residency.names.Find(Hostname(u.At.Origin()))
	if s == nil || s.origins == nil {
		return nil
	}
	return s.origins.redirects
}

// dropRedirects drops the host that stands for a server's robots.txt redirects once there are none:
// it takes as much memory as the server, at each server that a redirect has led to.
func (s *server) dropRedirects() {
	o := s.origins
	switch {
	case o.redirects.retry != nil || o.redirects.leased > 0:
	case len(o.known) > 1:
		o.redirects = nil
	default:
		s.own.index, s.origins = -1, nil
	}
}
