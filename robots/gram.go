package robots

import (
	"iter"
	"slices"
	"strings"
)

// A gram is some bytes of a pattern between two wildcards, as a number: maxGram of them, or fewer
// where no part of the pattern is as long. No byte is 0, so grams of different lengths differ.
const maxGram = 4

// gramLengths are those in use, the longest first.
var gramLengths = [...]int{maxGram, 2, 1}

// gramAt returns the gram at the beginning of s.
func gramAt(s string, length int) uint32 {
	gram := uint32(0)
	for i := range length {
		gram = gram<<8 | uint32(s[i])
	}
	return gram
}

// gramLength returns the length of the grams of a pattern.
func gramLength(pattern string) int {
	longest, from := 0, 0
	pattern = strings.TrimSuffix(pattern, "$")
	for i := range len(pattern) {
		if pattern[i] == '*' {
			from = i + 1
		}
		longest = max(longest, i+1-from)
	}
	return gramLengths[slices.IndexFunc(gramLengths[:], func(n int) bool { return n <= longest })]
}

// grams yields the grams of a pattern that have a length.
func grams(pattern string, length int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		pattern := strings.TrimSuffix(pattern, "$")
		for i := 0; i+length <= len(pattern); i++ {
			if star := strings.LastIndexByte(pattern[i:i+length], '*'); star >= 0 {
				i += star
			} else if !yield(gramAt(pattern[i:], length)) {
				return
			}
		}
	}
}

// gramCounts counts grams, by the place that their hash has; it need not be exact.
type gramCounts [1 << 14]int32

func (c *gramCounts) at(gram uint32) *int32 { return &c[gram*0x9E3779B1>>18] }

// mark marks the variants with wildcards whose gram occurs in a target.
func (x *index) mark(target string, marks []uint64) {
	for _, length := range gramLengths {
		if !x.lengths[length] {
			continue
		}
		for i := range len(target) - length + 1 {
			s, ok := x.grams[gramAt(target[i:], length)]
			if !ok {
				continue
			}
			if at := x.order[s.from]; marks[at/64]>>(at%64)&1 != 0 {
				continue // the gram has occurred before
			}
			for _, at := range x.order[s.from:s.to] {
				marks[at/64] |= 1 << (at % 64)
			}
		}
	}
}
