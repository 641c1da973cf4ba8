package http2

import "errors"

// errLateUpdate is the error of a block that resizes the table behind a field: it belongs to its
// beginning (RFC 7541, section 4.2).
var errLateUpdate = errors.New("the size of the table changes behind a field")

// isUpdate reports whether a representation of HPACK that begins with b resizes the table.
func isUpdate(b byte) bool { return b&0xe0 == 0x20 }

// updatesLate reports whether a block, behind the resizing that it begins with, resizes the table.
// The decoder takes that while its table is empty. What cannot be read is for the decoder to object
// to.
func updatesLate(block []byte) bool {
	for len(block) > 0 {
		if isUpdate(block[0]) {
			return true
		}
		block = block[fieldLen(block):]
	}
	return false
}

// fieldLen returns the length of the representation that a block begins with (RFC 7541, section 6);
// that of the block, if it ends before.
func fieldLen(block []byte) int {
	b := block[0]
	prefix, strings := 4, 2
	switch {
	case b&0x80 != 0: // a field of a table
		prefix, strings = 7, 0
	case b&0x40 != 0: // that is added to the table
		prefix = 6
	case isUpdate(b):
		prefix, strings = 5, 0
	}
	index, n := readInt(block, prefix)
	if strings > 0 && index > 0 { // its name is that of a field of a table
		strings--
	}
	for ; strings > 0 && n < len(block); strings-- {
		length, m := readInt(block[n:], 7)
		n += m + min(length, len(block))
	}
	return min(n, len(block))
}

// readInt reads an integer with a prefix of bits (RFC 7541, section 5.1). It returns how many bytes
// it takes, which may be more than there are.
func readInt(b []byte, prefix int) (value, n int) {
	most := 1<<prefix - 1
	if value = int(b[0]) & most; value < most {
		return value, 1
	}
	for n = 1; n < len(b) && n < 5; n++ {
		value += int(b[n]&0x7f) << (7 * (n - 1))
		if b[n]&0x80 == 0 {
			return value, n + 1
		}
	}
	return value, len(b) + 1
}
