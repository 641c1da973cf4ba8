package links

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// appendValue appends an attribute's value, decoded: newlines and NUL as the HTML
// Standard normalises them, and character references. These differ from those of text
// in one rule, made for queries such as ?a=b&copy=c: a name without a semicolon counts
// only if neither '=' nor a letter or digit follows. (html.UnescapeString has the rule
// for text.)
func appendValue(dst, raw []byte) []byte {
	for {
		i := bytes.IndexAny(raw, "&\r\x00")
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		n := 1
		switch raw[i] {
		case '&':
			dst, n = appendReference(dst, raw[i:])
		case '\r':
			dst = append(dst, '\n')
			if i+1 < len(raw) && raw[i+1] == '\n' {
				n = 2
			}
		case 0:
			dst = append(dst, "\uFFFD"...)
		}
		raw = raw[i+n:]
	}
}

// maxEntity is the length of "CounterClockwiseContourIntegral;", the longest name.
const maxEntity = 32

// appendReference appends what the character reference stands for that the '&' at the
// start of s begins. n is how much of s it is; if there is no reference, that is the '&'
// alone.
func appendReference(dst, s []byte) (out []byte, n int) {
	if bytes.HasPrefix(s, []byte("&amp;")) { // nearly all of them
		return append(dst, '&'), len("&amp;")
	}
	if bytes.HasPrefix(s, []byte("&#")) {
		return appendNumeric(dst, s)
	}
	end := 1
	for end < len(s) && end <= maxEntity && isAlphanumeric(s[end]) {
		end++
	}
	var text string
	var known bool
	if end < len(s) && s[end] == ';' {
		end++
		text = html.UnescapeString(string(s[:end]))
		// Where only a prefix is a name ("&notit;"), or none, the semicolon stays.
		known = text == ";" || !strings.HasSuffix(text, ";")
	} else if end > 1 && (end == len(s) || s[end] != '=') {
		text = html.UnescapeString(string(s[:end]))
		// The names that need no semicolon stand for one character each.
		known = utf8.RuneCountInString(text) == 1
	}
	if !known {
		return append(dst, '&'), 1
	}
	return append(dst, text...), end
}

// appendNumeric appends what a reference stands for that begins with "&#".
// See https://html.spec.whatwg.org/multipage/parsing.html#numeric-character-reference-end-state.
func appendNumeric(dst, s []byte) (out []byte, n int) {
	end, base, isDigit := 2, 10, isDecimal
	if end < len(s) && s[end]|0x20 == 'x' {
		end, base, isDigit = 3, 16, isHexadecimal
	}
	from, char := end, 0
	for ; end < len(s) && isDigit(s[end]); end++ {
		char = min(char*base+digit(s[end]), utf8.MaxRune+1)
	}
	if end == from {
		return append(dst, '&'), 1
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	switch {
	case char == 0:
		char = utf8.RuneError
	case 0x80 <= char && char <= 0x9F: // as if it were a byte of windows-1252
		return append(dst, html.UnescapeString(string(s[:end]))...), end
	}
	return utf8.AppendRune(dst, rune(char)), end // those that are no characters are U+FFFD
}

// digit is the value of a decimal or hexadecimal digit.
func digit(c byte) int {
	if isDecimal(c) {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}

func isDecimal(c byte) bool      { return '0' <= c && c <= '9' }
func isHexadecimal(c byte) bool  { return isDecimal(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isAlphanumeric(c byte) bool { return isDecimal(c) || isLetter(c) }

// A collapsed is text for people: references decoded, each run of white space
// one blank and none at the ends, valid UTF-8 of at most max bytes.
type collapsed struct {
	buf   []byte
	max   int
	blank bool // white space came after what is in buf
	full  bool
}

// maxChunk bounds how much of one piece of text is looked at.
const maxChunk = 4096

func (t *collapsed) reset(max int) { *t = collapsed{buf: t.buf[:0], max: max} }

// add appends a piece of a page's text.
func (t *collapsed) add(raw []byte) {
	if t.full || len(raw) == 0 {
		return
	}
	s := string(raw[:min(len(raw), maxChunk)])
	if strings.IndexByte(s, '&') >= 0 {
		s = html.UnescapeString(s)
	}
	for _, r := range s { // a byte that is not UTF-8 comes as U+FFFD
		switch {
		case r == 0: // the tree builder drops it
			continue
		case r < utf8.RuneSelf && isSpace(byte(r)):
			t.blank = len(t.buf) > 0
			continue
		}
		size := utf8.RuneLen(r)
		if t.blank {
			size++
		}
		if len(t.buf)+size > t.max {
			t.full = true
			return
		}
		if t.blank {
			t.buf = append(t.buf, ' ')
			t.blank = false
		}
		t.buf = utf8.AppendRune(t.buf, r)
	}
}
