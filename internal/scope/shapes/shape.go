package shapes

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Shape identifies a shape: 64 bits of a hash that nobody can make collide with that of another
// site.
type Shape uint64

// Of returns the shape of a URL. Its query and what follows a ';' in its path do not count.
func Of(u weburl.URL) Shape {
	var room [256]byte
	return named(appendName(room[:0], u))
}

// Named returns the shape with a name: see Name.
func Named(name string) Shape { return named([]byte(name)) }

func named(name []byte) Shape {
	sum := sha256.Sum256(name)
	return Shape(binary.LittleEndian.Uint64(sum[:]))
}

// Name returns the shape of a URL for people: http://example.org/cal/#/#/.
func Name(u weburl.URL) string { return string(appendName(nil, u)) }

// Origin returns the origin of the shape with a name.
func Origin(name string) string {
	_, host, _ := strings.Cut(name, "://")
	host, _, _ = strings.Cut(host, "/")
	return name[:strings.Index(name, "://")+len("://")+len(host)]
}

// appendName appends the origin of u, and its path with # for each number, date or name of a
// month, and @ for each token.
func appendName(b []byte, u weburl.URL) []byte {
	href, target := u.String(), u.RequestTarget()
	path, _, _ := strings.Cut(u.Path(), ";")
	b = append(b, href[:len(href)-len(target)]...)
	var last byte // class of the part before; 0: none
	for len(path) > 0 {
		n := partLength(path)
		if n == 0 {
			// Parts of one class count as one: 2026-11-22.
			if last == 0 || !joins(path[0]) || classOf(path[1:1+partLength(path[1:])]) != last {
				b, last = append(b, path[0]), 0
			}
			path = path[1:]
			continue
		}
		switch class := classOf(path[:n]); class {
		case 0:
			b, last = append(b, path[:n]...), 0
		case last:
		default:
			b, last = append(b, class), class
		}
		path = path[n:]
	}
	return b
}

// joins reports whether c may stand within a date or a token.
func joins(c byte) bool { return c == '-' || c == '_' || c == '.' || c == ':' }

// partLength returns the length of the part that s begins with: a UUID, or letters and digits.
func partLength(s string) int {
	if isUUID(s) {
		return uuidLength
	}
	n := 0
	for n < len(s) && isAlphanumeric(s[n]) {
		n++
	}
	return n
}

func isAlphanumeric(c byte) bool { return isDigit(c) || isUpper(c) || 'a' <= c && c <= 'z' }
func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isUpper(c byte) bool        { return 'A' <= c && c <= 'Z' }

const uuidLength = 36

// isUUID reports whether s begins with a UUID (RFC 9562).
func isUUID(s string) bool {
	if len(s) < uuidLength || s[8] != '-' {
		return false
	}
	for i := range uuidLength {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// longWord is the length from which letters without a separator are taken for a token.
const longWord = 20

// classOf returns what a part of a path stands for in a shape: '#' for a number or a month, '@' for
// a token, which has digits, or capitals within, or is very long; 0 for itself.
func classOf(part string) byte {
	digits, capitals := 0, 0
	for i := range len(part) {
		if isDigit(part[i]) {
			digits++
		} else if i > 0 && isUpper(part[i]) && !isUpper(part[i-1]) {
			capitals++
		}
	}
	switch {
	case part == "":
		return 0
	case digits == len(part), months[strings.ToLower(part[:min(len(part), 10)])]:
		return '#'
	case digits > 0, capitals > 1, len(part) >= longWord:
		return '@'
	}
	return 0
}

// months are their names in paths. In English: others have a shape each, which ends later.
var months = func() map[string]bool {
	all := make(map[string]bool)
	for _, name := range strings.Fields("january february march april may june july august september october november december") {
		all[name], all[name[:3]] = true, true
	}
	return all
}()
