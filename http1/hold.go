package http1

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
)

// fastGrowth is the capacity up to which a body's buffer is doubled. A larger one grows by a
// quarter: it is counted whole.
const fastGrowth = 256 << 10

// makeRoom makes room in the body for n bytes that have arrived, once the meter has some, and
// moves the end of the exchange by the time that this took.
func (cn *conn) makeRoom(t *aio.Task, n int, total *limit) (waited time.Duration, failed *Error) {
	p := &cn.parser
	if p.body == nil { // not before an answer comes: a request that waits holds no buffer
		p.body = cn.client.wire.take()
		if size := cap(*p.body); size > budget.Small && !cn.hold.Try(size) { // a small body is not to wait for a large buffer
			cn.client.wire.give(p.body)
			p.body = new([]byte)
		}
	}
	room, size := cap(*p.body), len(*p.body)
	if size+n > room {
		if room *= 2; room > 2*fastGrowth {
			room = room/2 + room/8
		}
		if left := int(min(p.left, int64(p.room()))); p.state == inBody && (size >= left/4 || size+left < room) {
			room = size + left // once there is a fifth of it, the rest is believed: each growth leaves garbage
		}
		room = max(room, size+n)
	}
	waited, failed = cn.holdMore(t, room-cn.hold.Size(), total)
	if failed == nil && room > cap(*p.body) {
		*p.body = append(make([]byte, 0, room), *p.body...)
	}
	return waited, failed
}

// holdMore has the answer hold n bytes more, once the meter has room for them.
func (cn *conn) holdMore(t *aio.Task, n int, total *limit) (waited time.Duration, failed *Error) {
	c := cn.client
	if n <= 0 || cn.hold.Try(n) {
		return 0, nil
	}
	began := c.loop.Now()
	var err error
	if c.opt.Timeout == 0 {
		err = cn.hold.Grow(t, n)
	} else {
		err = t.Deadline(began.Add(c.opt.Timeout-cn.waited), func(t *aio.Task) error { return cn.hold.Grow(t, n) })
	}
	if errors.Is(err, aio.ErrTimeout) {
		return 0, fail(KindResource, "%w within %v", ErrNoRoom, c.opt.Timeout)
	}
	if err != nil {
		return 0, classify(err, KindCanceled)
	}
	waited = c.loop.Now().Sub(began)
	cn.waited += waited
	if waited > 0 && !total.at.IsZero() {
		total.at = total.at.Add(waited)
		_ = cn.SetDeadline(total.at)
	}
	return waited, nil
}

// count makes what is held agree with the body, which may have become longer than what has
// arrived: TLS keeps the beginning of a record.
func (cn *conn) count() {
	if body := cn.parser.body; body != nil && cap(*body) > cn.hold.Size() {
		cn.hold.Set(cap(*body))
	}
}

// longWait is how long an answer has to have waited for room, that a server which then gives up
// is not to blame.
const longWait = time.Second

// blame returns what an exchange has failed for.
func (cn *conn) blame(failed *Error) *Error {
	if cn.waited >= longWait && (failed.Kind == KindReset || failed.Kind == KindEarlyEnd) {
		return fail(KindResource, "%w for %v, and then %w", ErrNoRoom, cn.waited, failed.Err)
	}
	return failed
}

// While others wait for room, or would, an answer has to go on: within lookAfter it brings at least
// one in crowdedRate of the bytes that it holds. Who does not would take more than a minute for what
// it has already, at the cost of all.
const (
	lookAfter   = 2 * time.Second
	crowdedRate = 32
)

// progress is how an answer comes that holds memory.
type progress struct {
	look time.Time // when it is judged next; zero: it is not, yet
	wire int64     // what had come when it was last
}

// progresses judges an answer, if it is time to: false says that it is to be ended.
func (cn *conn) progresses(now time.Time) bool {
	p := &cn.progress
	if now.Before(p.look) {
		return true
	}
	came, first := cn.parser.wire-p.wire, p.look.IsZero()
	cn.judgeFrom(now)
	return first || came*crowdedRate >= int64(cn.hold.Size()) || !cn.client.opt.Meter.Crowded()
}

// judgeFrom begins the time after which an answer is judged.
func (cn *conn) judgeFrom(now time.Time) {
	cn.progress = progress{now.Add(lookAfter), cn.parser.wire}
}

// peek waits for more of the answer. While it is not judged yet, that has no bounds but patience.
func (cn *conn) peek(t *aio.Task, patience limit) ([]byte, error) {
	for {
		look := cn.progress.look
		judged := !look.IsZero() && (patience.at.IsZero() || look.Before(patience.at))
		if !judged {
			look = patience.at
		}
		_ = cn.SetReadDeadline(look) // fails only for a closed connection, as will all that follows
		b, err := cn.reader.Peek(t)
		if !judged || !errors.Is(err, aio.ErrTimeout) {
			return b, err
		}
		if !cn.progresses(cn.client.loop.Now()) {
			return nil, cn.heldUp()
		}
	}
}

// heldUp is the error of an answer that holds others up.
func (cn *conn) heldUp() *Error {
	return fail(KindTooSlow, "%w: less than %d bytes of it in %v", ErrHeldUp, cn.hold.Size()/crowdedRate+1, lookAfter)
}
