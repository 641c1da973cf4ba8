package weburl

import "unicode/utf8"

// set is one bit of byteSets: the bytes that one component must not contain. See
// https://url.spec.whatwg.org/#percent-encoded-bytes.
type set uint8

const (
	controlSet set = 1 << iota
	fragmentSet
	querySet
	specialQuerySet
	pathSet
	userinfoSet
	forbiddenHost   // forbidden host code points
	forbiddenDomain // forbidden domain code points
)

// byteSets holds the sets of each byte. Every byte of a non-ASCII character is in all
// percent-encode sets.
var byteSets = func() (t [256]set) {
	add := func(s set, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= s
		}
	}
	for c := range t {
		if c <= 0x1F || c >= 0x7F {
			t[c] |= controlSet | fragmentSet | querySet | specialQuerySet | pathSet | userinfoSet
		}
		if c <= 0x1F || c == 0x7F {
			t[c] |= forbiddenDomain
		}
	}
	add(fragmentSet, " \"<>`")
	add(querySet|specialQuerySet|pathSet|userinfoSet, " \"#<>")
	add(specialQuerySet, "'")
	add(pathSet|userinfoSet, "?^`{}")
	add(userinfoSet, "/:;=@[\\]|")
	add(forbiddenHost|forbiddenDomain, "\x00\t\n\r #/:<>?@[\\]^|")
	add(forbiddenDomain, "%")
	return t
}()

// in reports whether text has a byte of the set.
func (s set) in(text string) bool {
	for i := range len(text) {
		if byteSets[text[i]]&s != 0 {
			return true
		}
	}
	return false
}

const upperHex = "0123456789ABCDEF"

// appendEncoded appends text to dst with the bytes of s percent-encoded.
func appendEncoded(dst []byte, text string, s set) []byte {
	done := 0
	for i := range len(text) {
		c := text[i]
		if byteSets[c]&s == 0 {
			continue
		}
		dst = append(dst, text[done:i]...)
		dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		done = i + 1
	}
	return append(dst, text[done:]...)
}

// EscapeInvalid returns a reference with its bytes that are not UTF-8 percent-encoded. Header
// fields and robots.txt name no encoding, and a server that writes one byte a character expects
// that byte: so browsers and curl ask for it. On a page, such bytes are U+FFFD, as the HTML
// Standard has it.
func EscapeInvalid(ref string) string {
	if utf8.ValidString(ref) {
		return ref
	}
	var out []byte
	for len(ref) > 0 {
		r, size := utf8.DecodeRuneInString(ref)
		if r == utf8.RuneError && size == 1 {
			out = append(out, '%', upperHex[ref[0]>>4], upperHex[ref[0]&15])
		} else {
			out = append(out, ref[:size]...)
		}
		ref = ref[size:]
	}
	return string(out)
}

// escapeAt decodes the percent-encoded byte at text[i:], if there is one.
func escapeAt(text string, i int) (c byte, ok bool) {
	if i+2 >= len(text) || text[i] != '%' {
		return 0, false
	}
	hi, lo := hexValue(text[i+1]), hexValue(text[i+2])
	if hi < 0 || lo < 0 {
		return 0, false
	}
	return byte(hi<<4 | lo), true
}

// hexValue returns the value of a hexadecimal digit, or -1.
func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
