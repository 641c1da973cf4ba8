package markup

import "bytes"

// WhiteSpace is HTML's ASCII white space.
const WhiteSpace = " \t\n\f\r"

// The classes of bytes, a bit each.
const (
	space        = 1 << iota // HTML's ASCII white space
	letter                   // of ASCII
	digit                    // decimal
	hexDigit                 // of either case
	endsTagName              // white space, '/' and '>'
	endsAttrName             // these and '='
	endsUnquoted             // white space and '>'
)

var classes = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			table[c] = space | endsTagName | endsAttrName | endsUnquoted
		case c == '>':
			table[c] = endsTagName | endsAttrName | endsUnquoted
		case c == '/':
			table[c] = endsTagName | endsAttrName
		case c == '=':
			table[c] = endsAttrName
		case '0' <= c && c <= '9':
			table[c] = digit | hexDigit
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			table[c] = letter | hexDigit
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			table[c] = letter
		}
	}
	return table
}()

// IsSpace reports whether c is HTML's ASCII white space.
func IsSpace(c byte) bool { return classes[c]&space != 0 }

// IsLetter reports whether c is a letter of ASCII.
func IsLetter(c byte) bool { return classes[c]&letter != 0 }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return classes[c]&digit != 0 }

// IsHexDigit reports whether c is a hexadecimal digit.
func IsHexDigit(c byte) bool { return classes[c]&hexDigit != 0 }

// IsAlphanumeric reports whether c is a letter of ASCII or a decimal digit.
func IsAlphanumeric(c byte) bool { return classes[c]&(letter|digit) != 0 }

// EndsTagName reports whether c ends the name of a tag.
func EndsTagName(c byte) bool { return classes[c]&endsTagName != 0 }

// EndsAttrName reports whether c ends the name of an attribute.
func EndsAttrName(c byte) bool { return classes[c]&endsAttrName != 0 }

// HexValue returns the value of a hexadecimal digit.
func HexValue(c byte) int {
	if IsDigit(c) {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}

// Trim returns b without white space at its ends.
func Trim(b []byte) []byte {
	for len(b) > 0 && IsSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && IsSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// SkipSpace returns the position of the first byte at or after at that is no white space.
func SkipSpace(b []byte, at int) int {
	for at < len(b) && IsSpace(b[at]) {
		at++
	}
	return at
}

// EqualFold reports whether s equals name, which is in lower case, ignoring ASCII case.
func EqualFold[S ~string | ~[]byte](s S, name string) bool {
	if len(s) != len(name) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

// LocalName returns a name without its namespace prefix.
func LocalName(name []byte) []byte { return name[bytes.LastIndexByte(name, ':')+1:] }

// After returns the position after the next stop at or after from, or the end of b.
func After(b []byte, from int, stop string) int {
	if i := bytes.Index(b[from:], []byte(stop)); i >= 0 {
		return from + i + len(stop)
	}
	return len(b)
}
