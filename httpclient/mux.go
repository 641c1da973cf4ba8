package httpclient

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/http2"
)

// mux is what a connection has more if it speaks HTTP/2: it carries several exchanges at once.
//
// No task belongs to it. Of the tasks that wait for their responses one reads for all, and hands
// what it reads to the streams; when its own has something to take, another task reads on. While
// nobody waits, nobody reads.
type mux struct {
	cn       *conn
	h2       *http2.Conn
	reader   *stream   // whose task reads
	waiting  []*stream // the others that wait
	writing  aio.Lock
	arrived  time.Time // when what was read last arrived
	users    int       // exchanges
	answered int       // requests that the server has dealt with
	meets    bool      // others wait until it is known how many streams the server takes
	over     bool      // no more requests
	failed   *Error    // why nothing works any more
}

// newMux starts HTTP/2 over a connection.
func newMux(cn *conn) *mux {
	opt := &cn.client.opt
	return &mux{cn: cn, h2: http2.New(http2.Options{MaxHead: opt.MaxHead, Window: opt.Window})}
}

// usable reports whether the connection takes more requests, now or later.
func (m *mux) usable() bool { return m.failed == nil && !m.over && !m.h2.Draining() }

// retire lets the connection take no more requests.
func (m *mux) retire() { m.over = true }

// flush sends what is to be sent. A write that stops in the middle of a frame ends the connection: it
// has its own time.
func (m *mux) flush(t *aio.Task) error {
	if m.h2.Pending() == 0 && (m.cn.tls == nil || len(m.cn.tls.out) == 0) {
		return nil
	}
	if err := m.writing.Lock(t); err != nil {
		return err
	}
	defer m.writing.Unlock(t)
	c := m.cn.client
	buf := c.wire.take()
	defer c.wire.give(buf)
	for m.failed == nil {
		*buf = (*buf)[:0]
		var err error
		if m.cn.tls == nil {
			*buf = append(*buf, m.h2.Output()...)
		} else {
			t.OnLoop(func() { err = m.seal(buf) })
		}
		if len(*buf) == 0 && err == nil {
			return nil
		}
		if err == nil {
			_ = m.cn.SetWriteDeadline(limit{}.within(c.opt.Timeout, c.loop.Now(), "").within(c.opt.IdleTimeout, c.loop.Now(), "").at)
			_, err = m.cn.Write(t, *buf)
		}
		if err != nil {
			m.end(classify(err, KindReset))
			return err
		}
	}
	return m.failed
}

// seal encrypts what is to be sent.
func (m *mux) seal(buf *[]byte) (err error) {
	var plain []byte
	if m.h2.Pending() > 0 {
		plain = m.h2.Output()
	}
	*buf, err = m.cn.tls.seal(*buf, plain)
	return err
}

// read waits for something to arrive, and hands it to the streams. Its error is that of waiting; one
// of the connection goes to all streams.
func (m *mux) read(t *aio.Task, until time.Time) error {
	_ = m.cn.SetReadDeadline(until)
	b, err := m.cn.arrived(t)
	switch {
	case errors.Is(err, io.EOF):
		m.cn.ended = true
	case errors.Is(err, aio.ErrTimeout), errors.Is(err, aio.ErrCanceled):
		return err
	case err != nil:
		m.end(classify(err, KindReset))
		return nil
	}
	m.arrived = m.cn.client.loop.Arrival(m.cn.Conn)
	m.take(t, b)
	m.cn.hold.Set(m.cn.chain + m.h2.Held())
	if m.writing.Owner() != nil { // who writes that, too
		return nil
	}
	return m.flush(t)
}

// take hands what has arrived to the streams.
func (m *mux) take(t *aio.Task, b []byte) {
	now := m.cn.client.loop.Now()
	used := len(b)
	var err error
	t.OnLoop(func() {
		if m.cn.tls == nil {
			if len(b) > 0 {
				err = m.h2.Feed(b, now)
			}
		} else {
			m.cn.tls.ended = m.cn.ended
			var opened error
			used, opened = m.cn.tls.open(m.cn.client.record(), b, func(p []byte) {
				if err == nil {
					err = m.h2.Feed(p, now)
				}
			})
			if err == nil && opened != nil && !errors.Is(opened, io.EOF) {
				err = inWords(classify(opened, KindTLS))
			}
			m.cn.ended = m.cn.ended || errors.Is(opened, io.EOF)
		}
	})
	m.cn.use(used)
	if m.h2.Known() {
		m.met()
	}
	switch {
	case err != nil:
		m.end(kindOfH2(err))
	case m.cn.ended:
		m.h2.EOF()
		m.end(fail(KindEarlyEnd, "the connection ended"))
	}
}

// met lets those go on who wait to learn what the server takes.
func (m *mux) met() {
	if m.meets {
		m.meets = false
		m.cn.client.met(m.cn.route)
	}
}

// end ends the connection: all streams fail, by what h2 has told them, or with an error.
func (m *mux) end(failed *Error) {
	if m.failed != nil {
		return
	}
	m.failed = failed
	m.h2.Close() // which tells those that wait
	m.cn.client.part(m.cn)
	m.met()
}

// leave takes in that an exchange has ended. The last keeps the connection, or closes it.
func (m *mux) leave(t *aio.Task) {
	c := m.cn.client
	_ = m.flush(t)
	if m.users--; m.users > 0 {
		if s := c.muxes.servers[m.cn.route]; s != nil {
			s.waiting.Unpark(nil) // there is room for one more
		}
		return
	}
	c.part(m.cn)
	m.met()
	m.cn.hold.Release()
	if !m.usable() || m.h2.Room() == 0 || m.cn.tls != nil && !m.cn.tls.lasting() {
		m.cn.Close()
		return
	}
	c.idle.put(m.cn)
}

// await waits until there is something for a stream to take, or until a time. Of the streams that
// wait, one reads. later: if there is nothing yet, the task waits elsewhere, which waits reports; see
// stream.when.
func (m *mux) await(t *aio.Task, s *stream, until time.Time, later bool) (waits bool, err error) {
	m.stay(s)
	if later {
		err = t.Checkpoint()
		later = until.IsZero() || until.After(m.cn.client.loop.Now())
	}
	for err == nil && !s.news {
		switch {
		case m.reader == s || m.reader == nil && !later:
			m.reader = s
			err = m.read(t, until)
			m.reader = nil
			waits = later && err == nil && !s.news
		case later:
			waits = true
		default:
			m.waiting = append(m.waiting, s)
			park := func(t *aio.Task) error { return s.wake.Park(t, "a response over HTTP/2") }
			if until.IsZero() {
				err = park(t)
			} else {
				err = t.Deadline(until, park)
			}
			m.stay(s)
		}
		if waits {
			return true, nil
		}
	}
	if m.reader == s {
		m.reader = nil
	}
	if m.reader == nil && len(m.waiting) > 0 { // another reads on
		m.waiting[0].wake.Unpark(nil)
	}
	return false, err
}

// stay takes a stream from those that wait.
func (m *mux) stay(s *stream) {
	if i := slices.Index(m.waiting, s); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
}

// quiet reports whether an idle connection is fit for use: what has come meanwhile is read.
func (m *mux) quiet(t *aio.Task) bool {
	for m.cn.Ready() && m.failed == nil {
		_ = m.cn.SetReadDeadline(time.Time{})
		b, err := m.cn.arrived(t) // does not wait
		if err != nil {
			return false
		}
		m.take(t, b)
	}
	return m.usable()
}

// kindOfH2 returns the error of an exchange for one of HTTP/2.
func kindOfH2(err error) *Error {
	var e *http2.Error
	switch {
	case !errors.As(err, &e):
		return classify(err, KindProtocol)
	case e.Excess && !e.Whole:
		return &Error{Kind: KindTooLarge, Err: e}
	case e.Whole && (e.Peer || e.Excess): // the latter by another stream
		return &Error{Kind: KindEarlyEnd, Err: e}
	case e.Peer:
		return &Error{Kind: KindReset, Err: e}
	}
	return &Error{Kind: KindProtocol, Err: e}
}
