package http1

import (
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

// verdict is all there is to say about an answer.
type verdict struct {
	kind     Kind // of the error, "" for none
	err      string
	status   int
	body     string
	consumed int  // bytes that belong to the answer
	wire     int  // bytes the parser says that it has taken
	whole    bool // the answer is; if not and there is no error, more is expected
	kept     bool // the connection can be used again
	cut      bool // the body is only the beginning
	head     string
	trailer  string // its fields, as Go prints them
	raw      string // the answer as received
}

func (v verdict) String() string {
	if v.kind != "" {
		return fmt.Sprintf("%s (%s), body %q, consumed %d", v.kind, v.err, v.body, v.consumed)
	}
	return fmt.Sprintf("status %d, body %q, cut %v, consumed %d, wire %d, whole %v, kept %v, trailer %s, raw %q",
		v.status, v.body, v.cut, v.consumed, v.wire, v.whole, v.kept, v.trailer, v.raw)
}

// request is what was asked, as far as it matters to the parser.
type request struct{ head, cut bool }

// parse feeds pieces of an answer to a parser, and then the end of the connection
// unless the answer is whole. A piece has nothing after it that could be read.
func (req request) parse(pieces ...string) verdict {
	body, received := new([]byte), new([]byte)
	p := parser{maxHead: testMaxHead, maxBody: testMaxBody, cut: req.cut, head: req.head, body: body, raw: received}
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
		v.status, v.head, v.cut = p.res.Status, p.res.RawHead, p.res.Truncated
		if p.res.Trailer != nil {
			v.trailer = fmt.Sprintf("%q", p.res.Trailer)
		}
	}
	v.body, v.wire, v.raw = string(*body), int(p.wire), string(*received)
	return v
}

// answers are what servers send, good and bad. Lines end in CRLF unless the case is
// about that. {n} in an answer stands for n bytes "x".
var answers = []struct {
	name   string
	raw    string
	kind   Kind   // "": a whole answer
	status int    // 0: 200
	body   string // of a whole answer
	rest   string // bytes after the answer: not consumed
	end    bool   // the connection cannot be used again

	head    bool   // the request was HEAD
	trailer string // of a whole answer, as Go prints it
	interim int    // bytes of the interim answers it begins with
}{
	// Good ones.
	{name: "content-length", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "content-length 0", raw: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
	{name: "content-length twice the same", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "content-length as a list of equals", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", body: "hello"},
	{name: "content-length with leading zeros", raw: "HTTP/1.1 200 OK\r\nContent-Length: 005\r\n\r\nhello", body: "hello"},
	{name: "read to close", raw: "HTTP/1.1 200 OK\r\n\r\nhello", body: "hello", end: true},
	{name: "read to close, empty", raw: "HTTP/1.1 200 OK\r\n\r\n", end: true},
	{name: "body of the limit", raw: "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n{64}", body: strings.Repeat("x", 64)},
	{name: "read to close, body of the limit", raw: "HTTP/1.1 200 OK\r\n\r\n{64}", body: strings.Repeat("x", 64), end: true},
	{name: "http/1.0 ends", raw: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "http/1.0 keep-alive", raw: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "http/1.0 keep-alive and close", raw: "HTTP/1.0 200 OK\r\nConnection: close, keep-alive\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "http/1.0 keep-alive without length", raw: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhello", body: "hello", end: true},
	{name: "connection close", raw: "HTTP/1.1 200 OK\r\nConnection: CLOSE\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "connection close in a list", raw: "HTTP/1.1 200 OK\r\nConnection: x-other ,close\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "204 has no body", raw: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
	{name: "204 that announces one", raw: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", status: 204, rest: "hello", end: true},
	{name: "204 chunked", raw: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", status: 204, end: true},
	{name: "204 of length 0", raw: "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", status: 204},
	{name: "HEAD", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
	{name: "HEAD of what is over the limit", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"},
	{name: "HEAD, chunked", head: true, raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
	{name: "HEAD without length", head: true, raw: "HTTP/1.1 200 OK\r\n\r\n"},
	{name: "HEAD and close", head: true, raw: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", end: true},
	{name: "HEAD, with a body all the same", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", rest: "hello"},
	{name: "HEAD after an interim answer", head: true, raw: "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", interim: 28},
	{name: "HEAD, lengths in doubt", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", kind: KindProtocol},
	{name: "304 has no body, whatever its length says", raw: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n", status: 304},
	{name: "304 chunked has no body", raw: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304},
	{name: "interim answers", raw: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", interim: 69},
	{name: "interim answer's length means nothing", raw: "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 OK\r\n\r\n", status: 204, interim: 44},
	{name: "no reason", raw: "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", status: 404},
	{name: "no reason, no space", raw: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", status: 404},
	{name: "status of no class", raw: "HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n", status: 999},
	{name: "no fields", raw: "HTTP/1.1 204 OK\r\n\r\n", status: 204},
	{name: "bare LF lines", raw: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", body: "hello"},
	{name: "LF, then CRLF", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello", body: "hello"},
	{name: "CRLF, then LF", raw: "HTTP/1.1 200 OK\nContent-Length: 5\r\n\nhello", body: "hello"},
	{name: "folded field", raw: "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\n\t3\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "folded length", raw: "HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello", body: "hello"},
	{name: "field without value", raw: "HTTP/1.1 200 OK\r\nX-A:\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "header of the limit", raw: "HTTP/1.1 204 OK\r\nX-A: {230}\r\n\r\n", status: 204},

	// Chunked ones.
	{name: "chunked", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", body: "hello!"},
	{name: "chunked, empty", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"},
	{name: "chunk sizes in hexadecimal", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1F\r\n{31}\r\n0a\r\n{10}\r\n00\r\n\r\n", body: strings.Repeat("x", 41)},
	{name: "chunks of the limit", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{32}\r\n20\r\n{32}\r\n0\r\n\r\n", body: strings.Repeat("x", 64)},
	{name: "chunk extensions", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=1;b=\"2\"\r\nhello\r\n0;c\r\n\r\n", body: "hello"},
	{name: "space after the chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5  \r\nhello\r\n0 ;x\r\n\r\n", body: "hello"},
	{name: "trailers", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", body: "hello", trailer: `[{"X-A" "1"} {"X-B" "2"}]`},
	{name: "folded trailer", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: 1\r\n 2\r\n\r\n", trailer: `[{"X-A" "1 2"}]`},
	{name: "ill-formed trailer", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\nX B: 2\r\n\r\n", body: "hello", end: true},
	{name: "chunked with bare LF", raw: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\nX-A: 1\n\n", body: "hello", trailer: `[{"X-A" "1"}]`},
	{name: "chunked and close", raw: "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", body: "hello", end: true},
	{name: "http/1.0 chunked ends", raw: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", body: "hello", end: true},

	// What follows an answer is not part of it.
	{name: "extra bytes after the body", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", rest: " world"},
	{name: "extra bytes after no body", raw: "HTTP/1.1 304 Not Modified\r\n\r\n", status: 304, rest: "<html>"},
	{name: "extra bytes after the last chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", rest: "\r\n"},
	{name: "a second answer", raw: "HTTP/1.1 204 OK\r\n\r\n", status: 204, rest: "HTTP/1.1 200 OK\r\n\r\n"},

	// A length in doubt.
	{name: "conflicting lengths", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", kind: KindProtocol},
	{name: "conflicting lengths in a list", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", kind: KindProtocol},
	{name: "length and chunked", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "negative length", raw: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", kind: KindProtocol},
	{name: "signed length", raw: "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", kind: KindProtocol},
	{name: "empty length", raw: "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nhello", kind: KindProtocol},
	{name: "length in words", raw: "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", kind: KindProtocol},
	{name: "hexadecimal length", raw: "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", kind: KindProtocol},
	{name: "length over 64 bits", raw: "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello", kind: KindProtocol},
	{name: "unknown coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked twice", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "identity coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello", kind: KindProtocol},
	{name: "empty coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n\r\nhello", kind: KindProtocol},
	{name: "obscured coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},

	// Not HTTP/1.
	{name: "another protocol", raw: "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", kind: KindProtocol},
	{name: "another protocol, no line", raw: "\x15\x03\x01\x00\x02\x02\x46", kind: KindProtocol},
	{name: "another protocol, endless line", raw: "{1000}", kind: KindProtocol},
	{name: "page without a header", raw: "<html>hello</html>", kind: KindProtocol},
	{name: "http/2", raw: "HTTP/2 200\r\n\r\n", kind: KindProtocol},
	{name: "http/1.x", raw: "HTTP/1.x 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "lower case", raw: "http/1.1 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "empty line before the answer", raw: "\r\nHTTP/1.1 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "only empty lines", raw: "\r\n\r\n", kind: KindProtocol},
	{name: "less than a version", raw: "\n\n", kind: KindProtocol},
	{name: "less than a version after an interim answer", raw: "HTTP/1.1 103 Early Hints\r\n\r\n\n\n", kind: KindProtocol},
	{name: "status of two digits", raw: "HTTP/1.1 20 OK\r\n\r\n", kind: KindProtocol},
	{name: "status of four digits", raw: "HTTP/1.1 2000 OK\r\n\r\n", kind: KindProtocol},
	{name: "status below 100", raw: "HTTP/1.1 099 OK\r\n\r\n", kind: KindProtocol},
	{name: "status in words", raw: "HTTP/1.1 two OK\r\n\r\n", kind: KindProtocol},
	{name: "two spaces", raw: "HTTP/1.1  200 OK\r\n\r\n", kind: KindProtocol},
	{name: "no status", raw: "HTTP/1.1\r\n\r\n", kind: KindProtocol},
	{name: "switching protocols", raw: "HTTP/1.1 101 Switching Protocols\r\n\r\n", kind: KindProtocol},

	// Bad fields.
	{name: "no colon", raw: "HTTP/1.1 200 OK\r\nContent-Length 5\r\n\r\nhello", kind: KindProtocol},
	{name: "no name", raw: "HTTP/1.1 200 OK\r\n: 5\r\n\r\nhello", kind: KindProtocol},
	{name: "space before the colon", raw: "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello", kind: KindProtocol},
	{name: "space in the name", raw: "HTTP/1.1 200 OK\r\nContent Length: 5\r\n\r\nhello", kind: KindProtocol},
	{name: "folding before the first field", raw: "HTTP/1.1 200 OK\r\n X-A: 1\r\n\r\n", kind: KindProtocol},
	{name: "NUL in a value", raw: "HTTP/1.1 200 OK\r\nX-A: 1\x002\r\n\r\n", kind: KindProtocol},
	{name: "CR in a value", raw: "HTTP/1.1 200 OK\r\nX-A: 1\rContent-Length: 5\r\n\r\n", kind: KindProtocol},
	{name: "CR in a folded value", raw: "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r3\r\n\r\n", kind: KindProtocol},
	{name: "CR CR LF", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\r\n\r\nhello", kind: KindProtocol},

	// Bad chunks.
	{name: "chunk size missing", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size not hexadecimal", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with 0x", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size negative", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with underscore", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1_0\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "space before the chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "only an extension", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;a=1\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size over 64 bits", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size of 63 bits", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nhello", kind: KindProtocol},
	{name: "huge chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3fffffffffffffff\r\nhello", kind: KindTooLarge},
	{name: "second chunk size huge", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3fffffffffffffff\r\nhello", kind: KindTooLarge},
	{name: "chunk longer than its size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello world\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk longer than its size by one", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk longer than its size, no line", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello{60}", kind: KindProtocol},
	{name: "chunk shorter than its size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},

	// Too large.
	{name: "header too large", raw: "HTTP/1.1 204 OK\r\nX-A: {231}\r\n\r\n", kind: KindTooLarge},
	{name: "endless status line", raw: "HTTP/1.1 200 {1000}", kind: KindTooLarge},
	{name: "endless fields", raw: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: 1\r\n", 100), kind: KindTooLarge},
	{name: "length over the limit", raw: "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n{65}", kind: KindTooLarge},
	{name: "read to close, over the limit", raw: "HTTP/1.1 200 OK\r\n\r\n{65}", kind: KindTooLarge},
	{name: "chunk over the limit", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n41\r\n{65}", kind: KindTooLarge},
	{name: "chunks over the limit", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("8\r\n{8}\r\n", 9), kind: KindTooLarge},
	{name: "endless trailers", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X-A: 1\r\n", 100), kind: KindTooLarge},
	{name: "endless chunk extensions", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;{100}\r\nx\r\n", 60), kind: KindTooLarge},
	{name: "more chunked coding than body", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0000001\r\nx\r\n", 40), kind: KindTooLarge},
	{name: "endless chunk size line", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;{5000}", kind: KindProtocol},
	{name: "endless trailer line", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: {5000}", kind: KindProtocol},
	{name: "endless interim answers", raw: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50), kind: KindTooLarge},

	// The connection ends early, in every state.
	{name: "end before an answer", raw: "", kind: KindEarlyEnd},
	{name: "end in the first word", raw: "HTT", kind: KindEarlyEnd},
	{name: "end in the status line", raw: "HTTP/1.1 20", kind: KindEarlyEnd},
	{name: "end in the header", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", kind: KindEarlyEnd},
	{name: "end in the empty line", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r", kind: KindEarlyEnd},
	{name: "end after an interim answer", raw: "HTTP/1.1 100 Continue\r\n\r\n", kind: KindEarlyEnd},
	{name: "end before the body", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", kind: KindEarlyEnd},
	{name: "end in the body", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", kind: KindEarlyEnd},
	{name: "end before a chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", kind: KindEarlyEnd},
	{name: "end in a chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5", kind: KindEarlyEnd},
	{name: "end in a chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", kind: KindEarlyEnd},
	{name: "end after a chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", kind: KindEarlyEnd},
	{name: "end between chunks", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", kind: KindEarlyEnd},
	{name: "end before the trailers", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", kind: KindEarlyEnd},
	{name: "end in the trailers", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: 1\r\n", kind: KindEarlyEnd},
}

// xs replaces {n} by n bytes "x".
func xs(s string) string {
	before, after, ok := strings.Cut(s, "{")
	if !ok {
		return s
	}
	digits, after, _ := strings.Cut(after, "}")
	n := 0
	for _, c := range digits {
		n = 10*n + int(c-'0')
	}
	return before + strings.Repeat("x", n) + xs(after)
}

func TestAnswers(t *testing.T) {
	for _, c := range answers {
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

// TestAnswersInPieces: what an answer is does not depend on how the network cut it.
func TestAnswersInPieces(t *testing.T) {
	for _, c := range answers {
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

// TestAnswersThatAreCut: with request.cut a body beyond the limit ends there, whatever
// says how long it is, and nothing else changes.
func TestAnswersThatAreCut(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	cut := map[string]string{ // name in answers → what is taken of it
		"length over the limit":         "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n{64}",
		"read to close, over the limit": "HTTP/1.1 200 OK\r\n\r\n{64}",
		"chunk over the limit":          chunked + "41\r\n{64}",
		"chunks over the limit":         chunked + strings.Repeat("8\r\n{8}\r\n", 8) + "8\r\n",
	}
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			raw := xs(c.raw) + c.rest
			got, want := request{head: c.head, cut: true}.parse(raw), request{head: c.head}.parse(raw)
			if taken, ok := cut[c.name]; ok {
				taken = xs(taken)
				want = verdict{status: 200, body: strings.Repeat("x", testMaxBody), consumed: len(taken), wire: len(taken), whole: true, cut: true,
					head: got.head, raw: taken}
				delete(cut, c.name)
			}
			// What has a chunk announced that is too large is waited for, up to the limit.
			same := got == want || want.kind == KindTooLarge && (got.kind == KindTooLarge || got.kind == KindEarlyEnd)
			if !same {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
	if len(cut) > 0 {
		t.Errorf("no such answers: %q", cut)
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
	res, err := parseHead([]byte(raw))
	if err != nil {
		t.Fatal(err)
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

// FuzzParser: the verdict on an answer, its body and its length do not depend on how
// it was cut; the parser never panics, takes more than there is, or makes a body over
// the limit.
func FuzzParser(f *testing.F) {
	for _, c := range answers {
		raw := xs(c.raw) + c.rest
		f.Add(c.head, raw, uint16(len(raw)/2))
	}
	f.Fuzz(func(t *testing.T, head bool, raw string, cut uint16) {
		want := request{head: head}.parse(raw)
		if len(want.body) > testMaxBody {
			t.Errorf("body of %d bytes, the limit is %d", len(want.body), testMaxBody)
		}
		if want.consumed > len(raw) {
			t.Errorf("%d bytes consumed of %d", want.consumed, len(raw))
		}
		if want.kind == "" && (want.status < 200 || want.status > 999 || !want.whole) {
			t.Errorf("no error, and %v", want)
		}
		short := request{head: head, cut: true}.parse(raw)
		if len(short.body) > testMaxBody || short.cut && len(short.body) < testMaxBody || want.kind == "" && short != want {
			t.Errorf("cut:   %v\nwhole: %v", short, want)
		}
		i := int(cut) % (len(raw) + 1)
		for req, want := range map[request]verdict{{head: head}: want, {head: head, cut: true}: short} {
			if got := req.parse(strings.Split(raw, "")...); got != want {
				t.Errorf("%+v: byte by byte: %v\nin one piece: %v", req, got, want)
			}
			if got := req.parse(raw[:i], raw[i:]); got != want {
				t.Errorf("%+v: cut at %d:    %v\nin one piece: %v", req, i, got, want)
			}
		}
	})
}
