package httpclient

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
)

// fastGrowth is the capacity up to which a body's buffer is doubled. A larger one grows by a
// quarter, because all of it is counted.
const fastGrowth = 256 << 10

// makeRoom makes room in the body for n bytes more, once the meter has some, and extends the limit
// of the exchange by the time that this took.
func (x *exchange) makeRoom(t *aio.Task, n int, total *limit) (waited time.Duration, failed *Error) {
	room := x.roomFor(n)
	waited, failed = x.holdMore(t, x.base(n)+room-x.hold.Size(), total)
	if failed == nil {
		x.enlarge(room)
	}
	return waited, failed
}

// tryRoom is makeRoom without waiting: false means that the meter has no room.
func (x *exchange) tryRoom(n int) bool {
	room := x.roomFor(n)
	if more := x.base(n) + room - x.hold.Size(); more > 0 && !x.hold.Try(more) {
		return false
	}
	x.enlarge(room)
	return true
}

// roomFor returns the capacity that the body needs for n bytes more, as it grows.
func (x *exchange) roomFor(n int) int {
	p := &x.parser
	if p.body == nil { // not before a response arrives: a waiting request holds no buffer
		p.body = x.client.wire.take()
		// A small body must not wait for a large buffer.
		if size := cap(*p.body); size > budget.Small && !x.hold.Try(size) {
			x.client.wire.give(p.body)
			p.body = new([]byte)
		}
	}
	room, size := cap(*p.body), len(*p.body)
	if size+n <= room {
		return room
	}
	if room *= 2; room > 2*fastGrowth {
		room = room/2 + room/8
	}
	if left := int(min(p.left, int64(p.room()))); p.state == inBody && (size >= left/4 || size+left < room) {
		// Once a fifth is there, the announced length is believed: each growth leaves garbage.
		room = size + left
	}
	return max(room, size+n)
}

// enlarge gives the body a capacity.
func (x *exchange) enlarge(room int) {
	if p := &x.parser; room > cap(*p.body) {
		*p.body = append(make([]byte, 0, room), *p.body...)
	}
}

// holdMore makes the response hold n bytes more, once the meter has room for them.
func (x *exchange) holdMore(t *aio.Task, n int, total *limit) (waited time.Duration, failed *Error) {
	c := x.client
	if n <= 0 || x.hold.Try(n) {
		return 0, nil
	}
	began := c.loop.Now()
	var err error
	if c.opt.Timeout == 0 {
		err = x.hold.Grow(t, n)
	} else {
		err = t.Deadline(began.Add(c.opt.Timeout-x.waited), func(t *aio.Task) error { return x.hold.Grow(t, n) })
	}
	if errors.Is(err, aio.ErrTimeout) {
		return 0, fail(KindResource, "%w within %v", ErrNoRoom, c.opt.Timeout)
	}
	if err != nil {
		return 0, classify(err, KindCanceled)
	}
	waited = c.loop.Now().Sub(began)
	x.waited += waited
	if waited > 0 && !total.at.IsZero() {
		total.extend(waited)
	}
	return waited, nil
}

// count makes the hold what the response takes. The body's capacity may exceed what has arrived:
// TLS keeps the beginning of a record.
func (x *exchange) count() {
	p := &x.parser
	n := x.base(0)
	switch {
	case p.body != nil:
		n += cap(*p.body)
	case p.res != nil && p.res.whole != nil:
		n += cap(*p.res.whole)
	}
	x.hold.Set(n)
}

// complete hands the body to the response, which is whole.
func (x *exchange) complete() {
	p := &x.parser
	if p.body == nil { // there was none
		p.body = x.client.wire.take()
	}
	r := p.res
	r.from, r.whole, p.body = &x.client.wire, p.body, nil
	r.Body = *r.whole
	if p.keep {
		r.wire, r.pool = r.whole, r.from
	}
	p.state = whole
}

// plainHead is the memory of the request's fields and the head that counts with the connection: see
// budget.PerRequest.
const plainHead = 8 << 10

// base returns what the exchange takes beside the body, with n bytes more to come.
func (x *exchange) base(n int) int {
	head := 0
	if x.arrival != nil {
		head = x.parser.headSize(n)
	}
	return x.chain + max(0, x.fields+head-plainHead)
}

// longWait is the shortest wait of a response for room after which the server is not to blame for
// giving up.
const longWait = time.Second

// blame returns the error that an exchange has really failed with.
func (x *exchange) blame(failed *Error) *Error {
	if x.waited >= longWait && (failed.Kind == KindReset || failed.Kind == KindEarlyEnd) {
		return fail(KindResource, "%w for %v, and then %w", ErrNoRoom, x.waited, failed.Err)
	}
	return failed
}

// While others wait for room, or would, a response must make progress: within lookAfter it
// delivers at least one in crowdedRate of the bytes that it holds. A slower one would take more
// than a minute for what it has already, at the expense of all.
const (
	lookAfter   = 2 * time.Second
	crowdedRate = 32
)

// progress is the speed of a response, as far as it is known.
type progress struct {
	began time.Time // when it began, put off by the time that it has waited for room; zero: it has not
	last  time.Time // when some of it was taken last
	look  time.Time // when the speed is checked next; zero: not yet
	at    int64     // bytes received at the last check
}

// moved takes in that some of the response was taken, after waiting for room.
func (x *exchange) moved(now time.Time, waited time.Duration) {
	if x.began.IsZero() {
		x.began = now.Add(-waited)
	}
	x.began, x.last = x.began.Add(waited), now
}

// patience returns how long a response that has begun may pause.
func (x *exchange) patience(total limit) limit {
	opt := &x.client.opt
	patience := total.within(opt.IdleTimeout, x.last, KindIdleTimeout)
	if rate := opt.MinRate; rate > 0 {
		// What has arrived satisfies the rate until then.
		enough := time.Duration(float64(x.parser.wire)/float64(rate)*1000) * time.Millisecond
		patience = patience.within(max(rateGrace, enough), x.began, KindTooSlow)
	}
	return patience
}

// judge returns the error of a response that has come too slowly for what it holds, or nil. It
// is not to blame for time that it has waited for room.
func (x *exchange) judge(waited time.Duration) *Error {
	switch {
	case waited > 0:
		x.judgeFrom(x.last)
	case x.client.opt.Meter != nil && !x.fastEnough(x.last):
		return x.heldUp()
	}
	return nil
}

// fastEnough checks the speed of a response if it is time to: false means that the response must
// be ended.
func (x *exchange) fastEnough(now time.Time) bool {
	if now.Before(x.look) {
		return true
	}
	came, first := x.parser.wire-x.at, x.look.IsZero()
	x.judgeFrom(now)
	return first || came*crowdedRate >= int64(x.hold.Size()) || !x.client.opt.Meter.Crowded()
}

// judgeFrom starts the interval after which a response is checked.
func (x *exchange) judgeFrom(now time.Time) {
	x.look, x.at = now.Add(lookAfter), x.parser.wire
}

// watch waits for more of the response, by a function that waits until a time at most. Until the
// first check, patience is the only bound.
func (x *exchange) watch(patience limit, wait func(until time.Time) error) error {
	for {
		until := x.due(patience)
		err := wait(until)
		if until == patience.at || !errors.Is(err, aio.ErrTimeout) {
			return err
		}
		if !x.fastEnough(x.client.loop.Now()) {
			return x.heldUp()
		}
	}
}

// due returns when waiting for more of the response ends: when its patience does, or when its speed
// is checked.
func (x *exchange) due(patience limit) time.Time {
	if at := patience.at; x.arrival == nil || x.look.IsZero() || !at.IsZero() && !x.look.Before(at) {
		return at
	}
	return x.look
}

// heldUp returns the error of a response that holds up others.
func (x *exchange) heldUp() *Error {
	return fail(KindTooSlow, "%w: fewer than %d bytes in %v", ErrHeldUp, x.hold.Size()/crowdedRate+1, lookAfter)
}
