package http2

import (
	"encoding/binary"
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

// Ping asks the server for a sign of life.
func (c *Conn) Ping() {
	if c.err == nil {
		c.send(frame{kind: kindPing}, make([]byte, 8))
	}
}

// send appends a frame to what is sent.
func (c *Conn) send(f frame, payload []byte) {
	f.length = len(payload)
	c.out = append(f.append(c.out), payload...)
}

// sendCredit lets the server send n more bytes on a stream; 0 is the connection.
func (c *Conn) sendCredit(id uint32, n int) {
	c.send(frame{kind: kindWindowUpdate, id: id}, binary.BigEndian.AppendUint32(nil, uint32(n)))
}
