package fingerprint

import "encoding/binary"

// digits returns which bytes of x are decimal digits.
func digits(x uint64) uint64 {
	low := x &^ highs
	return (low + ones*(0x80-'0')) &^ (low + ones*(0x80-'9'-1)) &^ x & highs
}

// equals returns which bytes of x are c, of ASCII.
func equals(x uint64, c byte) uint64 {
	return ^((x&^highs ^ ones*uint64(c)) + ones*0x7f | x) & highs
}

// load returns the eight bytes at at, or as many as there are.
func load(b []byte, at int) uint64 {
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:])
	}
	var last [8]byte
	copy(last[:], b[at:])
	return binary.LittleEndian.Uint64(last[:])
}
