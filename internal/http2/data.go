package http2

// beginData takes the head of a DATA frame. All of it counts, padding included.
func (c *Conn) beginData() {
	in := &c.input
	f := in.frame
	in.expect(c.streams[f.id])
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
	b, ok := in.unpad(b)
	if !ok {
		c.broken(ProtocolError, "padding of %d bytes in DATA of %d", in.padding, in.frame.length)
		return
	}
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
