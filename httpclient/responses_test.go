package httpclient

import "strings"

// responses lists responses of servers, good and bad. Lines end in CRLF unless the case is about
// line ends. {n} stands for n bytes "x".
var responses = []struct {
	name   string
	raw    string
	kind   Kind   // "": a complete response
	status int    // 0: 200
	body   string // of a complete response
	rest   string // bytes after the response: not consumed
	end    bool   // the connection cannot be used again

	head    bool   // the request was HEAD
	trailer string // of a complete response, as Go prints it
	interim int    // bytes of the interim responses it begins with
}{
	// Valid ones.
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
	{name: "205 has no body either", raw: "HTTP/1.1 205 Reset Content\r\n\r\n", status: 205},
	{name: "205 that announces one", raw: "HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\n", status: 205, rest: "hello", end: true},
	{name: "205 of length 0", raw: "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", status: 205},
	{name: "204 of length 0", raw: "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", status: 204},
	{name: "HEAD", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
	{name: "HEAD of a body over the limit", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"},
	{name: "HEAD, chunked", head: true, raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
	{name: "HEAD without length", head: true, raw: "HTTP/1.1 200 OK\r\n\r\n"},
	{name: "HEAD and close", head: true, raw: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", end: true},
	{name: "HEAD, with a body all the same", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", rest: "hello"},
	{name: "HEAD after an interim response", head: true, raw: "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", interim: 28},
	{name: "HEAD, lengths in doubt", head: true, raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", kind: KindProtocol},
	{name: "304 has no body, whatever its length says", raw: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n", status: 304},
	{name: "304 chunked has no body", raw: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304},
	{name: "interim responses", raw: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", interim: 69},
	{name: "interim response's length means nothing", raw: "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 OK\r\n\r\n", status: 204, interim: 44},
	{name: "no reason", raw: "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", status: 404},
	{name: "no reason, no space", raw: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", status: 404},
	{name: "status of no class", raw: "HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n", status: 999},
	{name: "no fields", raw: "HTTP/1.1 204 OK\r\n\r\n", status: 204},
	{name: "bare LF lines", raw: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", body: "hello"},
	{name: "LF, then CRLF", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello", body: "hello"},
	{name: "CRLF, then LF", raw: "HTTP/1.1 200 OK\nContent-Length: 5\r\n\nhello", body: "hello"},
	{name: "folded field", raw: "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\n\t3\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "folded length", raw: "HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello", body: "hello"},
	{name: "folded coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n"},
	{name: "folding of spaces alone", raw: "HTTP/1.1 200 OK\r\nX-A: 1\r\n \t \r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "no space after the colon", raw: "HTTP/1.1 200 OK\r\nContent-Length:5\r\nTransfer:x\r\n\r\nhello", body: "hello"},
	{name: "tabs and spaces around a length", raw: "HTTP/1.1 200 OK\r\nContent-Length:\t 5 \t\r\n\r\nhello", body: "hello"},
	{name: "tab before a coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n"},
	{name: "names in any case", raw: "HTTP/1.1 200 OK\r\ncONTENT-lENGTH: 5\r\n\r\nhello", body: "hello"},
	{name: "list of equal lengths, odd spaces", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5 ,\t5,5\r\n\r\nhello", body: "hello"},
	{name: "bytes over 0x7f in reason and value", raw: "HTTP/1.1 200 \xfc\xff\r\nX-A: \xe9\x80\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "control characters in a value", raw: "HTTP/1.1 200 OK\r\nX-A: a\x01\x1b[2J\x7f\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "two spaces before the status", raw: "HTTP/1.1  200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "tabs in the status line", raw: "HTTP/1.1\t200\tOK\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "version 1.9", raw: "HTTP/1.9 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "field without value", raw: "HTTP/1.1 200 OK\r\nX-A:\r\nContent-Length: 5\r\n\r\nhello", body: "hello"},
	{name: "header of the limit", raw: "HTTP/1.1 204 OK\r\nX-A: {230}\r\n\r\n", status: 204},

	// Malformed lines that do not concern the length are dropped, and so is the connection.
	{name: "no name", raw: "HTTP/1.1 200 OK\r\n: 5\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "no colon", raw: "HTTP/1.1 200 OK\r\nhello world\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "space in a name", raw: "HTTP/1.1 200 OK\r\nX A: 1\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "space before a colon", raw: "HTTP/1.1 200 OK\r\nServer : 1\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "name beyond ASCII", raw: "HTTP/1.1 200 OK\r\nSérver: 1\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},
	{name: "odd line, folded", raw: "HTTP/1.1 200 OK\r\nhello\r\n world: 1\r\nContent-Length: 5\r\n\r\nhello", body: "hello", end: true},

	// Chunked ones.
	{name: "chunked", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", body: "hello!"},
	{name: "chunked, empty", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"},
	{name: "chunk sizes in hexadecimal", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1F\r\n{31}\r\n0a\r\n{10}\r\n00\r\n\r\n", body: strings.Repeat("x", 41)},
	{name: "chunks of the limit", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{32}\r\n20\r\n{32}\r\n0\r\n\r\n", body: strings.Repeat("x", 64)},
	{name: "chunk extensions", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=1;b=\"2\"\r\nhello\r\n0;c\r\n\r\n", body: "hello"},
	{name: "space after the chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5  \r\nhello\r\n0 ;x\r\n\r\n", body: "hello"},
	{name: "trailers", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n", body: "hello", trailer: `[{"X-A" "1"} {"X-B" "2"}]`},
	{name: "folded trailer", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-A: 1\r\n 2\r\n\r\n", trailer: `[{"X-A" "1 2"}]`},
	{name: "ill-formed trailer", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\nX B: 2\r\n\r\n", body: "hello", end: true, trailer: `[{"X-A" "1"}]`},
	{name: "chunked with bare LF", raw: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\nX-A: 1\n\n", body: "hello", trailer: `[{"X-A" "1"}]`},
	{name: "trailer that frames", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-Length: 500\r\n\r\n", body: "hello", trailer: `[{"Content-Length" "500"}]`},
	{name: "trailer with a CR", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r2\r\n\r\n", body: "hello", end: true},
	{name: "chunk extensions of all kinds", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;\r\nhello\r\n1 ; a = \"\\\"; 9\" ;;\r\n!\r\n0\t;\r\n\r\n", body: "hello!"},
	{name: "chunk extension, bare LF", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\n", body: "hello"},
	{name: "last chunk of many zeros", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000000000\r\n\r\n"},
	{name: "chunked and close", raw: "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", body: "hello", end: true},

	// Bytes after a response are not part of it.
	{name: "extra bytes after the body", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", rest: " world"},
	{name: "extra bytes after no body", raw: "HTTP/1.1 304 Not Modified\r\n\r\n", status: 304, rest: "<html>"},
	{name: "extra bytes after the last chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", rest: "\r\n"},
	{name: "a second response", raw: "HTTP/1.1 204 OK\r\n\r\n", status: 204, rest: "HTTP/1.1 200 OK\r\n\r\n"},

	// A doubtful length.
	{name: "conflicting lengths", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", kind: KindProtocol},
	{name: "conflicting lengths in a list", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", kind: KindProtocol},
	{name: "length and chunked", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "negative length", raw: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", kind: KindProtocol},
	{name: "signed length", raw: "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", kind: KindProtocol},
	{name: "empty length", raw: "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nhello", kind: KindProtocol},
	{name: "length in words", raw: "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", kind: KindProtocol},
	{name: "hexadecimal length", raw: "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", kind: KindProtocol},
	{name: "length over 64 bits", raw: "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello", kind: KindProtocol},
	{name: "length with an empty item", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\nhello", kind: KindProtocol},
	{name: "length with a space in it", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5 0\r\n\r\nhello", kind: KindProtocol},
	{name: "length with a parameter", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5;a=1\r\n\r\nhello", kind: KindProtocol},
	{name: "length with an underscore", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5_0\r\n\r\nhello", kind: KindProtocol},
	{name: "length with an exponent", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5e0\r\n\r\nhello", kind: KindProtocol},
	{name: "length in digits of another script", raw: "HTTP/1.1 200 OK\r\nContent-Length: ５\r\n\r\nhello", kind: KindProtocol},
	{name: "length with a vertical tab", raw: "HTTP/1.1 200 OK\r\nContent-Length: \x0b5\r\n\r\nhello", kind: KindProtocol},
	{name: "length with a NUL", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\x00\r\n\r\nhello", kind: KindProtocol},
	{name: "lengths that differ in zeros alone are one", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 05\r\n\r\nhello", body: "hello"},
	{name: "length of a decimal part", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5.0\r\n\r\nhello", kind: KindProtocol},
	{name: "chunked, then length", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked in http/1.0", raw: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked beside another coding", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked, not last", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked with a parameter", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;a=1\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked in quotes", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunked with an empty item", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "nearly chunked", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "coding with a space before the colon", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "coding with a control character before the colon", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding\x0b: chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "coding whose colon is in the next line", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding\r\n : chunked\r\n\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "length after a folding at the beginning", raw: "HTTP/1.1 200 OK\r\n Content-Length: 5\r\n\r\nhello", kind: KindProtocol},
	{name: "length after a lone CR in the status line", raw: "HTTP/1.1 200 OK\rContent-Length: 5\r\n\r\nhello", kind: KindProtocol},
	{name: "length after a lone CR in an odd line", raw: "HTTP/1.1 200 OK\r\nhello\rX: 5\r\n\r\nhello", kind: KindProtocol},
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
	{name: "http/2, its first frame", raw: "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80", kind: KindProtocol},
	{name: "http/2, the preface", raw: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", kind: KindProtocol},
	{name: "http/0.9", raw: "hello, world\n", kind: KindProtocol},
	{name: "http/1.10", raw: "HTTP/1.10 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "event stream of icy", raw: "ICY 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "http/1.x", raw: "HTTP/1.x 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "lower case", raw: "http/1.1 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "empty line before the response", raw: "\r\nHTTP/1.1 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "only empty lines", raw: "\r\n\r\n", kind: KindProtocol},
	{name: "less than a version", raw: "\n\n", kind: KindProtocol},
	{name: "less than a version after an interim response", raw: "HTTP/1.1 103 Early Hints\r\n\r\n\n\n", kind: KindProtocol},
	{name: "status of two digits", raw: "HTTP/1.1 20 OK\r\n\r\n", kind: KindProtocol},
	{name: "status of four digits", raw: "HTTP/1.1 2000 OK\r\n\r\n", kind: KindProtocol},
	{name: "status below 100", raw: "HTTP/1.1 099 OK\r\n\r\n", kind: KindProtocol},
	{name: "status in words", raw: "HTTP/1.1 two OK\r\n\r\n", kind: KindProtocol},
	{name: "no space before the status", raw: "HTTP/1.1200 OK\r\n\r\n", kind: KindProtocol},
	{name: "status and reason in one", raw: "HTTP/1.1 200OK\r\n\r\n", kind: KindProtocol},
	{name: "negative status", raw: "HTTP/1.1 -20 OK\r\n\r\n", kind: KindProtocol},
	{name: "NUL in the reason", raw: "HTTP/1.1 200 O\x00K\r\n\r\n", kind: KindProtocol},
	{name: "folded status line", raw: "HTTP/1.1\r\n 200 OK\r\n\r\n", kind: KindProtocol},
	{name: "no status", raw: "HTTP/1.1\r\n\r\n", kind: KindProtocol},
	{name: "switching protocols", raw: "HTTP/1.1 101 Switching Protocols\r\n\r\n", kind: KindProtocol},

	// Malformed fields.
	{name: "length without a colon", raw: "HTTP/1.1 200 OK\r\nContent-Length 5\r\n\r\nhello", kind: KindProtocol},
	{name: "length with a space before the colon", raw: "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello", kind: KindProtocol},
	{name: "length with a space in the name", raw: "HTTP/1.1 200 OK\r\nContent Length: 5\r\n\r\nhello", kind: KindProtocol},
	{name: "folding before the first field", raw: "HTTP/1.1 200 OK\r\n X-A: 1\r\n\r\n", kind: KindProtocol},
	{name: "NUL in a value", raw: "HTTP/1.1 200 OK\r\nX-A: 1\x002\r\n\r\n", kind: KindProtocol},
	{name: "CR in a value", raw: "HTTP/1.1 200 OK\r\nX-A: 1\rContent-Length: 5\r\n\r\n", kind: KindProtocol},
	{name: "CR in a folded value", raw: "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r3\r\n\r\n", kind: KindProtocol},
	{name: "CR CR LF", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\r\n\r\nhello", kind: KindProtocol},

	// Malformed chunks.
	{name: "chunk size missing", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size not hexadecimal", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with 0x", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size negative", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with underscore", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1_0\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "space before the chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with a plus", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with a space in it", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0 5\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with a comma", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5,a\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "chunk size with a NUL", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\x00\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "lone CR after the chunk size", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\rhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "lone CR in an extension", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\rb\r\nhello\r\n0\r\n\r\n", kind: KindProtocol},
	{name: "lone CR after a chunk", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r0\r\n\r\n", kind: KindProtocol},
	{name: "empty line between chunks", raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n\r\n0\r\n\r\n", kind: KindProtocol},
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
	{name: "interim responses larger than a header may be", raw: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: {60}\r\n\r\n", 3) + "HTTP/1.1 204 OK\r\n\r\n", kind: KindTooLarge},
	{name: "endless interim responses", raw: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 50), kind: KindTooLarge},

	// The connection ends early, in every state.
	{name: "end before a response", raw: "", kind: KindEarlyEnd},
	{name: "end in the first word", raw: "HTT", kind: KindEarlyEnd},
	{name: "end in the status line", raw: "HTTP/1.1 20", kind: KindEarlyEnd},
	{name: "end in the header", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", kind: KindEarlyEnd},
	{name: "end in the empty line", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r", kind: KindEarlyEnd},
	{name: "end after an interim response", raw: "HTTP/1.1 100 Continue\r\n\r\n", kind: KindEarlyEnd},
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
