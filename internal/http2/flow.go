package http2

import "encoding/binary"

// sendCredit lets the server send n more bytes on a stream; 0 is the connection.
func (c *Conn) sendCredit(id uint32, n int) {
	c.send(frame{kind: kindWindowUpdate, id: id}, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

// arrived returns credit of the connection. What arrives is credited at once, whatever becomes of
// it: streams wait for each other never, and the credit of each bounds what it holds.
func (c *Conn) arrived(n int) {
	if c.returned += n; c.returned >= c.opt.ConnWindow/2 && c.err == nil {
		c.sendCredit(0, c.returned)
		c.returned = 0
	}
}

// Credit returns how many bytes may still come: those that the server may send, and the rest of a
// frame whose beginning has arrived.
func (s *Stream) Credit() int {
	if in := &s.conn.input; in.data == s {
		return s.credit + in.left
	}
	return s.credit
}

// Grant lets the server send n bytes more.
func (s *Stream) Grant(n int) {
	if n = min(n, maxWindow-s.credit); n > 0 && !s.closed && s.conn.err == nil {
		s.conn.sendCredit(s.id, n)
		s.credit += n
	}
}

// padded returns credit for padding, which a receiver does not see.
func (s *Stream) padded(n int) {
	if s.padding += n; s.padding >= s.conn.opt.Window/2 {
		s.Grant(s.padding)
		s.padding = 0
	}
}

// windowUpdate takes credit from the server.
func (c *Conn) windowUpdate(f frame, b []byte) {
	if len(b) != 4 {
		c.broken(FrameSizeError, "WINDOW_UPDATE of %d bytes, expected 4", len(b))
		return
	}
	if c.idle(); c.err != nil {
		return
	}
	n, wrong := int64(binary.BigEndian.Uint32(b)&maxID), FlowControlError
	if n == 0 {
		wrong = ProtocolError // RFC 9113, section 6.9
	}
	if f.id == 0 {
		if c.peer.credit += n; n == 0 || c.peer.credit > maxWindow {
			c.broken(wrong, "WINDOW_UPDATE of %d bytes for a window of %d", n, c.peer.credit-n)
			return
		}
	} else if s := c.streams[f.id]; s != nil {
		if s.sendable += n; n == 0 || s.sendable > maxWindow {
			s.abort(wrong, malformed("WINDOW_UPDATE of %d bytes for a window of %d", n, s.sendable-n))
			return
		}
	} else if f.id >= c.next || f.id%2 == 0 {
		c.broken(ProtocolError, "WINDOW_UPDATE on stream %d, which was not opened", f.id)
		return
	}
	c.flush()
}

// flush sends what there is credit for.
func (c *Conn) flush() {
	for _, s := range c.streams {
		if len(s.unsent) > 0 {
			s.flush()
		}
	}
}

// flush sends what there is credit for of the body of a request.
func (s *Stream) flush() {
	c := s.conn
	for len(s.unsent) > 0 {
		n := int(min(int64(len(s.unsent)), s.sendable, c.peer.credit, int64(c.peer.frame)))
		if n <= 0 {
			return
		}
		f := frame{kind: kindData, id: s.id}
		if n == len(s.unsent) {
			f.flags = flagEndStream
		}
		c.send(f, s.unsent[:n])
		s.unsent = s.unsent[n:]
		s.sendable -= int64(n)
		c.peer.credit -= int64(n)
	}
}

// beginData takes the head of a DATA frame. All of it counts, padding included.
func (c *Conn) beginData() {
	in := &c.input
	f := in.frame
	in.data, in.padding, in.moved = c.streams[f.id], 0, false
	if f.has(flagPadded) {
		in.padding = -1
	}
	switch {
	case f.id >= c.next || f.id%2 == 0:
		c.broken(ProtocolError, "DATA on stream %d, which was not opened", f.id)
		return
	case in.padding < 0 && f.length == 0:
		c.broken(ProtocolError, "DATA without the length of its padding")
		return
	}
	s := in.data
	if s == nil {
		c.idle() // of a stream that was closed
		return
	}
	if s.credit -= f.length; s.credit < 0 {
		s.abort(FlowControlError, &Error{Code: FlowControlError, Text: "DATA beyond the window of the stream"})
		in.data = nil
	}
}

// data takes some of the payload of a DATA frame.
func (c *Conn) data(b []byte) {
	in := &c.input
	all := len(b)
	c.arrived(all)
	if in.padding < 0 {
		if in.padding, b = int(b[0]), b[1:]; in.padding > in.frame.length-1 {
			c.broken(ProtocolError, "padding of %d bytes in DATA of %d", in.padding, in.frame.length)
			return
		}
	}
	// What has arrived of the padding is at the end.
	b = b[:max(0, len(b)-max(0, in.padding-in.left))]
	s := in.data
	if s == nil || s.closed {
		return
	}
	s.padded(all - len(b))
	if len(b) > 0 {
		in.moved = true
		s.data(b)
	}
}

// endData takes the end of a DATA frame.
func (c *Conn) endData() {
	in := &c.input
	s, last := in.data, in.frame.has(flagEndStream)
	in.data = nil
	switch {
	case in.moved:
		c.flood.moved()
	case s != nil && !last:
		c.idle()
	}
	if s != nil && !last && s.left == 0 && s.credit == 0 {
		s.Grant(1) // some servers find that a body has ended only while they may send more: Apache
	}
	if s != nil && !s.closed && last {
		s.end(nil)
	}
}
