package http2test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// Referee judges the client of a connection.
type Referee struct {
	// Report is told of each fault.
	Report func(fault string)
	// Prompt says that the client has read all that the server has sent before it sends more: each
	// frame of the server goes to Server, to the client, and what that sends to Client.
	Prompt bool

	mu     sync.Mutex
	client input
	server input

	prefaced bool   // the preface of the client has come
	settled  bool   // its settings have come
	away     bool   // it has sent GOAWAY
	last     uint32 // stream that it has opened
	head     head

	streams map[uint32]*stream
	credit  int64 // bytes that the client may send
	window  int64 // bytes that the server may send
	initial int64 // the same of a new stream
	terms   terms
	pings   [][]byte // of the server, unanswered
	barred  bool     // the server has sent GOAWAY
}

// stream is the state of a stream.
type stream struct {
	credit int64 // bytes that the client may send beyond the server's first window
	window int64 // bytes that the server may send
	length int64 // of the request's body, by its fields; -1: not known
	sent   int64 // of it

	ended, reset             bool // by the client
	serverEnded, serverReset bool
}

// closed reports whether neither side may send anything but what was under way.
func (s *stream) closed() bool { return s.reset || s.serverReset || s.ended && s.serverEnded }

// input is the part of a frame that has come of one side.
type input struct{ bytes []byte }

// frame is a frame.
type frame struct {
	kind, flags byte
	id          uint32
	reserved    bool // the bit before the id is set
	payload     []byte
}

// next returns the next whole frame.
func (in *input) next() (f frame, ok bool) {
	const head = 9
	if len(in.bytes) < head {
		return f, false
	}
	b := in.bytes
	length := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	if len(b) < head+length {
		return f, false
	}
	id := binary.BigEndian.Uint32(b[5:])
	in.bytes = b[head+length:]
	return frame{b[3], b[4], id & math.MaxInt32, id > math.MaxInt32, b[head : head+length]}, true
}

// Types of frames.
const (
	data = iota
	headers
	priority
	rstStream
	settings
	pushPromise
	ping
	goAway
	windowUpdate
	continuation
)

var kinds = [...]string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}

func (f frame) String() string {
	if int(f.kind) < len(kinds) {
		return fmt.Sprintf("%s of %d bytes on stream %d", kinds[f.kind], len(f.payload), f.id)
	}
	return fmt.Sprintf("frame of type %d on stream %d", f.kind, f.id)
}

// Flags of frames.
const (
	endStream  = 0x1
	ack        = 0x1
	endHeaders = 0x4
	padded     = 0x8
	weighted   = 0x20
)

// flags are those that a type has.
var flags = [...]byte{data: endStream | padded, headers: endStream | endHeaders | padded | weighted, settings: ack, ping: ack, pushPromise: 0, continuation: endHeaders}

const (
	maxWindow    = math.MaxInt32
	firstWindow  = 65535
	firstFrame   = 16384
	largestFrame = 1<<24 - 1
	firstTable   = 4096
)

func (r *Referee) init() {
	if r.streams != nil {
		return
	}
	r.streams = make(map[uint32]*stream)
	r.credit, r.window, r.initial = firstWindow, firstWindow, firstWindow
	r.terms.known = limits{math.MaxUint32, firstWindow, firstFrame, firstTable}
	r.head.init()
}

func (r *Referee) fault(format string, args ...any) { r.Report(fmt.Sprintf(format, args...)) }

// Client takes what the client has sent, in pieces of any size.
func (r *Referee) Client(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.init()
	r.client.bytes = append(r.client.bytes, b...)
	if !r.prefaced {
		const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
		if len(r.client.bytes) < len(preface) {
			return
		}
		if !bytes.HasPrefix(r.client.bytes, []byte(preface)) {
			r.fault("it begins with %.24q, expected the preface", r.client.bytes)
		}
		r.client.bytes, r.prefaced = r.client.bytes[len(preface):], true
	}
	for f, ok := r.client.next(); ok; f, ok = r.client.next() {
		r.judge(f)
	}
	if len(r.client.bytes) == 0 {
		r.client.bytes = nil
	}
}

// End checks what the client owes when it has had the time to send it.
func (r *Referee) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.init()
	switch {
	case len(r.client.bytes) > 0:
		r.fault("%d bytes at the end are no frame", len(r.client.bytes))
	case r.head.open != 0:
		r.fault("the fields of stream %d have no end", r.head.open)
	case r.away:
	case len(r.terms.pending) > 0:
		r.fault("%d SETTINGS without acknowledgement", len(r.terms.pending))
	case len(r.pings) > 0:
		r.fault("%d PING without response", len(r.pings))
	}
}

// judge judges a frame of the client.
func (r *Referee) judge(f frame) {
	switch {
	case f.reserved:
		r.fault("%v: the reserved bit is set", f)
	case r.away:
		r.fault("%v after GOAWAY", f)
	case !r.settled && (f.kind != settings || f.flags&ack != 0):
		r.fault("%v, expected SETTINGS first", f)
	case len(f.payload) > r.terms.allowed().frame:
		r.fault("%v, expected at most %d bytes", f, r.terms.allowed().frame)
	case r.head.open != 0 && (f.kind != continuation || f.id != r.head.open):
		r.fault("%v within the fields of stream %d", f, r.head.open)
	case int(f.kind) < len(flags) && f.flags&^flags[f.kind] != 0:
		r.fault("%v with flags %#x", f, f.flags)
	}
	connection := f.kind == settings || f.kind == ping || f.kind == goAway
	if f.kind != windowUpdate && connection != (f.id == 0) {
		r.fault("%v, expected %s", f, map[bool]string{true: "none", false: "one"}[connection])
		return
	}
	switch f.kind {
	case data:
		r.data(f)
	case headers:
		r.headers(f)
	case priority:
		r.size(f, 5)
	case rstStream:
		r.rstStream(f)
	case settings:
		r.settings(f)
	case ping:
		r.ping(f)
	case goAway:
		r.away = true
		if len(f.payload) < 8 {
			r.fault("%v, expected 8 bytes or more", f)
		}
	case windowUpdate:
		r.windowUpdate(f)
	case continuation:
		if r.head.open == 0 {
			r.fault("%v, expected HEADERS before", f)
			return
		}
		r.take(f, f.payload)
	default:
		r.fault("%v, expected none from a client", f)
	}
}

// size checks the length of a frame.
func (r *Referee) size(f frame, want int) bool {
	if len(f.payload) != want {
		r.fault("%v, expected %d", f, want)
	}
	return len(f.payload) == want
}

// content returns the payload without padding.
func (r *Referee) content(f frame) []byte {
	if f.flags&padded == 0 {
		return f.payload
	}
	if len(f.payload) == 0 || int(f.payload[0]) >= len(f.payload) {
		r.fault("%v: shorter than its padding", f)
		return nil
	}
	return f.payload[1 : len(f.payload)-int(f.payload[0])]
}

func (r *Referee) data(f frame) {
	s := r.streams[f.id]
	switch {
	case s == nil:
		r.fault("%v, which is idle", f)
		return
	case s.ended || s.reset:
		r.fault("%v, whose end it has sent", f)
	case r.Prompt && s.serverReset:
		r.fault("%v, which the server has reset", f)
	}
	n := int64(len(f.payload))
	s.credit -= n
	r.credit -= n
	if left := r.terms.allowed().window + s.credit; n > 0 && left < 0 {
		r.fault("%v: %d bytes beyond the window of the stream", f, -left)
	}
	if n > 0 && r.credit < 0 {
		r.fault("%v: %d bytes beyond the window of the connection", f, -r.credit)
	}
	s.sent += int64(len(r.content(f)))
	if f.flags&endStream != 0 {
		r.end(f, s)
	}
}

// end takes the end of a request.
func (r *Referee) end(f frame, s *stream) {
	if s.ended = true; s.length >= 0 && s.length != s.sent {
		r.fault("%v: a body of %d bytes, expected %d by its content-length", f, s.sent, s.length)
	}
}

func (r *Referee) headers(f frame) {
	s := r.streams[f.id]
	switch {
	case f.id%2 == 0:
		r.fault("%v, expected an odd stream", f)
	case s != nil && (s.ended || s.reset):
		r.fault("%v, whose end it has sent", f)
	case s != nil && f.flags&endStream == 0:
		r.fault("%v: a trailer without END_STREAM", f)
	case s == nil && f.id < r.last:
		r.fault("%v after stream %d", f, r.last)
	case s == nil && r.Prompt && r.barred:
		r.fault("%v after the server's GOAWAY", f)
	}
	trailer := s != nil
	if !trailer {
		open := 1
		for _, s := range r.streams {
			if !s.closed() {
				open++
			}
		}
		if most := r.terms.allowed().streams; open > int(most) {
			r.fault("%v: the server allows %d", f, most)
		}
		r.last = max(r.last, f.id)
		r.streams[f.id] = &stream{window: r.initial, length: -1}
	}
	block := r.content(f)
	if f.flags&weighted != 0 {
		if len(block) < 5 {
			r.fault("%v: shorter than its priority", f)
			return
		}
		block = block[5:]
	}
	r.head.begin(f, trailer)
	r.take(f, block)
}

// take takes a piece of fields.
func (r *Referee) take(f frame, b []byte) {
	r.head.block = append(r.head.block, b...)
	if f.flags&endHeaders == 0 {
		return
	}
	s, most := r.streams[r.head.open], r.terms.allowed().table
	err := r.head.end(most)
	if r.head.table > most {
		r.fault("%v: a table of HPACK of %d bytes, expected at most %d", f, r.head.table, most)
	}
	if err != nil {
		r.fault("%v: fields that cannot be decoded: %v", f, err)
		return
	}
	if length, wrong := request(r.head.fields, r.head.trailer); wrong != "" {
		r.fault("%v: %s", f, wrong)
	} else if !r.head.trailer {
		s.length = length
	}
	if r.head.ends {
		r.end(f, s)
	}
}

func (r *Referee) rstStream(f frame) {
	s := r.streams[f.id]
	switch {
	case !r.size(f, 4):
	case s == nil:
		r.fault("%v, which is idle", f)
	case s.reset:
		r.fault("%v, which it has reset", f)
	case r.Prompt && s.serverReset:
		r.fault("%v, which the server has reset", f)
	default:
		s.reset = true // also of one that has ended, for what was wrong with the end
	}
}

func (r *Referee) settings(f frame) {
	if f.flags&ack != 0 {
		if r.size(f, 0); !r.terms.acknowledge() {
			r.fault("%v acknowledges nothing", f)
		}
		return
	}
	if len(f.payload)%6 != 0 {
		r.fault("%v, expected pieces of 6", f)
		return
	}
	r.settled = true
	for b := f.payload; len(b) > 0; b = b[6:] {
		id, value := binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])
		switch {
		case id == 2 && value > 1, id == 4 && value > maxWindow, id == 5 && (value < firstFrame || value > largestFrame):
			r.fault("%v: setting %d is %d", f, id, value)
		case id == 4:
			for _, s := range r.streams {
				s.window += int64(value) - r.initial
			}
			r.initial = int64(value)
		}
	}
}

func (r *Referee) ping(f frame) {
	if !r.size(f, 8) || f.flags&ack == 0 {
		return
	}
	if len(r.pings) == 0 || !bytes.Equal(r.pings[0], f.payload) {
		r.fault("%v responds %q to none, or before others", f, f.payload)
		return
	}
	r.pings = r.pings[1:]
}

func (r *Referee) windowUpdate(f frame) {
	if !r.size(f, 4) {
		return
	}
	n := int64(binary.BigEndian.Uint32(f.payload))
	window, s := &r.window, r.streams[f.id]
	switch {
	case f.id == 0:
	case s == nil:
		r.fault("%v, which is idle", f)
		return
	case s.reset:
		r.fault("%v, which it has reset", f)
	case r.Prompt && s.closed():
		r.fault("%v, which is closed", f)
	}
	if f.id != 0 {
		window = &s.window
	}
	if n == 0 || n > maxWindow {
		r.fault("%v: %d more, expected 1 to %d", f, n, maxWindow)
	}
	if *window += n; *window > maxWindow {
		r.fault("%v: a window of %d bytes", f, *window)
	}
}
