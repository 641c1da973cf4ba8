package httpclient

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Limits of the parsers in these tests: small, so that they are easy to reach.
const (
	testMaxHead = 256
	testMaxBody = 64
)

// verdict is everything the parser concludes about a response.
type verdict struct {
	kind     Kind // of the error, "" for none
	err      string
	status   int
	body     string
	consumed int  // bytes that belong to the response
	wire     int  // bytes the parser claims to have taken
	whole    bool // the response is complete; if not and there is no error, it expects more
	kept     bool // the connection can be used again
	cut      bool // the body is only a beginning
	head     string
	trailer  string // its fields, as Go prints them
	raw      string // the response as received
}

func (v verdict) String() string {
	if v.kind != "" {
		return fmt.Sprintf("%s (%s), body %q, consumed %d", v.kind, v.err, v.body, v.consumed)
	}
	return fmt.Sprintf("status %d, body %q, cut %v, consumed %d, wire %d, whole %v, kept %v, trailer %s, raw %q",
		v.status, v.body, v.cut, v.consumed, v.wire, v.whole, v.kept, v.trailer, v.raw)
}

// request is the part of a request that matters to the parser.
type request struct{ head, cut bool }

// parse feeds pieces of a response to a parser, and then the end of the connection unless the
// response is complete. The memory after a piece is not readable.
func (req request) parse(pieces ...string) verdict {
	body := new([]byte)
	p := parser{maxHead: testMaxHead, maxBody: testMaxBody, cut: req.cut, head: req.head, body: body, keep: true}
	var v verdict
	var err *Error
	for _, piece := range pieces {
		if p.state == whole || err != nil {
			break
		}
		var n int
		n, err = p.feed(slices.Clip([]byte(piece)))
		v.consumed += n
	}
	v.whole = err == nil && p.state == whole
	v.kept = v.whole && !p.close
	if err == nil && p.state != whole {
		if err = p.eof(false); err == nil {
			v.whole = p.state == whole
		}
	}
	if err != nil {
		v.kind, v.err = err.Kind, err.Err.Error()
	}
	if p.res != nil {
		p.res.wire, p.res.frames = body, p.frames
		v.raw = p.res.RawHead + string(bytes.Join(p.res.AppendRaw(nil), nil))
		v.status, v.head, v.cut = p.res.Status, p.res.RawHead, p.res.Truncated
		if p.res.Trailer != nil {
			v.trailer = fmt.Sprintf("%q", p.res.Trailer)
		}
	}
	v.body, v.wire = string(*body), int(p.wire)
	return v
}

func TestAnswers(t *testing.T) {
	for _, c := range responses {
		t.Run(c.name, func(t *testing.T) {
			raw := xs(c.raw)
			got := request{head: c.head}.parse(raw + c.rest)
			if c.kind != "" {
				if got.kind != c.kind {
					t.Errorf("got %v, want an error of kind %s", got, c.kind)
				}
				return
			}
			want := verdict{status: max(c.status, 200), body: c.body, consumed: len(raw), wire: len(raw), whole: true, kept: !c.end,
				head: got.head, trailer: c.trailer, raw: raw[c.interim:]}
			if got != want {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

// TestResponsesInPieces checks that the verdict on a response does not depend on how the network
// cut it.
func TestResponsesInPieces(t *testing.T) {
	for _, c := range responses {
		t.Run(c.name, func(t *testing.T) {
			raw := xs(c.raw) + c.rest
			for _, req := range []request{{head: c.head}, {head: c.head, cut: true}} {
				want := req.parse(raw)
				if got := req.parse(strings.Split(raw, "")...); got != want {
					t.Errorf("%+v: byte by byte: %v\nin one piece: %v", req, got, want)
				}
				for i := range len(raw) {
					if got := req.parse(raw[:i], raw[i:]); got != want {
						t.Fatalf("%+v: cut at %d:    %v\nin one piece: %v", req, i, got, want)
					}
				}
			}
		})
	}
}

// TestResponsesThatAreCut checks that with request.cut a body beyond the limit ends there, however
// its length is given, and nothing else changes.
func TestResponsesThatAreCut(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	cut := map[string]string{ // name in responses → the body up to the cut
		"length over the limit":         "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n{64}",
		"read to close, over the limit": "HTTP/1.1 200 OK\r\n\r\n{64}",
		"chunk over the limit":          chunked + "41\r\n{64}",
		"chunks over the limit":         chunked + strings.Repeat("8\r\n{8}\r\n", 8) + "8\r\n",
	}
	for _, c := range responses {
		t.Run(c.name, func(t *testing.T) {
			raw := xs(c.raw) + c.rest
			got, want := request{head: c.head, cut: true}.parse(raw), request{head: c.head}.parse(raw)
			if taken, ok := cut[c.name]; ok {
				taken = xs(taken)
				want = verdict{status: 200, body: strings.Repeat("x", testMaxBody), consumed: len(taken), wire: len(taken), whole: true, cut: true,
					head: got.head, raw: taken}
				delete(cut, c.name)
			}
			// An announced chunk that is too large is awaited up to the limit.
			same := got == want || want.kind == KindTooLarge && (got.kind == KindTooLarge || got.kind == KindEarlyEnd)
			if !same {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
	if len(cut) > 0 {
		t.Errorf("no such responses: %q", cut)
	}
}

func TestHeader(t *testing.T) {
	raw := "HTTP/1.1 200 All is well\r\n" +
		"Content-Type: text/html; charset=utf-8\r\n" +
		"X-Spaces:\t  a b \t\r\n" +
		"x-twice: 1\r\n" +
		"X-Empty:\r\n" +
		"X-Twice: 2\r\n" +
		"X-Folded: one\r\n" +
		"  two\r\n" +
		"\tthree\r\n" +
		"X-Latin1: \xe9\r\n" +
		"X-Colons: a:b: c\r\n" +
		"\r\n"
	res, odd, err := parseHead([]byte(raw))
	if err != nil || odd {
		t.Fatal(err, odd)
	}
	want := Header{
		{"Content-Type", "text/html; charset=utf-8"},
		{"X-Spaces", "a b"},
		{"x-twice", "1"},
		{"X-Empty", ""},
		{"X-Twice", "2"},
		{"X-Folded", "one two three"},
		{"X-Latin1", "\xe9"},
		{"X-Colons", "a:b: c"},
	}
	if got := fmt.Sprintf("%q", res.Header); got != fmt.Sprintf("%q", want) {
		t.Errorf("got  %s\nwant %q", got, want)
	}
	if string(res.RawHead) != raw {
		t.Errorf("RawHead is %q", res.RawHead)
	}
	for name, want := range map[string]string{"CONTENT-TYPE": "text/html; charset=utf-8", "X-Twice": "1", "X-None": ""} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestOtherProtocols: the error names a protocol that servers speak in place of HTTP/1.1, in
// whatever pieces it arrives.
func TestOtherProtocols(t *testing.T) {
	for name, c := range map[string]struct{ raw, text string }{
		"frames of HTTP/2":     {"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80", "responds in HTTP/2"},
		"an alert of TLS":      {"\x15\x03\x01\x00\x02\x02\x46", "speaks TLS on this port"},
		"almost frames":        {"\x00\x00\x12\x05\x00\x00\x00\x00\x00", `begins with "\x00"`},
		"almost an alert":      {"\x15\x03\x01\x01\x02\x02\x46", `begins with "\x15"`},
		"a line":               {"SSH-2.0-OpenSSH\r\n", `begins with "S"`},
		"after an interim one": {"HTTP/1.1 103 Early Hints\r\n\r\n\x15\x03\x03\x00\x02\x02\x46", "speaks TLS on this port"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pieces := range [][]string{{c.raw}, strings.Split(c.raw, "")} {
				if v := (request{}).parse(pieces...); v.kind != KindProtocol || !strings.Contains(v.err, c.text) {
					t.Errorf("%d pieces: %v, expected %s", len(pieces), v, c.text)
				}
			}
		})
	}
}
