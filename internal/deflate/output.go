package deflate

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Types of blocks (RFC 1951, section 3.2.3).
const (
	stored     = 0
	compressed = 2
)

// output is the written text: the bytes b[:w], then the bits of the buffer, up to 7 of them.
type output struct {
	b    []byte
	w    int
	bits bitBuffer
}

// bitBuffer holds the n lowest bits of b; those above are 0.
type bitBuffer struct {
	b uint64
	n uint
}

// add adds an entry of a table.
func (b bitBuffer) add(entry uint32) bitBuffer {
	return bitBuffer{b.b | uint64(entry>>8)<<(b.n&63), b.n + uint(entry&63)}
}

// addDistance adds the code of a distance, given less one, and its extra bits.
func (b bitBuffer) addDistance(dist *[distEntries]uint32, less1 uint32) bitBuffer {
	half := uint32(bits.Len32(less1 >> 1))
	extra := half - (half+63)>>6 // half-1, or 0
	b = b.add(dist[(half<<1|less1>>(extra&31)&1)%distEntries])
	return bitBuffer{b.b | uint64(less1&(1<<(extra&31)-1))<<(b.n&63), b.n + uint(extra)}
}

// rest returns what is left when the whole bytes are taken out.
func (b bitBuffer) rest() bitBuffer { return bitBuffer{b.b >> (b.n &^ 7 & 63), b.n & 7} }

// room makes room for a number of bytes, and for the eight that a step may touch.
func (o *output) room(bytes int) {
	o.b = slices.Grow(o.b[:o.w], bytes+8)
	o.b = o.b[:cap(o.b)]
}

// put writes an entry.
func (o *output) put(entry uint32) {
	o.bits = o.bits.add(entry)
	binary.LittleEndian.PutUint64(o.b[o.w:], o.bits.b)
	o.w += int(o.bits.n >> 3)
	o.bits = o.bits.rest()
}

// head writes the first three bits of a block.
func (o *output) head(kind uint32, last bool) {
	if last {
		o.put(entry(kind<<1|1, 3))
	} else {
		o.put(entry(kind<<1, 3))
	}
}

// align fills the last byte up.
func (o *output) align() {
	o.room(0)
	o.put(entry(0, uint32(-o.bits.n&7)))
}

// stored writes a block that is not compressed (RFC 1951, section 3.2.4).
func (o *output) store(text []byte, last bool) {
	o.room(8 + len(text))
	o.head(stored, last)
	o.align()
	b := binary.LittleEndian.AppendUint16(o.b[:o.w], uint16(len(text)))
	b = binary.LittleEndian.AppendUint16(b, ^uint16(len(text)))
	o.w = len(append(b, text...))
}
