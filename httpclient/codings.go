package httpclient

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io"
	"math"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/weftcrawl/weft/internal/inflate"
)

// maxZstdWindow is the largest window that a sender may use (RFC 9659, section 3).
const maxZstdWindow = 8 << 20

// decoders decodes content codings. Decoding never waits, so a client needs one decoder of each
// kind; they are made on first use.
type decoders struct {
	inflate *inflate.Decoder
	in      bytes.Reader
	br      *brotli.Reader
	zstd    *zstd.Decoder
}

// coding is one content coding (RFC 9110, section 8.4.1).
type coding struct {
	name string
	// decode appends the decoded src, at most max bytes, to dst, which is empty. With an error it
	// returns what was decoded before it.
	decode func(d *decoders, dst, src []byte, max int) ([]byte, error)
	// expect returns what decoding src probably takes.
	expect func(src []byte) expected
}

// expected is the memory that decoding a body takes, in bytes.
type expected struct {
	size    int  // of the decoded body
	window  int  // of the decoder, beside it
	certain bool // the source says its size, which may still be a lie
}

var codings = []coding{
	{"gzip", (*decoders).decodeGzip, expectGzip},
	{"deflate", (*decoders).decodeDeflate, expectLikely},
	{"br", (*decoders).decodeBrotli, expectBrotli},
	{"zstd", (*decoders).decodeZstd, expectZstd},
}

// likelyRatio is the compression ratio that few pages exceed, and maxRatio the highest that deflate
// has (zlib's technical notes).
const (
	likelyRatio = 16
	maxRatio    = 1032
)

// expectLikely expects what few pages exceed.
func expectLikely(src []byte) expected { return expected{size: max(shortBody, likelyRatio*len(src))} }

// expectGzip expects what the last member says, which most often is the only one.
func expectGzip(src []byte) expected {
	const least = 18 // header and trailer
	if len(src) < least {
		return expectLikely(src)
	}
	size := int64(binary.LittleEndian.Uint32(src[len(src)-4:]))
	return expected{size: int(min(size, maxRatio*int64(len(src)))), certain: true}
}

// expectBrotli expects a window that grows with the body, to the next power of two, up to what the
// first bits say, which is 16 MiB at most (RFC 7932, section 9.1).
func expectBrotli(src []byte) expected {
	e := expectLikely(src)
	e.window = min(2*e.size, maxBrotliWindow)
	return e
}

// maxBrotliWindow is the largest window of brotli.
const maxBrotliWindow = 16 << 20

// expectZstd expects what the header of the first frame says.
func expectZstd(src []byte) expected {
	e := expectLikely(src)
	var h zstd.Header
	if h.Decode(src) != nil || h.Skippable {
		return e
	}
	if h.HasFCS {
		e.size, e.certain = int(min(h.FrameContentSize, math.MaxInt32)), true
	}
	if e.window = int(min(h.WindowSize, maxZstdWindow)); h.SingleSegment {
		e.window = min(e.size, maxZstdWindow)
	}
	return e
}

// undecodable are the other codings that change a body: those of the registry
// (https://www.iana.org/assignments/http-parameters/), and the alias of one.
var undecodable = []string{"aes128gcm", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress"}

func (d *decoders) inflater() *inflate.Decoder {
	if d.inflate == nil {
		d.inflate = new(inflate.Decoder)
	}
	return d.inflate
}

func (d *decoders) decodeGzip(dst, src []byte, max int) ([]byte, error) {
	return d.inflater().Gunzip(dst, src, max)
}

// decodeDeflate decodes the coding "deflate", which is zlib; like browsers, it also accepts raw
// deflate, which many servers send. Two bytes identify zlib (RFC 1950, section 2.2).
func (d *decoders) decodeDeflate(dst, src []byte, max int) ([]byte, error) {
	isZlib := len(src) >= 2 && src[0]&0x0f == 8 && src[0]>>4 <= 7 && binary.BigEndian.Uint16(src)%31 == 0
	if !isZlib {
		dst, _, err := d.inflater().Append(dst, src, max)
		return dst, err
	}
	if src[1]&0x20 != 0 {
		return dst, errors.New("made with an unknown dictionary")
	}
	dst, used, err := d.inflater().Append(dst, src[2:], max)
	if err != nil {
		return dst, err
	}
	sum := src[2+used:]
	if len(sum) < 4 {
		return dst, io.ErrUnexpectedEOF
	}
	if binary.BigEndian.Uint32(sum) != adler32.Checksum(dst) {
		return dst, inflate.ErrChecksum
	}
	return dst, nil
}

func (d *decoders) decodeBrotli(dst, src []byte, max int) ([]byte, error) {
	d.in.Reset(src)
	defer d.in.Reset(nil)
	if d.br == nil {
		d.br = brotli.NewReader(&d.in)
	} else if err := d.br.Reset(&d.in); err != nil {
		return dst, err
	}
	return appendAll(dst, d.br, max)
}

func (d *decoders) decodeZstd(dst, src []byte, max int) (_ []byte, err error) {
	d.in.Reset(src)
	defer d.in.Reset(nil)
	if d.zstd == nil {
		// With a concurrency of 1 it starts no goroutine.
		d.zstd, err = zstd.NewReader(&d.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
	} else {
		err = d.zstd.Reset(&d.in)
	}
	if err != nil {
		return dst, err
	}
	return appendAll(dst, d.zstd, max)
}

// appendAll appends everything that in yields, at most max bytes.
func appendAll(dst []byte, in io.Reader, max int) ([]byte, error) {
	for {
		dst = slices.Grow(dst, 1)
		n, err := in.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > max:
			return dst[:max], errBomb
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
