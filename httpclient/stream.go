package httpclient

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/http2"
)

// stream is an exchange over HTTP/2. It is the receiver of its response, whose body goes into the
// parser's as it arrives, whichever task reads. Its own task is woken for news alone: the head, the
// end, and when there is no room for more.
//
// The server may send a first window unasked: see Options.Window. Beyond that, a stream has credit
// for what its body has room for, which the meter has granted before. So a stream waits for room
// without keeping others from their data, and what has arrived is never in the way.
type stream struct {
	exchange  exchange
	mux       *mux
	h2        *http2.Stream // nil: it is not open yet
	wake      aio.Lot
	news      bool // there is something for the task to do
	starved   bool // there was no room for more, and the server has used up its credit
	ended     bool
	unseen    bool       // with failed: the server has not looked at the request
	bystander bool       // with failed: what came for another has ended the connection
	alone     bool       // with failed: there was no other over the connection
	taken     int32      // with unseen: how many others it has taken over the connection
	before    int32      // requests that it had dealt with
	calm      int32      // requests that the server takes at once: see habit
	code      http2.Code // with failed: what the server said
	failed    *Error
}

// newStream begins an exchange over a connection of HTTP/2.
func (c *Client) newStream(cn *conn, req *Request, tm Timing) *stream {
	m := cn.mux
	m.users++
	s := &stream{mux: m}
	s.exchange.client = c
	s.exchange.hold = c.opt.Meter.Open(req.Prompt)
	s.exchange.begin(req, tm)
	if c.opt.KeepRaw {
		s.exchange.sent = string(c.header.append(nil, req))
	}
	s.open()
	return s
}

// unsent reports whether the server may not have taken the request yet.
func (s *stream) unsent() bool {
	return (s.exchange.arrival == nil || s.exchange.parser.empty()) && (s.h2 == nil || s.h2.Unsent() > 0 || s.mux.out != nil)
}

// send sends the request of a call.
func (s *stream) send(*aio.Task, *call) *Error {
	s.mux.sendSoon()
	return s.failed
}

// when lets the task wait for news, or for something to read if nobody else reads: see attempt.
func (s *stream) when(t *aio.Task, k *call, next func(t *aio.Task) error) error {
	m, until := s.mux, s.exchange.due(s.patienceOf(k))
	switch {
	case s.news:
		return t.Then(next)
	case m.reader == nil:
		m.reader = s
		return m.cn.whenReadable(t, until, next)
	}
	m.waiting = append(m.waiting, s)
	return s.wake.Then(t, "a response over HTTP/2", until, next)
}

// receive reads the response into the parser.
func (s *stream) receive(t *aio.Task, k *call) (failed *Error, waits bool) {
	c, patience := s.mux.client, s.patienceOf(k)
	for {
		err := s.exchange.watch(patience, func(until time.Time) (err error) {
			waits, err = s.mux.await(t, s, until, k.next != nil && !s.begun())
			return err
		})
		if waits {
			return nil, true
		}
		s.exchange.arrive()
		s.news = false
		if !s.exchange.first.IsZero() {
			s.exchange.timing.FirstByte = max(0, s.exchange.first.Sub(k.sent))
		}
		var waited time.Duration
		switch {
		case s.failed != nil:
			return s.failed, false
		case s.ended || s.exchange.parser.cutOff():
			s.exchange.timing.took(max(0, s.exchange.final.Sub(k.sent)))
			s.exchange.complete()
			s.exchange.count()
			return s.exchange.decode(t, &k.total), false
		case err == nil && s.starved:
			var failed *Error
			if waited, failed = s.feed(t, &k.total); failed != nil {
				return failed, false
			}
		}
		var later limit
		if !s.exchange.began.IsZero() {
			later = s.exchange.patience(k.total)
		}
		if err != nil && !(errors.Is(err, aio.ErrTimeout) && later.at.After(patience.at)) {
			late := errors.Is(err, aio.ErrTimeout)
			if late && s.unsent() && patience.kind == KindFirstByteTimeout {
				k.sent = c.loop.Now() // at the earliest
			}
			if now := s.patienceOf(k); late && s.exchange.began.IsZero() && now.at.After(patience.at) {
				patience = now
				continue
			}
			if errors.Is(err, aio.ErrTimeout) && (s.unsent() || s.mux.arrived.Before(k.sent)) {
				s.mux.retire() // nothing at all goes, or comes, over it
			}
			return patience.classify(err, KindReset, func() string { return s.pending(patience) }), false
		}
		if !s.exchange.began.IsZero() {
			patience = later
			if failed := s.exchange.judge(waited); failed != nil {
				return failed, false
			}
		}
	}
}

// end ends the exchange of a call: see attempt.
func (s *stream) end(t *aio.Task, k *call, failed *Error) (res *Response, err *Error, again bool) {
	s.exchange.arrive() // for what is said of a failure
	m := s.mux
	if failed != nil {
		m.cn.gaveUp = true
		failed = s.exchange.blame(failed)
		failed.unseen, failed.overloaded, failed.alone = s.unseen, s.overloads(), s.alone
		s.exchange.timing.Total = s.mux.client.loop.Now().Sub(k.began)
	}
	if s.h2 != nil {
		s.h2.Cancel() // unless it has ended
	}
	m.barred = without(m.barred, s)
	res = s.exchange.response(m.cn, failed)
	m.cn.reused = true // from now on
	again = int(k.tried) < s.tries() && s.mux.client.again(s, k.req, res, failed)
	if s.unseen && m.bars() {
		k.barred++
	}
	if h := s.mux.client.muxes.habit(m.cn.route); !h.http1 {
		if h.most = s.served(); h.most > 0 {
			s.mux.client.muxes.remember(m.cn.route, h)
		}
	}
	if failed != nil && !again && !failed.overloaded && s.stale(failed) {
		failed.Err = fmt.Errorf("%w: %w", ErrStale, failed.Err)
	}
	m.leave(t)
	return res, failed, again
}

// again reports whether the request of a stream is to be sent once more, and learns from its end
// whether its server wants HTTP/1.1.
func (c *Client) again(s *stream, req *Request, res *Response, failed *Error) bool {
	barred := s.barredOut(failed)
	wants1 := barred || failed != nil && s.code == http2.HTTP11Required || failed == nil && res.Status == 421
	switch {
	case wants1 && !c.opt.HTTP2:
		c.muxes.wants1(s.mux.cn.route, barred)
		s.mux.retire()
		return true
	case failed == nil || wants1 || s.code == http2.EnhanceYourCalm: // the caller says when it is calm
		return false
	}
	return s.unseen || s.bystander && req.Method != "POST" || s.stale(failed) && req.repeats()
}

// mostTries bounds the tries of a request that a server refuses, or whose connection ends: see
// stream.tries.
const mostTries = 3

// tries returns how often a request may be sent again that was refused, or whose connection has
// ended. A server that has responded over the connection probably responds over the next one; one
// that has not is tried once more, and then the caller decides when to come back.
func (s *stream) tries() int {
	switch m := s.mux; {
	case s.bystander, // whoever is to blame is not sent again
		s.unseen && m.bars(): // it waits
		return math.MaxInt
	case s.unseen && (s.taken > 0 || m.answered > s.before): // it takes others
		return math.MaxInt
	case s.unseen && m.answered == 0:
		return 1
	case s.unseen && m.h2.Draining():
		return math.MaxInt
	}
	return mostTries - 1
}

// served returns how many requests the connection had served, if it ended with this one under way;
// else 0. After a fault of the server it is 1: of the requests that are under way at the next all
// but one are sent in vain.
func (s *stream) served() int32 {
	switch m := s.mux; {
	case s.failed == nil || !m.h2.Draining():
		return 0
	case m.faulty:
		return 1
	case s.unseen:
		return s.taken
	default:
		return m.answered
	}
}

// stale reports whether the end of a connection that had served others met the request: see
// conn.stale.
func (s *stream) stale(failed *Error) bool { return s.cutShort(failed) && s.mux.answered > 0 }

// cutShort reports whether the connection ended before anything of the response.
func (s *stream) cutShort(failed *Error) bool {
	return s.mux.failed != nil && s.exchange.parser.empty() && (failed.Kind == KindEarlyEnd || failed.Kind == KindReset)
}

// feed waits for room for more of the body, and lets the server send it.
func (s *stream) feed(t *aio.Task, total *limit) (waited time.Duration, failed *Error) {
	s.starved = false
	if waited, failed = s.exchange.makeRoom(t, s.lack(), total); failed != nil {
		return waited, failed
	}
	s.exchange.moved(s.mux.client.loop.Now(), waited)
	s.grant()
	s.mux.flush(t)
	return waited, nil
}

// extend lets the server send more, if there is room and it has sent most of what it may.
func (s *stream) extend() {
	p, credit := &s.exchange.parser, s.h2.Credit()
	switch {
	case credit > max(s.mux.client.opt.Window, len(*p.body))/4, p.state == inBody && int64(credit) > p.left:
	case s.exchange.tryRoom(s.lack()):
		s.grant()
	case credit == 0:
		s.starved = true
		s.tell()
	}
}

// lack returns for how many bytes more there should be room.
func (s *stream) lack() int {
	p := &s.exchange.parser
	n := min(s.mux.client.opt.Window, p.room())
	if p.state == inBody {
		n = int(min(int64(n), p.left))
	}
	return n
}

// grant gives the server credit for what the body has room for; for one byte more if that is all
// that is wanted, so that it shows when there is more, or nothing.
func (s *stream) grant() {
	p := &s.exchange.parser
	n := min(cap(*p.body)-len(*p.body), p.room())
	if n == p.room() {
		n++
	}
	if p.state == inBody && int64(n) >= p.left {
		n = int(p.left) + 1
	}
	s.h2.Grant(n - s.h2.Credit())
}

// begun reports whether something of the response has arrived.
func (s *stream) begun() bool { return s.exchange.arrival != nil && !s.exchange.first.IsZero() }

// arrived notes that some of the response has arrived, of size bytes that the parser does not see.
func (s *stream) arrived(size int) {
	s.exchange.arrive()
	if s.exchange.first.IsZero() {
		s.exchange.first = s.mux.arrived
		s.tell()
	}
	s.exchange.final = s.mux.arrived
	s.exchange.parser.wire += int64(size)
	s.exchange.moved(s.mux.client.loop.Now(), 0)
}

// Interim takes a 1xx.
func (s *stream) Interim(_, size int) {
	s.arrived(size)
	if s.exchange.parser.interim++; s.exchange.parser.interim > maxInterim {
		s.failed = fail(KindTooLarge, "more than %d interim responses", maxInterim)
		s.tell()
	}
}

// Head takes the head of the response. As text it is what HTTP/1.1 would have sent, for archives.
func (s *stream) Head(status int, fields []http2.Field) {
	if s.failed != nil {
		return
	}
	s.exchange.arrive()
	p := &s.exchange.parser
	res := &Response{Proto: "HTTP/2", Status: status, Header: make(Header, 0, len(fields))}
	size := 0
	for _, f := range fields {
		res.Header = append(res.Header, Field{f.Name, trim(f.Value)})
		size += len(f.Name) + len(f.Value)
	}
	if p.keep {
		head := fmt.Appendf(make([]byte, 0, size+4*len(fields)+32), "HTTP/1.1 %d \r\n", status)
		res.RawHead = string(append(appendFields(head, res.Header, nil), "\r\n"...))
	}
	p.res, p.state = res, inRest
	s.arrived(size)
	if n, _ := strconv.ParseInt(res.Header.Get("Content-Length"), 10, 64); n > 0 && !p.head && status != 304 {
		if p.state, p.left = inBody, n; n > int64(p.maxBody) && !p.cut {
			s.failed = p.beyond()
		} else if n > int64(s.mux.client.opt.Window) && n <= fastGrowth && s.exchange.tryRoom(min(int(n), p.maxBody)) {
			s.grant() // at once: each growth would cost a round trip
		}
	}
	s.exchange.count()
	s.tell()
}

// Data takes a piece of the body. There is room for it, or it belongs to the first window.
func (s *stream) Data(b []byte) {
	s.exchange.arrive()
	p := &s.exchange.parser
	if s.failed != nil || p.state == whole {
		return
	}
	s.arrived(0)
	if !s.exchange.tryRoom(len(b)) {
		s.exchange.enlarge(max(len(*p.body)+len(b), min(2*cap(*p.body), s.mux.client.opt.Window)))
		s.exchange.count()
	}
	if _, s.failed = p.feed(b); s.failed != nil || p.cutOff() {
		s.tell()
	} else if p.state != whole {
		s.extend()
	}
}

// End takes the end of the response.
func (s *stream) End(trailer []http2.Field) {
	if s.failed == nil { // else there may be no head
		for _, f := range trailer {
			s.exchange.parser.res.Trailer.Add(f.Name, trim(f.Value))
		}
	}
	s.arrived(0)
	s.mux.answered++
	if s.mux.most > 0 {
		s.mux.most++
	}
	s.ended = true
	s.tell()
}

// pending says what had not happened yet when a limit struck.
func (s *stream) pending(patience limit) string {
	switch {
	case s.h2 == nil:
		return "no request allowed by the server"
	case s.unsent():
		return "request not sent"
	}
	return s.exchange.pending(patience)
}

// Fail takes the end of the exchange without a response.
func (s *stream) Fail(err *http2.Error) {
	m := s.mux
	s.failed, s.unseen, s.taken = kindOfH2(err), err.Unprocessed, int32(err.Taken)
	s.bystander, s.alone = err.Other, m.users == 1
	switch {
	case m.failed != nil: // which says more
		failed := *m.failed
		s.failed = &failed
	case err.Peer:
		if s.code = err.Code; s.code == http2.EnhanceYourCalm {
			s.mux.client.muxes.calmDown(m.cn.route, s.calm)
		}
		if !err.Whole && !err.Unprocessed {
			m.answered++
		}
	case err.Whole && m.answered > 0: // for nothing that has to do with the others
		s.failed.Kind = KindEarlyEnd
	}
	s.tell()
}

// overloads reports whether the server has too much to do: it refuses the request, or asks for
// calm.
func (s *stream) overloads() bool {
	return s.code == http2.EnhanceYourCalm || s.code == http2.RefusedStream && s.unseen
}

// barredOut reports whether a request has failed as the server allowed none for too long, though it
// may over HTTP/1.1.
func (s *stream) barredOut(failed *Error) bool {
	return failed != nil && failed.Kind == KindTimeout && s.barred() && !s.mux.client.muxes.habit(s.mux.cn.route).only2
}

// barred reports whether the server has not allowed the request yet, and need not be asked over
// HTTP/2.
func (s *stream) barred() bool { return s.h2 == nil && s.failed == nil && !s.mux.client.opt.HTTP2 }

// patienceOf returns how long a call need see nothing of the response.
func (s *stream) patienceOf(k *call) limit {
	l := k.patience()
	if s.barred() {
		l = l.within(silence, k.sent, KindTimeout)
	}
	return l
}
