package http2

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// priority takes PRIORITY, which is of no account (RFC 9113, section 6.3).
func (c *Conn) priority(f frame) {
	s := c.streams[f.id]
	switch {
	case f.id == 0:
		c.broken(ProtocolError, "PRIORITY on stream 0, expected one that it is for")
	case f.length != 5 && s != nil:
		s.abort(FrameSizeError, &Error{Code: FrameSizeError, Text: fmt.Sprintf("PRIORITY of %d bytes, expected 5", f.length)})
	default:
		c.idle()
	}
}

func (c *Conn) ping(f frame, b []byte) {
	switch {
	case f.id != 0:
		c.broken(ProtocolError, "PING on stream %d, expected none", f.id)
	case len(b) != 8:
		c.broken(FrameSizeError, "PING of %d bytes, expected 8", len(b))
	default:
		if c.idle(); c.err == nil && !f.has(flagAck) {
			c.reply(frame{kind: kindPing, flags: flagAck}, b)
		}
	}
}

func (c *Conn) goAway(f frame, b []byte) {
	if f.id != 0 || len(b) < 8 {
		c.broken(ProtocolError, "GOAWAY of %d bytes on stream %d, expected 8 or more on none", len(b), f.id)
		return
	}
	last, code := binary.BigEndian.Uint32(b)&maxID, Code(binary.BigEndian.Uint32(b[4:]))
	if last > c.peer.last {
		c.broken(ProtocolError, "GOAWAY raises the last stream to %d", last)
		return
	}
	if c.idle(); c.err != nil {
		return
	}
	c.peer.draining, c.peer.last, c.peer.goodbye = true, last, code
	taken := int(last+1) / 2 // ours have odd ids
	for _, s := range c.streams {
		if s.id > last {
			s.fail(&Error{Code: code, Text: string(bytes.ToValidUTF8(b[8:min(len(b), 8+1024)], nil)), Peer: true, Unprocessed: true, Taken: taken})
		}
	}
}

// reset takes RST_STREAM.
func (c *Conn) reset(f frame, b []byte) {
	switch s := c.streams[f.id]; {
	case len(b) != 4:
		c.broken(FrameSizeError, "RST_STREAM of %d bytes, expected 4", len(b))
	case f.id >= c.next || f.id%2 == 0:
		c.broken(ProtocolError, "RST_STREAM on stream %d, which was not opened", f.id)
	case s == nil:
		c.idle()
	default:
		code := Code(binary.BigEndian.Uint32(b))
		failed := &Error{Code: code, Peer: true}
		if code == RefusedStream { // it takes fewer at once than its settings say
			failed.Unprocessed, failed.Taken = true, len(c.streams)-1
			c.peer.streams = min(c.peer.streams, uint32(max(1, failed.Taken)))
		}
		s.fail(failed)
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

// mostReplies bounds the replies that wait until they can be sent, more than what arrives at once
// can ask for: a server that reads nothing cannot fill memory with them.
const mostReplies = 4000

// reply sends what a frame of the server asks for.
func (c *Conn) reply(f frame, payload []byte) {
	if c.replies++; c.replies > mostReplies {
		c.fault(0, &Error{Code: EnhanceYourCalm, Text: "the server does not read the replies that it asks for"})
		return
	}
	c.send(f, payload)
}
