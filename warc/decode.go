package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/weftcrawl/weft/internal/inflate"
)

// Body returns the payload without its content coding, as a browser shows it.
//
// Many archives keep a Content-Encoding whose coding their writers have removed. So the bytes
// decide: a payload that is not of a coding is left as it is, all of it. A coding that Weft cannot
// decode is an error, with which the payload itself is returned.
//
// The body ends with an error where it is out of all proportion to its payload: see maxGrowth.
func (m *Message) Body() (io.Reader, error) { return m.body(minBody) }

// body is Body, of which least bytes are in proportion to any payload.
func (m *Message) body(least int64) (io.Reader, error) {
	all, err := codingsOf(m.Header.list("Content-Encoding"))
	if err != nil || len(all) == 0 {
		return m.Payload(), err
	}
	payload := &measured{Reader: m.Payload()}
	var body io.Reader = payload
	var last *bounded // of what is decoded
	for _, c := range slices.Backward(all) {
		in := bufio.NewReaderSize(body, sample)
		body = in
		start, err := in.Peek(sample)
		if !c.is(start, err != nil) {
			continue
		}
		decoded, err := c.open(in)
		if err != nil {
			return in, err
		}
		if last != nil {
			last.limit, last.growth = minBetween, maxBetween
		}
		last = &bounded{decoded, payload, least, maxGrowth, 0}
		body = last
	}
	return body, nil
}

// coding is a content coding (RFC 9110, section 8.4.1).
type coding struct {
	name string
	open func(*bufio.Reader) (io.Reader, error)

	// is reports whether a body that begins with start is of the coding; whole says that start is
	// all of it.
	is func(start []byte, whole bool) bool
}

var codings = []coding{
	{"gzip", openGzip, func(start []byte, _ bool) bool { _, err := inflate.GzipHeader(start); return err == nil }},
	{"zstd", openZstd, func(start []byte, _ bool) bool { return bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")) }},
	{"br", openBrotli, func(start []byte, whole bool) bool { return decodes(openBrotli, start, whole) }},
	{"deflate", openDeflate, func(start []byte, whole bool) bool { return decodes(openDeflate, start, whole) }},
}

// undecodable are the other codings that change a body: those of the registry
// (https://www.iana.org/assignments/http-parameters/), and the alias of one.
var undecodable = []string{"aes128gcm", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress"}

// maxCodings bounds the codings of a body.
const maxCodings = 4

// codingsOf reads a Content-Encoding: the codings in the order in which they were applied. As for a
// crawl, what is no coding, such as none, utf-8 or binary, means that there is none.
func codingsOf(list string) (all []coding, err error) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name == "x-gzip" {
			name = "gzip"
		}
		if slices.Contains(undecodable, name) {
			return nil, fmt.Errorf("Content-Encoding %.40q, expected gzip, deflate, br or zstd", list)
		}
		i := slices.IndexFunc(codings, func(c coding) bool { return c.name == name })
		if i < 0 {
			continue
		}
		if all = append(all, codings[i]); len(all) > maxCodings {
			return nil, fmt.Errorf("Content-Encoding %.40q, expected at most %d codings", list, maxCodings)
		}
	}
	return all, nil
}

// sample is the part of a body that tells whether it is coded, in bytes.
const sample = 16 << 10

// decodes reports whether a body is of a coding that has no mark at its beginning: whether all of
// start can be decoded. Of a body that is cut off or damaged, what comes before has to do; but such
// a body is no text, much of which can be read as a coding for a while.
func decodes(open func(*bufio.Reader) (io.Reader, error), start []byte, whole bool) bool {
	in := bufio.NewReader(bytes.NewReader(start))
	decoded, err := open(in)
	if err != nil || len(start) == 0 {
		return false
	}
	n, err := io.Copy(io.Discard, io.LimitReader(decoded, maxSample))
	text := !bytes.ContainsFunc(start, isControl)
	switch _, behind := in.Peek(1); {
	case err == nil && n == 0 && text: // a digit, for example
		return string(start) == noBrotli
	case err == nil && n < maxSample:
		return behind == io.EOF // otherwise it ends before the body does
	case text:
		return false
	case err == nil:
		return true
	case errors.Is(err, io.ErrUnexpectedEOF):
		return !whole || n >= int64(len(start))
	}
	return len(start) > smallSample && decodes(open, start[:smallSample], false)
}

const (
	maxSample   = 1 << 20 // bounds what is decoded of a sample, in bytes
	smallSample = 1 << 10 // is enough of a damaged body: what is not coded fails before, in bytes
)

// noBrotli is an empty body, as brotli is mostly asked to write it.
const noBrotli = ";"

// isControl reports whether no text has a character. Of the bytes of a coding, one in ten is such.
func isControl(c rune) bool {
	return c < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", c)
}

// openGzip reads members. Bytes behind a member that begin no other are dropped, as in browsers.
func openGzip(in *bufio.Reader) (io.Reader, error) {
	m := &members{in: in}
	return m, m.next()
}

type members struct {
	in     *bufio.Reader
	member gzip.Reader
}

func (m *members) next() error {
	err := m.member.Reset(m.in)
	m.member.Multistream(false)
	return err
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.member.Read(p)
		switch {
		case n > 0 && err == io.EOF:
			return n, nil
		case n > 0 || err != io.EOF:
			return n, err
		case m.next() != nil:
			return 0, io.EOF
		}
	}
}

func openBrotli(in *bufio.Reader) (io.Reader, error) { return brotli.NewReader(in), nil }

// openDeflate reads zlib, which the standard means, or bare deflate, which some servers send.
func openDeflate(in *bufio.Reader) (io.Reader, error) {
	start, _ := in.Peek(2)
	if len(start) == 2 && start[0]&0x0f == 8 && start[0]>>4 <= 7 && (int(start[0])<<8|int(start[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

// maxWindow bounds the memory that a zstd frame may ask for (RFC 9659).
const maxWindow = 8 << 20

func openZstd(in *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
}

// A body may be minBody bytes long, or maxGrowth times as long as its payload: few pages are more
// than 16 times as long as they are compressed. What is between two codings is compressed itself,
// so that it hardly grows. Otherwise a few bytes could fill a disk.
const (
	minBody    = 64 << 20
	maxGrowth  = 256
	minBetween = 64 << 10
	maxBetween = 32
)

// measured counts the bytes that are read.
type measured struct {
	io.Reader
	n int64
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	return n, err
}

// bounded reads what is decoded, up to a limit or to growth times the payload.
type bounded struct {
	from          io.Reader
	by            *measured
	limit, growth int64
	n             int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.n += int64(n); b.n > max(b.limit, b.growth*b.by.n) {
		err = fmt.Errorf("a payload of %d bytes decodes to %d and more: it is read up to there", b.by.n, b.n)
	}
	return n, err
}
