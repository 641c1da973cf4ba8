package httpclient

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/http2"
)

// mux is the HTTP/2 layer of a connection: it carries several exchanges at once.
//
// No task belongs to it. Of the tasks that wait for their responses one reads for all, and hands
// what it reads to the streams; when its own has something to take, another task reads on. While
// nobody waits, nobody reads. Nobody waits to write: what the server does not take at once, the
// loop sends when it does.
type mux struct {
	client   *Client
	cn       *conn
	h2       *http2.Conn
	reader   *stream   // the one whose task reads
	waiting  []*stream // the others that wait
	barred   []*stream // that are not open, as the server allows none for now
	write    func()    // send
	begin    func()    // send, unless something is on its way: of sendSoon
	soon     bool      // begin is to be called
	out      *[]byte   // on its way: the server has taken some; nil: nothing is
	taken    int       // of out
	arrived  time.Time // when what was read last arrived
	users    int32     // exchanges
	answered int32     // requests that the server has dealt with
	most     int32     // requests at once; 0: any number
	life     aio.Lot   // requests that wait for a sign of life
	meets    bool      // others wait until it is known how many streams the server takes
	over     bool      // no more requests
	faulty   bool      // the server has broken a rule for which the connection has ended
	failed   *Error    // the failure that ended it, or nil
}

// newMux starts HTTP/2 over a connection.
func newMux(cn *conn) *mux {
	opt := &cn.client.opt
	m := &mux{client: cn.client, cn: cn, h2: http2.New(http2.Options{MaxHead: opt.MaxHead, Window: opt.Window})}
	m.write = m.send
	m.begin = func() {
		if m.soon = false; m.out == nil {
			m.send()
		}
	}
	return m
}

// usable reports whether the connection takes more requests, now or later.
func (m *mux) usable() bool { return m.failed == nil && !m.over && !m.h2.Draining() }

// takes reports whether there is room for one more request. If the last connection has ended with
// requests under way, there is room for as many as that one has served, and one more for each
// response: otherwise most would be sent in vain over each connection of a server that ends them
// early.
func (m *mux) takes() bool {
	return m.h2.Room() > 0 && (m.most == 0 || m.h2.Streams() < int(m.most))
}

// bars reports whether the server allows no requests for now.
func (m *mux) bars() bool { return m.usable() && m.h2.Allowed() == 0 }

// barsLately is bars of a connection that is alive. A new one would probably not be allowed any
// request, either, so even a request that is to be fresh waits for this one.
func (m *mux) barsLately() bool { return m.bars() && m.lively() }

// silence is the time for which a connection may be silent before it is asked for a sign of life,
// and then until it gets no more requests.
const silence = 5 * time.Second

// lively reports whether something has arrived over the connection lately, or it is new. A server
// that has gone without a word, and a network that has forgotten the connection, are silent.
func (m *mux) lively() bool {
	return m.arrived.IsZero() || m.client.loop.Now().Sub(m.arrived) < silence
}

// revive asks the server for a sign of life, and waits for it. Without one the connection takes no
// more requests.
func (m *mux) revive(t *aio.Task, total *limit) error {
	if m.life.Len() == 0 {
		m.h2.Ping()
		m.flush(t)
	}
	until := total.within(silence, m.client.loop.Now(), KindTimeout).at
	err := t.Deadline(until, func(t *aio.Task) error { return m.life.Park(t, "a sign of life over HTTP/2") })
	if errors.Is(err, aio.ErrTimeout) {
		m.retire()
		return nil
	}
	return err
}

// retire lets the connection take no more requests.
func (m *mux) retire() { m.over = true }

// pending reports whether there is something to be sent, beside what is on its way.
func (m *mux) pending() bool {
	return m.h2.Pending() > 0 || m.cn.tls != nil && len(m.cn.tls.out) > 0
}

// flush opens the streams that may be opened, and sends what the server takes.
func (m *mux) flush(t *aio.Task) {
	m.admit()
	if m.out == nil && m.pending() {
		t.OnLoop(m.write)
	}
}

// sendSoon is flush once the tasks that are ready now have run: requests that begin together leave
// in one write, and over TLS in one record.
func (m *mux) sendSoon() {
	m.admit()
	if !m.soon {
		m.soon = true
		m.client.loop.CallSoon(m.begin)
	}
}

// admit opens streams that the server has barred. Those of a connection that its server has ended
// fail, and go over another. Of one that was retired they wait on: a new one would probably not be
// allowed any, either, and their own limits say why they fail.
func (m *mux) admit() {
	for len(m.barred) > 0 && (m.h2.Room() > 0 || m.h2.Draining()) {
		s := m.barred[0]
		m.barred = m.barred[1:]
		s.open()
	}
}

// open opens the stream, or puts that off until the server allows one.
func (s *stream) open() {
	m := s.mux
	if m.bars() {
		m.barred = append(m.barred, s)
		return
	}
	s.before, s.calm = m.answered, s.mux.client.muxes.habit(m.cn.route).calm
	var err error
	if s.h2, err = m.h2.Open(s.mux.client.header.fieldsOf(s.exchange.req), s.exchange.req.Body, s); err != nil {
		s.failed, s.unseen = &Error{Kind: KindReset, Err: err}, true
		s.tell()
	}
}

// send sends what the server takes, and goes on when it takes more. It runs on the loop's stack.
// After an error nothing more is sent: what came before can still be read, and then the end.
func (m *mux) send() {
	c := m.client
	for m.out != nil || m.pending() {
		if m.out == nil {
			m.out, m.taken = c.wire.take(), 0
			if err := m.fill(); err != nil {
				m.end(classify(err, KindTLS))
				return
			}
		}
		n, err := m.cn.Send((*m.out)[m.taken:], m.write)
		if m.taken += n; m.taken < len(*m.out) {
			if err != nil {
				m.retire()
			}
			return
		}
		c.wire.give(m.out)
		m.out = nil
	}
}

// fill puts what is to be sent into out, over TLS encrypted.
func (m *mux) fill() (err error) {
	var plain []byte
	if m.h2.Pending() > 0 {
		plain = m.h2.Output()
	}
	if m.cn.tls == nil {
		*m.out = append(*m.out, plain...)
		return nil
	}
	*m.out, err = m.cn.tls.seal(*m.out, plain)
	return err
}

// read waits for something to arrive, and hands it to the streams. Its error is that of waiting;
// one of the connection goes to all streams.
func (m *mux) read(t *aio.Task, until time.Time) error {
	_ = m.cn.SetReadDeadline(until)
	b, err := m.cn.arrived(t)
	switch {
	case errors.Is(err, io.EOF):
		m.cn.ended = true
	case errors.Is(err, aio.ErrTimeout), errors.Is(err, aio.ErrCanceled):
		return err
	case err != nil:
		m.end(classify(err, KindReset).lost("with requests under way"))
		return nil
	}
	m.arrived = m.client.loop.Arrival(m.cn.Conn)
	m.client.heard(m.arrived)
	m.take(t, b)
	m.cn.exchange.hold.Set(m.cn.exchange.chain + m.h2.Held())
	m.flush(t)
	return nil
}

// take hands what has arrived to the streams.
func (m *mux) take(t *aio.Task, b []byte) {
	now := m.client.loop.Now()
	used, allowed := len(b), m.h2.Allowed()
	var err error
	t.OnLoop(func() {
		if m.cn.tls == nil {
			if len(b) > 0 {
				err = m.h2.Feed(b, now)
			}
		} else {
			m.cn.tls.ended = m.cn.ended
			var opened error
			used, opened = m.cn.tls.open(m.client.record(), b, func(p []byte) {
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
	m.life.UnparkAll(nil)
	var fault *http2.Error
	m.faulty = errors.As(err, &fault) && !fault.Peer
	if m.h2.Known() {
		m.met()
	}
	if m.h2.Allowed() > allowed {
		m.client.muxes.hasRoom(m.cn.route)
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
		m.client.muxes.met(m.cn.route)
	}
}

// end ends the connection: all streams fail, by what h2 has told them, or with an error.
func (m *mux) end(failed *Error) {
	if m.failed != nil {
		return
	}
	m.failed = failed
	m.h2.Close() // which tells those that wait
	m.admit()
	m.life.UnparkAll(nil)
	m.client.muxes.part(m.cn)
	m.met()
}

// leave takes in that an exchange has ended. The last keeps the connection, or closes it.
func (m *mux) leave(t *aio.Task) {
	c := m.client
	m.flush(t)
	if m.users--; m.users > 0 {
		c.muxes.roomForOne(m.cn.route)
		if m.most > 0 {
			c.muxes.roomForOne(m.cn.route)
		}
		return
	}
	m.life.UnparkAll(nil) // nobody reads any more
	c.muxes.part(m.cn)
	m.met()
	m.cn.exchange.hold.Release()
	if !m.usable() || m.out != nil || m.cn.tls != nil && !m.cn.tls.lasting() {
		m.cn.Close()
		return
	}
	c.idle.put(m.cn)
}

// await waits until there is something for a stream to take, or until a time. Of the streams that
// wait, one reads. later: if there is nothing yet, the task waits elsewhere, which waits reports;
// see stream.when.
func (m *mux) await(t *aio.Task, s *stream, until time.Time, later bool) (waits bool, err error) {
	m.waiting = without(m.waiting, s)
	if later {
		err = t.Checkpoint()
		later = until.IsZero() || until.After(m.client.loop.Now())
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
			m.waiting = without(m.waiting, s)
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

// tell wakes the task.
func (s *stream) tell() {
	s.news = true
	s.wake.Unpark(nil)
}

// without takes a stream from a list.
func without(list []*stream, s *stream) []*stream {
	if i := slices.Index(list, s); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
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
	case e.Whole && (e.Peer || e.Excess || e.Other):
		return &Error{Kind: KindEarlyEnd, Err: e}
	case e.Peer:
		return &Error{Kind: KindReset, Err: e}
	}
	return &Error{Kind: KindProtocol, Err: e}
}
