package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// control are the bytes that are no plain text; all others are copied.
var control = func() (is [256]bool) {
	for i := range 0x21 {
		is[i] = true
	}
	is[0x7F] = true
	is[0xC2] = true // no-break space, soft hyphen, control characters
	return is
}()

// marking are the bytes that may mean something else than themselves.
var marking = func() (is [256]bool) {
	for _, b := range []byte("\\`*_[]<&~|!^") {
		is[b] = true
	}
	return is
}()

// escaped writes text, which is followed by a character; 0: by nothing.
func (w *writer) escaped(s []byte, next rune) {
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !marking[s[i]] {
			i++
		}
		if w.out = append(w.out, s[start:i]...); i == len(s) {
			return
		}
		n := 1
		if s[i] == '_' || s[i] == '~' {
			n = leading(s[i:], s[i])
		}
		after := next
		if i+n < len(s) {
			after, _ = utf8.DecodeRune(s[i+n:])
		}
		switch mark := s[i]; {
		case !w.escapes(s[i:], after, i+n == len(s)):
			w.out = append(w.out, s[i:i+n]...)
		case mark == '\\' && after == '\n':
			// Of three in a row, some readers make another break than others.
			w.out = append(w.out, "&#92;"...)
		default:
			for range n - 1 {
				w.out = append(w.out, '\\', mark)
			}
			if mark == '~' && after == '~' { // behind it, no mark is one
				w.out = append(w.out, "&#126;"...)
			} else {
				w.out = append(w.out, '\\', mark)
			}
		}
		i += n
	}
}

// escapes reports whether the byte with which s begins, or the run of _ or ~, would mean something
// else than itself before a character. At the edge of text, that is a mark.
func (w *writer) escapes(s []byte, after rune, edge bool) bool {
	before, ends := ' ', after == 0 || after == '\n'
	if len(w.out) > 0 {
		before, _ = utf8.DecodeLastRune(w.out)
	}
	if before == '\n' && w.cell {
		before = '>' // of breakTag
	}
	edge = edge && !ends
	switch s[0] {
	case '\\':
		return after == '\n' || edge || after < utf8.RuneSelf && isPunct(byte(after))
	case '`':
		return true
	case '*':
		return !isSpaceRune(before) || after != 0 && after != ' ' // behind a break stands more than that
	case '_': // within a word, it marks nothing
		return !isLetterOrDigit(before) || !isLetterOrDigit(after)
	case '~': // behind a blank, it ends nothing
		return w.deleted || !isSpaceRune(before)
	case '[':
		return w.links > 0 || edge || strings.ContainsRune("^]xX ", after) || ends
	case ']':
		return w.links > 0 || edge || after == '(' || after == ':'
	case '!':
		return edge && after == '['
	case '^': // a link that begins with it looks like a footnote
		return w.links > 0 && before == '['
	case '<':
		return edge || after == '/' || after == '!' || after == '?' || after < utf8.RuneSelf && isLetter(byte(after))
	case '&':
		return isReference(string(s[:min(len(s), longestReference)]))
	case '|':
		return w.cell
	}
	return false
}

func isSpaceRune(r rune) bool { return r == ' ' || r == '\n' }

// longestReference is longer than any reference to a character.
const longestReference = 40

// isReference reports whether text begins with what looks like a character reference.
func isReference(s string) bool {
	end := strings.IndexByte(s[:min(len(s), longestReference)], ';')
	if end < 2 {
		return false
	}
	for i := 1; i < end; i++ {
		if !isWord(s[i]) && (i > 1 || s[i] != '#') {
			return false
		}
	}
	return true
}

// beginning escapes what would make a block of a line of a paragraph.
func beginning(line string, further bool) string {
	switch b := line[0]; {
	case b == '#':
		if n := leading(line, '#'); n <= 6 && (n == len(line) || line[n] == ' ') {
			return `\` + line
		}
	case b == '>' || b == '=' && further && leading(line, '=') == len(line):
		return `\` + line
	case b == '-' || b == '+':
		if len(line) == 1 || line[1] == ' ' || b == '-' && strings.Trim(line, "- ") == "" || further && strings.Trim(line, "-:| ") == "" {
			return `\` + line
		}
	case b == '*' && len(line) > 1 && line[1] == ' ', b == '*' && len(line) == 1:
		return `\` + line
	case b == '~' && leading(line, '~') >= 3, further && (b == '|' || b == ':') && strings.Trim(line, "-:| ") == "":
		return `\` + line
	case isDigit(b):
		n := 0
		for n < len(line) && isDigit(line[n]) {
			n++
		}
		if n <= 9 && n < len(line) && (line[n] == '.' || line[n] == ')') && (n+1 == len(line) || line[n+1] == ' ') {
			return line[:n] + `\` + line[n:]
		}
	}
	return line
}

// leading counts the bytes b that a line begins with.
func leading[T ~string | ~[]byte](line T, b byte) int {
	n := 0
	for n < len(line) && line[n] == b {
		n++
	}
	return n
}

// isLetterOrDigit reports whether a character belongs to a word. The one that stands for nothing
// does not.
func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isSpace(b byte) bool  { return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isWord(b byte) bool   { return isLetter(b) || isDigit(b) || b >= utf8.RuneSelf }
func isPunct(b byte) bool {
	return b > ' ' && b < 0x7F && !isLetter(b) && !isDigit(b)
}

// cleaned returns text without control characters other than white space, and with blanks for
// no-break spaces.
func cleaned(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\n' && s[i] != '\t' || s[i] == 0x7F || s[i] == 0xC2 {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00A0':
			return ' '
		case unicode.IsControl(r) || r == '\u00AD':
			return -1
		}
		return r
	}, s)
}
