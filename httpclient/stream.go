package httpclient

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/http2"
)

// stream is an exchange over HTTP/2. It is the receiver of its response: what arrives waits in
// arrived, which the server's credit bounds, until the task takes it.
type stream struct {
	exchange
	mux     *mux
	h2      *http2.Stream
	wake    aio.Lot
	arrived *[]byte // of the body
	ended   bool
	failed  *Error
	code    http2.Code // with failed: what the server said
	again   bool       // with failed: the server has not looked at the request
	first   time.Time  // when the first of the response arrived; zero: nothing has
}

// ready reports whether there is something for the task to take.
func (s *stream) ready() bool {
	return s.ended || s.failed != nil || s.mux.failed != nil || s.arrived != nil || s.headed()
}

// headed reports whether the head has arrived since the task looked last.
func (s *stream) headed() bool { return s.parser.res != nil && s.parser.state == inHead }

// do sends a request, whose stream is open, and reads the response into the parser: see conn.do.
func (s *stream) do(t *aio.Task, total limit) *Error {
	c, p := s.client, &s.parser
	if err := s.mux.flush(t, total.at); err != nil {
		return total.classify(err, KindReset, func() string { return "request not sent" })
	}
	sent := c.loop.Time()
	patience := total
	if c.opt.FirstByteTimeout > 0 {
		patience = total.within(c.opt.FirstByteTimeout, sent, KindFirstByteTimeout)
	}
	for {
		err := s.watch(patience, func(until time.Time) error { return s.mux.await(t, s, until) })
		if err != nil {
			return patience.classify(err, KindReset, func() string { return s.pending(patience) })
		}
		waited, failed := s.take(t, &total)
		if failed != nil {
			return failed
		}
		if !s.first.IsZero() {
			s.timing.FirstByte = max(0, s.first.Sub(sent))
			s.moved(c.loop.Now(), waited)
		}
		s.count()
		if err := s.mux.flush(t, total.at); err != nil && p.state != whole { // credit, as it was consumed
			return total.classify(err, KindReset, func() string { return s.pending(total) })
		}
		if p.state == whole {
			s.timing.took(max(0, s.mux.arrived.Sub(sent)))
			return s.decode(t, &total)
		}
		if !s.first.IsZero() {
			patience = s.patience(total)
			if failed = s.judge(waited); failed != nil {
				return failed
			}
		}
	}
}

// take takes what has arrived, once there is memory for it.
func (s *stream) take(t *aio.Task, total *limit) (waited time.Duration, failed *Error) {
	p := &s.parser
	if s.failed == nil && s.mux.failed != nil && !s.ended {
		s.failed = s.mux.failed
	}
	if s.headed() {
		p.state = inRest
		if s.wantsMore() > p.maxBody && !p.cut {
			return 0, p.beyond()
		}
	}
	if b := s.arrived; b != nil {
		s.arrived = nil // more may arrive while it waits for room
		waited, failed = s.makeRoom(t, len(*b), total)
		if failed == nil {
			t.OnLoop(func() { _, failed = p.feed(*b) })
		}
		s.h2.Consume(len(*b))
		s.client.wire.give(b)
		if failed != nil {
			return waited, failed
		}
	}
	switch {
	case s.failed != nil:
		return waited, s.failed
	case s.ended && s.arrived == nil && p.res != nil:
		p.state = whole
	}
	if p.state == whole {
		if p.body == nil {
			p.body = s.client.wire.take()
		}
		p.res.from, p.res.whole, p.body = &s.client.wire, p.body, nil
		p.res.Body = *p.res.whole
		if p.keep {
			p.res.wire, p.res.pool = p.res.whole, p.res.from
		}
	}
	return waited, nil
}

// wantsMore returns the length of the body by the head; 0: not known, or none.
func (s *stream) wantsMore() int {
	if s.parser.head || s.parser.res.Status == 304 {
		return 0
	}
	n, _ := strconv.Atoi(s.parser.res.Header.Get("Content-Length"))
	return n
}

// begun notes when the first of the response arrived, and its length.
func (s *stream) begun(size int) {
	if s.parser.wire == 0 {
		s.first = s.mux.arrived
	}
	s.parser.wire += int64(size)
	s.wake.Unpark(nil)
}

// Interim takes a 1xx.
func (s *stream) Interim(_, size int) {
	s.begun(size)
	if s.parser.interim++; s.parser.interim > maxInterim {
		s.failed = fail(KindTooLarge, "more than %d interim responses", maxInterim)
		s.h2.Cancel()
	}
}

// Head takes the head of the response. As text it is what HTTP/1.1 would have sent, for archives.
func (s *stream) Head(status int, fields []http2.Field) {
	res := &Response{Proto: "HTTP/2", Status: status, Header: make(Header, 0, len(fields))}
	size := 0
	for _, f := range fields {
		res.Header = append(res.Header, Field{f.Name, trim(f.Value)})
		size += len(f.Name) + len(f.Value)
	}
	if s.parser.keep {
		head := fmt.Appendf(make([]byte, 0, size+4*len(fields)+32), "HTTP/1.1 %d \r\n", status)
		res.RawHead = string(append(appendFields(head, res.Header, nil), "\r\n"...))
	}
	s.parser.res = res
	s.begun(size)
}

// Data takes a piece of the body.
func (s *stream) Data(b []byte) {
	if s.arrived == nil {
		s.arrived = s.client.wire.take()
	}
	*s.arrived = append(*s.arrived, b...)
	s.wake.Unpark(nil)
}

// End takes the end of the response.
func (s *stream) End(trailer []http2.Field) {
	for _, f := range trailer {
		s.parser.res.Trailer.Add(f.Name, trim(f.Value))
	}
	s.ended = true
	s.wake.Unpark(nil)
}

// Fail takes the end of the exchange without a response.
func (s *stream) Fail(err *http2.Error) {
	s.failed, s.code, s.again = kindOfH2(err), err.Code, err.Unprocessed
	if s.mux.failed != nil { // which says more
		s.failed = s.mux.failed
	}
	s.wake.Unpark(nil)
}
