package deflate

import (
	"math/bits"
	"slices"
)

const (
	literals    = 256
	endOfBlock  = 256
	litCodes    = 286 // literals, end of block, lengths
	distCodes   = 30
	distEntries = 32      // a power of two
	longest     = 258     // match, in bytes
	window      = 1 << 15 // the largest distance

	// maxLength is the longest code in bits. A match with its extra bits, at most 42, fits into a
	// bit buffer that holds up to 7 bits already, and costs less than maxLength bits for each of
	// its 4 bytes or more.
	maxLength = 12
)

// codes are a code for literals and lengths and one for distances, ready to be written. Their
// entries are numbers: the lowest 6 bits are how many bits to write, those from bit 8 on are the
// bits.
type codes struct {
	head   []uint32 // of the block, without its first three bits
	lit    [literals]uint32
	length [longest + 1]uint32 // with extra bits
	dist   [distEntries]uint32 // without extra bits
	end    uint32
}

// newCodes builds the codes from the lengths of all symbols, which are never 0.
func newCodes(lit, dist []uint8) *codes {
	c := &codes{head: blockHead(lit, dist)}
	all := canonical(lit)
	copy(c.lit[:], all)
	c.end = all[endOfBlock]
	c.setLengths(all)
	copy(c.dist[:], canonical(dist))
	return c
}

// setLengths sets the entries of lengths from those of their symbols (RFC 1951, section 3.2.5).
func (c *codes) setLengths(symbols []uint32) {
	length := 3
	for i, symbol := range symbols[endOfBlock+1 : litCodes-1] {
		extra := uint32(lengthExtra(i))
		for x := range uint32(1) << extra {
			c.length[length] = join(symbol, entry(x, extra))
			length++
		}
	}
	c.length[longest] = symbols[litCodes-1]
}

// lengthExtra is the number of extra bits of the i-th symbol of a length, the last apart.
func lengthExtra(i int) int { return max(i, 4)/4 - 1 }

// entry is a number of bits.
func entry(bits, n uint32) uint32 { return bits<<8 | n }

// join writes b behind a.
func join(a, b uint32) uint32 { return a + b&63 + b>>8<<(8+a&63) }

// canonical returns the codes of symbols as entries (RFC 1951, section 3.2.2).
func canonical(lengths []uint8) []uint32 {
	all := make([]uint32, len(lengths))
	code := uint16(0)
	for n := uint8(1); n <= 15; n++ {
		for s, length := range lengths {
			if length == n {
				all[s] = entry(uint32(bits.Reverse16(code)>>(16-n)), uint32(n))
				code++
			}
		}
		code <<= 1
	}
	return all
}

// blockHead writes the lengths of codes (RFC 1951, section 3.2.7).
func blockHead(lit, dist []uint8) []uint32 {
	head := []uint32{entry(uint32(len(lit)-257)|uint32(len(dist)-1)<<5|(19-4)<<10, 14)}
	for _, s := range codeOrder {
		head = append(head, entry(uint32(codeLengths[s]), 3))
	}
	code := canonical(codeLengths[:])
	all := slices.Concat(lit, dist)
	for i, again := 0, 0; i < len(all); i += max(again, 1) {
		for again = 0; i > 0 && again < 6 && i+again < len(all) && all[i+again] == all[i-1]; {
			again++
		}
		if again >= 3 {
			head = append(head, join(code[16], entry(uint32(again-3), 2)))
		} else {
			head, again = append(head, code[all[i]]), 1
		}
	}
	return head
}

// codeOrder is the order of the lengths of the code for code lengths.
var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codeLengths are the lengths of a code for code lengths that suits all tables: from 1 to
// maxLength, most of them long; 16 repeats one.
var codeLengths = [19]uint8{1: 6, 2: 6, 3: 6, 4: 6, 5: 4, 6: 4, 7: 4, 8: 4, 9: 3, 10: 3, 11: 3, 12: 4, 16: 2}
