package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// special are the bytes that text looks at; all others are copied.
var special = func() (is [256]bool) {
	for i := range 0x20 {
		is[i] = true
	}
	for _, b := range []byte(" \\`*_[]<&~|\x7f") {
		is[b] = true
	}
	is[0xC2] = true // no-break space, soft hyphen, control characters
	return is
}()

// text adds the text of a node.
func (c *converter) text(n *html.Node) {
	if c.run.inCode > 0 && !c.Text {
		c.codeSpan(n.Data)
		return
	}
	s := n.Data
	if s != "" {
		c.run.codeEnd = 0
	}
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !special[s[i]] {
			i++
		}
		if start < i {
			c.due(s[start:])
			c.run.text = append(c.run.text, s[start:i]...)
			continue
		}
		i += c.special(s, i)
	}
}

// special adds the special byte at s[i], and returns how many bytes it took.
func (c *converter) special(s string, i int) int {
	switch b := s[i]; {
	case b == ' ':
		c.run.space = max(c.run.space, blank)
	case b == '\n' || b == '\r':
		c.run.space = lineFeed
	case b == '\t' || b == '\f':
		c.run.space = max(c.run.space, blank)
	case b < ' ' || b == 0x7F: // no text
	case b == 0xC2:
		return c.latin(s[i:])
	case (b == '_' || b == '~') && !c.Text:
		return c.delimiters(s, i)
	default:
		c.due(s[i:])
		if !c.Text && c.escapes(s, i) {
			c.run.text = append(c.run.text, '\\')
		}
		c.run.text = append(c.run.text, b)
	}
	return 1
}

// delimiters adds a run of _ or ~. Within a word, _ marks nothing; behind a blank, ~ ends nothing.
func (c *converter) delimiters(s string, i int) int {
	c.due(s[i:])
	n := leading(s[i:], s[i])
	before, _ := utf8.DecodeLastRune(c.run.text)
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	mark := s[i : i+1]
	if mark == "_" && !(isLetterOrDigit(before) && isLetterOrDigit(after)) || mark == "~" && len(c.run.text) > 0 && !unicode.IsSpace(before) {
		mark = `\` + mark
	}
	c.run.text = append(c.run.text, strings.Repeat(mark, n)...)
	return n
}

// latin adds a character from U+0080 to U+00BF.
func (c *converter) latin(s string) int {
	switch {
	case len(s) < 2 || s[1] < 0xA0 || s[1] == 0xAD: // broken, a control character, a soft hyphen
	case s[1] == 0xA0:
		c.run.space = max(c.run.space, blank)
	default:
		c.due(s)
		c.run.text = append(c.run.text, s[:2]...)
	}
	return min(2, len(s))
}

// escapes reports whether the special byte at s[i] would mean something else than itself.
func (c *converter) escapes(s string, i int) bool {
	r := &c.run
	next := byte(0) // unknown: the node ends
	if i+1 < len(s) {
		next = s[i+1]
	}
	before := byte(' ')
	if len(r.text) > 0 {
		before = r.text[len(r.text)-1]
	}
	switch s[i] {
	case '\\':
		return next == 0 || isPunct(next)
	case '`':
		return true
	case '*':
		return !isSpace(before) || !(isSpace(next) || next == 0)
	case '[':
		return r.inLink > 0 || next == '^' || next == ']' || next == 'x' || next == 'X' || next == ' ' || next == 0
	case ']':
		return r.inLink > 0 || next == '(' || next == ':' || next == 0
	case '<':
		return next == 0 || next == '/' || next == '!' || next == '?' || isLetter(next)
	case '&':
		return isReference(s[i:])
	case '|':
		return c.cells > 0
	}
	return false
}

// isReference reports whether text begins with what looks like a character reference.
func isReference(s string) bool {
	end := strings.IndexByte(s[:min(len(s), 40)], ';')
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
func leading(line string, b byte) int {
	n := 0
	for n < len(line) && line[n] == b {
		n++
	}
	return n
}

// isLetterOrDigit reports whether a character belongs to a word. The one that stands for nothing does
// not.
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
