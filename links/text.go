package links

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// attrValue decodes an attribute value: newlines and NUL as the HTML Standard
// normalises them, and character references.
func attrValue(raw []byte) string {
	s := string(raw)
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.ReplaceAll(s, "\r", "\n")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return unescapeAttr(s)
}

// unescapeAttr decodes the character references of an attribute value. They
// differ from those of text in one rule, made for queries such as ?a=b&copy=c:
// a name without a semicolon counts only if neither '=' nor a letter or digit
// follows. (html.UnescapeString has the rule for text.)
func unescapeAttr(s string) string {
	amp := strings.IndexByte(s, '&')
	if amp < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for amp >= 0 {
		out.WriteString(s[:amp])
		text, n := reference(s[amp:])
		out.WriteString(text)
		s = s[amp+n:]
		amp = strings.IndexByte(s, '&')
	}
	out.WriteString(s)
	return out.String()
}

// maxEntity is the length of "CounterClockwiseContourIntegral;", the longest name.
const maxEntity = 32

// reference decodes the character reference that the '&' at the start of s
// begins. n is how much of s the text stands for; if there is no reference,
// that is the '&' alone.
func reference(s string) (text string, n int) {
	if strings.HasPrefix(s, "&amp;") { // nearly all of them
		return "&", len("&amp;")
	}
	if strings.HasPrefix(s, "&#") {
		return numericReference(s)
	}
	end := 1
	for end < len(s) && end <= maxEntity && isAlphanumeric(s[end]) {
		end++
	}
	var known bool
	if end < len(s) && s[end] == ';' {
		end++
		text = html.UnescapeString(s[:end])
		// Where only a prefix is a name ("&notit;"), or none, the semicolon stays.
		known = text == ";" || !strings.HasSuffix(text, ";")
	} else {
		text = html.UnescapeString(s[:end])
		// The names that need no semicolon stand for one character each.
		known = utf8.RuneCountInString(text) == 1 && end > 1 && (end == len(s) || s[end] != '=')
	}
	if !known {
		return "&", 1
	}
	return text, end
}

// numericReference decodes a reference that begins with "&#".
func numericReference(s string) (text string, n int) {
	end, isDigit := 2, isDecimal
	if end < len(s) && s[end]|0x20 == 'x' {
		end, isDigit = 3, isHexadecimal
	}
	digits := end
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == digits {
		return "&", 1
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return html.UnescapeString(s[:end]), end
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

func (t *collapsed) String() string { return string(t.buf) }
