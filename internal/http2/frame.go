package http2

import "encoding/binary"

// kind is the type of a frame (RFC 9113, section 6).
type kind uint8

const (
	kindData kind = iota
	kindHeaders
	kindPriority
	kindReset
	kindSettings
	kindPush
	kindPing
	kindGoAway
	kindWindowUpdate
	kindContinuation
)

// Flags of frames.
const (
	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	headLen  = 9       // of a frame, in bytes
	maxFrame = 1 << 14 // bytes of a payload that we allow: the default, which we never raise
	maxID    = 1<<31 - 1
)

// frame is the head of a frame.
type frame struct {
	length int
	kind   kind
	flags  uint8
	id     uint32 // of its stream; 0: the connection
}

// readHead reads a head.
func readHead(b []byte) frame {
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   kind(b[3]), flags: b[4],
		id: binary.BigEndian.Uint32(b[5:]) & maxID,
	}
}

func (f frame) has(flag uint8) bool { return f.flags&flag != 0 }

// append appends the head to what is sent.
func (f frame) append(b []byte) []byte {
	b = append(b, byte(f.length>>16), byte(f.length>>8), byte(f.length), byte(f.kind), f.flags)
	return binary.BigEndian.AppendUint32(b, f.id)
}

// unpad returns the content of a payload that may be padded; ok is false if the padding is longer
// than the payload.
func (f frame) unpad(b []byte) (content []byte, ok bool) {
	if !f.has(flagPadded) {
		return b, true
	}
	if len(b) == 0 || int(b[0]) >= len(b) {
		return nil, false
	}
	return b[1 : len(b)-int(b[0])], true
}
