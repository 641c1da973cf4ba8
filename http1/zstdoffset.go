package http1

import (
	"encoding/binary"
	"math/bits"
)

// zeroOffset reports whether a match in what src, frames of zstd, decodes to is said to be 0
// bytes away, by a repeated offset of 1 less 1 byte: then src is corrupt (RFC 8878, section
// 3.1.1.5). Old decoders, and the library, take it for 1. Only the codes of sequences are read,
// at most a number of sequences. Whole is false if not all of them were: src is not
// well-formed then, which the library tells, or there are more.
//
// An encoder never makes it, so a page that has it was damaged, or made to be different things
// to different readers.
func zeroOffset(src []byte, sequences int) (found, whole bool) {
	for len(src) > 0 {
		frame := zstdFrame{offsets: [3]int{1, 4, 8}, sequences: sequences}
		n, ok := frame.read(src)
		if frame.zero || !ok {
			return frame.zero, false
		}
		src, sequences = src[n:], frame.sequences
	}
	return false, true
}

// zstdFrame is what sequences have in common.
type zstdFrame struct {
	tables    [3][]fseEntry // of the last block: literal lengths, offsets, match lengths
	offsets   [3]int        // the last ones, the latest first
	sequences int           // that may still be read
	zero      bool          // a match is 0 bytes away
}

// fseEntry is a state of a code (section 4.1.1).
type fseEntry struct {
	symbol uint8
	bits   uint8  // of the next state,
	base   uint16 // to which they are added
}

// fseKind is one of the three codes of a sequence.
type fseKind struct {
	maxLog  int
	symbols int
	usual   []int16 // probabilities of the code that is not written out
	log     int     // of it
}

var fseKinds = [3]fseKind{
	{9, 36, []int16{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1}, 6},
	{8, 32, []int16{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}, 5},
	{9, 53, []int16{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}, 6},
}

// lengthBits are the bits that follow the codes of lengths (section 3.1.1.3.2.1.1).
var (
	literalLengthBits = [36]uint8{16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	matchLengthBits   = [53]uint8{32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
)

// read reads a frame (section 3.1.1) and returns its length.
func (f *zstdFrame) read(src []byte) (n int, ok bool) {
	if len(src) < 8 {
		return 0, false
	}
	magic := binary.LittleEndian.Uint32(src)
	if magic&^0xf == 0x184d2a50 { // to be skipped
		n = 8 + int(binary.LittleEndian.Uint32(src[4:]))
		return n, n <= len(src)
	}
	descriptor := src[4]
	n = 5 + [4]int{0, 1, 2, 4}[descriptor&3]
	if single := descriptor&0x20 != 0; single {
		n += [4]int{1, 2, 4, 8}[descriptor>>6]
	} else {
		n += 1 + [4]int{0, 2, 4, 8}[descriptor>>6]
	}
	for last := false; !last; {
		if len(src) < n+3 {
			return 0, false
		}
		header := int(src[n]) | int(src[n+1])<<8 | int(src[n+2])<<16
		n += 3
		size := header >> 3
		last = header&1 != 0
		kind := header >> 1 & 3
		if kind == 1 { // one byte, many times
			size = 1
		}
		if len(src)-n < size || kind == 3 || kind == 2 && !f.block(src[n:n+size]) {
			return 0, false
		}
		n += size
	}
	if sum := descriptor&4 != 0; sum {
		n += 4
	}
	return n, magic == 0xfd2fb528 && n <= len(src)
}

// block reads the sequences of a compressed block (section 3.1.1.3).
func (f *zstdFrame) block(b []byte) bool {
	literals, ok := literalsLen(b)
	if !ok || len(b) <= literals {
		return false
	}
	b = b[literals:]
	count, n := int(b[0]), 1
	switch {
	case count == 0:
		return true
	case count == 255 && len(b) >= 3:
		count, n = 0x7f00+int(binary.LittleEndian.Uint16(b[1:])), 3
	case count >= 128 && count < 255 && len(b) >= 2:
		count, n = (count-128)<<8+int(b[1]), 2
	case count >= 128:
		return false
	}
	if count == 0 { // in two bytes
		return true
	}
	if len(b) <= n || count > f.sequences {
		return false
	}
	f.sequences -= count
	modes := b[n]
	b = b[n+1:]
	for i := range f.tables {
		used, ok := f.table(i, modes>>(6-2*i)&3, b)
		if !ok {
			return false
		}
		b = b[used:]
	}
	return f.walk(b, count)
}

// literalsLen returns the length of the literals that a block begins with (section 3.1.1.3.1).
func literalsLen(b []byte) (int, bool) {
	if len(b) < 5 {
		b = append(append(make([]byte, 0, 8), b...), 0, 0, 0, 0, 0) // their length is checked by who asks
	}
	v := uint64(binary.LittleEndian.Uint32(b)) | uint64(b[4])<<32
	format := v >> 2 & 3
	switch v & 3 {
	case 0, 1:
		header := [4]int{1, 2, 1, 3}[format]
		size := int(v >> [4]int{3, 4, 3, 4}[format] & (1<<[4]int{5, 12, 5, 20}[format] - 1))
		if v&3 == 1 {
			size = 1
		}
		return header + size, true
	}
	width := [4]int{10, 10, 14, 18}[format]
	return [4]int{3, 3, 4, 5}[format] + int(v>>(4+width)&(1<<width-1)), true
}

// table makes the i-th code by a mode, of which b begins with what there is to read.
func (f *zstdFrame) table(i int, mode byte, b []byte) (used int, ok bool) {
	kind := &fseKinds[i]
	switch mode {
	case 0:
		f.tables[i] = fseTable(kind.usual, kind.log)
		return 0, true
	case 1:
		if len(b) == 0 || int(b[0]) >= kind.symbols {
			return 0, false
		}
		f.tables[i] = []fseEntry{{symbol: b[0]}}
		return 1, true
	case 2:
		chances, log, used := fseChances(b, kind)
		if used == 0 {
			return 0, false
		}
		f.tables[i] = fseTable(chances, log)
		return used, true
	}
	return 0, f.tables[i] != nil
}

// fseChances reads the probabilities of a code (section 4.1.1); used is 0 if they are none.
func fseChances(b []byte, kind *fseKind) (chances []int16, log, used int) {
	at := 0 // bits read
	peek := func(n int) int {
		v := 0
		for i := at / 8; i < len(b) && i < at/8+4; i++ {
			v |= int(b[i]) << (8 * (i - at/8))
		}
		return v >> (at % 8) & (1<<n - 1)
	}
	log = 5 + peek(4)
	at = 4
	if log > kind.maxLog {
		return nil, 0, 0
	}
	left := 1 << log
	for left > 0 {
		if len(chances) >= kind.symbols || at > 8*len(b) {
			return nil, 0, 0
		}
		// A number up to left+1, in as many bits as that has, or one less where it can.
		n := bits.Len(uint(left + 1))
		short := 1<<n - 2 - left // how many numbers have one less
		v := peek(n)
		at += n
		if low := v & (1<<(n-1) - 1); low < short {
			v = low
			at--
		} else if v >= 1<<(n-1) {
			v -= short
		}
		chances = append(chances, int16(v-1))
		left -= max(v-1, 1-v)
		if v != 1 {
			continue
		}
		for more := 3; more == 3; { // zeros that follow
			more = peek(2)
			at += 2
			for range more {
				chances = append(chances, 0)
			}
			if len(chances) > kind.symbols || at > 8*len(b) {
				return nil, 0, 0
			}
		}
	}
	if left < 0 || at > 8*len(b) {
		return nil, 0, 0
	}
	return chances, log, (at + 7) / 8
}

// fseTable makes the states of a code from its probabilities, which sum up to 1<<log; -1 is
// one that is less than 1.
func fseTable(chances []int16, log int) []fseEntry {
	size := 1 << log
	table := make([]fseEntry, size)
	var next [53]uint16
	high := size
	for s, chance := range chances {
		next[s] = uint16(chance)
		if chance < 0 {
			high--
			table[high].symbol, next[s] = uint8(s), 1
		}
	}
	at, step := 0, size/2+size/8+3
	for s, chance := range chances {
		for range chance {
			table[at].symbol = uint8(s)
			for at = (at + step) & (size - 1); at >= high; {
				at = (at + step) & (size - 1)
			}
		}
	}
	for i := range table {
		e := &table[i]
		state := next[e.symbol]
		next[e.symbol]++
		e.bits = uint8(log - bits.Len16(state) + 1)
		e.base = state<<e.bits - uint16(size)
	}
	return table
}

// walk reads sequences from b, which is read from its end (section 3.1.1.3.2.1).
func (f *zstdFrame) walk(b []byte, count int) bool {
	if len(b) == 0 || b[len(b)-1] == 0 {
		return false
	}
	at := 8*len(b) - 9 + bits.Len8(b[len(b)-1]) // bits left
	take := func(n int) (v int) {
		if at -= n; at < 0 {
			return 0
		}
		rest := b[at>>3:]
		if len(rest) >= 8 {
			v = int(binary.LittleEndian.Uint64(rest))
		} else {
			for i, c := range rest {
				v |= int(c) << (8 * i)
			}
		}
		return v >> (at & 7) & (1<<n - 1)
	}
	var state [3]int
	for i, table := range f.tables {
		state[i] = take(bits.Len(uint(len(table))) - 1)
	}
	for ; count > 0 && at >= 0; count-- {
		literals, offset, match := f.tables[0][state[0]], f.tables[1][state[1]], f.tables[2][state[2]]
		if offset.symbol > 31 {
			return false
		}
		value := 1<<offset.symbol + take(int(offset.symbol))
		take(int(matchLengthBits[match.symbol]))
		take(int(literalLengthBits[literals.symbol]))
		f.repeat(value, literals.symbol == 0)
		if count == 1 {
			break
		}
		for _, i := range [...]int{0, 2, 1} {
			e := f.tables[i][state[i]]
			state[i] = int(e.base) + take(int(e.bits))
		}
	}
	return at == 0
}

// repeat notes an offset, by its value (section 3.1.1.5).
func (f *zstdFrame) repeat(value int, noLiterals bool) {
	was := f.offsets
	if value > 3 {
		f.offsets = [3]int{value - 3, was[0], was[1]}
		return
	}
	if noLiterals {
		value++
	}
	switch value {
	case 2:
		f.offsets = [3]int{was[1], was[0], was[2]}
	case 3:
		f.offsets = [3]int{was[2], was[0], was[1]}
	case 4:
		f.offsets = [3]int{was[0] - 1, was[0], was[1]}
		f.zero = f.zero || f.offsets[0] == 0
	}
}
