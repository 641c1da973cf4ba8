package http2

import (
	"errors"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// headers takes HEADERS.
func (c *Conn) headers(f frame, b []byte) {
	if f.id >= c.next || f.id%2 == 0 {
		c.broken(ProtocolError, "HEADERS on stream %d, which was not opened", f.id)
		return
	}
	b, ok := f.unpad(b)
	if ok && f.has(flagPriority) {
		if ok = len(b) >= 5; ok {
			b = b[5:]
		}
	}
	if !ok {
		c.broken(ProtocolError, "HEADERS shorter than its padding")
		return
	}
	c.fields.last = f.has(flagEndStream)
	if f.has(flagEndHeaders) {
		c.decode(f.id, b)
		return
	}
	c.fields.open = f.id
	c.fields.block = append(c.fields.block, b...)
}

// continuation takes CONTINUATION.
func (c *Conn) continuation(f frame, b []byte) {
	if c.fields.open == 0 {
		c.broken(ProtocolError, "CONTINUATION without HEADERS")
		return
	}
	if c.idle(); c.err != nil {
		return
	}
	if len(c.fields.block)+len(b) > c.fields.max {
		c.fault(f.id, &Error{Code: EnhanceYourCalm, Text: "more than " + strconv.Itoa(c.fields.max) + " bytes of fields", Excess: true})
		return
	}
	c.fields.block = append(c.fields.block, b...)
	if f.has(flagEndHeaders) {
		c.fields.open = 0
		c.decode(f.id, c.fields.block)
		c.fields.block = nil
	}
}

// decode takes the fields of a stream. Those of one that was closed keep the table up to date.
func (c *Conn) decode(id uint32, block []byte) {
	list, over, err := c.fields.decode(block)
	if errors.Is(err, hpack.ErrStringLength) { // the table cannot be kept up to date
		c.fault(id, &Error{Code: EnhanceYourCalm, Text: "a field of more than " + strconv.Itoa(c.fields.max) + " bytes", Excess: true})
		return
	}
	if err != nil {
		c.broken(CompressionError, "fields that cannot be decoded: %v", err)
		return
	}
	s := c.streams[id]
	switch {
	case s == nil:
		c.idle()
	case over:
		s.abort(Cancel, &Error{Code: EnhanceYourCalm, Text: "more than " + strconv.Itoa(c.fields.max) + " bytes or " + strconv.Itoa(maxFields) + " fields in a head", Excess: true})
	case s.headed:
		s.trailer(list, c.fields.last)
	default:
		s.head(list, c.fields.last)
	}
}

// head takes the head of a response, or an interim one.
func (s *Stream) head(list []Field, last bool) {
	status, bad := statusOf(list)
	if bad == nil {
		list = list[1:]
		bad = check(list)
	}
	if bad == nil && status < 200 {
		if status == 101 || last {
			bad = malformed("interim response %d, expected one that a response follows", status)
		} else {
			s.conn.idle()
			if !s.closed {
				s.to.Interim(status, sizeOf(list))
			}
			return
		}
	}
	if bad == nil {
		s.noBody = s.noBody || status == 204 || status == 304
		s.left, bad = lengthOf(list)
	}
	if bad != nil {
		s.abort(ProtocolError, bad)
		return
	}
	s.headed = true
	s.conn.flood.moved()
	s.to.Head(status, list)
	if last && !s.closed {
		s.end(nil)
	}
}

// trailer takes the fields behind a body.
func (s *Stream) trailer(list []Field, last bool) {
	bad := check(list)
	if !last {
		bad = malformed("HEADERS in the body of a response")
	}
	if bad != nil {
		s.abort(ProtocolError, bad)
		return
	}
	s.end(list)
}
