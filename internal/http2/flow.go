package http2

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
func (s *Stream) Credit() int { return s.credit + s.conn.input.coming(s) }

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
