package http1

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
)

// fastGrowth is the capacity up to which a body's buffer is doubled. A larger one grows by a
// quarter, because all of it is counted.
const fastGrowth = 256 << 10

// makeRoom makes room in the body for n bytes that have arrived, once the meter has some, and
// extends the deadline of the exchange by the time that this took.
func (cn *conn) makeRoom(t *aio.Task, n int, total *limit) (waited time.Duration, failed *Error) {
	p := &cn.parser
	if p.body == nil { // not before a response arrives: a waiting request holds no buffer
		p.body = cn.client.wire.take()
		// A small body must not wait for a large buffer.
		if size := cap(*p.body); size > budget.Small && !cn.hold.Try(size) {
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
			// Once a fifth is there, the announced length is believed: each growth leaves garbage.
			room = size + left
		}
		room = max(room, size+n)
	}
	waited, failed = cn.holdMore(t, cn.base(n)+room-cn.hold.Size(), total)
	if failed == nil && room > cap(*p.body) {
		*p.body = append(make([]byte, 0, room), *p.body...)
	}
	return waited, failed
}

// holdMore makes the response hold n bytes more, once the meter has room for them.
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
		total.extend(waited)
		_ = cn.SetDeadline(total.at)
	}
	return waited, nil
}

// count makes the hold what the response takes. The body's capacity may exceed what has arrived:
// TLS keeps the beginning of a record.
func (cn *conn) count() {
	p := &cn.parser
	n := cn.base(0)
	switch {
	case p.body != nil:
		n += cap(*p.body)
	case p.res != nil && p.res.whole != nil:
		n += cap(*p.res.whole)
	}
	cn.hold.Set(n)
}

// plainHead is the memory of the request's fields and the head that counts with the connection: see
// budget.PerRequest.
const plainHead = 8 << 10

// base returns what the exchange takes beside the body, with n bytes more to come.
func (cn *conn) base(n int) int {
	return cn.chain() + max(0, cn.fields+cn.parser.headSize(n)-plainHead)
}

// longWait is how long a response must have waited for room before the server is not to blame for
// giving up.
const longWait = time.Second

// blame returns the error that an exchange has really failed with.
func (cn *conn) blame(failed *Error) *Error {
	if cn.waited >= longWait && (failed.Kind == KindReset || failed.Kind == KindEarlyEnd) {
		return fail(KindResource, "%w for %v, and then %w", ErrNoRoom, cn.waited, failed.Err)
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

// progress tracks the speed of a response that holds memory.
type progress struct {
	look time.Time // when the speed is checked next; zero: not yet
	wire int64     // bytes received at the last check
}

// fastEnough checks the speed of a response if it is time to: false means that the response must
// be ended.
func (cn *conn) fastEnough(now time.Time) bool {
	p := &cn.progress
	if now.Before(p.look) {
		return true
	}
	came, first := cn.parser.wire-p.wire, p.look.IsZero()
	cn.judgeFrom(now)
	return first || came*crowdedRate >= int64(cn.hold.Size()) || !cn.client.opt.Meter.Crowded()
}

// judgeFrom starts the interval after which a response is checked.
func (cn *conn) judgeFrom(now time.Time) {
	cn.progress = progress{now.Add(lookAfter), cn.parser.wire}
}

// peek waits for more of the response. Until the first check, patience is the only bound.
func (cn *conn) peek(t *aio.Task, patience limit) ([]byte, error) {
	for {
		look := cn.progress.look
		judged := !look.IsZero() && (patience.at.IsZero() || look.Before(patience.at))
		if !judged {
			look = patience.at
		}
		// Fails only for a closed connection, and so will everything that follows.
		_ = cn.SetReadDeadline(look)
		b, err := cn.reader.Peek(t)
		if !judged || !errors.Is(err, aio.ErrTimeout) {
			return b, err
		}
		if !cn.fastEnough(cn.client.loop.Now()) {
			return nil, cn.heldUp()
		}
	}
}

// heldUp returns the error of a response that holds up others.
func (cn *conn) heldUp() *Error {
	return fail(KindTooSlow, "%w: fewer than %d bytes in %v", ErrHeldUp, cn.hold.Size()/crowdedRate+1, lookAfter)
}
