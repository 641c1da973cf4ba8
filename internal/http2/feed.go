package http2

import "time"

// Feed takes what has arrived. Its error is an *Error: the connection has ended; what Output
// returns then says so to the server.
func (c *Conn) Feed(b []byte, now time.Time) error {
	c.now = now
	for c.err == nil && len(b) > 0 {
		b = b[c.step(b):]
	}
	if c.err != nil {
		return c.err
	}
	return nil
}

// step takes some of what has arrived, and returns how much.
func (c *Conn) step(b []byte) int {
	in := &c.input
	if in.got < headLen {
		n := in.addHead(b)
		if in.got == headLen {
			c.begin()
		}
		return n
	}
	b = in.piece(b)
	payload := b
	if in.frame.kind == kindData {
		c.data(b)
	} else {
		payload = in.gather(b)
	}
	if in.left == 0 {
		c.finish(payload)
	}
	return len(b)
}

// begin takes the head of a frame.
func (c *Conn) begin() {
	in := &c.input
	f := in.frame
	switch {
	case !c.peer.known && (f.kind != kindSettings || f.has(flagAck)):
		if string(in.head[:5]) == "HTTP/" {
			c.end(&Error{Code: HTTP11Required, Text: "the server speaks HTTP/1, expected HTTP/2", Whole: true, Peer: true})
			return
		}
		c.fault(0, malformed("the server's first frame is of type %d, expected its settings", f.kind))
	case f.length > maxFrame:
		c.broken(FrameSizeError, "frame of %d bytes, expected at most %d", f.length, maxFrame)
	case c.fields.open != 0 && (f.kind != kindContinuation || f.id != c.fields.open):
		c.fault(c.fields.open, malformed("frame of type %d within the fields of stream %d", f.kind, c.fields.open))
	case f.kind == kindData:
		c.beginData()
	}
	if c.err == nil && f.length == 0 {
		c.finish(nil)
	}
}

// finish takes a frame whose payload has arrived.
func (c *Conn) finish(payload []byte) {
	if c.err == nil {
		c.take(c.input.frame, payload)
	}
	c.input.end()
}

// take takes a frame. That of data has been taken but for its end.
func (c *Conn) take(f frame, b []byte) {
	switch f.kind {
	case kindData:
		c.endData()
	case kindHeaders:
		c.headers(f, b)
	case kindContinuation:
		c.continuation(f, b)
	case kindReset:
		c.reset(f, b)
	case kindSettings:
		c.settings(f, b)
	case kindPush:
		c.broken(ProtocolError, "server push, which was refused")
	case kindPing:
		c.ping(f, b)
	case kindGoAway:
		c.goAway(f, b)
	case kindWindowUpdate:
		c.windowUpdate(f, b)
	case kindPriority:
		c.priority(f)
	default: // RFC 9113, section 4.1: of a type that is not known
		c.idle()
	}
}
