package http2

import "encoding/binary"

// Stream is a request and its response.
type Stream struct {
	conn *Conn
	to   Receiver

	unsent   []byte // of the request's body
	sendable int64  // bytes that we may send

	credit  int   // bytes that the server may send
	padding int   // received, and not credited yet
	left    int64 // bytes of the body that must come still; -1: not known

	id     uint32
	noBody bool // the request was HEAD, or the status is one that has no body
	headed bool // the head of the response has arrived
	closed bool
}

// Open sends a request; its fields begin with those of the protocol, and their names are in lower
// case. The response goes to a receiver. Errors: ErrBusy, ErrDraining, or that of the connection.
func (c *Conn) Open(request []Field, body []byte, to Receiver) (*Stream, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case c.Draining():
		return nil, ErrDraining
	case c.Room() == 0:
		return nil, ErrBusy
	}
	s := &Stream{conn: c, id: c.next, to: to, unsent: body, sendable: c.peer.window, credit: c.opt.Window, left: -1}
	c.next += 2
	c.streams[s.id] = s
	c.sendFields(s.id, request, len(body) == 0)
	s.noBody = len(request) > 0 && request[0] == Field{Name: ":method", Value: "HEAD"}
	s.flush()
	return s, nil
}

// sendFields sends the fields of a request.
func (c *Conn) sendFields(id uint32, request []Field, end bool) {
	block := c.fields.encode(request)
	f := frame{kind: kindHeaders, id: id}
	if end {
		f.flags = flagEndStream
	}
	for {
		part := block[:min(len(block), c.peer.frame)]
		if block = block[len(part):]; len(block) == 0 {
			f.flags |= flagEndHeaders
		}
		c.send(f, part)
		if len(block) == 0 {
			return
		}
		f = frame{kind: kindContinuation, id: id}
	}
}

// Unsent returns how many bytes of the request's body the server has not allowed to be sent yet.
func (s *Stream) Unsent() int { return len(s.unsent) }

// ID is the stream's number.
func (s *Stream) ID() uint32 { return s.id }

// Cancel ends the exchange, if it has not ended: nothing more goes to the receiver.
func (s *Stream) Cancel() {
	if !s.closed {
		s.close()
		s.conn.sendReset(s.id, Cancel)
	}
}

func (c *Conn) sendReset(id uint32, code Code) {
	if c.err == nil {
		c.send(frame{kind: kindReset, id: id}, binary.BigEndian.AppendUint32(nil, uint32(code)))
	}
}

// close takes the stream from the connection.
func (s *Stream) close() {
	s.closed = true
	delete(s.conn.streams, s.id)
}

// fail ends the exchange with an error.
func (s *Stream) fail(err *Error) {
	s.close()
	s.to.Fail(err)
}

// abort is fail for what the server has done wrong on the stream alone.
func (s *Stream) abort(code Code, err *Error) {
	s.conn.sendReset(s.id, code)
	s.fail(err)
}

// data takes a piece of the body.
func (s *Stream) data(b []byte) {
	var bad *Error
	n := len(b)
	switch {
	case !s.headed:
		n, bad = 0, malformed("DATA before the head of the response")
	case s.noBody:
		n, bad = 0, malformed("DATA in a response that has no body")
	case s.left >= 0:
		if s.left -= int64(len(b)); s.left < 0 {
			n, bad = len(b)+int(s.left), malformed("more DATA than the content-length says")
		}
	}
	if n > 0 {
		s.to.Data(b[:n])
	}
	if bad != nil && !s.closed {
		s.abort(ProtocolError, bad)
	}
}

// end takes the end of the response.
func (s *Stream) end(trailer []Field) {
	switch {
	case !s.headed:
		s.abort(ProtocolError, malformed("the stream ended before the head of a response"))
		return
	case s.left > 0 && !s.noBody:
		s.abort(ProtocolError, malformed("the stream ended %d bytes before the content-length", s.left))
		return
	}
	if len(s.unsent) > 0 { // the server does not want the rest
		s.conn.sendReset(s.id, NoError)
	}
	s.close()
	s.to.End(trailer)
}
