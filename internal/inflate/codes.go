package inflate

import (
	"io"
	"math/bits"
)

// The next bits of the stream index a table; each table has a fixed number of bits for its first
// part. An entry is a number:
//
//	bits 0–5    bits to consume, extra bits included
//	bits 8–11   bits of its code; for further, the number of bits that index the second part
//	bits 16–30  its value: a literal, or the base of a length or distance; for further, the
//	            position of the second part in the table
//
// and has one of these types:
const (
	literal    = 1 << 31
	special    = 1 << 15 // no code, unless it is one of
	further    = 1 << 14
	endOfBlock = 1 << 13
)

// Bits of the first part of each table. More bits mean fewer misses but take longer to fill, which
// dominates for pages of a few kilobytes.
const (
	litBits  = 10
	distBits = 8
	codeBits = 7 // the longest code
)

// Sizes of the tables, powers of two. There are at most half as many second parts as codes, each
// with 32 entries for lengths and 128 for distances.
const (
	maxLit   = 288
	maxDist  = 32
	litSize  = 8192
	distSize = 4096
)

// litEntry and distEntry are the entries of the symbols, without their codes (section 3.2.5).
var litEntry, distEntry = func() (lit [maxLit]uint32, dist [maxDist]uint32) {
	for s := range uint32(256) {
		lit[s] = literal | s<<16
	}
	lit[256] = special | endOfBlock
	base := uint32(3)
	for s := uint32(257); s < 285; s++ {
		extra := max(s-257, 4)/4 - 1
		lit[s] = base<<16 | extra
		base += 1 << extra
	}
	lit[285] = longestMatch << 16
	lit[286], lit[287] = special, special
	base = 1
	for s := range uint32(30) {
		extra := max(s, 2)/2 - 1
		dist[s] = base<<16 | extra
		base += 1 << extra
	}
	dist[30], dist[31] = special, special
	return lit, dist
}()

// codeEntry are the entries of the symbols of the code for code lengths.
var codeEntry = func() (code [19]uint32) {
	for s := range code {
		code[s] = uint32(s) << 16
	}
	return code
}()

// find looks up the next bits of a stream.
func find(table []uint32, first uint, b uint64) uint32 {
	e := table[b&(1<<first-1)]
	if e&further != 0 {
		e = table[uint64(e>>16)+b>>first&(1<<(e>>8&15)-1)]
	}
	return e
}

// fill builds the table of a code from the lengths of all symbols, 0 for unused ones (section
// 3.2.2). The code must be complete, or empty, or a single code of one bit, as the only distance
// of a block may be.
func fill(table []uint32, first uint, lengths []uint8, entries []uint32) error {
	var count, next [16]int
	for _, n := range lengths {
		count[n&15]++
	}
	count[0] = 0
	longest, left := uint(0), 1
	for n := 1; n <= 15; n++ {
		next[n] = next[n-1] + count[n-1]
		left = left<<1 - count[n]
		if left < 0 {
			return ErrCorrupt
		}
		if count[n] > 0 {
			longest = uint(n)
		}
	}
	codes := next[15] + count[15]
	if left > 0 {
		if codes > 1 || longest > 1 {
			return ErrCorrupt
		}
		for i := range 1 << first {
			table[i] = special | 1
		}
	}
	var sorted [maxLit]uint16 // symbols by length
	for s, n := range lengths {
		if n != 0 {
			sorted[next[n&15]] = uint16(s)
			next[n&15]++
		}
	}
	free := 1 << first                      // position of the next second part
	second := longest - min(longest, first) // bits that index it
	code, length := uint(0), uint(0)
	prefix := ^uint(0)
	for _, s := range sorted[:codes] {
		n := uint(lengths[s])
		code <<= n - length
		length = n
		e := entries[s] + uint32(n|n<<8)
		// The first bit of a code is the lowest one here.
		at := uint(bits.Reverse16(uint16(code))) >> (16 - n)
		code++
		part, step := table[:1<<first], uint(1)<<n
		if n > first {
			if p := at & (1<<first - 1); p != prefix {
				prefix = p
				table[p] = special | further | uint32(free)<<16 | uint32(second)<<8
				free += 1 << second
			}
			part, at, step = table[free-1<<second:free], at>>first, 1<<(n-first)
		}
		for ; at < uint(len(part)); at += step {
			part[at] = e
		}
	}
	return nil
}

// fixedLit and fixedDist are the tables of the fixed codes (section 3.2.6). They have no second
// part.
var fixedLit, fixedDist = func() (lit [1 << litBits]uint32, dist [1 << distBits]uint32) {
	var lengths [maxLit]uint8
	for s := range lengths {
		switch {
		case s < 144:
			lengths[s] = 8
		case s < 256:
			lengths[s] = 9
		case s < 280:
			lengths[s] = 7
		default:
			lengths[s] = 8
		}
	}
	_ = fill(lit[:], litBits, lengths[:], litEntry[:])
	for s := range maxDist {
		lengths[s] = 5
	}
	_ = fill(dist[:], distBits, lengths[:maxDist], distEntry[:])
	return lit, dist
}()

// useFixed sets the tables to the fixed codes.
func (d *Decoder) useFixed() {
	if !d.fixed {
		copy(d.lit[:], fixedLit[:])
		copy(d.dist[:], fixedDist[:])
		d.fixed = true
	}
}

// codeOrder is the order of the lengths of the code for code lengths.
var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a block (section 3.2.7).
func (d *Decoder) readCodes() error {
	head, err := d.take(14)
	if err != nil {
		return err
	}
	lits, dists, codes := int(head&31)+257, int(head>>5&31)+1, int(head>>10)+4
	if lits > 286 || dists > 30 {
		return ErrCorrupt
	}
	var lengths [19]uint8
	for _, s := range codeOrder[:codes] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[s] = uint8(n)
	}
	if err := fill(d.codes[:], codeBits, lengths[:], codeEntry[:]); err != nil {
		return err
	}
	d.fixed = false
	all := d.lengths[:lits+dists]
	for i := 0; i < len(all); {
		d.refill()
		e := d.codes[d.b&(1<<codeBits-1)]
		if uint(e&63) > d.n {
			return io.ErrUnexpectedEOF
		}
		if e&special != 0 {
			return ErrCorrupt
		}
		d.drop(uint(e & 63))
		n, again, extra := uint8(e>>16), 1, uint(0)
		switch n {
		case 16:
			if i == 0 {
				return ErrCorrupt
			}
			n, again, extra = all[i-1], 3, 2
		case 17:
			n, again, extra = 0, 3, 3
		case 18:
			n, again, extra = 0, 11, 7
		}
		more, err := d.take(extra)
		if err != nil {
			return err
		}
		if again += int(more); again > len(all)-i {
			return ErrCorrupt
		}
		for range again {
			all[i] = n
			i++
		}
	}
	if err := fill(d.lit[:], litBits, all[:lits], litEntry[:]); err != nil {
		return err
	}
	return fill(d.dist[:], distBits, all[lits:], distEntry[:])
}
