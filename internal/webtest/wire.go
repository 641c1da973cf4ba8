package webtest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// encoder encodes responses for the wire.
type encoder struct {
	gzip *gzip.Writer
	body bytes.Buffer
	bomb []byte // made on first use
}

// encode returns the bytes of a response, valid until the next call, and whether the connection
// ends with them. With a stall or Drip they are the bytes before it.
func (e *encoder) encode(a Response, acceptsGzip bool) (wire []byte, last bool) {
	switch a.Fault {
	case Drop:
		return nil, true
	case StallHead:
		return nil, false
	case Garbage:
		return []byte("This is no HTTP.\r\n\r\n"), true
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	for _, line := range a.Header {
		b.WriteString(line)
		b.WriteString("\r\n")
	}
	body, length := a.Body, 0
	if a.Fault == Bomb {
		body = e.explosive()
		b.WriteString("Content-Encoding: gzip\r\n")
	}
	if a.Gzip && acceptsGzip {
		body = e.compress(body)
	}
	b.Grow(len(body) + 512)
	if a.Gzip && acceptsGzip || a.Fault == FalseCoding {
		b.WriteString("Content-Encoding: gzip\r\n")
	}
	switch length = len(body); a.Fault {
	case CutLength:
		body = body[:length/3]
	case StallBody:
		body = body[:length/2]
	case ShortLength:
		length /= 2
	case Drip:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		return b.Bytes(), true
	case CutChunks:
		fmt.Fprintf(&b, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", length, body[:length/2])
		return b.Bytes(), true
	}
	switch a.Framing {
	case Length:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", length)
		b.Write(body)
	case Chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for chunk := range slices.Chunk(body, 1000) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(chunk), chunk)
		}
		b.WriteString("0\r\n\r\n")
	case Close:
		b.WriteString("Connection: close\r\n\r\n")
		b.Write(body)
	}
	return b.Bytes(), a.Framing == Close || a.Fault == CutLength || a.Fault == ShortLength
}

// bombSize is the decompressed size of a bomb, more than any limit of a crawler. It is sent in a
// thousandth of that.
const bombSize = 64 << 20

func (e *encoder) explosive() []byte {
	if e.bomb == nil {
		e.bomb = bytes.Clone(e.compress(make([]byte, bombSize)))
	}
	return e.bomb
}

func (e *encoder) compress(body []byte) []byte {
	e.body.Reset()
	if e.gzip == nil {
		e.gzip, _ = gzip.NewWriterLevel(&e.body, gzip.BestSpeed) // a valid level
	} else {
		e.gzip.Reset(&e.body)
	}
	_, _ = e.gzip.Write(body) // to memory
	_ = e.gzip.Close()
	return e.body.Bytes()
}
