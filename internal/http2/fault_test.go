package http2

import (
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// TestFault: what the server sends for one stream, against the rules or beyond our limits, may end
// the connection. The fault is that stream's: the others have nothing to do with it. Without such a
// stream nobody is to blame.
func TestFault(t *testing.T) {
	for name, test := range map[string]struct {
		play   func(*server)
		text   string
		excess bool // of the stream
		nobody bool
	}{
		"fields beyond our limit": {play: func(s *server) {
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x88}})
			repeat(5, func(s *server) { s.f.WriteContinuation(3, false, make([]byte, maxFrame)) })(s)
		}, text: "more than 65536 bytes of fields", excess: true},
		"a field beyond our limit": {play: func(s *server) {
			block := s.fields(":status", "200", "x", strings.Repeat("a", 80_000)) // 50,000, encoded
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: block[:maxFrame]})
			for block = block[maxFrame:]; len(block) > 0; block = block[min(len(block), maxFrame):] {
				s.f.WriteContinuation(3, len(block) <= maxFrame, block[:min(len(block), maxFrame)])
			}
		}, text: "a field of more than 65536 bytes", excess: true},
		"a flood": {play: func(s *server) {
			s.headers(3, false, ":status", "200")
			repeat(300, func(s *server) { s.f.WriteData(3, false, nil) })(s)
		}, text: flooded},
		"fields that cannot be decoded": {play: func(s *server) {
			s.f.WriteRawFrame(xhttp2.FrameHeaders, flagEndHeaders, 3, []byte{0xff, 0})
		}, text: "fields that cannot be decoded: decoding error: invalid indexed representation index 127"},
		"padding longer than its frame": {play: func(s *server) {
			s.f.WriteRawFrame(xhttp2.FrameData, flagPadded, 3, []byte{9, 0})
		}, text: "padding of 9 bytes in DATA of 2"},
		"a frame too long": {play: raw(xhttp2.FrameData, 0, 3, maxFrame+1), text: "frame of 16385 bytes, expected at most 16384"},
		"a short reset":    {play: raw(xhttp2.FrameRSTStream, 0, 3, 3), text: "RST_STREAM of 3 bytes, expected 4"},
		"a ping in its fields": {play: func(s *server) {
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x88}})
			s.f.WritePing(false, [8]byte{})
		}, text: "frame of type 6 within the fields of stream 3"},
		"a long ping": {play: raw(xhttp2.FramePing, 0, 0, 9), text: "PING of 9 bytes, expected 8", nobody: true},
		"data of a stream that was not opened": {play: raw(xhttp2.FrameData, 0, 7, 1),
			text: "DATA on stream 7, which was not opened", nobody: true},
	} {
		c := judge(t, Options{})
		s := newServer(t)
		s.f.WriteSettings()
		c.Feed(s.sent(), time.Unix(0, 0))
		var streams [3]reports
		for i := range streams {
			c.Open(get, nil, &streams[i])
		}
		c.Output()
		test.play(s)
		err := c.Feed(s.sent(), time.Unix(0, 0))
		if err == nil || err.Error() != test.text {
			t.Errorf("%s: the connection: %v", name, err)
			continue
		}
		for i := range streams {
			guilty := i == 1 && !test.nobody
			f := streams[i].failed
			if f == nil || f.Text != test.text || f.Peer || f.Whole == guilty || f.Other == (guilty || test.nobody) || guilty && f.Excess != test.excess {
				t.Errorf("%s: stream %d: %+v", name, i, f)
			}
		}
	}
}

// TestReplies: what a server asks for and does not read is bounded, also while it sends data.
func TestReplies(t *testing.T) {
	c := judge(t, Options{Window: 1 << 20})
	s := newServer(t)
	s.f.WriteSettings()
	c.Feed(s.sent(), time.Unix(0, 0))
	c.Open(get, nil, &reports{})
	c.Output()
	s.headers(1, false, ":status", "200")
	for range mostReplies {
		s.f.WriteData(1, false, []byte("x"))
		s.f.WritePing(false, [8]byte{})
		s.f.WriteSettings()
	}
	if err := c.Feed(s.sent(), time.Unix(0, 0)); err == nil || c.Pending() > mostReplies*20 {
		t.Errorf("%v, and %d bytes are to be sent", err, c.Pending())
	}
}
