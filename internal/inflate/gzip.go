package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// ErrChecksum is returned if the checksum or the length of a text does not match.
var ErrChecksum = errors.New("checksum mismatch")

// likelyRatio bounds the compression ratio of most pages.
const likelyRatio = 32

// Gunzip appends the decompressed members of gzip (RFC 1952, section 2.2), at most limit bytes, to
// dst. Bytes after a member that begin no other are dropped, as in browsers. Errors are those of
// Append, and ErrChecksum; the output up to the error is returned as well.
func (d *Decoder) Gunzip(dst, src []byte, limit int) ([]byte, error) {
	header, err := GzipHeader(src)
	if err == nil {
		// The last 4 bytes are the length of the last member's text, most often the only one.
		// They may lie; room for a likely length saves copies.
		length := int(binary.LittleEndian.Uint32(src[len(src)-4:]) & math.MaxInt32)
		dst = slices.Grow(dst, min(length, likelyRatio*len(src), limit)+Spare)
	}
	limit += len(dst)
	for err == nil {
		src = src[header:]
		begin, used := len(dst), 0
		if dst, used, err = d.Append(dst, src, limit-begin); err != nil {
			return dst, err
		}
		if src = src[used:]; len(src) < 8 {
			return dst, io.ErrUnexpectedEOF
		}
		text := dst[begin:]
		if binary.LittleEndian.Uint32(src) != crc32.ChecksumIEEE(text) || binary.LittleEndian.Uint32(src[4:]) != uint32(len(text)) {
			return dst, ErrChecksum
		}
		src = src[8:]
		if header, err = GzipHeader(src); err != nil {
			return dst, nil
		}
	}
	return dst, err
}

// GzipHeader returns the length of the header at the start of a gzip member (RFC 1952, section
// 2.3).
func GzipHeader(src []byte) (int, error) {
	const hasSum, hasExtra, hasName, hasComment = 1 << 1, 1 << 2, 1 << 3, 1 << 4
	n := 10
	if len(src) < n {
		return 0, io.ErrUnexpectedEOF
	}
	if src[0] != 0x1f || src[1] != 0x8b || src[2] != 8 {
		return 0, errors.New("not a gzip member")
	}
	flags := src[3]
	if flags&hasExtra != 0 {
		if len(src) < n+2 {
			return 0, io.ErrUnexpectedEOF
		}
		n += 2 + int(binary.LittleEndian.Uint16(src[n:]))
	}
	for _, flag := range [...]byte{hasName, hasComment} {
		if flags&flag == 0 {
			continue
		}
		end := bytes.IndexByte(src[min(n, len(src)):], 0)
		if end < 0 {
			return 0, io.ErrUnexpectedEOF
		}
		n += end + 1
	}
	if flags&hasSum != 0 {
		if len(src) < n+2 {
			return 0, io.ErrUnexpectedEOF
		}
		if binary.LittleEndian.Uint16(src[n:]) != uint16(crc32.ChecksumIEEE(src[:n])) {
			return 0, ErrChecksum
		}
		n += 2
	}
	if len(src) < n {
		return 0, io.ErrUnexpectedEOF
	}
	return n, nil
}
