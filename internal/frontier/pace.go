package frontier

import (
	"fmt"
	"math"
	"time"
)

// The pace of a host is how many leases it may have at once. It starts low, grows by one while the
// server answers as fast as it can, and is halved when the server gets slow: additive increase and
// multiplicative decrease, as TCP does with its window (RFC 5681), with the response time in the
// place of the lost packet.
const (
	anyPace   = 1 << 30
	startPace = 2  // gentle: what two readers of a site do
	maxPace   = 16 // more gains little, and some servers take it for an attack

	// A response is fast if it took at most 1.5 times the host's best time, and slow if it took
	// more than twice as long. The extra is what a busy network or a turn of the crawler's own loop
	// adds, which says nothing about a server that responds in 2 ms.
	fastExtra = 10 * time.Millisecond
	slowExtra = 20 * time.Millisecond

	// smoothing is the weight of one response in the smoothed time, 1/8: RFC 6298, section 2, of
	// the round-trip time.
	smoothing = 8

	// MaxRetryAfter bounds the back-off that a host requests with Retry-After.
	MaxRetryAfter = time.Hour

	firstPause = time.Second // after an overload or a robots.txt that failed; it doubles each time
	maxPause   = 5 * time.Minute
)

// pause returns the wait after n failures in a row, n ≥ 1.
func pause(n uint8) time.Duration {
	return min(firstPause<<min(n-1, 30), maxPause)
}

// pace is the speed of a host, learned from its responses. The zero pace bounds nothing.
type pace struct {
	backOffEnd moment  // the end of its back-off: it was overloaded, or does not respond
	took       instant // smoothed; 0: unknown
	best       instant // smallest took; 0: unknown
	strikes    uint8   // overloads in a row, not counting what was in flight at the first
	overload   bool    // ever: a loopback address makes no difference any more
	window
	overloadStatus uint16 // that began the back-off; 0: unknown
	retryAfter     uint16 // seconds that the server asked for then; 0: it did not
}

// instant is a response time in microseconds. Every host has two.
type instant int32

const maxInstant = 1 << 29 // 9 minutes: longer ones count as this

func instantOf(d time.Duration) instant {
	if d <= 0 {
		return 0
	}
	return instant(min(max(d/time.Microsecond, 1), maxInstant))
}

func (i instant) duration() time.Duration { return time.Duration(i) * time.Microsecond }

// window is the number of leases that there may be at once, with the responses since that last
// changed.
type window struct {
	most    uint8 // leases at once; 0: any number
	answers uint8 // responses since the window began; it ends at most
	fast    uint8 // of these
	slow    uint8 // of these
}

// speed is the testimony of a response about its server: as fast as it can be, slow, or neither.
type speed int8

const (
	fast    speed = 1
	neither speed = 0
	slow    speed = -1
)

// limit returns how many leases there may be at once.
func (w *window) limit() int {
	if w.most == 0 {
		return anyPace
	}
	return int(w.most)
}

// learn takes in the end of a lease. It returns how fast the response was, and whether it is the
// first sign that the server is overloaded.
func (p *pace) learn(now moment, a Result) (as speed, overloaded bool) {
	if a.loopback() && !p.overload {
		p.most = 0
	}
	resting := now < p.backOffEnd
	switch {
	case a.Overload || a.RetryAfter > 0:
		p.backOff(now, resting, a)
		return slow, !resting
	case a.Took > 0 && !resting: // a response to a request before the back-off does not end it
		p.strikes = 0
		return p.measure(a.Took), false
	}
	return neither, false
}

// loopback reports whether the server is this machine.
func (a *Result) loopback() bool { return a.Addr.Unmap().IsLoopback() }

// backOff leaves the server alone for a while. Responses that were in flight when the back-off
// began may extend it, but belong to the same overload.
func (p *pace) backOff(now moment, resting bool, a Result) {
	if !resting {
		p.strikes += min(1, math.MaxUint8-p.strikes)
	}
	wait := min(a.RetryAfter, MaxRetryAfter)
	if a.RetryAfter <= 0 {
		wait = pause(p.strikes)
	}
	if now+wait > p.backOffEnd {
		p.backOffEnd = now + wait
		p.overloadStatus, p.retryAfter = uint16(a.Status), uint16(min(a.RetryAfter, MaxRetryAfter)/time.Second)
	}
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

// backOffWords says why an origin is left alone, while it is.
func (o *origin) backOffWords() string {
	p := &o.host.pace
	switch {
	case o.trouble != nil && o.trouble.givenUp:
		return "given up: " + o.trouble.why.reason
	case o.trouble != nil && o.trouble.fails > 0:
		return fmt.Sprintf("no response %d times in a row", o.trouble.fails)
	case p.overloadStatus == 0:
		return "overloaded"
	case p.retryAfter > 0:
		return fmt.Sprintf("%d, Retry-After %d s", p.overloadStatus, p.retryAfter)
	default:
		return fmt.Sprint(p.overloadStatus)
	}
}

// settle is for a host that is slow with one request at a time, which is not the crawler's doing.
// Its time becomes the best by and by, or the pace would never grow again.
func (p *pace) settle() { p.best += (p.took - p.best) / smoothing }

// inform tells the window of a group of a response of its host, which is as fast as that is for the
// host: hosts of a group may be of any speed. An overload halves the pace of a domain, not of an
// address: anybody can point names there, and have them refused.
func (p *pace) inform(w *window, a *Result, as speed, overloaded, isAddress bool, bound uint8) {
	switch {
	case a.loopback() && !p.overload:
		w.most = 0
	case a.Overload && isAddress:
	case overloaded:
		w.halve()
	case a.Took > 0 && w.count(as, bound):
		p.settle()
	}
}

// count takes in how fast a response was. It reports whether that ends a window of one lease at
// once and was not fast.
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

// halve halves the number of leases at once, if it is bounded at all.
func (w *window) halve() {
	if w.most > 0 {
		*w = window{most: max(w.most/2, 1)}
	}
}

// restore brings the pace of a new host to what it was, apart from its back-off. That it was
// unbounded is not restored: that depends on where the server is, and on PerHost.
func (p *pace) restore(s *OriginState) {
	if s.Most > 0 {
		p.most = uint8(s.Most)
	}
	p.took, p.best = instantOf(s.Took), instantOf(s.Best)
	p.strikes, p.overload = uint8(s.Strikes), s.Overload
}
