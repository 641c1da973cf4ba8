package http2

import (
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
)

// TestExcess: what goes beyond our limits on one stream ends the connection, and the fault is that
// stream's: the requests of others are fit to be sent again.
func TestExcess(t *testing.T) {
	for name, test := range map[string]struct {
		play   func(*server)
		text   string
		excess bool // of the stream
	}{
		"fields": {func(s *server) {
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0x88}})
			repeat(5, func(s *server) { s.f.WriteContinuation(3, false, make([]byte, maxFrame)) })(s)
		}, "more than 65536 bytes of fields", true},
		"a field": {func(s *server) {
			block := s.fields(":status", "200", "x", strings.Repeat("a", 80_000)) // 50,000, encoded
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 3, BlockFragment: block[:maxFrame]})
			for block = block[maxFrame:]; len(block) > 0; block = block[min(len(block), maxFrame):] {
				s.f.WriteContinuation(3, len(block) <= maxFrame, block[:min(len(block), maxFrame)])
			}
		}, "a field of more than 65536 bytes", true},
		"nothing": {func(s *server) {
			s.headers(3, false, ":status", "200")
			repeat(300, func(s *server) { s.f.WriteData(3, false, nil) })(s)
		}, flooded, false},
	} {
		c := judge(t, Options{})
		s := newServer(t)
		s.f.WriteSettings()
		c.Feed(s.sent(), time.Unix(0, 0))
		var streams [3]told
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
			guilty := i == 1
			if f := streams[i].failed; f == nil || f.Text != test.text || f.Whole == guilty || f.Excess != (test.excess || !guilty) {
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
	c.Open(get, nil, &told{})
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
