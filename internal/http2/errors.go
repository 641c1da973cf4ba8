package http2

import (
	"errors"
	"fmt"
)

// Code is an error code of the protocol (RFC 9113, section 7).
type Code uint32

// Codes.
const (
	NoError Code = iota
	ProtocolError
	InternalError
	FlowControlError
	SettingsTimeout
	StreamClosed
	FrameSizeError
	RefusedStream
	Cancel
	CompressionError
	ConnectError
	EnhanceYourCalm
	InadequateSecurity
	HTTP11Required
)

var codes = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
	"FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
	"INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func (c Code) String() string {
	if int(c) < len(codes) {
		return codes[c]
	}
	return fmt.Sprintf("error code %d", uint32(c))
}

// Error is the end of a connection or of a stream.
type Error struct {
	Code  Code
	Text  string // the fault, or the text of a peer
	Peer  bool   // the peer ended it, with GOAWAY or RST_STREAM
	Whole bool   // the connection has ended with it

	// Unprocessed reports that the peer has not looked at the request, and will not: any request
	// may be sent again, over another connection (RFC 9113, section 8.7).
	Unprocessed bool

	// Taken is, with Unprocessed, how many other requests the peer has taken: of the connection if
	// it takes no more, else of those that are open.
	Taken int

	// Excess reports that a limit of ours was exceeded, not a rule of the protocol.
	Excess bool

	// Other reports, with Whole, that the connection has ended because of what the server sent for
	// another stream: the same request over another connection has nothing to fear.
	Other bool
}

func (e *Error) Error() string {
	switch {
	case e.Peer && e.Whole:
		return e.Text
	case e.Peer && e.Text != "":
		return fmt.Sprintf("the server ended it: %v: %.128q", e.Code, e.Text)
	case e.Peer:
		return fmt.Sprintf("the server ended it: %v", e.Code)
	}
	return e.Text
}

// Errors of Open.
var (
	// ErrBusy is returned while as many streams are open as the peer allows.
	ErrBusy = errors.New("as many streams as the server allows are open")
	// ErrDraining is returned when the connection takes no more streams.
	ErrDraining = errors.New("the connection takes no more requests")
)

// malformed returns the error of a stream whose response is none (RFC 9113, section 8.1.1).
func malformed(format string, args ...any) *Error {
	return &Error{Code: ProtocolError, Text: fmt.Sprintf(format, args...)}
}
