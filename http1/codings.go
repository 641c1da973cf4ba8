package http1

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io"
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
}

var codings = []coding{
	{"gzip", (*decoders).decodeGzip},
	{"deflate", (*decoders).decodeDeflate},
	{"br", (*decoders).decodeBrotli},
	{"zstd", (*decoders).decodeZstd},
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
