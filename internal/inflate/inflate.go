package inflate

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// ErrTooLong is returned if a stream decompresses to more than its limit.
var ErrTooLong = errors.New("longer than the limit")

// ErrCorrupt is returned for data that is no DEFLATE stream.
var ErrCorrupt = errors.New("invalid deflate stream")

// A Decoder decompresses DEFLATE. The zero Decoder is ready to use.
type Decoder struct {
	lengths [maxLit + maxDist]uint8 // of the codes of a block
	codes   [1 << codeBits]uint32   // the code for code lengths
	lit     [litSize]uint32         // literals and lengths
	dist    [distSize]uint32
	fixed   bool // lit and dist hold the fixed codes
	stream
}

// Spare is the room beyond its text with which Append need not allocate.
const Spare = fastRoom

// Append decompresses the stream at the beginning of src and appends at most limit bytes of text
// to dst. used is the length of the stream in bytes if there is no error. The error is
// io.ErrUnexpectedEOF if the stream continues beyond src, ErrCorrupt or ErrTooLong; the output up
// to the error is returned as well.
func (d *Decoder) Append(dst, src []byte, limit int) (all []byte, used int, err error) {
	d.stream = stream{src: src, out: dst, w: len(dst), base: len(dst), end: len(dst) + limit}
	d.out = dst[:min(cap(dst), d.end)]
	for last := false; err == nil && !last; {
		last, err = d.block()
	}
	all, used = d.out[:d.w], d.pos-int(d.n/8)
	d.stream = stream{}
	return all, used, err
}

// block decodes a block (section 3.2.3).
func (d *Decoder) block() (last bool, err error) {
	header, err := d.take(3)
	if err != nil {
		return false, err
	}
	last = header&1 != 0
	switch header >> 1 {
	case 0:
		err = d.stored()
	case 1:
		d.useFixed()
		err = d.coded()
	case 2:
		if err = d.readCodes(); err == nil {
			err = d.coded()
		}
	default:
		err = ErrCorrupt
	}
	return last, err
}

// grow makes room for a match and more, as far as the limit permits.
func (s *stream) grow() {
	if len(s.out)-s.w < fastRoom && len(s.out) < s.end {
		s.out = slices.Grow(s.out[:s.w], min(max(s.w, 4096), s.end-s.w+fastRoom))
		s.out = s.out[:min(cap(s.out), s.end)]
	}
}

// stored copies a block that is not compressed (section 3.2.4).
func (s *stream) stored() error {
	s.pos -= int(s.n / 8) // drop the bits up to the next byte
	s.b, s.n = 0, 0
	if len(s.src)-s.pos < 4 {
		s.pos = len(s.src)
		return io.ErrUnexpectedEOF
	}
	length := int(binary.LittleEndian.Uint16(s.src[s.pos:]))
	if length != int(^binary.LittleEndian.Uint16(s.src[s.pos+2:])) {
		return ErrCorrupt
	}
	s.pos += 4
	there := s.src[s.pos:min(len(s.src), s.pos+length)]
	fits := there[:min(len(there), s.end-s.w)]
	s.out = append(s.out[:s.w], fits...)
	s.w += len(fits)
	s.out = s.out[:max(s.w, min(cap(s.out), s.end))]
	s.pos += len(fits)
	switch {
	case len(fits) < len(there):
		return ErrTooLong
	case len(there) < length:
		return io.ErrUnexpectedEOF
	}
	return nil
}

const (
	longestMatch = 258
	// fastRoom is the room in out that a step of the fast loop may need: two literals and a
	// match, whose last bytes may be written starting at its last byte.
	fastRoom = 2 + longestMatch + copied
	copied   = 16 // bytes of a match that are copied at once
	// fastInput is the input that it may need: it refills twice, up to 7 bytes, and reads 8.
	fastInput = 7 + 8
)

// coded decodes a block with the codes in lit and dist, up to its end.
func (d *Decoder) coded() error {
	for {
		if end, err := d.fast(); end || err != nil {
			return err
		}
		d.grow()
		if end, err := d.careful(); end || err != nil {
			return err
		}
	}
}

// fast decodes while neither the end of src nor the end of out is near. It reports whether the
// block has ended.
//
// Within it only the low 6 bits of n count: whole entries are subtracted from it.
func (d *Decoder) fast() (end bool, err error) {
	src, pos, b, n := d.src, d.pos, d.b, d.n
	out, w, base := d.out, d.w, d.base
	lit, dist := &d.lit, &d.dist
	for pos <= len(src)-fastInput && w <= len(out)-fastRoom {
		n &= 63
		b |= binary.LittleEndian.Uint64(src[pos:]) << n
		pos += int((63 - n) >> 3)
		n |= 56
		// At least 56 bits: enough for three literals of litBits and a length.
		e := lit[b&(1<<litBits-1)]
		if e&literal != 0 {
			out[w] = byte(e >> 16)
			w, b, n = w+1, b>>(e&63), n-uint(e)
			e = lit[b&(1<<litBits-1)]
			if e&literal != 0 {
				out[w] = byte(e >> 16)
				w, b, n = w+1, b>>(e&63), n-uint(e)
				e = lit[b&(1<<litBits-1)]
				if e&literal != 0 {
					out[w] = byte(e >> 16)
					w, b, n = w+1, b>>(e&63), n-uint(e)
					continue
				}
			}
		}
		if e&special != 0 {
			if e&further != 0 {
				e = lit[(uint64(e>>16)+b>>litBits&(1<<(e>>8&15)-1))%litSize]
			}
			switch {
			case e&literal != 0:
				out[w] = byte(e >> 16)
				w, b, n = w+1, b>>(e&63), n-uint(e)
				continue
			case e&endOfBlock != 0:
				d.pos, d.b, d.n, d.w = pos, b>>(e&63), (n-uint(e))&63, w
				return true, nil
			case e&special != 0:
				d.pos, d.b, d.n, d.w = pos, b, n&63, w
				return false, ErrCorrupt
			}
		}
		length := int(e>>16) + int(b&(1<<(e&63)-1)>>(e>>8&15))
		b, n = b>>(e&63), n-uint(e)

		n &= 63
		b |= binary.LittleEndian.Uint64(src[pos:]) << n
		pos += int((63 - n) >> 3)
		n |= 56
		e = dist[b&(1<<distBits-1)]
		if e&further != 0 {
			e = dist[(uint64(e>>16)+b>>distBits&(1<<(e>>8&15)-1))%distSize]
		}
		from := w - int(e>>16) - int(b&(1<<(e&63)-1)>>(e>>8&15))
		if e&special != 0 || from < base {
			d.pos, d.b, d.n, d.w = pos, b, n&63, w
			return false, ErrCorrupt
		}
		b, n = b>>(e&63), n-uint(e)
		to := w + length
		if w-from >= copied { // most matches are not longer
			*(*[copied]byte)(out[w:]) = *(*[copied]byte)(out[from:])
			for w += copied; w < to; w += copied {
				from += copied
				*(*[copied]byte)(out[w:]) = *(*[copied]byte)(out[from:])
			}
		} else {
			repeat(out, w, from, to)
		}
		w = to
	}
	d.pos, d.b, d.n, d.w = pos, b, n&63, w
	return false, nil
}

// repeat writes a match that begins less than copied bytes before it; up to 7 bytes beyond its end
// are overwritten.
func repeat(out []byte, w, from, to int) {
	if w-from < 8 {
		for ; w < to; w, from = w+1, from+1 {
			out[w] = out[from]
		}
		return
	}
	for ; w < to; w, from = w+8, from+8 {
		binary.LittleEndian.PutUint64(out[w:], binary.LittleEndian.Uint64(out[from:]))
	}
}

// careful decodes one literal, match or end of block.
func (d *Decoder) careful() (end bool, err error) {
	d.refill()
	e := find(d.lit[:], litBits, d.b)
	switch {
	case uint(e&63) > d.n:
		return false, io.ErrUnexpectedEOF
	case e&literal != 0:
		if d.w == d.end {
			return false, ErrTooLong
		}
		d.out[d.w] = byte(e >> 16)
		d.w++
		d.drop(uint(e & 63))
		return false, nil
	case e&endOfBlock != 0:
		d.drop(uint(e & 63))
		return true, nil
	case e&special != 0:
		return false, ErrCorrupt
	}
	length := d.value(e)
	d.refill()
	e = find(d.dist[:], distBits, d.b)
	switch {
	case uint(e&63) > d.n:
		return false, io.ErrUnexpectedEOF
	case e&special != 0:
		return false, ErrCorrupt
	}
	from := d.w - d.value(e)
	if from < d.base {
		return false, ErrCorrupt
	}
	to := min(d.w+length, d.end)
	length -= to - d.w
	for ; d.w < to; d.w++ {
		d.out[d.w] = d.out[from]
		from++
	}
	if length > 0 {
		return false, ErrTooLong
	}
	return false, nil
}

// value consumes an entry and its extra bits, and returns the value.
func (s *stream) value(e uint32) int {
	v := int(e>>16) + int(s.b&(1<<(e&63)-1)>>(e>>8&15))
	s.drop(uint(e & 63))
	return v
}
