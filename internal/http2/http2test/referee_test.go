package http2test_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weftcrawl/weft/internal/http2/http2test"
)

// game is a connection whose sides are both written by the test.
type game struct {
	*http2.Framer // of the client
	client        bytes.Buffer
	server        *http2.Framer
	served        bytes.Buffer
	referee       http2test.Referee
	block         bytes.Buffer
	hpack         *hpack.Encoder
	faults        []string
}

func newGame() *game {
	g := new(game)
	g.Framer, g.server = http2.NewFramer(&g.client, nil), http2.NewFramer(&g.served, nil)
	g.AllowIllegalWrites, g.server.AllowIllegalWrites = true, true
	g.hpack = hpack.NewEncoder(&g.block)
	g.referee = http2test.Referee{Prompt: true, Report: func(fault string) { g.faults = append(g.faults, fault) }}
	return g
}

// pass lets the referee see what was written: the client's, then the server's.
func (g *game) pass() {
	for b := g.client.Bytes(); len(b) > 0; b = b[1:] {
		g.referee.Client(b[:1])
	}
	g.referee.Server(g.served.Bytes())
	g.client.Reset()
	g.served.Reset()
}

var get = []string{":method", "GET", ":scheme", "https", ":authority", "a.test", ":path", "/"}

func (g *game) request(id uint32, end bool, pairs ...string) {
	g.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		g.hpack.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	g.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: g.block.Bytes(), EndStream: end, EndHeaders: true})
}

func (g *game) get(id uint32) { g.request(id, true, get...) }
func (g *game) post(id uint32) {
	g.request(id, false, append([]string{":method", "POST"}, get[2:]...)...)
}

// TestReferee: what a client may do is no fault, and each thing that it may not do is one.
func TestReferee(t *testing.T) {
	with := func(pairs ...string) func(*game) {
		return func(g *game) { g.request(1, true, append(append([]string(nil), get...), pairs...)...) }
	}
	for name, test := range map[string]struct {
		play func(*game)
		want string // the fault; "": none
	}{
		"a request": {play: func(g *game) { g.get(1); g.get(3); g.get(7) }},
		"fields in pieces": {play: func(g *game) {
			g.get(1)
			block := bytes.Clone(g.block.Bytes())
			g.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: block[:2]})
			g.WriteContinuation(3, false, block[2:3])
			g.WriteContinuation(3, true, block[3:])
		}},
		"a body within its window": {play: func(g *game) {
			g.post(1)
			g.WriteData(1, false, make([]byte, 16384))
			g.WriteDataPadded(1, false, make([]byte, 10000), make([]byte, 100))
			g.server.WriteWindowUpdate(1, 100)
			g.pass()
			g.WriteData(1, true, nil)
		}},
		"responses": {play: func(g *game) {
			g.server.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
			g.server.WritePing(false, [8]byte{7})
			g.pass()
			g.WriteSettingsAck()
			g.WritePing(true, [8]byte{7})
			g.get(1)
			g.pass()
			g.server.WriteData(1, true, make([]byte, 100))
			g.pass()
			g.WriteWindowUpdate(0, 100)
			g.WritePriority(1, http2.PriorityParam{})
			g.get(3)
			g.WriteRSTStream(3, http2.ErrCodeCancel)
			g.get(5)
			g.WriteGoAway(0, http2.ErrCodeNo, nil)
		}},
		"a smaller table": {play: func(g *game) {
			g.server.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 100})
			g.pass()
			g.WriteSettingsAck()
			g.hpack.SetMaxDynamicTableSizeLimit(100)
			g.get(1)
		}},

		"data beyond the stream": {func(g *game) { g.post(1); repeat(5, func() { g.WriteData(1, false, make([]byte, 16384)) }) }, "1 bytes beyond the window of the stream"},
		"data beyond the connection": {func(g *game) {
			g.post(1)
			g.post(3)
			g.WriteData(1, false, make([]byte, 16384))
			g.server.WriteWindowUpdate(3, 1e6)
			g.pass()
			repeat(4, func() { g.WriteData(3, false, make([]byte, 16384)) })
		}, "1 bytes beyond the window of the connection"},
		"a smaller window": {func(g *game) {
			g.post(1)
			g.server.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 9})
			g.pass()
			g.WriteSettingsAck()
			g.WriteData(1, true, make([]byte, 10))
		}, "1 bytes beyond the window of the stream"},
		"data after the end":      {func(g *game) { g.get(1); g.WriteData(1, false, nil) }, "whose end it has sent"},
		"data before the request": {func(g *game) { g.WriteData(1, false, nil) }, "which is idle"},
		"data after a reset":      {func(g *game) { g.post(1); g.pass(); g.server.WriteRSTStream(1, 0); g.pass(); g.WriteData(1, true, nil) }, "which the server has reset"},
		"shorter than its length": {func(g *game) {
			g.request(1, false, append(append([]string(nil), get...), "content-length", "2")...)
			g.WriteData(1, true, []byte("x"))
		}, "a body of 1 bytes, expected 2"},
		"an even stream":           {func(g *game) { g.get(2) }, "expected an odd stream"},
		"a stream that was passed": {func(g *game) { g.get(5); g.get(3) }, "after stream 5"},
		"a stream twice":           {func(g *game) { g.get(1); g.get(1) }, "whose end it has sent"},
		"a trailer without end":    {func(g *game) { g.post(1); g.request(1, false, "a", "b") }, "a trailer without END_STREAM"},
		"too many streams": {func(g *game) {
			g.server.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
			g.pass()
			g.WriteSettingsAck()
			g.get(1)
			g.get(3)
			g.get(5)
		}, "the server allows 2"},
		"a stream after GOAWAY":       {func(g *game) { g.server.WriteGoAway(0, 0, nil); g.pass(); g.get(1) }, "after the server's GOAWAY"},
		"anything after its GOAWAY":   {func(g *game) { g.WriteGoAway(0, 0, nil); g.WriteSettingsAck() }, "after GOAWAY"},
		"a frame too long":            {func(g *game) { g.post(1); g.WriteData(1, false, make([]byte, 16385)) }, "expected at most 16384 bytes"},
		"a frame within fields":       {func(g *game) { g.WriteHeaders(http2.HeadersFrameParam{StreamID: 1}); g.WritePing(false, [8]byte{}) }, "within the fields of stream 1"},
		"fields without end":          {func(g *game) { g.WriteHeaders(http2.HeadersFrameParam{StreamID: 1}) }, "have no end"},
		"continuation of nothing":     {func(g *game) { g.WriteContinuation(1, true, nil) }, "expected HEADERS before"},
		"credit of nothing":           {func(g *game) { g.WriteWindowUpdate(0, 0) }, "0 more"},
		"too much credit":             {func(g *game) { g.WriteWindowUpdate(0, 1<<31-1) }, "a window of 2147549182 bytes"},
		"too much credit of a stream": {func(g *game) { g.get(1); g.WriteWindowUpdate(1, 1<<30); g.WriteWindowUpdate(1, 1<<30) }, "a window of 2147549183 bytes"},
		"credit of a closed stream": {func(g *game) {
			g.get(1)
			g.pass()
			g.server.WriteData(1, true, nil)
			g.pass()
			g.WriteWindowUpdate(1, 1)
		}, "which is closed"},
		"credit of an idle stream": {func(g *game) { g.WriteWindowUpdate(1, 1) }, "which is idle"},
		"a reset twice":            {func(g *game) { g.get(1); g.WriteRSTStream(1, 0); g.WriteRSTStream(1, 0) }, "which it has reset"},
		"a reset of nothing":       {func(g *game) { g.WriteRSTStream(1, 0) }, "which is idle"},
		"an ack of nothing":        {func(g *game) { g.WriteSettingsAck() }, "acknowledges nothing"},
		"settings without ack":     {func(g *game) { g.server.WriteSettings(); g.pass() }, "1 SETTINGS without acknowledgement"},
		"a ping without response":  {func(g *game) { g.server.WritePing(false, [8]byte{}); g.pass() }, "1 PING without response"},
		"a response to no ping":    {func(g *game) { g.WritePing(true, [8]byte{}) }, "to none"},
		"a setting out of bounds":  {func(g *game) { g.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) }, "setting 5 is 1"},
		"settings on a stream":     {func(g *game) { g.WriteRawFrame(http2.FrameSettings, 0, 1, nil) }, "expected none"},
		"headers on none":          {func(g *game) { g.WriteRawFrame(http2.FrameHeaders, 4, 0, nil) }, "expected one"},
		"a push":                   {func(g *game) { g.WriteRawFrame(http2.FramePushPromise, 0, 1, make([]byte, 4)) }, "expected none from a client"},
		"an unknown type":          {func(g *game) { g.WriteRawFrame(0x42, 0, 1, nil) }, "frame of type 66"},
		"an unknown flag":          {func(g *game) { g.WriteRawFrame(http2.FramePing, 2, 0, make([]byte, 8)) }, "with flags 0x2"},
		"the reserved bit":         {func(g *game) { g.WriteRawFrame(http2.FramePriority, 0, 1<<31|1, make([]byte, 5)) }, "the reserved bit"},
		"half a frame":             {func(g *game) { g.client.WriteString("abc") }, "3 bytes at the end"},
		"fields that cannot be decoded": {func(g *game) {
			g.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0}, EndHeaders: true})
		}, "cannot be decoded"},
		"a table that is not smaller": {func(g *game) {
			g.server.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 100})
			g.pass()
			g.WriteSettingsAck()
			g.get(1)
		}, "a table of HPACK of 4096 bytes"},
		"upper case":              {with("Accept", "x"), `field "Accept"`},
		"a field of HTTP/1":       {with("connection", "close"), "field connection"},
		"te":                      {with("te", "gzip"), `field te of "gzip"`},
		"a line break":            {with("a", "b\r\nc"), "field a of"},
		"space around":            {with("a", " b"), "field a of"},
		"a late pseudo-field":     {with("a", "b", ":path", "/"), ":path behind other fields"},
		"a pseudo-field twice":    {with(":path", "/"), ":path twice"},
		"an unknown pseudo-field": {with(":status", "200"), ":status, which is no field of a request"},
		"another host":            {with("host", "b.test"), `host "b.test"`},
		"no path":                 {func(g *game) { g.request(1, true, get[:6]...) }, `:path ""`},
		"no method":               {func(g *game) { g.request(1, true, get[2:]...) }, "no :method"},
		"a user": {func(g *game) {
			g.request(1, true, ":method", "GET", ":scheme", "https", ":authority", "u@a.test", ":path", "/")
		}, "with a user"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGame()
			g.client.WriteString(http2.ClientPreface)
			g.WriteSettings()
			test.play(g)
			g.pass()
			g.referee.End()
			if test.want == "" && len(g.faults) > 0 || test.want != "" && (len(g.faults) == 0 || !strings.Contains(g.faults[0], test.want)) {
				t.Errorf("%q, expected %q", g.faults, test.want)
			}
		})
	}
	for begins, want := range map[string]string{
		strings.Repeat("GET / HTTP/1.1\r\n", 9):                              "expected the preface",
		http2.ClientPreface + "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678": "expected SETTINGS first",
	} {
		g := newGame()
		g.client.WriteString(begins)
		g.pass()
		if len(g.faults) == 0 || !strings.Contains(g.faults[0], want) {
			t.Errorf("%q, expected %q", g.faults, want)
		}
	}
}

func repeat(n int, fn func()) {
	for range n {
		fn()
	}
}
