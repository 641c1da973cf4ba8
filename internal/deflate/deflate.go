package deflate

import (
	"encoding/binary"
	"math/bits"
)

const (
	// joined is the length, in bytes, up to which parts of a text are copied together, so that
	// matches cross them.
	joined = 256 << 10
	// maxBlock is the longest text of a block: that of a stored one.
	maxBlock = 1<<16 - 1
	// portion is the part of a block that is written before it is decided whether to go on.
	portion = 1 << 14
	// margin is the room in bytes for the head and the end of a block.
	margin = 512
	// tableBits is the logarithm of the number of positions that are remembered.
	tableBits = 13
	// patience is the logarithm of the number of literals without a match after which the search
	// skips one byte more at each step.
	patience = 7
)

// An Encoder compresses to DEFLATE. The zero Encoder is ready to use.
type Encoder struct {
	// table has the last position of bytes with a hash, modulo 64 Ki. The bytes there may be
	// others, or there may have been none: only a comparison says.
	table [1 << tableBits]uint16
	text  []byte // scratch
}

// Append compresses the concatenation of parts and appends one whole stream to dst. The same parts
// give the same bytes, whatever was compressed before.
func (e *Encoder) Append(dst []byte, parts ...[]byte) []byte {
	o := output{b: dst[:cap(dst)], w: len(dst)}
	e.text = e.text[:0]
	for _, part := range parts {
		if len(e.text)+len(part) > joined {
			e.blocks(&o, e.text, false)
			e.text = e.text[:0]
		}
		if len(part) > joined {
			e.blocks(&o, part, false)
		} else {
			e.text = append(e.text, part...)
		}
	}
	e.blocks(&o, e.text, true)
	o.align()
	return o.b[:o.w]
}

// blocks writes a text; last says that the stream ends with it.
func (e *Encoder) blocks(o *output, text []byte, last bool) {
	clear(e.table[:])
	if len(text) == 0 && last {
		o.store(nil, true)
	}
	for at := 0; at < len(text); at += maxBlock {
		end := min(at+maxBlock, len(text))
		e.block(o, text[:end], at, last && end == len(text))
	}
}

// block writes the block text[at:], compressed, or stored if a portion makes it no shorter.
func (e *Encoder) block(o *output, text []byte, at int, last bool) {
	before := *o
	c := choose(text[at:])
	o.room(margin)
	o.head(compressed, last)
	for _, h := range c.head {
		o.put(h)
	}
	for i := at; i < len(text); {
		end := min(i+portion, len(text))
		o.room((end-i)*maxLength/8 + margin)
		e.encode(o, text[:end], i, c)
		if i = end; o.w-before.w >= i-at {
			before.b, *o = o.b, before
			o.store(text[at:], last)
			return
		}
	}
	o.put(c.end)
}

// encode writes text[i:], for which there is room. It looks for one match at each position, and
// writes at once what it finds: as the codes are known, nothing has to be counted first.
func (e *Encoder) encode(o *output, text []byte, i int, c *codes) {
	out, w, b, written := o.b, o.w, o.bits, i // the literals from written to i wait for a match
	for i <= len(text)-8 {
		v := binary.LittleEndian.Uint64(text[i : i+8])
		h := hash(v)
		distance := uint16(i) - e.table[h]
		e.table[h] = uint16(i)
		if distance-1 < window {
			from := i - int(distance)
			if x := binary.LittleEndian.Uint64(text[from:from+8]) ^ v; uint32(x) == 0 {
				for ; i-written >= 4; written += 4 { // as many as the bit buffer holds
					l := binary.LittleEndian.Uint32(text[written : written+4])
					b = b.add(c.lit[byte(l)]).add(c.lit[byte(l>>8)]).add(c.lit[byte(l>>16)]).add(c.lit[l>>24])
					binary.LittleEndian.PutUint64(out[w:w+8], b.b)
					w, b = w+int(b.n>>3), b.rest()
				}
				if written < i {
					for _, l := range text[written:i] {
						b = b.add(c.lit[l])
					}
					binary.LittleEndian.PutUint64(out[w:w+8], b.b)
					w, b = w+int(b.n>>3), b.rest()
				}
				length := bits.TrailingZeros64(x) >> 3
				if x == 0 {
					length = extend(text, from, i)
				}
				e.table[hash(v>>8)] = uint16(i + 1)
				b = b.add(c.length[length]).addDistance(&c.dist, uint32(distance-1))
				binary.LittleEndian.PutUint64(out[w:w+8], b.b)
				w, b = w+int(b.n>>3), b.rest()
				i += length
				written = i
				continue
			}
		}
		i += 1 + (i-written)>>patience
	}
	for _, l := range text[written:] {
		b = b.add(c.lit[l])
		binary.LittleEndian.PutUint64(out[w:w+8], b.b)
		w, b = w+int(b.n>>3), b.rest()
	}
	o.w, o.bits = w, b
}

// extend returns the length of a match of 8 bytes or more.
func extend(text []byte, from, i int) int {
	most := min(len(text)-i, longest)
	length := 8
	for ; length <= most-8; length += 8 {
		x := binary.LittleEndian.Uint64(text[from+length:from+length+8]) ^ binary.LittleEndian.Uint64(text[i+length:i+length+8])
		if x != 0 {
			return length + bits.TrailingZeros64(x)>>3
		}
	}
	for length < most && text[from+length] == text[i+length] {
		length++
	}
	return length
}

// hash returns a hash of the lowest five bytes.
func hash(v uint64) uint64 { return v << 24 * 0x9e3779b185ebca87 >> (64 - tableBits) }
