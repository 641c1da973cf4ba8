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

// pace is what answers have taught about a server. The zero pace bounds nothing.
type pace struct {
	hold     moment  // no lease before: the server was overloaded, or does not answer
	took     instant // smoothed; 0: unknown
	best     instant // smallest took; 0: unknown
	strikes  uint8   // overloads in a row, without what was under way at the first
	overload bool    // has ever been: a loopback address makes no difference any more
	window
}

// instant is a response time in microseconds, of which every server has two.
type instant int32

const maxInstant = 1 << 29 // 9 minutes: beyond it all are the same

func instantOf(d time.Duration) instant {
	if d <= 0 {
		return 0
	}
	return instant(min(max(d/time.Microsecond, 1), maxInstant))
}

func (i instant) duration() time.Duration { return time.Duration(i) * time.Microsecond }

// window is how many leases there may be at once, and the answers since that has changed.
type window struct {
	most    uint8 // leases at once; 0: any number
	answers uint8 // of the window, which has most of them
	fast    uint8 // of these
	slow    uint8 // of these
}

// speed is what an answer says of its server: it was as fast as it can be, slow, or neither.
type speed int8

const (
	fast    speed = 1
	neither speed = 0
	slow    speed = -1
)

// limit is how many leases there may be at once.
func (w *window) limit() int {
	if w.most == 0 {
		return anyPace
	}
	return int(w.most)
}

// learn takes in the answer to a lease. It returns how fast it was, and whether it was the
// first that says that the server is asked too much.
func (p *pace) learn(now moment, a Answer) (as speed, overloaded bool) {
	if a.loopback() && !p.overload {
		p.most = 0
	}
	held := now < p.hold
	switch {
	case a.Overload || a.RetryAfter > 0:
		p.backOff(now, held, a)
		return slow, !held
	case a.Took > 0 && !held: // while held it was asked for before, and is no sign of the end
		p.strikes = 0
		return p.measure(a.Took), false
	}
	return neither, false
}

// backOff holds the server. Answers that were under way when it began may make the hold
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
	p.overload = true
	p.window = window{most: 1}
}

// measure takes in a response time.
func (p *pace) measure(d time.Duration) speed {
	took := instantOf(d)
	if p.took == 0 {
		p.took, p.best = took, took
	}
	p.took += (took - p.took) / smoothing
	p.best = min(p.best, p.took)
	as := neither
	if took <= max(p.best*3/2, p.best+instantOf(fastExtra)) {
		as = fast
	} else if took > 2*p.best+instantOf(slowExtra) {
		as = slow
	}
	if p.count(as, maxPace) {
		p.settle()
	}
	return as
}

// settle is for a server that is slow with one request at a time: it is not the crawler that
// makes it so. This is by and by what it takes, or the pace would never grow again.
func (p *pace) settle() { p.best += (p.took - p.best) / smoothing }

// count takes in how fast an answer was. It returns true if that ends a window of one lease
// at once, and it was not fast.
func (w *window) count(as speed, bound uint8) (alone bool) {
	if w.most == 0 {
		return false
	}
	w.answers++
	switch as {
	case fast:
		w.fast++
	case slow:
		w.slow++
	}
	if w.answers < w.most {
		return false
	}
	switch {
	case w.most == 1 && w.fast == 0:
		alone = true
	case w.fast == w.answers:
		w.most = min(w.most+1, bound)
	case 2*w.slow > w.answers:
		w.halve()
	}
	w.answers, w.fast, w.slow = 0, 0, 0
	return alone
}

// halve lets half as many leases be at once, if they are bounded at all.
func (w *window) halve() {
	if w.most > 0 {
		*w = window{most: max(w.most/2, 1)}
	}
}
