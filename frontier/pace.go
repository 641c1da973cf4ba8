package frontier

import (
	"math"
	"time"
)

// The pace of a host is how many leases it may have at once. It begins low, grows by one
// while the server answers as fast as it can, and is halved when it gets slow: additive
// increase and multiplicative decrease, as TCP does with its window (RFC 5681), with the
// response time in the place of the lost packet.
const (
	anyPace   = math.MaxInt32
	startPace = 2  // gentle: what two readers of a site do
	maxPace   = 16 // gains little beyond, and some servers take it for an attack

	// An answer is fast if it took at most 1.5 times the host's best time, and slow if
	// it took more than twice as long. The extra is what a busy network or a turn of the
	// crawler's own loop adds, which says nothing about a server that answers in 2 ms.
	fastExtra = 10 * time.Millisecond
	slowExtra = 20 * time.Millisecond

	// smoothing is the weight of one answer in the smoothed time, 1/8: RFC 6298,
	// section 2, of the round-trip time.
	smoothing = 8

	// MaxRetryAfter is the longest that a host is let alone because it asked for it.
	MaxRetryAfter = time.Hour

	firstPause = time.Second // after an overload or a robots.txt that failed; then twice as long
	maxPause   = 5 * time.Minute
)

// pause is the wait after n failures in a row, n ≥ 1.
func pause(n uint8) time.Duration {
	return min(firstPause<<min(n-1, 30), maxPause)
}

// pace is what answers have taught about a host. The zero pace bounds nothing.
type pace struct {
	took     time.Duration // smoothed; 0: unknown
	best     time.Duration // smallest took; 0: unknown
	hold     moment        // no lease before: the host was overloaded
	strikes  uint8         // overloads in a row, without what was under way at the first
	most     uint8         // leases at once; 0: any number, until an overload
	answers  uint8         // of the window, which has most of them
	fast     uint8         // of these
	slow     uint8         // of these
	overload bool          // has ever been: a loopback address makes no difference any more
}

// limit is how many leases the host may have at once.
func (p *pace) limit() int {
	if p.most == 0 {
		return anyPace
	}
	return int(p.most)
}

// learn takes in the answer to a lease.
func (p *pace) learn(now moment, a Answer) {
	if a.Loopback && !p.overload {
		p.most = 0
	}
	held := now < p.hold
	switch {
	case a.Overload || a.RetryAfter > 0:
		p.backOff(now, held, a)
	case a.Took > 0 && !held: // while held it was asked for before, and is no sign of the end
		p.strikes = 0
		p.measure(a.Took)
	}
}

// backOff holds the host. Answers that were under way when it began may make the hold
// longer, but are the same overload.
func (p *pace) backOff(now moment, held bool, a Answer) {
	if !held {
		p.strikes += min(1, math.MaxUint8-p.strikes)
	}
	wait := min(a.RetryAfter, MaxRetryAfter)
	if a.RetryAfter <= 0 {
		wait = pause(p.strikes)
	}
	p.hold = max(p.hold, now+wait)
	p.most, p.overload = 1, true
	p.answers, p.fast, p.slow = 0, 0, 0
}

// measure takes in a response time.
func (p *pace) measure(took time.Duration) {
	if p.took == 0 {
		p.took, p.best = took, took
	}
	p.took += (took - p.took) / smoothing
	p.best = min(p.best, p.took)
	if p.most == 0 {
		return
	}
	p.answers++
	if took <= max(p.best*3/2, p.best+fastExtra) {
		p.fast++
	} else if took > 2*p.best+slowExtra {
		p.slow++
	}
	if p.answers < p.most {
		return
	}
	switch {
	case p.most == 1 && p.fast == 0:
		// With one request at a time it is not the crawler that makes the host slow:
		// this is by and by what it takes, or the pace would never grow again.
		p.best += (p.took - p.best) / smoothing
	case p.fast == p.answers:
		p.most = min(p.most+1, maxPace)
	case 2*p.slow > p.answers:
		p.most = max(p.most/2, 1)
	}
	p.answers, p.fast, p.slow = 0, 0, 0
}
