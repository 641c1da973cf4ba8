package robots

import "strings"

// A form is a way to escape a path, for comparison with others of that form.
//
//	                     0: target   asPattern   decoded: target   asPattern|decoded
//	%e3                  %E3         %E3         %E3               %E3
//	%7E (unreserved)     %7E         %7E         ~                 ~
//	%2F in a query       %2F         %2F         /                 /
//	é in UTF-8           é           %C3%A9      %C3%A9            %C3%A9
//	space, <, {          %20, …      %20, …      %20, …            %20, …
//	* and a final $      %2A, %24    as it is    %2A, %24          as it is
//
// The decoded forms are those of RFC 9309, sections 2.2.2 and 2.2.3; the others those of
// google/robotstxt, which does not touch the target.
type form uint8

const (
	asPattern form = 1 << iota // '*' and a final '$' are wildcards
	decoded                    // bytes that need no escape have none
)

const upperHex = "0123456789ABCDEF"

// escape returns a path in the given form. Most paths are unchanged.
func escape(s string, f form) string {
	first := 0
	for first < len(s) && (unreserved(s[first]) || plain(s[first])) {
		first++
	}
	if first == len(s) {
		return s
	}
	b := make([]byte, first, len(s)+16)
	copy(b, s)
	inQuery := strings.Contains(s[:first], "?")
	for i := first; i < len(s); i++ {
		c := s[i]
		escaped := false
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c = hexValue(s[i+1])<<4 | hexValue(s[i+2])
			escaped = f&decoded == 0 || !unreserved(c) && (!inQuery || strings.IndexByte(":/?@[]", c) < 0)
			i += 2
		} else {
			inQuery = inQuery || c == '?'
			switch {
			case unreserved(c) || plain(c):
			case c == '*', c == '$' && i == len(s)-1:
				escaped = f&asPattern == 0
			case c >= 0x80:
				escaped = f != 0
			default:
				escaped = true
			}
		}
		if escaped {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// unreserved reports whether c is in the unreserved set of RFC 3986, which means the same with
// and without an escape.
func unreserved(c byte) bool {
	return isLetter(c) || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// plain reports whether c is in the reserved set of RFC 3986 and no wildcard: it means itself, and
// its escape something else.
func plain(c byte) bool { return strings.IndexByte(":/?#[]@!&'()+,;=", c) >= 0 }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0xF + 9
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
