package frontier

import (
	"strings"
	"time"

	"github.com/weftcrawl/weft/robots"
)

// Grow makes room for a number of URLs to be seen.
func (f *Frontier) Grow(urls int) { f.seen.Reserve(urls) }

// RestoreStats sets Done, Refused, OverLimit, OverVariants and Duplicates. It and its like bring a
// new frontier to the state that a ledger was told of, before anything else is done.
func (f *Frontier) RestoreStats(s Stats) {
	f.stats.Done, f.stats.Refused, f.stats.Duplicates = s.Done, s.Refused, s.Duplicates
	f.stats.OverLimit, f.stats.OverVariants = s.OverLimit, s.OverVariants
}

// RestoreSeen says that a URL with this fingerprint was seen. It is told in any order of
// all; what is beyond SeenBytes is forgotten again.
func (f *Frontier) RestoreSeen(fingerprint [16]byte) { f.seen.Add(fingerprint) }

// RestoreSeq sets the Seq of the next new URL, at least 1: larger than any that was told.
func (f *Frontier) RestoreSeq(next uint64) { f.seq = max(next, 1) - 1 }

// RestoreRedirected says what Ledger.Redirected was last told of a URL.
func (f *Frontier) RestoreRedirected(fingerprint [16]byte, fewest int, target *URL) {
	if fewest > 0 { // a job begun before such were forgotten has others
		h := &hops{fewest: fewest}
		f.hops[fingerprint] = h
		if target != nil {
			f.redirected(fingerprint, h, target)
		}
	}
}

// RestoreHost says what is known of a host; each is restored once, and none that is
// known already. Its pending URLs are in the ledger: see Wants. It waits its full delay
// from now, even if it was never asked: the ledger need not have been told of what was
// under way when the process ended.
//
// With HostBytes it returns false if the host is counted and no more, as there is no room for it.
// Then RestoreBeside is to be told of all again, once all were told.
func (f *Frontier) RestoreHost(now time.Time, s HostState, r robots.Rules) bool {
	f.tell(now)
	f.idle.waits = f.now
	f.stats.Pending += s.Pending
	f.fresh += s.Pending - s.Tried
	if f.dispensable(s) {
		f.idle.gone.Add(f.idle.nameKey(Hostname(s.Name)))
		f.idle.left++
		f.sleeps(s, 1)
		f.first += s.Answered
		return false
	}
	h, _ := f.recall(s, r)
	h.last = f.now
	f.fill(h, s)
	h.address.wait(f.now)
	h.domain().wait(f.now)
	f.place(h)
	f.rests(h.server)
	f.first += s.Answered
	return true
}

// recall makes a host, and brings it to what is known of it, but for what is pending of it and
// from when its delay counts. It reports whether that is the latest that is known of its server.
func (f *Frontier) recall(s HostState, r robots.Rules) (h *host, latest bool) {
	h = f.newHost(s.Name, strings.HasPrefix(s.Name, "http"))
	h.pending, h.tried, h.answered, h.capped = int32(s.Pending), int32(s.Tried), int32(s.Answered), s.Capped
	h.seed = s.Seed
	h.first += h.answered
	since := never
	if !s.Asked.IsZero() {
		since = f.moment(s.Asked)
	}
	if latest = since >= h.asked; latest { // of a server's hosts the one that was asked last knows its pace
		h.asked = since
		h.pace.restore(s)
		h.fails = uint8(s.Failures)
	}
	if !s.Hold.IsZero() && !s.Dead { // which has another chance at once: why it was dead is not kept
		h.pace.hold = max(h.pace.hold, f.moment(s.Hold))
	}
	if h.robots.phase != off {
		rules, ok := f.rulebook.add(r, f.now)
		if !ok {
			s.Robots = RobotsState{} // it is asked for again
		}
		h.robots.restore(s.Robots, rules)
		if !s.Robots.Until.IsZero() {
			h.robots.until = f.moment(s.Robots.Until)
		}
		h.newRules(h, 0)
	}
	return h, latest
}

// RestoreLast says that hosts of which nothing is known may have been asked until now, in a
// process that ended before its ledger could tell: a new host waits its full delay from
// now, as those do that are restored.
func (f *Frontier) RestoreLast(now time.Time) {
	f.tell(now)
	f.last = f.now
}

// restore brings the pace of a new host to what it was; not its hold. That it was unbounded
// is not restored: that depends on where the server is, and on PerHost.
func (p *pace) restore(s HostState) {
	if s.Most > 0 {
		p.most = uint8(s.Most)
	}
	p.took, p.best, p.strikes, p.overload = instantOf(s.Took), instantOf(s.Best), uint8(s.Strikes), s.Overload
}

// restore brings the robots.txt of a new host to what it was, but for until.
func (r *rules) restore(s RobotsState, answer *said) {
	r.said, r.have, r.tries = answer, s.Have, uint8(s.Tries)
	switch {
	case s.Shut:
		r.phase, r.said = shut, &said{why: failure{s.Kind, s.Reason}}
	case s.Have:
		r.phase = known
	}
}
