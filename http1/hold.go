package http1

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio"
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
