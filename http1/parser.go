package http1

import (
	"bytes"
	"strconv"
	"strings"
)

// parser reads one answer from the pieces in which it arrives. It keeps what it
// needs between pieces, so a piece can be dropped as soon as feed has returned.
type parser struct {
	maxHead, maxBody int

	state state
	head  []byte // of the answer under way
	res   *Response
	body  *[]byte // appended to
	left  int64   // of a body of known length, or of a chunk
	line  []byte  // a chunk-size or trailer line that is not whole
	wire  int64   // bytes fed that belong to the answer
	close bool    // the connection ends with this answer
}

type state uint8

const (
	inHead state = iota
	inBody
	inRest      // a body that ends with the connection
	inChunkSize // the line before a chunk
	inChunk
	afterChunk // the line end after it
	inTrailer
	whole
)

// feed takes the bytes that have arrived and returns how many belong to the
// answer: fewer than all only if the answer is whole.
func (p *parser) feed(b []byte) (n int, err *Error) {
	for n < len(b) && p.state != whole && err == nil {
		var used int
		used, err = p.step(b[n:])
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
		return len(b), p.add(b)
	case inBody, inChunk:
		b = b[:min(int64(len(b)), p.left)]
		if err := p.add(b); err != nil {
			return 0, err
		}
		if p.left -= int64(len(b)); p.left == 0 {
			if p.state == inBody {
				p.state = whole
			} else {
				p.state = afterChunk
			}
		}
		return len(b), nil
	}
	return p.feedLine(b)
}

// eof says that the connection has ended.
func (p *parser) eof() *Error {
	switch p.state {
	case whole:
		return nil
	case inRest:
		p.state = whole
		return nil
	case inHead:
		if len(p.head) == 0 {
			return fail(KindEarlyEnd, "the connection ended before an answer")
		}
		return fail(KindEarlyEnd, "the connection ended in the header")
	case inBody:
		return fail(KindEarlyEnd, "the connection ended %d bytes before the body", p.left)
	}
	return fail(KindEarlyEnd, "the connection ended in a chunked body")
}

// empty reports whether nothing of an answer has come.
func (p *parser) empty() bool { return p.wire == 0 }

func (p *parser) feedHead(b []byte) (int, *Error) {
	had := len(p.head)
	room := min(len(b), p.maxHead-had)
	p.head = append(p.head, b[:room]...)
	end := headEnd(p.head, had)
	if end == 0 {
		if len(p.head) >= p.maxHead {
			return room, fail(KindTooLarge, "header over %d bytes", p.maxHead)
		}
		return room, nil
	}
	res, err := parseHead(p.head[:end:end])
	if err != nil {
		return end - had, err
	}
	p.head = nil
	if res.Status < 200 { // an interim answer: the real one follows
		if res.Status == 101 {
			return end - had, fail(KindProtocol, "status 101 without being asked")
		}
		if p.wire > int64(16*p.maxHead) {
			return end - had, fail(KindTooLarge, "interim answers without end")
		}
		return end - had, nil
	}
	p.res = res
	return end - had, p.frame()
}

// frame decides how the body ends (RFC 9112, section 6.3). Where its length is in
// doubt the answer is refused.
func (p *parser) frame() *Error {
	h := p.res.Header
	p.close = p.res.Proto == "HTTP/1.0"
	length, coding := int64(-1), ""
	for _, f := range h {
		switch {
		case strings.EqualFold(f.Name, "Content-Length"):
			for v := range strings.SplitSeq(f.Value, ",") {
				n, err := strconv.ParseUint(trim(v), 10, 62)
				if err != nil || length >= 0 && length != int64(n) {
					return fail(KindProtocol, "Content-Length %.64q, expected one number", f.Value)
				}
				length = int64(n)
			}
		case strings.EqualFold(f.Name, "Transfer-Encoding"):
			if coding != "" {
				coding += ", "
			}
			coding += f.Value
		case strings.EqualFold(f.Name, "Connection"):
			for v := range strings.SplitSeq(f.Value, ",") {
				switch v = trim(v); {
				case strings.EqualFold(v, "close"):
					p.close = true
				case strings.EqualFold(v, "keep-alive") && p.res.Proto == "HTTP/1.0":
					p.close = false
				}
			}
		}
	}
	switch {
	case p.res.Status == 204 || p.res.Status == 304:
		p.state = whole
	case coding != "":
		if length >= 0 {
			return fail(KindProtocol, "both Content-Length and Transfer-Encoding")
		}
		if !strings.EqualFold(coding, "chunked") {
			return fail(KindProtocol, "Transfer-Encoding %.64q, expected chunked", coding)
		}
		p.state = inChunkSize
	case length > int64(p.maxBody):
		return fail(KindTooLarge, "body of %d bytes, the limit is %d", length, p.maxBody)
	case length > 0:
		p.state, p.left = inBody, length
	case length == 0:
		p.state = whole
	default:
		p.state, p.close = inRest, true
	}
	return nil
}

func (p *parser) add(b []byte) *Error {
	if len(*p.body)+len(b) > p.maxBody {
		return fail(KindTooLarge, "body over %d bytes", p.maxBody)
	}
	*p.body = append(*p.body, b...)
	return nil
}

// maxChunkLine bounds a chunk-size line with its extensions, and a trailer line.
const maxChunkLine = 4096

// feedLine takes bytes up to the end of a line of the chunked coding (RFC 9112,
// section 7.1) and acts on the line.
func (p *parser) feedLine(b []byte) (int, *Error) {
	n := bytes.IndexByte(b, '\n') + 1
	if n == 0 {
		n = len(b)
	}
	if len(p.line)+n > maxChunkLine {
		return n, fail(KindProtocol, "line of the chunked coding over %d bytes", maxChunkLine)
	}
	p.line = append(p.line, b[:n]...)
	if p.line[len(p.line)-1] != '\n' {
		return n, nil
	}
	line := bytes.TrimSuffix(p.line[:len(p.line)-1], []byte("\r"))
	p.line = p.line[:0]
	switch p.state {
	case afterChunk:
		if len(line) > 0 {
			return n, fail(KindProtocol, "chunk is longer than its size says")
		}
		p.state = inChunkSize
	case inTrailer:
		if len(line) == 0 {
			p.state = whole
		}
		if p.maxHead -= n; p.maxHead < 0 {
			return n, fail(KindTooLarge, "trailers without end")
		}
	case inChunkSize:
		size, _, _ := bytes.Cut(line, []byte(";")) // extensions mean nothing here
		text := string(bytes.TrimRight(size, " \t"))
		left, err := strconv.ParseUint(text, 16, 62)
		if err != nil {
			return n, fail(KindProtocol, "chunk size %.32q, expected a hexadecimal number", line)
		}
		if p.left = int64(left); left == 0 {
			p.state = inTrailer
		} else {
			p.state = inChunk
		}
	}
	return n, nil
}
