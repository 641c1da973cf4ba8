package webtest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Server answers for a web over HTTP/1.1, with connections that are kept. It belongs
// to one loop; it may serve several listeners of that loop. A new Server has
// forgotten how often its flaky pages refused.
type Server struct {
	web     *Web
	log     *Log
	encoder encoder
	refused map[place]int // of flaky places: requests so far
}

// NewServer returns a server for w that notes each request in log, which may be nil.
func NewServer(w *Web, log *Log) *Server {
	if log == nil {
		log = NewLog(nil)
	}
	return &Server{web: w, log: log, refused: make(map[place]int)}
}

const (
	maxHead      = 64 << 10              // bytes of a request
	writeTimeout = 30 * time.Second      // of an answer, for a client that does not read
	acceptWait   = 10 * time.Millisecond // for a descriptor, when none is left
)

// Serve answers on ln until it is closed, and then closes its connections.
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

// whole is err unless it is how clients go away.
func whole(err error) error {
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, aio.ErrTimeout, aio.ErrLimit} {
		if errors.Is(err, gone) {
			return nil
		}
	}
	return err
}

// addressOf returns the address that a connection was made to.
func addressOf(c aio.Conn) netip.Addr {
	if a, ok := c.LocalAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// talk answers the requests of a connection.
func (s *Server) talk(t *aio.Task, c aio.Conn) error {
	r := aio.NewReader(t.Loop(), c)
	defer r.Close()
	for {
		head, err := r.ReadUntil(t, []byte("\r\n\r\n"), maxHead)
		if err != nil {
			return err
		}
		req := parseRequest(head)
		end := s.log.begin(Request{Host: req.host, Target: req.target, Addr: addressOf(c), Start: t.Loop().Now()})
		status, open, err := s.reply(t, c, r, req)
		end(status, t.Loop().Now())
		if err != nil || !open {
			return err
		}
	}
}

// reply sends the answer to a request. It returns the status, 0 if the answer was not
// whole, and whether another request may follow.
func (s *Server) reply(t *aio.Task, c aio.Conn, r *aio.Reader, req request) (status int, open bool, err error) {
	a := Answer{Status: 421}
	if p, ok := s.web.locate(req.host, req.target); ok {
		before := s.refused[p]
		if before < s.web.fails(p) {
			s.refused[p]++
		}
		t.OnLoop(func() { a = s.web.answer(p, before) })
	}
	if req.method != "GET" {
		a = Answer{Status: 501, Framing: Close}
	}
	if req.close && a.Framing == Length {
		a.Header = append(a.Header, "Connection: close")
	}
	if a.Delay > 0 {
		if err := t.Sleep(a.Delay); err != nil {
			return 0, false, err
		}
	}
	var wire []byte
	var last bool
	t.OnLoop(func() { wire, last = s.encoder.answer(a, req.gzip) })
	if err := c.SetWriteDeadline(t.Loop().Now().Add(writeTimeout)); err != nil {
		return 0, false, err
	}
	if _, err := c.Write(t, wire); err != nil {
		return 0, false, err
	}
	switch a.Fault {
	case Whole:
		return a.Status, !last && !req.close, nil
	case StallHead, StallBody: // until the client has had enough
		for {
			got, err := r.Peek(t)
			if err != nil {
				return 0, false, err
			}
			r.Discard(len(got))
		}
	}
	return 0, false, nil
}

// request is what a server needs to know of one.
type request struct {
	method, target, host string
	gzip, close          bool
}

// parseRequest reads the head of a request. What is wrong in it is empty.
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
