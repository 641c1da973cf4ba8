package http2

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weftcrawl/weft/internal/http2/http2test"
)

// server is the other side: it writes frames, and reads ours as the rules have them.
type server struct {
	t     testing.TB
	out   bytes.Buffer
	f     *xhttp2.Framer
	block bytes.Buffer
	hpack *hpack.Encoder
}

func newServer(t testing.TB) *server {
	s := &server{t: t}
	s.f = xhttp2.NewFramer(&s.out, nil)
	s.f.AllowIllegalWrites = true
	s.hpack = hpack.NewEncoder(&s.block)
	return s
}

func (s *server) fields(pairs ...string) []byte {
	s.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		s.hpack.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(s.block.Bytes())
}

func (s *server) headers(id uint32, end bool, pairs ...string) {
	s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: id, BlockFragment: s.fields(pairs...), EndStream: end, EndHeaders: true})
}

// sent returns what it has written since.
func (s *server) sent() []byte {
	b := bytes.Clone(s.out.Bytes())
	s.out.Reset()
	return b
}

// judged is a connection whose frames a referee reads.
type judged struct {
	*Conn
	referee http2test.Referee
}

// judge returns a connection that fails the test for what it may not send.
func judge(t testing.TB, opt Options) *judged {
	c := &judged{Conn: New(opt)}
	c.referee.Report = func(fault string) { t.Errorf("we have sent %s", fault) }
	t.Cleanup(func() {
		c.Output()
		c.referee.End()
	})
	return c
}

func (c *judged) Feed(b []byte, now time.Time) error {
	c.referee.Server(b)
	return c.Conn.Feed(b, now)
}

func (c *judged) Output() []byte {
	b := c.Conn.Output()
	c.referee.Client(b)
	return b
}

// told is a receiver that writes down what it is told.
type reports struct {
	strings.Builder
	stream   *Stream
	grants   bool
	body     []byte // not written down yet: how it comes in pieces is no matter
	failed   *Error
	ended    bool
	canceled bool // by the client
}

func (r *reports) Interim(status, _ int) { fmt.Fprintf(r, "interim %d\n", status) }
func (r *reports) Head(status int, fields []Field) {
	fmt.Fprintf(r, "head %d", status)
	for _, f := range fields {
		fmt.Fprintf(r, " %s=%q", f.Name, f.Value)
	}
	r.WriteByte('\n')
}
func (r *reports) Data(b []byte) {
	r.body = append(r.body, b...)
	if r.grants && r.stream.Credit() < 50 {
		r.stream.Grant(5000)
	}
}
func (r *reports) End(trailer []Field) {
	r.ended = true
	r.writeBody()
	r.WriteString("end")
	for _, f := range trailer {
		fmt.Fprintf(r, " %s=%q", f.Name, f.Value)
	}
	r.WriteByte('\n')
}
func (r *reports) writeBody() {
	if len(r.body) > 0 {
		fmt.Fprintf(r, "data %q\n", r.body)
	}
}

func (r *reports) Fail(err *Error) {
	r.failed = err
	r.writeBody()
	fmt.Fprintf(r, "fail %v", err)
	if err.Unprocessed {
		r.WriteString(" (unprocessed)")
	}
	r.WriteByte('\n')
}

var get = []Field{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "a.test"}, {Name: ":path", Value: "/"}}

// ours describes the frames that we have sent.
func ours(t testing.TB, b []byte) string {
	t.Helper()
	b = bytes.TrimPrefix(b, []byte(xhttp2.ClientPreface))
	f := xhttp2.NewFramer(nil, bytes.NewReader(b))
	var text []string
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return strings.Join(text, ", ")
		}
		h := frame.Header()
		line := fmt.Sprintf("%v %d", h.Type, h.StreamID)
		switch frame := frame.(type) {
		case *xhttp2.GoAwayFrame:
			line = fmt.Sprintf("GOAWAY %v", frame.ErrCode)
		case *xhttp2.RSTStreamFrame:
			line += fmt.Sprintf(" %v", frame.ErrCode)
		case *xhttp2.WindowUpdateFrame:
			line += fmt.Sprintf(" %d", frame.Increment)
		case *xhttp2.DataFrame:
			line += fmt.Sprintf(" %q", frame.Data())
			if frame.StreamEnded() {
				line += " end"
			}
		case *xhttp2.SettingsFrame:
			line = "SETTINGS"
			if frame.IsAck() {
				line += " ack"
			}
		case *xhttp2.PingFrame:
			line = "PING"
			if frame.IsAck() {
				line += " ack"
			}
		}
		text = append(text, line)
	}
}

// run opens a stream, feeds what play writes in pieces, and returns what the receiver was told, the
// error of the connection, and what was sent after the request.
func run(t testing.TB, opt Options, play func(*server), piece int) (was, sent string, err error) {
	t.Helper()
	c := judge(t, opt)
	s := newServer(t)
	s.f.WriteSettings()
	c.Feed(s.sent(), time.Unix(0, 0))
	r := &reports{grants: true}
	stream, failed := c.Open(get, nil, r)
	if failed != nil {
		t.Fatal(failed)
	}
	r.stream = stream
	c.Output()
	play(s)
	for b := s.sent(); len(b) > 0; {
		n := min(len(b), piece)
		if err = c.Feed(b[:n], time.Unix(0, 0)); err != nil {
			break
		}
		b = b[n:]
	}
	return r.String(), ours(t, c.Output()), err
}

func TestResponses(t *testing.T) {
	big := strings.Repeat("x", 3000)
	for name, test := range map[string]struct {
		play       func(*server)
		want, sent string
		broken     string // of the connection
	}{
		"a body": {play: func(s *server) {
			s.headers(1, false, ":status", "200", "content-length", "5", "a", "b")
			s.f.WriteData(1, true, []byte("hello"))
		}, want: "head 200 content-length=\"5\" a=\"b\"\ndata \"hello\"\nend\n"},
		"no body":       {play: func(s *server) { s.headers(1, true, ":status", "404") }, want: "head 404\nend\n"},
		"blanks within": {play: func(s *server) { s.headers(1, true, ":status", "200", "a", "", "b", "c  d") }, want: "head 200 a=\"\" b=\"c  d\"\nend\n"},
		"the table resized twice": {play: func(s *server) {
			// RFC 7541, section 4.2: to the least size, and to the last.
			s.headers(1, false, ":status", "103", "a", "b", "c", "d")
			s.hpack.SetMaxDynamicTableSize(50)
			s.hpack.SetMaxDynamicTableSize(200)
			s.headers(1, true, ":status", "200", "c", "d")
		}, want: "interim 103\nhead 200 c=\"d\"\nend\n"},
		"interim": {play: func(s *server) {
			s.headers(1, false, ":status", "103", "link", "x")
			s.headers(1, true, ":status", "200")
		}, want: "interim 103\nhead 200\nend\n"},
		"a trailer": {play: func(s *server) {
			s.headers(1, false, ":status", "200")
			s.f.WriteData(1, false, []byte("x"))
			s.headers(1, true, "checksum", "1")
		}, want: "head 200\ndata \"x\"\nend checksum=\"1\"\n"},
		"padding": {play: func(s *server) {
			s.headers(1, false, ":status", "200")
			s.f.WriteDataPadded(1, false, []byte("ab"), make([]byte, 200))
			s.f.WriteDataPadded(1, true, []byte("cd"), nil)
		}, want: "head 200\ndata \"abcd\"\nend\n"},
		"fields in pieces": {play: func(s *server) {
			block := s.fields(":status", "200", "a", big)
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:10], EndStream: true})
			s.f.WriteContinuation(1, false, block[10:20])
			s.f.WriteContinuation(1, true, block[20:])
		}, want: "head 200 a=\"" + big + "\"\nend\n"},
		"no content though it has a length": {play: func(s *server) {
			s.headers(1, true, ":status", "304", "content-length", "10")
		}, want: "head 304 content-length=\"10\"\nend\n"},
		"settings and ping": {play: func(s *server) {
			s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 7})
			s.f.WriteSettingsAck()
			s.f.WritePing(false, [8]byte{1})
			s.f.WriteRawFrame(0x42, 3, 1, []byte("new"))
			s.headers(1, true, ":status", "200")
		}, want: "head 200\nend\n", sent: "SETTINGS ack, PING ack"},
		"trailing frames of a closed stream": {play: func(s *server) {
			s.headers(1, true, ":status", "200")
			s.f.WriteData(1, false, []byte("x"))
			s.f.WriteRSTStream(1, xhttp2.ErrCodeNo)
			s.f.WriteWindowUpdate(1, 1)
		}, want: "head 200\nend\n"},

		"shorter than its length": {play: func(s *server) {
			s.headers(1, false, ":status", "200", "content-length", "5")
			s.f.WriteData(1, true, []byte("hell"))
		}, want: "head 200 content-length=\"5\"\ndata \"hell\"\nfail the stream ended 1 bytes before the content-length\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"longer than its length": {play: func(s *server) {
			s.headers(1, false, ":status", "200", "content-length", "1")
			s.f.WriteData(1, true, []byte("he"))
		}, want: "head 200 content-length=\"1\"\ndata \"h\"\nfail more DATA than the content-length says\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"a body of 204": {play: func(s *server) {
			s.headers(1, false, ":status", "204")
			s.f.WriteData(1, true, []byte("x"))
		}, want: "head 204\nfail DATA in a response that has no body\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"two lengths": malformedHead("content-length \"6\"", ":status", "200", "content-length", "5", "content-length", "6"),
		"blanks in a trailer": {play: func(s *server) {
			s.headers(1, false, ":status", "200")
			s.headers(1, true, "a", " b")
		}, want: "head 200\nfail field a with a blank at an end of its value\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"upper case":          malformedHead("field \"A\", expected a name in lower case", ":status", "200", "A", "b"),
		"a field of HTTP/1":   malformedHead("field transfer-encoding, which belongs to HTTP/1", ":status", "200", "transfer-encoding", "chunked"),
		"no status":           malformedHead("a response that does not begin with its status", "a", "b"),
		"two statuses":        malformedHead("field \":status\", expected none of the protocol", ":status", "200", ":status", "200"),
		"a status of letters": malformedHead("status \"2xx\", expected three digits", ":status", "2xx"),
		"a request's field":   malformedHead("field \":path\", expected none of the protocol", ":status", "200", ":path", "/"),
		"a line break":        malformedHead("field a with a line break in its value", ":status", "200", "a", "b\r\nc"),
		"a blank first":       malformedHead("field a with a blank at an end of its value", ":status", "200", "a", " b"),
		"a blank last":        malformedHead("field a with a blank at an end of its value", ":status", "200", "a", "b\t"),
		"a blank alone":       malformedHead("field a with a blank at an end of its value", ":status", "200", "a", " "),
		"101":                 malformedHead("interim response 101, expected one that a response follows", ":status", "101"),
		"interim at the end":  {play: func(s *server) { s.headers(1, true, ":status", "100") }, want: "fail interim response 100, expected one that a response follows\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"data first":          {play: func(s *server) { s.f.WriteData(1, true, []byte("x")) }, want: "fail DATA before the head of the response\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"nothing":             {play: func(s *server) { s.f.WriteData(1, true, nil) }, want: "fail the stream ended before the head of a response\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"fields in a body": {play: func(s *server) {
			s.headers(1, false, ":status", "200")
			s.headers(1, false, "a", "b")
		}, want: "head 200\nfail HEADERS in the body of a response\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"},
		"more fields than allowed": {play: func(s *server) {
			s.headers(1, true, append([]string{":status", "200"}, strings.Split(strings.Repeat("a,b,", 2000), ",")[:4000]...)...)
		}, want: "fail more than 65536 bytes or 2000 fields in a head\n", sent: "RST_STREAM 1 CANCEL"},
		"refused": {play: func(s *server) { s.f.WriteRSTStream(1, xhttp2.ErrCodeRefusedStream) },
			want: "fail the server ended it: REFUSED_STREAM (unprocessed)\n"},
		"reset": {play: func(s *server) {
			s.headers(1, false, ":status", "200")
			s.f.WriteRSTStream(1, xhttp2.ErrCodeInternal)
		}, want: "head 200\nfail the server ended it: INTERNAL_ERROR\n"},
		"going away before it": {play: func(s *server) { s.f.WriteGoAway(0, xhttp2.ErrCodeNo, []byte("bye\x1b")) },
			want: "fail the server ended it: NO_ERROR: \"bye\\x1b\" (unprocessed)\n"},
		"going away after it": {play: func(s *server) {
			s.f.WriteGoAway(1, xhttp2.ErrCodeNo, nil)
			s.headers(1, true, ":status", "200")
		}, want: "head 200\nend\n"},

		"beyond the window": {play: func(s *server) {
			s.headers(1, false, ":status", "200")
			s.f.WriteRawFrame(xhttp2.FrameHeaders, 0, 2, nil)
		}, want: "head 200\nfail HEADERS on stream 2, which was not opened\n", broken: "PROTOCOL_ERROR"},
		"push":            brokenBy("server push, which was refused", "PROTOCOL_ERROR", func(s *server) { s.f.WriteRawFrame(xhttp2.FramePushPromise, 4, 1, make([]byte, 4)) }),
		"a frame too big": brokenBy("frame of 16385 bytes, expected at most 16384", "FRAME_SIZE_ERROR", func(s *server) { s.f.WriteRawFrame(xhttp2.FrameData, 0, 1, make([]byte, 16385)) }),
		"a long ping":     brokenBy("PING of 9 bytes, expected 8", "FRAME_SIZE_ERROR", func(s *server) { s.f.WriteRawFrame(xhttp2.FramePing, 0, 0, make([]byte, 9)) }),
		"a setting too small": brokenBy("SETTINGS_MAX_FRAME_SIZE is 0, expected 16384 to 16777215", "PROTOCOL_ERROR", func(s *server) {
			s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: 0})
		}),
		"a window too big": brokenBy("SETTINGS_INITIAL_WINDOW_SIZE is 2147483648, expected at most 2147483647", "FLOW_CONTROL_ERROR", func(s *server) {
			s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 31})
		}),
		"too much credit":           brokenBy("WINDOW_UPDATE of 2147483647 bytes for a window of 65535", "FLOW_CONTROL_ERROR", func(s *server) { s.f.WriteWindowUpdate(0, 1<<31-1) }),
		"no credit":                 brokenBy("WINDOW_UPDATE of 0 bytes for a window of 65535", "PROTOCOL_ERROR", func(s *server) { s.f.WriteWindowUpdate(0, 0) }),
		"a stream that is not open": brokenBy("DATA on stream 3, which was not opened", "PROTOCOL_ERROR", func(s *server) { s.f.WriteData(3, false, []byte("x")) }),
		"padding longer than data":  brokenBy("padding of 9 bytes in DATA of 2", "PROTOCOL_ERROR", func(s *server) { s.f.WriteRawFrame(xhttp2.FrameData, flagPadded, 1, []byte{9, 0}) }),
		"broken HPACK": brokenBy("fields that cannot be decoded: decoding error: invalid indexed representation index 127", "COMPRESSION_ERROR", func(s *server) {
			s.f.WriteRawFrame(xhttp2.FrameHeaders, flagEndHeaders, 1, []byte{0xff, 0})
		}),
		"the table resized behind a field":  resizedBy("88 20"),
		"the table resized between fields":  resizedBy("20 88 3f09 00 01 61 01 62"),
		"the table resized at the very end": resizedBy("88 40 01 61 01 62 3f09"),
		"the table larger than allowed": brokenBy("fields that cannot be decoded: decoding error: dynamic table size update too large", "COMPRESSION_ERROR", func(s *server) {
			// 4097 bytes.
			s.f.WriteRawFrame(xhttp2.FrameHeaders, flagEndHeaders, 1, []byte{0x3f, 0xe2, 0x1f, 0x88})
		}),
		"another frame within fields": brokenBy("frame of type 6 within the fields of stream 1", "PROTOCOL_ERROR", func(s *server) {
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}})
			s.f.WritePing(false, [8]byte{})
		}),
		"continuation of nothing": brokenBy("CONTINUATION without HEADERS", "PROTOCOL_ERROR", func(s *server) { s.f.WriteContinuation(1, true, []byte{0x88}) }),
		"going away twice": brokenBy("GOAWAY raises the last stream to 5", "PROTOCOL_ERROR", func(s *server) {
			s.f.WriteGoAway(3, xhttp2.ErrCodeNo, nil)
			s.f.WriteGoAway(5, xhttp2.ErrCodeNo, nil)
		}),

		"a priority of 4 bytes": {play: raw(xhttp2.FramePriority, 0, 1, 4),
			want: "fail PRIORITY of 4 bytes, expected 5\n", sent: "RST_STREAM 1 FRAME_SIZE_ERROR"},
		"a priority of 4 bytes of another": {play: func(s *server) {
			s.f.WriteRawFrame(xhttp2.FramePriority, 0, 3, make([]byte, 4))
			s.headers(1, true, ":status", "200")
		}, want: "head 200\nend\n"},
		"a priority of no stream": brokenBy("PRIORITY on stream 0, expected one that it is for", "PROTOCOL_ERROR", raw(xhttp2.FramePriority, 0, 0, 5)),
		"a reset of 3 bytes":      brokenBy("RST_STREAM of 3 bytes, expected 4", "FRAME_SIZE_ERROR", raw(xhttp2.FrameRSTStream, 0, 1, 3)),
		"a reset of no stream":    brokenBy("RST_STREAM on stream 3, which was not opened", "PROTOCOL_ERROR", raw(xhttp2.FrameRSTStream, 0, 3, 4)),
		"settings of 5 bytes":     brokenBy("SETTINGS of 5 bytes", "FRAME_SIZE_ERROR", raw(xhttp2.FrameSettings, 0, 0, 5)),
		"settings in an ack":      brokenBy("SETTINGS of 6 bytes", "FRAME_SIZE_ERROR", raw(xhttp2.FrameSettings, xhttp2.FlagSettingsAck, 0, 6)),
		"settings of a stream":    brokenBy("SETTINGS on stream 1, expected none", "PROTOCOL_ERROR", raw(xhttp2.FrameSettings, 0, 1, 0)),
		"push of a client": brokenBy("the server's SETTINGS_ENABLE_PUSH is 1, expected 0", "PROTOCOL_ERROR", func(s *server) {
			s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingEnablePush, Val: 1})
		}),
		"a window beyond its size": brokenBy("SETTINGS_INITIAL_WINDOW_SIZE overflows the window of stream 1", "FLOW_CONTROL_ERROR", func(s *server) {
			s.f.WriteWindowUpdate(1, 1<<31-1-initialWindow)
			s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: initialWindow + 1})
		}),
		"a ping of a stream":    brokenBy("PING on stream 1, expected none", "PROTOCOL_ERROR", raw(xhttp2.FramePing, 0, 1, 8)),
		"going away in 7 bytes": brokenBy("GOAWAY of 7 bytes on stream 0, expected 8 or more on none", "PROTOCOL_ERROR", raw(xhttp2.FrameGoAway, 0, 0, 7)),
		"a stream going away":   brokenBy("GOAWAY of 8 bytes on stream 1, expected 8 or more on none", "PROTOCOL_ERROR", raw(xhttp2.FrameGoAway, 0, 1, 8)),
		"credit of 3 bytes":     brokenBy("WINDOW_UPDATE of 3 bytes, expected 4", "FRAME_SIZE_ERROR", raw(xhttp2.FrameWindowUpdate, 0, 0, 3)),
		"credit of no stream":   brokenBy("WINDOW_UPDATE on stream 3, which was not opened", "PROTOCOL_ERROR", func(s *server) { s.f.WriteWindowUpdate(3, 1) }),
		"too much credit of a stream": {play: func(s *server) { s.f.WriteWindowUpdate(1, 1<<31-1) },
			want: "fail WINDOW_UPDATE of 2147483647 bytes for a window of 65535\n", sent: "RST_STREAM 1 FLOW_CONTROL_ERROR"},
		"padding of no length": brokenBy("DATA without the length of its padding", "PROTOCOL_ERROR", raw(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, 0)),
		"padding of fields":    brokenBy("HEADERS shorter than its padding", "PROTOCOL_ERROR", raw(xhttp2.FrameHeaders, xhttp2.FlagHeadersPadded, 1, 0)),
		"fields of no stream":  brokenBy("HEADERS on stream 3, which was not opened", "PROTOCOL_ERROR", func(s *server) { s.headers(3, true, ":status", "200") }),
		"a flood of goodbyes":  brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.f.WriteGoAway(1, xhttp2.ErrCodeNo, nil) })),
		"a flood for no stream": brokenBy(flooded, "ENHANCE_YOUR_CALM", func(s *server) {
			s.headers(1, true, ":status", "200")
			repeat(300, func(s *server) { s.f.WriteData(1, false, []byte("x")) })(s)
		}),
		"a flood of heads for no stream": brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.headers(1, true, ":status", "200") })),
		"a flood of pings":               brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.f.WritePing(false, [8]byte{}) })),
		"a flood of settings":            brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.f.WriteSettings() })),
		"a flood of resets": brokenBy(flooded, "ENHANCE_YOUR_CALM", func(s *server) {
			s.headers(1, true, ":status", "200")
			repeat(300, func(s *server) { s.f.WriteRSTStream(1, 0) })(s)
		}),
		"a flood of priorities": brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.f.WritePriority(1, xhttp2.PriorityParam{}) })),
		"a flood of credit":     brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.f.WriteWindowUpdate(0, 1) })),
		"a flood of nothing": brokenBy(flooded, "ENHANCE_YOUR_CALM", func(s *server) {
			s.headers(1, false, ":status", "200")
			repeat(300, func(s *server) { s.f.WriteData(1, false, nil) })(s)
		}),
		"a flood of unknown": brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.f.WriteRawFrame(0x42, 0, 0, nil) })),
		"a flood of interim": brokenBy(flooded, "ENHANCE_YOUR_CALM", repeat(300, func(s *server) { s.headers(1, false, ":status", "100") })),
		"a flood of pieces": brokenBy(flooded, "ENHANCE_YOUR_CALM", func(s *server) {
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}})
			repeat(300, func(s *server) { s.f.WriteContinuation(1, false, nil) })(s)
		}),
		"fields without end": brokenBy("more than 65536 bytes of fields", "ENHANCE_YOUR_CALM", func(s *server) {
			s.f.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}})
			repeat(5, func(s *server) { s.f.WriteContinuation(1, false, make([]byte, 16384)) })(s)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1 << 20, 1, 10} {
				was, sent, err := run(t, Options{}, test.play, piece)
				if test.broken != "" {
					if err == nil || !strings.HasSuffix(sent, "GOAWAY "+test.broken) || !strings.HasSuffix(was, test.want) {
						t.Fatalf("in pieces of %d: %v, sent %q, told %q; expected %q, %s", piece, err, sent, was, test.want, test.broken)
					}
					continue
				}
				if err != nil || was != test.want || sent != test.sent {
					t.Fatalf("in pieces of %d: %v, sent %q, told %q; expected %q, %q", piece, err, sent, was, test.sent, test.want)
				}
			}
		})
	}
}

type response = struct {
	play       func(*server)
	want, sent string
	broken     string
}

const flooded = "the server sends frames that move no response on"

func malformedHead(text string, pairs ...string) response {
	return response{play: func(s *server) { s.headers(1, false, pairs...) }, want: "fail " + text + "\n", sent: "RST_STREAM 1 PROTOCOL_ERROR"}
}

// brokenBy is a response that ends the connection; if the stream is open still, with it.
func brokenBy(text, code string, play func(*server)) response {
	want := "fail " + text + "\n"
	if strings.Contains(text, "flood") || text == flooded {
		want = "" // some floods come when the stream has ended
	}
	return response{play: play, want: want, broken: code}
}

// resizedBy is a block of fields, as hexadecimal, that resizes the table where it must not.
func resizedBy(block string) response {
	b, err := hex.DecodeString(strings.ReplaceAll(block, " ", ""))
	if err != nil {
		panic(err)
	}
	return brokenBy("fields that cannot be decoded: "+errLateUpdate.Error(), "COMPRESSION_ERROR", func(s *server) {
		s.f.WriteRawFrame(xhttp2.FrameHeaders, flagEndHeaders, 1, b)
	})
}

// raw is a frame of zeros.
func raw(kind xhttp2.FrameType, flags xhttp2.Flags, id uint32, length int) func(*server) {
	return func(s *server) { s.f.WriteRawFrame(kind, flags, id, make([]byte, length)) }
}

func repeat(n int, play func(*server)) func(*server) {
	return func(s *server) {
		for range n {
			play(s)
		}
	}
}

// TestWindows: a server cannot send more than the credit, and gets more as it is granted.
func TestWindows(t *testing.T) {
	c := judge(t, Options{Window: 1000, ConnWindow: 100_000})
	s := newServer(t)
	s.f.WriteSettings()
	c.Feed(s.sent(), time.Time{})
	r := &reports{}
	stream, _ := c.Open(get, nil, r)
	c.Output()
	s.headers(1, false, ":status", "200")
	s.f.WriteData(1, false, make([]byte, 1000))
	if err := c.Feed(s.sent(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := ours(t, c.Output()); got != "" {
		t.Errorf("sent %q before anything was granted", got)
	}
	stream.Grant(600)
	if got := stream.Credit(); got != 600 {
		t.Errorf("credit of %d", got)
	}
	if got := ours(t, c.Output()); got != "WINDOW_UPDATE 1 600" {
		t.Errorf("sent %q", got)
	}
	s.f.WriteData(1, false, make([]byte, 601))
	if err := c.Feed(s.sent(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := ours(t, c.Output()); got != "RST_STREAM 1 FLOW_CONTROL_ERROR" || r.failed == nil {
		t.Errorf("sent %q, failed %v", got, r.failed)
	}
	for range 200 { // what comes for the closed stream is credited to the connection
		s.f.WriteData(1, false, make([]byte, 999))
	}
	if err := c.Feed(s.sent(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := ours(t, c.Output()); !strings.HasPrefix(got, "WINDOW_UPDATE 0 ") || strings.Contains(got, "UPDATE 1") {
		t.Errorf("sent %q", got)
	}
}

// TestConnWindow: the connection's credit is returned as data arrive, whoever waits for more of its
// own.
func TestConnWindow(t *testing.T) {
	c := judge(t, Options{Window: 1 << 16, ConnWindow: 1 << 17})
	s := newServer(t)
	s.f.WriteSettings()
	c.Feed(s.sent(), time.Time{})
	for id := uint32(1); id < 20; id += 2 {
		if _, err := c.Open(get, nil, &reports{}); err != nil {
			t.Fatal(err)
		}
		s.headers(id, false, ":status", "200")
		for range 4 {
			s.f.WriteData(id, false, make([]byte, 1<<14))
		}
	}
	c.Output()
	if err := c.Feed(s.sent(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := ours(t, c.Output()); strings.Count(got, "WINDOW_UPDATE 0 65536") != 10 || strings.Count(got, "WINDOW_UPDATE") != 10 {
		t.Errorf("sent %q", got)
	}
}

// TestBody: a body is sent as the server gives credit.
func TestBody(t *testing.T) {
	c := judge(t, Options{})
	s := newServer(t)
	s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 3})
	c.Feed(s.sent(), time.Time{})
	c.Output()
	r := &reports{}
	c.Open(append([]Field{{Name: ":method", Value: "POST"}}, get[1:]...), []byte("abcdefgh"), r)
	steps := ours(t, c.Output())
	s.f.WriteWindowUpdate(1, 2)
	c.Feed(s.sent(), time.Time{})
	steps += " | " + ours(t, c.Output())
	s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 100})
	c.Feed(s.sent(), time.Time{})
	steps += " | " + ours(t, c.Output())
	if want := `HEADERS 1, DATA 1 "abc" | DATA 1 "de" | SETTINGS ack, DATA 1 "fgh" end`; steps != want {
		t.Errorf("sent %q, expected %q", steps, want)
	}
}

// TestRoom: no more streams than the server allows, one until it has said how many, none when it
// goes away.
func TestRoom(t *testing.T) {
	c := judge(t, Options{})
	s := newServer(t)
	if c.Room() != 1 || c.Known() {
		t.Errorf("at first there is room for %d", c.Room())
	}
	s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 1})
	c.Feed(s.sent(), time.Time{})
	first, err := c.Open(get, nil, &reports{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(get, nil, &reports{}); err != ErrBusy {
		t.Errorf("a second: %v", err)
	}
	first.Cancel()
	r := &reports{}
	if _, err := c.Open(get, nil, r); err != nil {
		t.Error(err)
	}
	s.f.WriteGoAway(maxID, xhttp2.ErrCodeNo, nil)
	c.Feed(s.sent(), time.Time{})
	if _, err := c.Open(get, nil, &reports{}); err != ErrDraining || !c.Draining() {
		t.Errorf("after GOAWAY: %v", err)
	}
	c.EOF()
	if r.failed == nil || r.failed.Unprocessed {
		t.Errorf("the end of the connection: %v", r.failed)
	}
	if got := ours(t, c.Output()); strings.Contains(got, "GOAWAY") {
		t.Errorf("sent %q to a connection that ended", got)
	}
}

// TestRefused: after a server refuses a stream, a connection has no more streams at once than were
// open then, until the server says otherwise. It goes on to serve others.
func TestRefused(t *testing.T) {
	c, s := judge(t, Options{}), newServer(t)
	s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 100})
	c.Feed(s.sent(), time.Time{})
	var all [3]reports
	for i := range all {
		c.Open(get, nil, &all[i])
	}
	for i, want := range []struct{ taken, allowed, room int }{{2, 2, 0}, {1, 1, 0}, {0, 1, 1}} {
		s.f.WriteRSTStream(uint32(1+2*i), xhttp2.ErrCodeRefusedStream)
		c.Feed(s.sent(), time.Time{})
		if f := all[i].failed; f == nil || !f.Unprocessed || f.Taken != want.taken || c.Allowed() != want.allowed || c.Room() != want.room {
			t.Errorf("refusal %d: %+v, %d allowed, room for %d", i, f, c.Allowed(), c.Room())
		}
	}
	s.f.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 7})
	c.Feed(s.sent(), time.Time{})
	if c.Room() != 7 {
		t.Errorf("room for %d after new settings", c.Room())
	}
	var before, behind reports
	c.Open(get, nil, &before)
	c.Open(get, nil, &behind)
	s.f.WriteGoAway(7, xhttp2.ErrCodeNo, nil) // the fourth stream
	c.Feed(s.sent(), time.Time{})
	if f := behind.failed; before.failed != nil || f == nil || !f.Unprocessed || f.Taken != 4 {
		t.Errorf("going away: %+v and %+v", before.failed, f)
	}
	c.Output()
}

// TestRate: idle frames at the rate that is allowed are no flood.
func TestRate(t *testing.T) {
	c := judge(t, Options{})
	s := newServer(t)
	s.f.WriteSettings()
	now := time.Unix(0, 0)
	for range 2000 {
		s.f.WritePing(false, [8]byte{})
		if err := c.Feed(s.sent(), now); err != nil {
			t.Fatal(err)
		}
		c.Output()
		now = now.Add(time.Second / idleRate)
	}
}

// TestSettingsFirst: a server's first frame is SETTINGS.
func TestSettingsFirst(t *testing.T) {
	c, s := judge(t, Options{}), newServer(t)
	s.f.WritePing(false, [8]byte{})
	err := c.Feed(s.sent(), time.Time{})
	if failed, ok := err.(*Error); !ok || failed.Code != ProtocolError {
		t.Errorf("%v", err)
	}
}

func TestHTTP1(t *testing.T) {
	c := judge(t, Options{})
	err := c.Feed([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), time.Time{})
	if failed, ok := err.(*Error); !ok || failed.Code != HTTP11Required {
		t.Errorf("%v", err)
	}
}

// FuzzFeed: whatever arrives, in whatever pieces, a receiver is told once how its exchange ended,
// and what is to be sent stays in proportion.
func FuzzFeed(f *testing.F) {
	s := newServer(f)
	s.f.WriteSettings()
	s.headers(1, false, ":status", "200", "content-length", "5")
	s.f.WriteDataPadded(1, true, []byte("hello"), make([]byte, 3))
	s.f.WriteGoAway(1, 0, nil)
	f.Add(s.sent(), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		play := func(piece int) (string, string) {
			c := judge(t, Options{Window: 100})
			r := &reports{grants: true}
			stream, err := c.Open(get, nil, r)
			if err != nil {
				t.Fatal(err)
			}
			r.stream = stream
			start := c.Pending()
			for rest := b; len(rest) > 0; {
				n := min(len(rest), piece)
				if c.Feed(rest[:n], time.Unix(0, 0)) != nil {
					break
				}
				rest = rest[n:]
			}
			if c.Pending() > start+64*len(b)+1024 {
				t.Errorf("%d bytes to send after %d", c.Pending(), len(b))
			}
			sent := ours(t, c.Output())
			c.EOF()
			if r.ended == (r.failed != nil) {
				t.Errorf("ended %v, failed %v", r.ended, r.failed)
			}
			return r.String(), sent
		}
		was, sent := play(len(b) + 1)
		if again, sentAgain := play(int(piece) + 1); again != was {
			t.Errorf("in pieces %q (%s), at once %q (%s)", again, sentAgain, was, sent)
		}
	})
}

// TestServer: the responses of net/http's server are whole, and it has nothing to object to our
// frames.
func TestServer(t *testing.T) {
	const requests = 50
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Got", strconv.Itoa(len(body)))
		w.Write(bytes.Repeat([]byte{byte('a' + n%26)}, n*1000))
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	ours, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	c := judge(t, Options{Window: 10_000, ConnWindow: 70_000})
	var all []*reports
	open := func(n int) {
		r := &reports{grants: true}
		body := bytes.Repeat([]byte("b"), n*100)
		method := "POST"
		if n == 0 {
			method, body = "GET", nil
		}
		s, err := c.Open([]Field{
			{Name: ":method", Value: method}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "a.test"},
			{Name: ":path", Value: fmt.Sprintf("/?n=%d", n)}, {Name: "user-agent", Value: "weft"},
		}, body, r)
		if err != nil {
			t.Fatal(err)
		}
		r.stream = s
		all = append(all, r)
	}
	open(0) // others when it is known how many the server takes
	buf := make([]byte, 4096)
	for c.Streams() > 0 {
		for c.Room() > 0 && len(all) < requests {
			open(len(all))
		}
		if c.Pending() > 0 {
			if _, err := ours.Write(c.Output()); err != nil {
				t.Fatal(err)
			}
		}
		n, err := ours.Read(buf)
		if err == nil {
			err = c.Feed(buf[:n], time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for n, r := range all {
		want := bytes.Repeat([]byte{byte('a' + n%26)}, n*1000)
		if !r.ended || !bytes.Equal(r.body, want) || !strings.Contains(r.String(), fmt.Sprintf(`x-got="%d"`, n*100)) {
			t.Errorf("request %d: %d bytes of %d, %.200s", n, len(r.body), len(want), r.String())
		}
	}
}
