package frontier

import (
	"fmt"
	"math"
	"time"
)

const (
	// parkFrom is from which failure in a row on an origin is parked that has never responded;
	// before, the fault may be the pages'. A parked origin is tried with one lease at once, after a
	// pause that doubles.
	parkFrom = 3

	// maxFails is how many leases in a row an origin that has never responded may leave without a
	// response before its URLs are refused for shutFor; then it has another chance: one. If the
	// last failure was of a server that accepted the request and fell silent, the number is
	// maxSilent: that may be the pages' fault, and a dozen pages that hang, linked first by a site,
	// must not cost all the others.
	maxFails  = 8
	maxSilent = 32

	// silentPause is the number of the longest pause while an origin is only silent, up to
	// maxSilent failures: 16 s.
	silentPause = 5

	// longDelay is how much a Crawl-delay may be before it counts as trouble. See Config.GiveUp.
	longDelay = 10 * time.Minute
)

// failure is why nothing of an origin is leased.
type failure struct{ kind, reason string }

// trouble is what an origin has from its first failure or overload on, until it responds well.
type trouble struct {
	since   moment
	until   moment // parked: nothing is leased before; given up: everything is refused before
	fails   uint8  // leases in a row without a response
	givenUp bool
	why     failure // the reason only if given up
}

// GivenUp is an origin whose pending URLs are refused, because of its failures or overloads.
type GivenUp struct {
	Origin       string
	Kind, Reason string // of its refusals; the reason comes from the Web
	Pending      int
}

// GivenUp returns the origins given up since the last call, of those with something pending.
func (f *Frontier) GivenUp() []GivenUp {
	all := f.givenUp
	f.givenUp = nil
	return all
}

// judge takes in what the end of a lease says of o: whether it responds.
func (f *Frontier) judge(o *origin, a *Result) {
	switch {
	case a.Addr.IsValid() || a.Took > 0 || a.Overload:
		f.responded(o, a)
	case a.Failure != "":
		f.failed(o, a)
	}
}

// responded takes in a response of o. A good one ends its trouble; that it is overloaded, or asks
// for a long Crawl-delay, is borne for as long as GiveUp says, unless it asks for more at once.
func (f *Frontier) responded(o *origin, a *Result) {
	o.responded = true
	if all := o.host.origins; all != nil {
		all.fails = 0
		if all.vouchers == 0 {
			all.park = 0
		}
	}
	o.setDoubtful(false)
	if o.trouble != nil {
		o.setFails(o.trouble, 0)
	}
	delay := o.robots.delay()
	switch {
	case !a.Overload && delay <= longDelay:
		f.setTrouble(o, nil)
		return
	case o.deadAt(f.clock.now): // it was in flight
		return
	}
	t := f.inTrouble(o)
	*t = trouble{since: t.since}
	asks := min(a.RetryAfter, MaxRetryAfter)
	late := f.tooLong(t, f.clock.now)
	switch {
	case !a.Overload && (late || f.exceeds(delay)):
		f.giveUp(o, overloaded, fmt.Sprintf("it asks for a Crawl-delay of %v", delay))
	case late:
		lasted := (f.clock.now - t.since).Round(time.Second)
		f.giveUp(o, overloaded, fmt.Sprintf("every response for %v was 429 or 503", lasted))
	case f.exceeds(asks):
		f.giveUp(o, overloaded, fmt.Sprintf("it asks to be left alone for %v", asks))
	}
}

// overloaded is the kind of the refusals of an origin that let the crawl wait for too long.
const overloaded = "overloaded"

// failed takes in that o has not responded. What was in flight at a failure is the same failure.
func (f *Frontier) failed(o *origin, a *Result) {
	t := f.inTrouble(o)
	if f.clock.now < t.until {
		return
	}
	o.setFails(t, t.fails+min(1, math.MaxUint8-t.fails))
	t.why.kind = a.Failure
	o.setDoubtful(true)
	fails := t.fails
	if all := o.host.origins; all != nil {
		fails = max(fails, all.failed(f.clock.now))
	}
	if n := t.pauses(a, o.responded); n > 0 {
		t.until = f.clock.now + pause(n)
		if end := t.since + f.cfg.GiveUp; o.responded && end > f.clock.now {
			t.until = min(t.until, end)
		}
	}
	most := uint8(maxFails)
	if a.Silent {
		most = maxSilent
	}
	switch {
	case o.responded && a.mayPass():
		if f.tooLong(t, f.clock.now) {
			lasted := (f.clock.now - t.since).Round(time.Second)
			f.giveUp(o, a.Failure, fmt.Sprintf("no response for %v: %s", lasted, a.Reason))
		} else if a.Silent && t.until > 0 {
			o.robots.probe(f.clock.now)
		}
	case a.Absent && !o.responded:
		f.giveUp(o, a.Failure, a.Reason)
	case fails >= most:
		f.giveUp(o, a.Failure, fmt.Sprintf("no response %d times in a row: %s", fails, a.Reason))
	}
}

// pauses returns the number of the pause after a failure; 0: there is none yet. A failure to
// connect to an origin that has responded is never the fault of a page.
func (t *trouble) pauses(a *Result, responded bool) uint8 {
	switch {
	case responded && a.mayPass() && !a.Silent:
		return t.fails
	case t.fails < parkFrom:
		return 0
	case a.Silent && t.fails < maxSilent:
		return min(t.fails-parkFrom+1, silentPause)
	}
	return t.fails - parkFrom + 1
}

// giveUp has everything pending of o refused for shutFor.
func (f *Frontier) giveUp(o *origin, kind, reason string) {
	t := o.trouble
	t.givenUp, t.until, t.why = true, f.clock.now+shutFor, failure{kind, reason}
	if o.pending > 0 && !o.isRobotsRedirects() {
		f.givenUp = append(f.givenUp, GivenUp{o.name, kind, reason, int(o.pending)})
	}
}

// tooLong reports whether a trouble has lasted for GiveUp at a time.
func (f *Frontier) tooLong(t *trouble, at moment) bool {
	return f.cfg.GiveUp > 0 && at-t.since >= f.cfg.GiveUp
}

// exceeds reports whether a wait is longer than GiveUp.
func (f *Frontier) exceeds(wait time.Duration) bool {
	return f.cfg.GiveUp > 0 && wait > f.cfg.GiveUp
}

// Outlasts reports whether a leased URL stays pending after a failure: its origin has responded
// before, cannot be reached, and may be reached later. Then Await ends the lease.
func (f *Frontier) Outlasts(now time.Time, u URL, a Result) bool {
	o := f.leased[u.leaseKey()]
	return o != nil && !u.Robots && !a.Silent && f.bears(o, f.clock.moment(now), &a)
}

// bears reports whether o is not given up after a failure at a time.
func (f *Frontier) bears(o *origin, at moment, a *Result) bool {
	if !o.responded || !a.mayPass() || o.deadAt(at) {
		return false
	}
	return o.trouble == nil || at < o.trouble.until || !f.tooLong(o.trouble, at)
}

// setFails sets how many leases in a row o has left without a response.
func (o *origin) setFails(t *trouble, n uint8) {
	if all := o.host.origins; all != nil && t.fails == 0 && n > 0 {
		all.failing++
	} else if all != nil && t.fails > 0 && n == 0 {
		all.failing--
	}
	t.fails = n
}

// inTrouble returns the trouble of o, which has one from now on.
func (f *Frontier) inTrouble(o *origin) *trouble {
	if o.trouble == nil {
		f.setTrouble(o, &trouble{since: f.clock.now})
	}
	return o.trouble
}

// setTrouble sets the trouble of o, nil if it is over. It counts as memory of the host.
func (f *Frontier) setTrouble(o *origin, t *trouble) {
	before := bytesOf(o)
	o.trouble = t
	if !o.isRobotsRedirects() {
		f.residency.bytes += bytesOf(o) - before
	}
}

// parked returns the time before which nothing of o is leased because it does not respond.
func (o *origin) parked() moment {
	if o.trouble == nil {
		return 0
	}
	return o.trouble.until
}

// deadAt reports whether the URLs of o are refused at a time, because it was given up.
func (o *origin) deadAt(at moment) bool {
	return o.trouble != nil && o.trouble.givenUp && at < o.trouble.until
}

// failing reports whether h is tried with one lease at once: none of its origins responds.
func (h *host) failing() bool {
	if all := h.origins; all != nil {
		return all.vouchers == 0 && all.fails >= parkFrom
	}
	return h.own.parked() > 0
}

// untilHeld returns the time before which no request to h is made, because it is overloaded or does
// not respond.
func (f *Frontier) untilHeld(h *host) moment {
	if h.origins == nil {
		return max(h.pace.hold, h.own.parked())
	}
	return max(h.pace.hold, h.origins.park)
}

// troubleState returns the part of the trouble of o that outlives the process.
func (f *Frontier) troubleState(o *origin) (s TroubleState) {
	t := o.trouble
	if t == nil {
		return s
	}
	s = TroubleState{
		Since: f.clock.time(t.since), Failures: int(t.fails), GivenUp: o.deadAt(f.clock.now),
		Kind: t.why.kind, Reason: t.why.reason,
	}
	if t.until > f.clock.now {
		s.Until = f.clock.time(t.until)
	}
	return s
}

// restoreTrouble brings o to its recorded state, of another process if so. An origin that was given
// up has another chance. The time in which the crawl did not run counts for nothing.
func (f *Frontier) restoreTrouble(o *origin, s OriginState, ofAnother bool) {
	o.responded = s.Responded
	if t := s.Trouble; t != (TroubleState{}) {
		f.setTrouble(o, &trouble{since: f.restored(t.Since, 0)})
		o.setFails(o.trouble, uint8(t.Failures))
		if ofAnother {
			o.trouble.since = f.clock.now - max(0, s.Asked.Sub(t.Since))
		}
		o.trouble.why.kind = t.Kind
		switch {
		case t.Until.IsZero():
		case !t.GivenUp:
			o.trouble.until = f.restored(t.Until, maxPause)
		case !ofAnother:
			o.trouble.givenUp, o.trouble.why.reason = true, t.Reason
			o.trouble.until = f.restored(t.Until, shutFor)
		}
	}
	o.setDoubtful(!s.Responded || s.Trouble.Failures > 0)
}
