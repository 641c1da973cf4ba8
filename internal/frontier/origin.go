package frontier

import (
	"math"
	"strings"
)

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

// deadAt reports whether the URLs of o are refused at a time, because it was given up.
func (o *origin) deadAt(at moment) bool {
	return o.trouble != nil && o.trouble.givenUp && at < o.trouble.until
}

// isResolving reports whether the address of the host is leased, as that of o.
func (o *origin) isResolving() bool { return o.host.resolve == addressAsked && o == &o.host.own }

// seeded reports whether a seed is on o, or on its counterpart: the origin that differs only by
// being http or https, each on its default port, as where one redirects to the other.
func (o *origin) seeded() bool {
	if o.seed || o.host.origins == nil {
		return o.seed
	}
	scheme, authority, _ := strings.Cut(o.name, "://")
	counterpart := map[string]string{"http": "https://", "https": "http://"}[scheme]
	other := o.host.origins.known[counterpart+authority]
	return other != nil && other.seed
}

// again returns the retries of o, the first of them in front.
func (o *origin) again() []*waiting {
	if o.retry == nil {
		return nil
	}
	return o.retry.Items()
}

// retries reports whether a retry is due: any is if they are refused.
func (o *origin) retries(now moment) bool {
	return o.retry != nil && (o.retry.First().at <= now || o.deadAt(now))
}

// leastDepth returns that of the URLs of o that are in memory; known is false if none are.
func (o *origin) leastDepth() (depth int, known bool) {
	depth = math.MaxInt
	for c := range o.queue.Classes() {
		depth = min(depth, int(c.depth))
	}
	for _, w := range o.again() {
		depth = min(depth, w.url.Depth)
	}
	return depth, depth < math.MaxInt
}

// queued returns how many URLs are in the queue of o.
func (o *origin) queued() int {
	n := int(o.pending) - len(o.again())
	if o.backlog != nil {
		n -= o.backlog.n
	}
	return n
}

// triedOnce counts a try that has ended, of a URL with so many tries before. More is 1 if there is
// to be another, else -1.
func (o *origin) triedOnce(tries int, more int32) {
	if tries == 0 {
		o.answered++
	}
	if (tries > 0) != (more > 0) {
		o.tried += more
	}
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

// countLeases counts n more leases of o.
func (o *origin) countLeases(n int32) {
	o.leased += n
	if all := o.host.origins; all != nil && o.doubtful {
		all.probing += n
	}
}

// isRobotsRedirects reports whether o stands for its host's robots.txt redirects.
func (o *origin) isRobotsRedirects() bool { return o.name == "" }

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
