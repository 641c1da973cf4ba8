package webtest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Server serves a web over HTTP/1.1 with persistent connections. It belongs to one loop, and may
// serve several listeners of it. A new Server has no record of earlier refusals of flaky pages.
type Server struct {
	web     *Web
	log     *Log
	encoder encoder
	refused map[resource]int // refusals of flaky resources so far

	referee *Referee // nil: none
	// A kept connection ended without a response, and the client has not repeated the request yet.
	dropped map[resource]bool
	lag     time.Duration // the longest wait of a request in a turn
}

// NewServer returns a server for w that logs each request; log may be nil.
func NewServer(w *Web, log *Log) *Server {
	if log == nil {
		log = NewLog(nil)
	}
	return &Server{web: w, log: log, refused: make(map[resource]int), dropped: make(map[resource]bool)}
}

const (
	maxHead      = 64 << 10              // bytes of a request
	writeTimeout = 30 * time.Second      // per response, for a client that does not read
	dripEvery    = 10 * time.Millisecond // the second write after the client has gone fails
	acceptWait   = 10 * time.Millisecond // when no descriptor is left
)

// Serve serves ln until it is closed, and then closes its connections.
func (s *Server) Serve(t *aio.Task, ln aio.Listener) error {
	return t.Group(func(g *aio.Group) error {
		for {
			c, err := ln.Accept(t)
			if errors.Is(err, aio.ErrClosed) {
				g.Cancel()
				return nil
			}
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				if err = t.Sleep(acceptWait); err == nil {
					continue
				}
			}
			if err != nil {
				return err
			}
			g.Go("synthetic server", func(t *aio.Task) error {
				defer c.Close()
				return whole(s.talk(t, c))
			})
		}
	})
}

// whole returns err, unless it only means that the client has gone.
func whole(err error) error {
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, aio.ErrTimeout, aio.ErrLimit} {
		if errors.Is(err, gone) {
			return nil
		}
	}
	return err
}

// addressOf returns the local address of a connection.
func addressOf(c aio.Conn) netip.Addr {
	if a, ok := c.LocalAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// talk serves the requests of a connection.
func (s *Server) talk(t *aio.Task, c aio.Conn) error {
	r := aio.NewReader(t.Loop(), c)
	defer r.Close()
	for n := 0; ; n++ {
		head, err := r.ReadUntil(t, []byte("\r\n\r\n"), maxHead)
		if err != nil {
			return err
		}
		req := parseRequest(head)
		req.kept = n > 0
		// The log's times are exact, not those of the loop's turn: a request arrives no earlier, and a
		// whole response ends no later, so that no gap seems shorter than the client made it.
		end := s.log.begin(Request{Host: req.host, Target: req.target, Addr: addressOf(c), Start: t.Loop().Time()})
		var sent time.Time
		status, open, err := s.reply(t, c, r, req, &sent)
		if status == 0 {
			sent = t.Loop().Time()
		}
		end(status, sent)
		if err != nil || !open {
			return err
		}
	}
}

// reply responds to a request. It sets sent before it writes, and returns the status, 0 if the
// response was incomplete, and whether another request may follow.
func (s *Server) reply(t *aio.Task, c aio.Conn, r *aio.Reader, req request, sent *time.Time) (status int, open bool, err error) {
	a := Response{Status: 421}
	ended := func(bool) {}
	bodiless := false
	if p, ok := s.web.locate(req.host, req.target); ok {
		bodiless = req.method == "HEAD" && p.n%2 == 0
		before := s.refused[p]
		if before < s.web.fails(p) {
			s.refused[p]++
		}
		t.OnLoop(func() { a = s.web.respond(p, before) })
		if s.referee != nil {
			ended = s.judged(t, c, p, req, &a)
			defer ended(true)
		}
	}
	if req.method != "GET" && !bodiless {
		a = Response{Status: 501, Framing: Close}
	}
	if req.close && a.Framing == Length {
		a.Header = append(a.Header, "Connection: close")
	}
	if a.RetryAfter > 0 {
		var field string
		field, a.until = retryAfter(a, t.Loop().Time())
		a.Header = append(a.Header, "Retry-After: "+field)
	}
	if a.Delay > 0 {
		if err := t.Sleep(a.Delay); err != nil {
			return 0, false, err
		}
	}
	var wire []byte
	var last bool
	t.OnLoop(func() { wire, last = s.encoder.encode(a, req.gzip) })
	if end := bytes.Index(wire, []byte("\r\n\r\n")); bodiless && end >= 0 {
		wire = wire[:end+4]
	}
	if err := c.SetWriteDeadline(t.Loop().Now().Add(writeTimeout)); err != nil {
		return 0, false, err
	}
	if !a.Fault.endless() {
		ended(false)
	}
	*sent = t.Loop().Time()
	if _, err := c.Write(t, wire); err != nil {
		return 0, false, err
	}
	switch a.Fault {
	case Whole, Bomb:
		return a.Status, !last && !req.close, nil
	case StallHead, StallBody: // until the client gives up
		for {
			got, err := r.Peek(t)
			if err != nil {
				return 0, false, err
			}
			r.Discard(len(got))
		}
	case Drip:
		return 0, false, drip(t, c)
	}
	return 0, false, nil
}

// judged reports a request for p to the referee; ended reports its end, once. The times are exact,
// as in the log.
func (s *Server) judged(t *aio.Task, c aio.Conn, p resource, req request, a *Response) (ended func(gone bool)) {
	again := s.dropped[p]
	delete(s.dropped, p)
	if a.Fault == Drop && req.kept {
		s.dropped[p] = true
	}
	now := time.Now()
	s.lag = max(s.lag, now.Sub(t.Loop().Now()))
	end := s.referee.Begin(Arrival{
		Host: int(p.host), Target: req.target, At: now, Again: again, Moved: p.kind == robotsTxt && p.sub > 0,
		Astray: addressOf(c) != s.web.addresses.at(s.web.addresses.number(int(p.host))),
	})
	if a.Fault.endless() && s.referee.rule.Patience > 0 {
		end(now.Add(s.referee.rule.Patience), 0, true)
		return func(bool) { end(time.Now(), 0, true) } // the crawler gave up earlier
	}
	return func(gone bool) {
		if end != nil {
			now, hold := time.Now(), a.RetryAfter
			if !a.until.IsZero() {
				hold = a.until.Sub(now)
			}
			end(now, hold, gone)
			end = nil
		}
	}
}

// drip writes a piece of a body now and then, until the client gives up.
func drip(t *aio.Task, c aio.Conn) error {
	for {
		if _, err := c.Write(t, []byte("5\r\ndrop\n\r\n")); err != nil {
			return err
		}
		if err := t.Sleep(dripEvery); err != nil {
			return err
		}
	}
}

// retryAfter returns the value of a Retry-After field (RFC 9110, section 10.2.3), and the date in
// it, which is rounded up to whole seconds; zero: it has seconds, which count from the end of the
// response.
func retryAfter(a Response, now time.Time) (field string, until time.Time) {
	if !a.RetryDate {
		return strconv.Itoa(int(a.RetryAfter / time.Second)), time.Time{}
	}
	until = now.Add(a.RetryAfter + time.Second - 1).Truncate(time.Second)
	return until.UTC().Format(http.TimeFormat), until
}

// request is the part of a request that a server needs.
type request struct {
	method, target, host string
	gzip, close          bool
	kept                 bool // not the first of its connection
}

// parseRequest parses the head of a request. Malformed parts stay empty.
func parseRequest(head []byte) request {
	var req request
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	if words := bytes.Split(line, []byte(" ")); len(words) == 3 {
		req.method, req.target = string(words[0]), string(words[1])
		req.close = string(words[2]) != "HTTP/1.1"
	}
	for line := range bytes.SplitSeq(rest, []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Host")):
			req.host = string(value)
		case bytes.EqualFold(name, []byte("Accept-Encoding")):
			req.gzip = req.gzip || bytes.Contains(bytes.ToLower(value), []byte("gzip"))
		case bytes.EqualFold(name, []byte("Connection")):
			req.close = req.close || bytes.EqualFold(value, []byte("close"))
		}
	}
	return req
}
