package httpclient

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parser parses one response from the pieces in which it arrives. It keeps what it needs between
// pieces, so a piece can be dropped as soon as feed has returned.
type parser struct {
	maxHead, maxBody int
	cut              bool // cut a body at maxBody instead of failing
	head             bool // the request was HEAD: the response has no body
	keep             bool // keep the framing, for Response.AppendRaw

	state   state
	lines   []byte // of the current head or trailer
	interim int    // number of preceding 1xx responses
	before  int    // bytes of these
	res     *Response
	body    *[]byte // appended to
	left    int64   // of a body of known length, or of a chunk
	line    []byte  // an incomplete line of the chunked coding
	extra   int     // bytes of chunk extensions and trailers
	framing int     // bytes of the chunked coding outside the body
	frames  frames  // these bytes, with keep
	wire    int64   // bytes fed that belong to the response
	close   bool    // the connection ends with this response
}

type state uint8

const (
	inHead state = iota
	inBody
	inRest      // a body that ends with the connection
	inChunkSize // the line before a chunk
	inChunk
	afterChunk // the line end after a chunk
	inTrailer
	whole
)

// feed takes the bytes that have arrived and returns how many belong to the response: fewer than
// all only if the response is complete, or as complete as was wanted.
func (p *parser) feed(b []byte) (n int, err *Error) {
	for n < len(b) && p.state != whole && err == nil {
		var used int
		framing := p.keep && p.state >= inChunkSize && p.state != inChunk
		used, err = p.step(b[n:])
		if framing {
			p.frames.add(len(*p.body), b[n:n+used])
		}
		n += used
	}
	p.wire += int64(n)
	return n, err
}

func (p *parser) step(b []byte) (int, *Error) {
	switch p.state {
	case inHead:
		return p.feedHead(b)
	case inRest:
		n := min(len(b), p.room())
		*p.body = append(*p.body, b[:n]...)
		if n < len(b) {
			return n, p.beyond()
		}
		return n, nil
	case inBody, inChunk:
		// frame and feedLine have made sure that there is room, or that the body is cut.
		b = b[:min(int64(len(b)), p.left, int64(p.room()))]
		*p.body = append(*p.body, b...)
		p.left -= int64(len(b))
		switch {
		case p.left > 0 && p.room() == 0:
			return len(b), p.beyond()
		case p.left > 0:
		case p.state == inBody:
			p.state = whole
		default:
			p.state = afterChunk
		}
		return len(b), nil
	}
	return p.feedLine(b)
}

// headSize returns the memory of the head and the trailer, with n bytes more to come. A head is
// there as it arrives, then as one string, which the fields refer to.
func (p *parser) headSize(n int) int {
	size := cap(p.lines) + p.frames.size()
	if p.state == inHead {
		size += 3 * n
	}
	if r := p.res; r != nil {
		size += len(r.RawHead) + (cap(r.Header)+cap(r.Trailer))*fieldSize
		if r.wire != nil && r.wire != r.whole {
			size += cap(*r.wire)
		}
	}
	return size
}

// eof reports the end of the connection. If it was torn, which only TLS can detect, it is not the
// end of a body (RFC 9112, section 8).
func (p *parser) eof(torn bool) *Error {
	switch p.state {
	case whole:
		return nil
	case inRest:
		if torn {
			return fail(KindEarlyEnd, "the connection ended without a TLS close_notify: the body may be incomplete")
		}
		p.state = whole
		return nil
	}
	return fail(KindEarlyEnd, "the connection ended %s", p.place())
}

// place says where in the response the parser is.
func (p *parser) place() string {
	switch {
	case p.state == inHead && len(p.lines) == 0:
		return "before a response"
	case p.state == inHead:
		return "in the header"
	case p.state == inBody:
		return fmt.Sprintf("%d bytes before the end of the body", p.left)
	case p.state == inRest:
		return "in the body"
	}
	return "in a chunked body"
}

// cutOff reports whether the body was cut.
func (p *parser) cutOff() bool { return p.res != nil && p.res.Truncated }

// empty reports whether nothing of a response has arrived.
func (p *parser) empty() bool { return p.wire == 0 }

// A response begins with version. The first bytes identify any other protocol: its peer may be
// waiting for us, so that neither the head nor the connection would ever end.
const version = "HTTP/1."

// protocol is one that servers speak where a response is expected, by its first bytes; -1 is any.
type protocol struct {
	begin []int
	err   error
}

var (
	errHTTP2 = errors.New("the server responds in HTTP/2, expected HTTP/1.1")
	errTLS   = errors.New("the server speaks TLS on this port, expected HTTP without it")
)

var protocols = []protocol{
	{[]int{0, -1, -1, 4, 0, 0, 0, 0, 0}, errHTTP2}, // SETTINGS (RFC 9113, section 3.4)
	// This is an alert, to bytes that are no handshake (RFC 8446, section 5.1).
	{[]int{21, 3, -1, 0, 2}, errTLS},
}

// mostBegin is the length of the longest beginning.
const mostBegin = 9

// matches returns how many of the first bytes are those of the protocol.
func (o *protocol) matches(b []byte) (n int) {
	for n < min(len(b), len(o.begin)) && (o.begin[n] < 0 || int(b[n]) == o.begin[n]) {
		n++
	}
	return n
}

// feedOther takes the first bytes of what is not HTTP/1, until it is known what it is.
func (p *parser) feedOther(b []byte) (int, *Error) {
	had := len(p.lines)
	p.lines = append(p.lines, b[:min(len(b), mostBegin)]...)
	most := 0
	for _, o := range protocols {
		n := o.matches(p.lines)
		if n == len(o.begin) {
			return n - had, &Error{Kind: KindProtocol, Err: o.err}
		}
		most = max(most, n)
	}
	if most == len(p.lines) {
		return len(b), nil
	}
	return most + 1 - had, fail(KindProtocol, "response begins with %q, expected %q", p.lines[:1], version)
}

// maxInterim bounds the interim responses before the real one.
const maxInterim = 16

// feedHead takes bytes up to the end of a line, and handles the head if that line is the last,
// empty one. A head that arrives in one piece, as most do, is taken at once.
func (p *parser) feedHead(b []byte) (int, *Error) {
	if len(p.lines) == 0 {
		if n := headLen(b); n > 0 && n <= p.maxHead-p.before && bytes.HasPrefix(b, []byte(version)) {
			return n, p.headDone(b[:n])
		}
	}
	had, n := len(p.lines), lineLen(b)
	if had == 0 && b[0] != version[0] || had > 0 && p.lines[0] != version[0] {
		return p.feedOther(b)
	}
	for i := had; i < min(had+n, len(version)); i++ {
		if b[i-had] != version[i] {
			begin := append(p.lines, b[:i+1-had]...)
			return len(begin) - had, fail(KindProtocol, "response begins with %q, expected %q", begin, version)
		}
	}
	if room := p.maxHead - p.before - had; n > room {
		return room, fail(KindTooLarge, "header over %d bytes", p.maxHead)
	}
	if p.lines == nil {
		p.lines = make([]byte, 0, 512)
	}
	p.lines = append(p.lines, b[:n]...)
	if !bytes.HasSuffix(p.lines, []byte("\n\n")) && !bytes.HasSuffix(p.lines, []byte("\n\r\n")) {
		return n, nil
	}
	return n, p.headDone(p.lines)
}

// headDone handles a complete head.
func (p *parser) headDone(head []byte) *Error {
	res, odd, err := parseHead(head)
	if err != nil {
		return err
	}
	p.lines = nil
	p.before += len(head)
	if res.Status >= 200 { // otherwise an interim response: the real one follows
		p.res = res
		err = p.frame()
		p.close = p.close || odd
		return err
	}
	if res.Status == 101 {
		return fail(KindProtocol, "unrequested status 101")
	}
	if p.interim++; p.interim > maxInterim {
		return fail(KindTooLarge, "more than %d interim responses", maxInterim)
	}
	return nil
}

// parseHead parses a status line and header fields (RFC 9112, sections 4 and 5). For odd see
// parseFields.
func parseHead(raw []byte) (r *Response, odd bool, err *Error) {
	r = &Response{RawHead: string(raw)}
	line, fields := cutLine(r.RawHead)
	var ok bool
	if r.Proto, r.Status, ok = parseStatusLine(line); !ok {
		return nil, false, fail(KindProtocol, "status line %.64q, expected HTTP/1.x and a status", line)
	}
	r.Header, odd, err = parseFields(fields)
	return r, odd, err
}

// parseStatusLine parses a status line, whose words are separated by spaces and tabs; the reason
// has any number of words.
func parseStatusLine(line string) (proto string, status int, ok bool) {
	const end = len("HTTP/1.1")
	if len(line) < end || line[:end-1] != version || line[end-1] < '0' || line[end-1] > '9' {
		return "", 0, false
	}
	rest := strings.TrimLeft(line[end:], " \t")
	if len(rest) == len(line)-end || len(rest) < 3 {
		return "", 0, false
	}
	for _, c := range []byte(rest[:3]) {
		if c < '0' || c > '9' {
			return "", 0, false
		}
		status = status*10 + int(c-'0')
	}
	if len(rest) > 3 && rest[3] != ' ' && rest[3] != '\t' || status < 100 || splits(rest) {
		return "", 0, false
	}
	return line[:end], status, true
}

// headLen returns the length of the head that b begins with, including its empty line; 0 if it is
// incomplete.
func headLen(b []byte) int {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			return 0
		}
		i += j + 1
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2
		}
	}
}

// frame decides how the body ends (RFC 9112, section 6.3). It refuses a response whose body has a
// doubtful length.
func (p *parser) frame() *Error {
	h := p.res.Header
	old := p.res.Proto == "HTTP/1.0"
	length := int64(-1)
	coded := false
	closing, keeping := false, false
	for _, f := range h {
		switch {
		case isName(f.Name, "Content-Length"):
			for v := range strings.SplitSeq(f.Value, ",") {
				n, err := strconv.ParseUint(trim(v), 10, 62)
				if err != nil {
					return fail(KindProtocol, "Content-Length %.64q, expected one number", f.Value)
				}
				if length >= 0 && length != int64(n) {
					return fail(KindProtocol, "Content-Length %d and %d, expected one number", length, n)
				}
				length = int64(n)
			}
		case isName(f.Name, "Transfer-Encoding"):
			coded = true
		case isName(f.Name, "Connection"):
			for v := range strings.SplitSeq(f.Value, ",") {
				closing = closing || strings.EqualFold(trim(v), "close")
				keeping = keeping || strings.EqualFold(trim(v), "keep-alive")
			}
		}
	}
	coding := ""
	if coded {
		coding = h.list("Transfer-Encoding")
	}
	p.close = closing || old && !keeping
	switch {
	case p.head || p.res.Status == 304: // the fields describe the response to a GET
		p.state = whole
	case p.res.Status == 204, p.res.Status == 205: // RFC 9110, sections 15.3.5 and 15.3.6
		p.state = whole
		// There must be no body: nobody knows where this one ends.
		p.close = p.close || coded || length > 0
	case coded:
		if length >= 0 {
			return fail(KindProtocol, "both Content-Length and Transfer-Encoding")
		}
		// HTTP/1.0 has no chunked coding: some decode it all the same, others read to the end
		// (section 6.1).
		if old {
			return fail(KindProtocol, "Transfer-Encoding %.64q in HTTP/1.0", coding)
		}
		if !strings.EqualFold(coding, "chunked") {
			return fail(KindProtocol, "Transfer-Encoding %.64q, expected chunked", coding)
		}
		p.state = inChunkSize
	case length > int64(p.maxBody) && !p.cut:
		return p.beyond()
	case length > 0:
		p.state, p.left = inBody, length
	case length == 0:
		p.state = whole
	default:
		p.state, p.close = inRest, true
	}
	return nil
}

// room returns how many bytes the body may still have.
func (p *parser) room() int { return p.maxBody - len(*p.body) }

// beyond handles a body that exceeds its limit: it is cut there, which ends the connection, or the
// response is refused.
func (p *parser) beyond() *Error {
	if !p.cut {
		return fail(KindTooLarge, "body over %d bytes", p.maxBody)
	}
	p.state, p.close, p.res.Truncated = whole, true, true
	return nil
}

// maxChunkLine bounds a chunk-size line with its extensions, and a trailer line.
const maxChunkLine = 4096

// plainChunkLine is the longest chunk-size line without extension bytes.
const plainChunkLine = len("0123456789abcdef\r\n")

// feedLine takes bytes up to the end of a line of the chunked coding (RFC 9112, section 7.1) and
// handles the line.
func (p *parser) feedLine(b []byte) (int, *Error) {
	n, limit := lineLen(b), maxChunkLine
	if p.state == afterChunk {
		limit = len("\r\n")
	}
	if room := limit - len(p.line); n > room {
		if p.state == afterChunk {
			return room, errLongChunk()
		}
		return room, fail(KindProtocol, "line of the chunked coding over %d bytes", limit)
	}
	p.line = append(p.line, b[:n]...)
	if b[n-1] != '\n' {
		return n, nil
	}
	size := len(p.line)
	line := bytes.TrimSuffix(p.line[:size-1], []byte("\r"))
	p.line = p.line[:0]
	// Chunks of one byte each would multiply the body's limit.
	if p.framing += size; p.framing > p.maxHead+p.maxBody {
		return n, fail(KindTooLarge, "chunked coding over %d bytes outside its body", p.maxHead+p.maxBody)
	}
	switch p.state {
	case afterChunk:
		if len(line) > 0 {
			return n, errLongChunk()
		}
		p.state = inChunkSize
		return n, nil
	case inTrailer:
		p.lines = append(p.lines, p.line[:size]...)
		if len(line) == 0 {
			p.trailerDone()
			return n, nil
		}
		p.extra += size
	case inChunkSize:
		digits, _, _ := bytes.Cut(line, []byte(";")) // extensions are ignored
		left, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 62)
		if err != nil || bytes.IndexByte(line, '\r') >= 0 { // some readers end the line at a CR
			return n, fail(KindProtocol, "chunk size %.32q, expected a hexadecimal number", line)
		}
		switch p.left = int64(left); {
		case p.left > int64(p.room()) && (!p.cut || p.room() == 0):
			return n, p.beyond()
		case p.left > 0:
			p.state = inChunk
		default:
			p.state = inTrailer
		}
		p.extra += max(0, size-plainChunkLine)
	}
	if p.extra > p.maxHead {
		return n, fail(KindTooLarge, "chunk extensions and trailers over %d bytes", p.maxHead)
	}
	return n, nil
}

// trailerDone handles a complete trailer. The body before it is complete, so a malformed trailer
// only spoils the connection.
func (p *parser) trailerDone() {
	p.state = whole
	trailer, odd, err := parseFields(string(p.lines))
	p.close = p.close || odd || err != nil
	if len(trailer) > 0 {
		p.res.Trailer = trailer
	}
}

func errLongChunk() *Error { return fail(KindProtocol, "chunk longer than its announced size") }

// lineLen returns the length of the line that b begins with, including its LF; all of b if there
// is no LF.
func lineLen(b []byte) int {
	if n := bytes.IndexByte(b, '\n') + 1; n > 0 {
		return n
	}
	return len(b)
}
