package frontier

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// An errand is a robots.txt that is asked for elsewhere, as redirects say that it is there
// (RFC 9309, section 2.3.1.2): at the turn of the server there, under its delays and paces. A
// thousand hosts that all point to one server ask it one by one.
//
// The errands to a server wait as the URLs to be tried again of a host without a name, which
// takes turns with the server's other hosts. The host whose robots.txt it is waits for the
// answer: it has one errand at most, and what it has pending keeps the crawl going. Nothing of
// an errand outlives the process.

// Where is the URL that is to be asked for: another than URL if redirects of a robots.txt led there.
func (u *URL) Where() weburl.URL {
	if u.At != nil {
		return *u.At
	}
	return u.URL
}

// RobotsAt answers a lease of robots.txt: a redirect says that the host's rules are at another
// URL, of any http or https server. That is leased next, as robots.txt of the same host, with
// one more in Hops, by which the caller bounds how many redirects are followed. With HostBytes
// Doubts was last asked about that URL, as about a seed.
func (f *Frontier) RobotsAt(now time.Time, u URL, a Answer, at weburl.URL) {
	h, asked := f.answerRobots(now, u, a)
	f.revive(asked)
	h.robots.phase = elsewhere
	u.At = &at
	u.Hops++
	s := f.names.Find(Hostname(at.Origin()))
	if s == nil {
		s = f.newHost(at.Origin(), at.IsHTTP()).server
	}
	f.send(s, u, now)
}

// send makes u an errand to s, not before a time.
func (f *Frontier) send(s *server, u URL, at time.Time) {
	o := f.originsOf(s)
	if o.errands == nil {
		o.errands = &host{server: s, index: -1}
	}
	f.queueAgain(o.errands, u, at)
	f.place(o.errands)
}

// isErrands reports whether h is that of its server's errands.
func (h *host) isErrands() bool { return h.name == "" }

// pickErrand takes the errand of h that is due. Those to a server that is dead fail; it returns
// false if no other is due.
func (f *Frontier) pickErrand(h *host, u *URL) bool {
	for h.retries(f.now) {
		h.take(f.now, u)
		of := f.find(u.URL.Origin())
		if !h.deadAt(f.now) {
			f.rulebook.asked++
			u.Seed = of.seeded()
			return true
		}
		why := f.shut[h.server]
		of.robots.fail(failure{why.kind, fmt.Sprintf("robots.txt at %s: %s", Brief(u.At.String()), why.reason)}, f.now, false, f.cfg.RobotsTries)
		f.note(of)
		f.place(of)
	}
	h.forgetErrands()
	return false
}

// errands returns the host of a server's errands of which u is one that is leased.
func (f *Frontier) errands(u *URL) *host {
	s := f.names.Find(Hostname(u.At.Origin()))
	if s == nil || s.origins == nil {
		return nil
	}
	return s.origins.errands
}

// forgetErrands drops the host of a server's errands if there are none: of the server of each
// name to which a redirect has led, for it takes as much as the server does.
func (s *server) forgetErrands() {
	o := s.origins
	switch {
	case o.errands.retry != nil || o.errands.leased > 0:
	case len(o.known) > 1:
		o.errands = nil
	default:
		s.own.index, s.origins = -1, nil
	}
}
