package frontier

import (
	"fmt"
	"math"
	"time"
	"unsafe"
)

// patience bears the failures and overloads of origins for a while, and gives origins up.
type patience struct {
	cfg     *Config
	epoch   *epoch
	givenUp []GivenUp // not collected
	bytes   int       // of the troubles of origins in memory
}

// judge takes in what the end of a lease says of o: whether it responds.
func (p *patience) judge(now moment, o *origin, a *Result) {
	switch {
	case a.Addr.IsValid() || a.Took > 0 || a.Overload:
		p.responded(now, o, a)
	case a.Failure != "":
		p.failed(now, o, a)
	}
}

// responded takes in a response of o. A good one ends its trouble; that it is overloaded, or asks
// for a long Crawl-delay, is borne for as long as GiveUp says, unless it asks for more at once.
func (p *patience) responded(now moment, o *origin, a *Result) {
	o.vouch()
	delay := o.robots.delay()
	switch {
	case !a.Overload && delay <= longDelay:
		p.setTrouble(o, nil)
		return
	case o.deadAt(now): // it was in flight
		return
	}
	t := p.inTrouble(now, o)
	*t = trouble{since: t.since}
	asks := min(a.RetryAfter, MaxRetryAfter)
	late := p.tooLong(t, now)
	switch {
	case !a.Overload && (late || p.exceeds(delay)):
		p.giveUp(now, o, overloaded, fmt.Sprintf("it asks for a Crawl-delay of %v", delay))
	case late:
		lasted := (now - t.since).Round(time.Second)
		p.giveUp(now, o, overloaded, fmt.Sprintf("every response for %v was 429 or 503", lasted))
	case p.exceeds(asks):
		p.giveUp(now, o, overloaded, fmt.Sprintf("it asks to be left alone for %v", asks))
	}
}

// failed takes in that o has not responded. What was in flight at a failure is the same failure.
func (p *patience) failed(now moment, o *origin, a *Result) {
	t := p.inTrouble(now, o)
	if now < t.until {
		return
	}
	t.why.kind = a.Failure
	fails := o.doubt(now)
	mayPass := o.responded && a.mayPass()
	if n := t.pauses(mayPass && !a.Silent, a.Silent); n > 0 {
		t.until = now + pause(n)
		if end := t.since + p.cfg.GiveUp; o.responded && end > now {
			t.until = min(t.until, end)
		}
	}
	most := uint8(maxFails)
	if a.Silent {
		most = maxSilent
	}
	switch {
	case mayPass:
		if p.tooLong(t, now) {
			lasted := (now - t.since).Round(time.Second)
			p.giveUp(now, o, a.Failure, fmt.Sprintf("no response for %v: %s", lasted, a.Reason))
		} else if a.Silent && t.until > 0 {
			o.robots.probe(now)
		}
	case a.Absent && !o.responded:
		p.giveUp(now, o, a.Failure, a.Reason)
	case fails >= most:
		p.giveUp(now, o, a.Failure, fmt.Sprintf("no response %d times in a row: %s", fails, a.Reason))
	}
}

// giveUp has everything pending of o refused for shutFor.
func (p *patience) giveUp(now moment, o *origin, kind, reason string) {
	t := o.trouble
	t.givenUp, t.until, t.why = true, now+shutFor, failure{kind, reason}
	if o.pending > 0 {
		p.givenUp = append(p.givenUp, GivenUp{o.name, kind, reason, int(o.pending)})
	}
}

// tooLong reports whether a trouble has lasted for GiveUp at a time.
func (p *patience) tooLong(t *trouble, at moment) bool {
	return p.cfg.GiveUp > 0 && at-t.since >= p.cfg.GiveUp
}

// exceeds reports whether a wait is longer than GiveUp.
func (p *patience) exceeds(wait time.Duration) bool {
	return p.cfg.GiveUp > 0 && wait > p.cfg.GiveUp
}

// bears reports whether o is not given up after a failure at a time.
func (p *patience) bears(o *origin, at moment, a *Result) bool {
	if !o.responded || !a.mayPass() || o.deadAt(at) {
		return false
	}
	return o.trouble == nil || at < o.trouble.until || !p.tooLong(o.trouble, at)
}

// inTrouble returns the trouble of o, which has one from now on.
func (p *patience) inTrouble(now moment, o *origin) *trouble {
	if o.trouble == nil {
		p.setTrouble(o, &trouble{since: now})
	}
	return o.trouble
}

// setTrouble sets the trouble of o, nil if it is over. It counts as memory of the host.
func (p *patience) setTrouble(o *origin, t *trouble) {
	if o.trouble == t { // none, as a rule
		return
	}
	p.count(o, -1)
	o.trouble = t
	p.count(o, 1)
}

// count counts the memory of the trouble of o, or with -1 not any more.
func (p *patience) count(o *origin, n int) {
	if o.trouble != nil {
		p.bytes += n * costOfTrouble
	}
}

// state returns the part of the trouble of o that outlives the process.
func (p *patience) state(now moment, o *origin) (s TroubleState) {
	t := o.trouble
	if t == nil {
		return s
	}
	s = TroubleState{
		Since: p.epoch.time(t.since), Failures: int(t.fails), GivenUp: o.deadAt(now),
		Kind: t.why.kind, Reason: t.why.reason,
	}
	if t.until > now {
		s.Until = p.epoch.time(t.until)
	}
	return s
}

// restore brings o to its recorded state, of another process if so. An origin that was given
// up has another chance. The time in which the crawl did not run counts for nothing.
func (p *patience) restore(now moment, o *origin, s *OriginState, ofAnother bool) {
	o.responded = s.Responded
	if t := s.Trouble; t != (TroubleState{}) {
		p.setTrouble(o, &trouble{since: p.epoch.restored(now, t.Since, 0)})
		o.setFails(o.trouble, uint8(t.Failures))
		if ofAnother {
			o.trouble.since = now - max(0, s.Asked.Sub(t.Since))
		}
		o.trouble.why.kind = t.Kind
		switch {
		case t.Until.IsZero():
		case !t.GivenUp:
			o.trouble.until = p.epoch.restored(now, t.Until, maxPause)
		case !ofAnother:
			o.trouble.givenUp, o.trouble.why.reason = true, t.Reason
			o.trouble.until = p.epoch.restored(now, t.Until, shutFor)
		}
	}
	o.setDoubtful(!s.Responded || s.Trouble.Failures > 0)
}

const (
	// parkFrom is the number of failures in a row from which an origin is parked that has never
	// responded; before, the fault may be the pages'. A parked origin is tried with one lease at once,
	// after a pause that doubles.
	parkFrom = 3

	// maxFails is the number of leases in a row that an origin which has never responded may leave
	// without a response before its URLs are refused for shutFor; then it has another chance: one. If
	// the last failure was of a server that accepted the request and fell silent, the number is
	// maxSilent: that may be the pages' fault, and a dozen pages that hang, linked first by a site,
	// must not cost all the others.
	maxFails  = 8
	maxSilent = 32

	// silentPause is the number of the longest pause while an origin is only silent, up to
	// maxSilent failures: 16 s.
	silentPause = 5

	// longDelay is the longest Crawl-delay that does not count as trouble. See Config.GiveUp.
	longDelay = 10 * time.Minute
)

// trouble is the record of an origin's failures and overloads, from the first on until it responds
// well.
type trouble struct {
	since   moment
	until   moment // parked: nothing is leased before; given up: everything is refused before
	fails   uint8  // leases in a row without a response
	givenUp bool
	why     failure // the reason only if given up
}

// costOfTrouble is the size of a trouble in memory, in bytes, with the reason why it was given up.
const costOfTrouble = int(unsafe.Sizeof(trouble{})) + 100

// overloaded is the kind of the refusals of an origin that let the crawl wait for too long.
const overloaded = "overloaded"

// pauses returns the number of the pause after a failure; 0: there is none yet. A failure to
// connect to an origin that has responded (lost) is never the fault of a page.
func (t *trouble) pauses(lost, silent bool) uint8 {
	switch {
	case lost:
		return t.fails
	case t.fails < parkFrom:
		return 0
	case silent && t.fails < maxSilent:
		return min(t.fails-parkFrom+1, silentPause)
	}
	return t.fails - parkFrom + 1
}

// mayPass reports whether a failure may be that of a server that will respond again.
func (a *Result) mayPass() bool { return a.Silent || a.Unreached || a.Absent }

// setFails sets how many leases in a row o has left without a response.
func (o *origin) setFails(t *trouble, n uint8) {
	if all := o.host.origins; all != nil && t.fails == 0 && n > 0 {
		all.failing++
	} else if all != nil && t.fails > 0 && n == 0 {
		all.failing--
	}
	t.fails = n
}

// parked returns the time before which nothing of o is leased because it does not respond.
func (o *origin) parked() moment {
	if o.trouble == nil {
		return 0
	}
	return o.trouble.until
}

// leftAloneUntil returns the time before which nothing of o is leased because its host is in
// back-off, it does not respond, or its robots.txt has failed.
func (o *origin) leftAloneUntil() moment {
	until := max(o.host.pace.backOffEnd, o.parked())
	if at, waits := o.robots.retryAt(); waits {
		until = max(until, at)
	}
	return until
}

// deadAt reports whether the URLs of o are refused at a time, because it was given up.
func (o *origin) deadAt(at moment) bool {
	return o.trouble != nil && o.trouble.givenUp && at < o.trouble.until
}

// chance returns when something of o that is due at a time may be leased, as far as failures and
// robots.txt let it; ok is false if only a response helps. Refused: it takes no request.
func (o *origin) chance(at moment) (when moment, refused, ok bool) {
	switch phase := o.robots.phase; {
	case o.trouble == nil && (phase == off || phase == known): // as a rule
		return at, false, true
	case o.deadAt(at):
		return at, true, true
	}
	when, refused, ok = o.robots.chance(at)
	if ok && !refused {
		when = max(when, o.parked())
	}
	return when, refused, ok
}

// setDoubtful says whether o is doubtful from now on.
func (o *origin) setDoubtful(is bool) {
	if o.doubtful == is {
		return
	}
	o.doubtful = is
	if all := o.host.origins; all != nil && is {
		all.vouchers--
		all.probing += o.leased
	} else if all != nil {
		all.vouchers++
		all.probing -= o.leased
	}
}

// failed takes in a failure of a doubtful origin, and returns how many there were in a row, of all
// origins. As long as another one responds, the doubtful ones take a third of the time at most;
// if none does, they are tried once a second.
func (all *origins) failed(now moment) uint8 {
	if now >= all.park {
		all.fails += min(1, math.MaxUint8-all.fails)
		if all.vouchers > 0 {
			all.park = now + 2*(now-all.probed)
		} else if all.fails >= parkFrom {
			all.park = now + firstPause
		}
	}
	return all.fails
}

// vouch takes in that o responds. Then it is not doubtful any more.
func (o *origin) vouch() {
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
}

// doubt takes in one more failure of o, which is in trouble, and returns how many there were in a
// row.
func (o *origin) doubt(now moment) uint8 {
	t := o.trouble
	o.setFails(t, t.fails+min(1, math.MaxUint8-t.fails))
	o.setDoubtful(true)
	if all := o.host.origins; all != nil {
		return max(t.fails, all.failed(now))
	}
	return t.fails
}
