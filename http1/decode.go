package http1

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/weftcrawl/weft/aio"
)

// maxCodings bounds how many codings are undone one after the other.
const maxCodings = 4

// maxZstdWindow is the largest window that a sender may use (RFC 9659, section 3).
const maxZstdWindow = 8 << 20

// decoders undo content codings. Decoding is done without a wait, so a client needs
// one of each; they are made when first used.
type decoders struct {
	in    bytes.Reader
	gzip  members
	zlib  io.ReadCloser
	flate io.ReadCloser
	br    *brotli.Reader
	zstd  *zstd.Decoder
}

// coding is one content coding (RFC 9110, section 8.4.1).
type coding struct {
	name string
	open func(d *decoders, src []byte) (io.Reader, error) // reads what src decodes to
}

var codings = []coding{
	{"gzip", (*decoders).openGzip},
	{"deflate", (*decoders).openDeflate},
	{"br", (*decoders).openBrotli},
	{"zstd", (*decoders).openZstd},
}

// codingsOf reads a Content-Encoding: the codings in the order in which they were applied.
func codingsOf(list string) ([]coding, *Error) {
	var all []coding
	for name := range strings.SplitSeq(list, ",") {
		name = strings.ToLower(trim(name))
		if name == "" || name == "identity" {
			continue
		}
		i := slices.IndexFunc(codings, func(c coding) bool { return c.name == name || name == "x-gzip" && c.name == "gzip" })
		if i < 0 {
			return nil, fail(KindEncoding, "Content-Encoding %.64q, expected gzip, deflate, br or zstd", list)
		}
		if all = append(all, codings[i]); len(all) > maxCodings {
			return nil, fail(KindEncoding, "Content-Encoding %.64q, expected at most %d codings", list, maxCodings)
		}
	}
	return all, nil
}

// decode undoes the Content-Encoding of an answer that is whole: to at most maxBody bytes
// in each step, and what goes beyond is cut or an error.
func (cn *conn) decode(t *aio.Task) *Error {
	r := cn.parser.res
	list := r.Header.list("Content-Encoding")
	if list == "" || len(r.Body) == 0 { // of no body, whatever it says
		return nil
	}
	all, err := codingsOf(list)
	if err != nil {
		return err
	}
	for i, c := range all {
		if i > 0 {
			r.Encoding += ", "
		}
		r.Encoding += c.name
	}
	for _, c := range slices.Backward(all) {
		if err := cn.undo(t, c); err != nil {
			return err
		}
	}
	return nil
}

// undo undoes one coding of the body, in a turn in which there is time for a long one. As
// nothing tells how long it becomes, it is tried as a short one first if there is none.
func (cn *conn) undo(t *aio.Task, from coding) *Error {
	c, p, r := cn.client, &cn.parser, cn.parser.res
	decoded := c.takeBody()
	var err error
	room := p.maxBody
	undo := func() { err = c.undo(from, decoded, r.Body, room) }
	if !c.decoding.Free() {
		room = min(room, shortBody)
	}
	t.OnLoop(undo)
	if errors.Is(err, errBomb) && room < p.maxBody {
		*decoded, room = (*decoded)[:0], p.maxBody
		if err = c.decoding.Take(t); err == nil {
			t.OnLoop(undo)
		}
	}
	if n := len(*decoded); n > shortBody {
		c.decoding.Spend(n)
	}
	switch {
	case err == nil:
	case errors.Is(err, errBomb) && p.cut:
		r.Truncated = true
	case errors.Is(err, errBomb):
		c.giveBody(decoded)
		return fail(KindBomb, "%s: %d bytes become more than %d", from.name, len(r.Body), p.maxBody)
	case errors.Is(err, aio.ErrCanceled):
		c.giveBody(decoded)
		return classify(err, KindCanceled)
	case errors.Is(err, io.ErrUnexpectedEOF) && r.Truncated: // so it was cut: this is what it was
	default:
		c.giveBody(decoded)
		return fail(KindEncoding, "%s: %w", from.name, err)
	}
	c.giveBody(r.whole)
	r.whole, r.Body = decoded, *decoded
	return nil
}

// errBomb is what undo returns for a body that becomes longer than it may.
var errBomb = errors.New("longer than the limit")

// undo appends what src decodes to, at most max bytes. Those that were decoded before
// an error are there.
func (c *Client) undo(from coding, dst *[]byte, src []byte, max int) error {
	in, err := from.open(&c.decoders, src)
	b := *dst
	for err == nil && len(b) <= max {
		b = slices.Grow(b, 1)
		var n int
		n, err = in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
	}
	c.decoders.in.Reset(nil)
	*dst = b[:min(len(b), max)]
	switch {
	case len(b) > max:
		return errBomb
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

func (d *decoders) openGzip(src []byte) (r io.Reader, err error) {
	d.in.Reset(src)
	if d.gzip.reader == nil {
		d.gzip.in = &d.in
		d.gzip.reader, err = gzip.NewReader(&d.in)
	} else {
		err = d.gzip.reader.Reset(&d.in)
	}
	return &d.gzip, noEOF(err)
}

// members reads the members of gzip, one after the other (RFC 1952, section 2.2). What
// follows one and does not begin another is dropped, as browsers do.
type members struct {
	in     *bytes.Reader
	reader *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		m.reader.Multistream(false) // since the last Reset it is on
		n, err := m.reader.Read(p)
		switch {
		case err != io.EOF:
			return n, err
		case m.in.Len() == 0 || m.reader.Reset(m.in) != nil:
			return n, io.EOF
		case n > 0:
			return n, nil
		}
	}
}

// openDeflate reads the coding "deflate", which is zlib; as browsers do, it takes
// deflate alone for it too, which many servers send. Two bytes tell zlib (RFC 1950,
// section 2.2).
func (d *decoders) openDeflate(src []byte) (r io.Reader, err error) {
	d.in.Reset(src)
	if isZlib := len(src) >= 2 && src[0]&0x0f == 8 && (int(src[0])<<8|int(src[1]))%31 == 0; isZlib {
		if d.zlib == nil {
			d.zlib, err = zlib.NewReader(&d.in)
		} else {
			err = d.zlib.(zlib.Resetter).Reset(&d.in, nil)
		}
		return d.zlib, noEOF(err)
	}
	if d.flate == nil {
		d.flate = flate.NewReader(&d.in)
	} else {
		err = d.flate.(flate.Resetter).Reset(&d.in, nil)
	}
	return d.flate, err
}

func (d *decoders) openBrotli(src []byte) (io.Reader, error) {
	d.in.Reset(src)
	if d.br == nil {
		d.br = brotli.NewReader(&d.in)
		return d.br, nil
	}
	return d.br, d.br.Reset(&d.in)
}

func (d *decoders) openZstd(src []byte) (r io.Reader, err error) {
	d.in.Reset(src)
	if d.zstd == nil {
		// With one at a time it starts no goroutine.
		d.zstd, err = zstd.NewReader(&d.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
	} else {
		err = d.zstd.Reset(&d.in)
	}
	return d.zstd, err
}

// noEOF makes an error of an end in the header of a stream.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
