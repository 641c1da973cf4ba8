package frontier

import (
	"cmp"
	"fmt"
	"time"
)

// interval returns how much time a URL of o takes on average, if nothing else does; 0: unknown.
func (v View) interval(o *origin) time.Duration {
	p := v.f.politeness
	took := o.host.pace.took.duration()
	if delay := p.delay(o.host); delay > 0 {
		return delay + took
	}
	if pace := p.pace(o.host); pace < anyPace {
		return took / time.Duration(max(1, pace))
	}
	return 0
}

// describe says what keeps an origin from being leased from, given that it has something to
// lease from a time on.
func (v View) describe(info *OriginInfo, o *origin, from moment) {
	p := v.f.politeness
	h := o.host
	if max(o.host.pace.backOffEnd, o.parked()) > v.f.clock.now {
		info.BackOff = o.backOffWords()
	}
	info.Resolving = h.resolve == addressAsked
	pace := p.pace(h)
	if pace < anyPace {
		info.Pace = int(pace)
	}
	next := max(p.earliest(h), from)
	if info.Full = h.busy >= pace; !info.Full {
		if !p.groups.free(h.domain(), max(next, v.f.clock.now)) {
			info.WaitsFor, next = BlockedByDomain, max(next, p.groups.freeAt(h.domain()))
		}
		if !p.groups.free(h.address, max(next, v.f.clock.now)) {
			info.WaitsFor, next = cmp.Or(info.WaitsFor, BlockedByAddress), max(next, p.groups.freeAt(h.address))
		}
	}
	info.Next = v.f.clock.time(next)
}

// leftAlone returns until when o is left alone; now if it is not.
func (v View) leftAlone(o *origin) moment {
	p := v.f.politeness
	until := max(v.f.clock.now, o.leftAloneUntil())
	if o.pending > 0 && o.host.busy == 0 && p.delay(o.host) >= longWait {
		until = max(until, p.earliest(o.host))
	}
	return until
}

// leftAloneWords says why o is left alone until then.
func (v View) leftAloneWords(o *origin, until moment) string {
	p := v.f.politeness
	at, waits := o.robots.retryAt()
	switch {
	case until == max(o.host.pace.backOffEnd, o.parked()):
		return o.backOffWords()
	case waits && until == at:
		robots := o.robots.state(v.f.clock.now, &v.f.clock.epoch)
		return robots.FailedWords()
	case o.host.crawlDelay() == p.delay(o.host):
		return fmt.Sprintf("Crawl-delay of %v", o.host.crawlDelay())
	}
	return fmt.Sprintf("delay of %v", p.delay(o.host))
}
