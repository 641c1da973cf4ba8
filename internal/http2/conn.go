package http2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"golang.org/x/net/http2/hpack"
)

// Options configure a connection. The zero value is the default.
type Options struct {
	// Window bounds the bytes of a server on a stream before Stream.Grant; 0: 64 KiB - 1.
	Window int
	// ConnWindow bounds its bytes on all streams before the first of them has arrived; 0: 1 GiB,
	// so that only the windows of streams count. It is at least 64 KiB - 1, which a server has from
	// the start. One that uses it up may end a response badly: Node.js sends RST_STREAM for
	// END_STREAM.
	ConnWindow int
	// MaxHead limits the fields of a response, as sent and as decoded with 32 bytes for each, in
	// bytes; 0: 64 KiB.
	MaxHead int
}

const (
	defaultConnWindow = 1 << 30
	defaultMaxHead    = 64 << 10

	initialWindow = 1<<16 - 1 // of every stream and connection (RFC 9113, section 6.9.2)
	maxWindow     = 1<<31 - 1
	tableSize     = 4096 // bytes of a table of HPACK: the default, and the most that ours takes

	// guessedStreams is the number of streams that are opened before the server has said how many
	// it allows. More might be refused.
	guessedStreams = 1
)

// Receiver takes a response. Its methods are called within Feed, and must not call it.
type Receiver interface {
	// Interim is called for each 1xx, with the length of its fields.
	Interim(status, size int)
	// Head is called once. The fields are the caller's.
	Head(status int, fields []Field)
	// Data is called for each piece of the body, which it must not keep.
	Data(b []byte)
	// End is called when the response is whole.
	End(trailer []Field)
	// Fail is called instead of End if it will not be.
	Fail(*Error)
}

// Field is a field of a head, its name in lower case. Those of the protocol begin with a colon.
type Field = hpack.HeaderField

// Conn is a connection.
type Conn struct {
	opt     Options
	now     time.Time
	out     []byte
	err     *Error // it has ended
	streams map[uint32]*Stream
	next    uint32 // id of the next stream
	flood   flood

	input  input
	fields fields
	peer   peer

	returned int // arrived, and not credited yet
	replies  int // to PING and SETTINGS, not sent yet
}

// peer is the server's settings.
type peer struct {
	known    bool // its first settings have arrived
	streams  uint32
	window   int64 // of new streams
	frame    int   // bytes of a payload
	draining bool  // it takes no new streams
	last     uint32
	goodbye  Code  // with draining: why
	credit   int64 // bytes that we may send
}

// input is the frame that is arriving.
type input struct {
	head    [headLen]byte
	got     int // bytes of head
	frame   frame
	left    int    // of its payload
	payload []byte // what has arrived of it, unless it is DATA
	data    *Stream
	padding int  // bytes at the end of DATA; -1: the length of it comes first
	moved   bool // there was some of a body in it
}

// New returns a connection that has sent nothing yet.
func New(opt Options) *Conn {
	if opt.Window <= 0 {
		opt.Window = initialWindow
	}
	if opt.ConnWindow <= 0 {
		opt.ConnWindow = defaultConnWindow
	}
	opt.ConnWindow = max(opt.ConnWindow, initialWindow)
	if opt.MaxHead <= 0 {
		opt.MaxHead = defaultMaxHead
	}
	c := &Conn{
		opt: opt, streams: make(map[uint32]*Stream), next: 1,
		peer: peer{streams: guessedStreams, window: initialWindow, frame: maxFrame, last: maxID, credit: initialWindow},
	}
	c.fields.init(opt.MaxHead)
	c.preface()
	return c
}

// preface sends what a connection begins with (RFC 9113, section 3.4).
func (c *Conn) preface() {
	c.out = append(c.out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"...)
	var settings []byte
	for _, s := range []struct {
		id    uint16
		value int
	}{
		{settingPush, 0},
		{settingWindow, c.opt.Window},
		{settingHead, c.opt.MaxHead},
	} {
		settings = binary.BigEndian.AppendUint16(settings, s.id)
		settings = binary.BigEndian.AppendUint32(settings, uint32(s.value))
	}
	c.send(frame{kind: kindSettings}, settings)
	if more := c.opt.ConnWindow - initialWindow; more > 0 {
		c.sendCredit(0, more)
	}
}

// Output returns what is to be sent. It belongs to the caller until the next call of any method.
func (c *Conn) Output() []byte {
	b := c.out
	c.out = kept(c.out)
	c.replies = 0
	return b
}

// kept returns a buffer for later, unless it is long: a connection that waits holds little.
func kept(b []byte) []byte {
	if cap(b) > 1<<10 {
		return nil
	}
	return b[:0]
}

// Pending returns how many bytes are to be sent.
func (c *Conn) Pending() int { return len(c.out) }

// Held returns how many bytes of incomplete frames and heads, and of what is to be sent, take
// memory.
func (c *Conn) Held() int { return cap(c.input.payload) + cap(c.fields.block) + cap(c.out) }

// Streams returns how many streams are open.
func (c *Conn) Streams() int { return len(c.streams) }

// Known reports whether the server has said how many streams it allows.
func (c *Conn) Known() bool { return c.peer.known }

// Allowed returns how many streams the server allows; until it has said so, how many are opened
// without its word.
func (c *Conn) Allowed() int { return int(min(c.peer.streams, math.MaxInt32)) }

// Room returns how many more streams Open takes now.
func (c *Conn) Room() int {
	if c.err != nil || c.peer.draining || c.next > maxID {
		return 0
	}
	return max(0, c.Allowed()-len(c.streams))
}

// Draining reports whether Open takes no streams any more.
func (c *Conn) Draining() bool { return c.err != nil || c.peer.draining || c.next > maxID }

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

// step takes some of what has arrived, and returns how much.
func (c *Conn) step(b []byte) int {
	in := &c.input
	if in.got < headLen {
		n := copy(in.head[in.got:], b)
		if in.got += n; in.got == headLen {
			c.begin()
		}
		return n
	}
	n := min(len(b), in.left)
	in.left -= n
	switch {
	case in.frame.kind == kindData:
		c.data(b[:n])
	case in.left > 0 || len(in.payload) > 0:
		in.payload = append(in.payload, b[:n]...)
	}
	if in.left == 0 {
		payload := b[:n]
		if len(in.payload) > 0 {
			payload = in.payload
		}
		c.finish(payload)
	}
	return n
}

// begin takes the head of a frame.
func (c *Conn) begin() {
	in := &c.input
	in.frame = readHead(in.head[:])
	in.left = in.frame.length
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
	in := &c.input
	in.got = 0
	if c.err == nil {
		c.take(in.frame, payload)
	}
	in.payload = kept(in.payload)
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

// idle counts a frame that moves no response on.
func (c *Conn) idle() {
	if !c.flood.idle(c.now) && c.err == nil {
		c.fault(c.input.frame.id, &Error{Code: EnhanceYourCalm, Text: "the server sends frames that move no response on"})
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

// Ping asks the server for a sign of life.
func (c *Conn) Ping() {
	if c.err == nil {
		c.send(frame{kind: kindPing}, make([]byte, 8))
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

// send appends a frame to what is sent.
func (c *Conn) send(f frame, payload []byte) {
	f.length = len(payload)
	c.out = append(f.append(c.out), payload...)
}
