package http2

import (
	"encoding/binary"
	"fmt"
)

// EOF takes the end of what arrives: open streams fail.
func (c *Conn) EOF() {
	if c.err == nil {
		text := "the connection ended"
		if c.peer.goodbye != NoError {
			text += ": " + c.peer.goodbye.String()
		}
		c.end(&Error{Code: c.peer.goodbye, Text: text, Whole: true, Peer: true})
	}
}

// Close ends the connection: open streams fail, and the server is told.
func (c *Conn) Close() {
	if c.err == nil {
		c.end(&Error{Code: NoError, Text: "the connection was closed", Whole: true})
	}
}

// end ends the connection with an error.
func (c *Conn) end(err *Error) {
	c.err = err
	if !err.Peer {
		payload := binary.BigEndian.AppendUint32(nil, 0) // no stream of the server's
		c.send(frame{kind: kindGoAway}, binary.BigEndian.AppendUint32(payload, uint32(err.Code)))
	}
	for _, s := range c.streams {
		failed := *err
		failed.Unprocessed = s.id > c.peer.last
		s.fail(&failed)
	}
}

// fault ends the connection because of what has come for a stream; 0: for none. That stream fails
// for it, the others have nothing to do with it.
func (c *Conn) fault(id uint32, err *Error) {
	whole := &Error{Code: err.Code, Text: err.Text, Whole: true, Excess: err.Code == EnhanceYourCalm}
	if s := c.streams[id]; s != nil {
		s.fail(err)
		whole.Other = true
	}
	c.end(whole)
}

// broken is fault for a rule that the frame has broken which is arriving.
func (c *Conn) broken(code Code, format string, args ...any) {
	c.fault(c.input.frame.id, &Error{Code: code, Text: fmt.Sprintf(format, args...)})
}

// idle counts a frame that moves no response on.
func (c *Conn) idle() {
	if !c.flood.idle(c.now) && c.err == nil {
		c.fault(c.input.frame.id, &Error{Code: EnhanceYourCalm, Text: "the server sends frames that move no response on"})
	}
}
