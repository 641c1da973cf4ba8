package idna

import _ "embed"

// table is written by gen: the number of ranges, the ranges by their first character, each of them
// six bytes, half character and half value; then the texts that characters are mapped to. It is
// searched as it is, so that it costs nothing until then.
//
//go:embed table.bin
var table string

const (
	headLength  = 4
	rangeLength = 6
)

// A value says what becomes of a character: three bits of kind, and a payload.
const (
	Payload = 1<<21 - 1

	Disallowed = 0 << 21
	Ignored    = 1 << 21 // removed
	Valid      = 2 << 21 // kept; the payload is its properties
	Moved      = 3 << 21 // becomes another one; the payload is the distance, modulo 1<<21
	Mapped     = 4 << 21 // becomes a text; the payload is its position and its length

	kinds      = 7 << 21
	LengthBits = 6 // of the payload of Mapped, for the length in bytes
)

// Properties of a valid character: its class for the Bidi Rule, and flags.
const (
	ClassOther   = iota // none of the others: no right-to-left label has it
	ClassL              // left to right
	ClassR              // R and AL: right to left
	ClassAN             // Arabic number
	ClassEN             // European number
	ClassNeutral        // ES, CS, ET, ON and BN
	ClassNSM            // nonspacing mark
	classes      = 7

	Mark        = 1 << 3 // of general category M: no label begins with it
	Virama      = 1 << 4
	JoinsNext   = 1 << 5 // Joining_Type L or D
	JoinsLast   = 1 << 6 // Joining_Type R or D
	Transparent = 1 << 7 // Joining_Type T
)

// uint24 reads three bytes of the table.
func uint24(at int) uint32 {
	return uint32(table[at])<<16 | uint32(table[at+1])<<8 | uint32(table[at+2])
}

// mappings is the offset of the texts.
func mappings() int { return headLength + rangeLength*int(uint24(1)) }

// lookup returns the value of a character.
func lookup(r rune) uint32 {
	low, high := 0, int(uint24(1)) // the range is in [low, high)
	for high-low > 1 {
		middle := int(uint(low+high) >> 1)
		if uint24(headLength+rangeLength*middle) <= uint32(r) {
			low = middle
		} else {
			high = middle
		}
	}
	return uint24(headLength + rangeLength*low + 3)
}
