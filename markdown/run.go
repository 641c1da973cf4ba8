package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// run is the inline content since the last block. A line feed in it is a line break.
type run struct {
	text   []byte
	space  space
	inLink int
	inCode int
	link   int        // where the link begins that is open
	marks  [marks]int // elements of each that are open

	// The last code span, that what follows without a blank may join it.
	codeStart, codeEnd int
	codeText           string
}

// space is the white space that is due before the next character.
type space byte

const (
	noSpace  space = iota
	blank          // a blank
	lineFeed       // one with a line feed, which is nothing between two characters of Chinese or Japanese
)

// Marks of emphasis.
const (
	strongMark = iota
	emphasisMark
	deletedMark
	marks
)

var markText = [marks]string{"**", "*", "~~"}

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

// due adds the white space that is due before s.
func (c *converter) due(s string) {
	r := &c.run
	was := r.space
	r.space = noSpace
	if was == noSpace || len(r.text) == 0 || r.text[len(r.text)-1] == '\n' {
		return
	}
	if was == lineFeed && r.text[len(r.text)-1] >= utf8.RuneSelf && s != "" && s[0] >= utf8.RuneSelf {
		before, _ := utf8.DecodeLastRune(r.text)
		after, _ := utf8.DecodeRuneInString(s)
		if isWide(before) && isWide(after) { // CSS Text 3, section 4.1.3
			return
		}
	}
	if c.cells > 0 && bytes.HasSuffix(r.text, []byte(breakTag)) {
		return
	}
	r.text = append(r.text, ' ')
}

// isWide reports whether a character is one of Chinese or Japanese, which put no blank between words.
func isWide(r rune) bool {
	return r >= 0x2E80 && r <= 0xA4CF && r != 0x3000 || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFF60 || r >= 0x20000 && r <= 0x3FFFF
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

// write adds inline text as it is.
func (c *converter) write(s string) {
	c.due(s)
	c.run.text = append(c.run.text, s...)
}

// wrapped converts the content of an inline element, and returns where it begins: white space at
// its edges stays outside. It is empty if it begins at the end.
func (c *converter) wrapped(n *html.Node) int {
	start := len(c.run.text)
	c.run.codeEnd = 0 // code in it joins none before it
	c.children(n)
	text := c.run.text
	for start < len(text) && (text[start] == ' ' || text[start] == '\n') {
		start++
	}
	return min(start, len(text))
}

// insert inserts text at a place of the run.
func (c *converter) insert(at int, s string) {
	c.run.text = slices.Insert(c.run.text, at, []byte(s)...)
	if c.run.codeStart >= at {
		c.run.codeStart += len(s)
		c.run.codeEnd += len(s)
	}
}

func (c *converter) strong(n *html.Node)   { c.mark(n, strongMark) }
func (c *converter) emphasis(n *html.Node) { c.mark(n, emphasisMark) }
func (c *converter) deleted(n *html.Node)  { c.mark(n, deletedMark) }

// mark converts an element with emphasis.
func (c *converter) mark(n *html.Node, mark int) {
	r := &c.run
	switch {
	case c.outer[n]:
		c.container(n)
		return
	case c.Text || r.marks[mark] > 0 || r.inCode > 0:
		c.children(n)
		return
	}
	r.marks[mark]++
	from := len(r.text)
	start := c.wrapped(n)
	r.marks[mark]--
	broken := false
	for len(r.text) > start && r.text[len(r.text)-1] == '\n' { // a break at its end stands behind it
		r.text, broken = r.text[:len(r.text)-1], true
	}
	if start < len(r.text) {
		c.enclose(n, from, start, mark)
	}
	if broken {
		c.lineBreak(nil)
	}
}

// enclose puts marks around the run from a place to its end, where they have an effect; from is where
// the element begins, which may be a blank earlier.
func (c *converter) enclose(n *html.Node, from, start, mark int) {
	r, text := &c.run, markText[mark]
	if start == from && start > r.link && bytes.HasSuffix(r.text[:start], []byte(text)) && c.closed(start, mark) {
		r.text = slices.Delete(r.text, start-len(text), start) // goes on
		r.text = append(r.text, text...)
		return
	}
	before := ' '
	if start > 0 {
		before, _ = utf8.DecodeLastRune(r.text[:start])
	}
	first, _ := utf8.DecodeRune(r.text[start:])
	last, _ := utf8.DecodeLastRune(r.text)
	if !flanks(before, first) || !flanks(c.nextRune(n), last) || before == '*' || before == '~' {
		if before == '`' && first == '`' {
			c.insert(start, " ")
		}
		return
	}
	c.insert(start, text)
	r.text = append(r.text, text...)
}

// closed reports whether the mark before a place ends emphasis of the same kind.
func (c *converter) closed(at, mark int) bool {
	text := markText[mark]
	before := c.run.text[:at-len(text)]
	return len(before) > 0 && before[len(before)-1] != text[0] && before[len(before)-1] != '\\' && bytes.Contains(before, []byte(text))
}

// flanks reports whether a mark between two characters belongs to the inner one: CommonMark 0.31,
// section 6.2.
func flanks(outer, inner rune) bool {
	if unicode.IsSpace(inner) {
		return false
	}
	return !isPunctuation(inner) || unicode.IsSpace(outer) || isPunctuation(outer)
}

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// nextRune returns the character behind an element, a blank at the end of its block. It looks at
// the few nodes that follow; where it cannot tell, it returns a letter.
func (c *converter) nextRune(n *html.Node) rune {
	for range 16 {
		for n.NextSibling == nil {
			if n = n.Parent; n == nil || isBlock(n) {
				return ' '
			}
			if n.DataAtom == atom.A {
				return ']'
			}
		}
		n = n.NextSibling
		for n.Type == html.ElementNode && !isBlock(n) && n.FirstChild != nil && n.DataAtom != atom.A {
			n = n.FirstChild
		}
		switch {
		case n.Type == html.TextNode && n.Data != "":
			r, _ := utf8.DecodeRuneInString(n.Data)
			return r
		case n.Type == html.ElementNode && (isBlock(n) || n.DataAtom == atom.Br):
			return ' '
		case n.Type == html.ElementNode && n.DataAtom == atom.A:
			return '['
		}
	}
	return 'x'
}

// code converts code in a line. Links in it stay links.
func (c *converter) code(n *html.Node) {
	if c.outer[n] {
		c.container(n)
		return
	}
	c.run.inCode++
	c.children(n)
	c.run.inCode--
}

// codeSpan adds code. What stands directly behind a span joins it.
func (c *converter) codeSpan(s string) {
	s = cleaned(s)
	r := &c.run
	words := strings.Join(strings.Fields(s), " ")
	if words == "" {
		if s != "" {
			r.space = max(r.space, blank)
		}
		return
	}
	if isSpace(s[0]) {
		r.space = max(r.space, blank)
	}
	if r.codeEnd > 0 && r.codeEnd == len(r.text) {
		if r.space != noSpace {
			words = " " + words
		}
		words = r.codeText + words
		r.text, r.space = r.text[:r.codeStart], noSpace
	}
	c.due(words)
	r.codeStart, r.codeText = len(r.text), words
	r.text = c.appendCode(r.text, words)
	r.codeEnd = len(r.text)
	if isSpace(s[len(s)-1]) {
		r.space = max(r.space, blank)
	}
}

// appendCode appends a code span.
func (c *converter) appendCode(to []byte, code string) []byte {
	if c.cells > 0 {
		code = strings.ReplaceAll(code, "|", `\|`)
	}
	fence := strings.Repeat("`", longestRun(code, '`', 0)+1)
	to = append(to, fence...)
	if pad := code[0] == '`' || code[len(code)-1] == '`' || code[0] == ' ' && code[len(code)-1] == ' ' && strings.TrimSpace(code) != ""; pad {
		return append(append(append(append(to, ' '), code...), ' '), fence...)
	}
	return append(append(to, code...), fence...)
}

// longestRun returns the length of the longest run of a byte, at least least.
func longestRun(s string, b byte, least int) int {
	n := 0
	for i := range len(s) {
		if s[i] != b {
			n = 0
			continue
		}
		n++
		least = max(least, n)
	}
	return least
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

// raised converts what stands above or below the line.
func (c *converter) raised(n *html.Node) {
	start := c.wrapped(n)
	r := &c.run
	if c.Text || r.inCode > 0 || start >= len(r.text) || c.isNote(r.text[start:]) {
		return
	}
	c.insert(start, "<"+n.Data+">")
	r.text = append(r.text, "</"+n.Data+">"...)
}

// isNote reports whether text is a reference to a footnote alone.
func (c *converter) isNote(text []byte) bool {
	return bytes.HasPrefix(text, []byte("[^")) && bytes.HasSuffix(text, []byte("]"))
}

func (c *converter) quoted(n *html.Node) {
	if c.outer[n] {
		c.container(n)
		return
	}
	c.write("\u201C")
	c.children(n)
	c.run.space = noSpace
	c.write("\u201D")
}

// ruby converts text with its pronunciation, in parentheses.
func (c *converter) ruby(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom != atom.Rt {
			c.node(child)
			continue
		}
		c.run.space = noSpace
		c.write("(")
		c.children(child)
		c.run.space = noSpace
		c.write(")")
	}
}

func (c *converter) lineBreak(*html.Node) {
	if c.cells > 0 {
		c.breakCell()
		return
	}
	if text := c.run.text; len(text) > 0 && (text[len(text)-1] != '\n' || len(text) == 1 || text[len(text)-2] != '\n') {
		c.run.text = append(text, '\n')
	}
	c.run.space = noSpace
}

// input converts the box of a task.
func (c *converter) input(n *html.Node) {
	if !strings.EqualFold(attr(n, "type"), "checkbox") || n.Parent == nil || len(c.run.text) > 0 || c.place.lead == nil {
		return
	}
	box := "[ ]"
	if hasAttr(n, "checked") {
		box = "[x]"
	}
	c.write(box)
	c.run.space = blank
}

// lines returns the lines of the run, and empties it. Two breaks end a paragraph.
func (c *converter) lines() (paragraphs [][]string) {
	r := &c.run
	var lines []string
	for line := range strings.SplitSeq(strings.Trim(string(r.text), "\n"), "\n") {
		if line = strings.Trim(line, " "); line != "" {
			lines = append(lines, line)
		} else if len(lines) > 0 {
			paragraphs = append(paragraphs, lines)
			lines = nil
		}
	}
	if len(lines) > 0 {
		paragraphs = append(paragraphs, lines)
	}
	c.run = run{text: r.text[:0], inLink: r.inLink, inCode: r.inCode, marks: r.marks}
	return paragraphs
}

// endRun writes the run as paragraphs.
func (c *converter) endRun() {
	if c.cells > 0 {
		c.breakCell()
		return
	}
	if len(c.run.text) == 0 {
		c.run.space = noSpace
		return
	}
	for _, lines := range c.lines() {
		if c.Text {
			c.block(lines...)
			continue
		}
		if c.href != "" && !strings.Contains(strings.Join(lines, ""), "](") {
			lines[0] = "[" + lines[0]
			lines[len(lines)-1] += "](" + c.href + ")"
		}
		for i := range lines {
			lines[i] = beginning(lines[i], i > 0)
			if i+1 < len(lines) {
				lines[i] += `\`
			}
		}
		c.block(lines...)
	}
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

// number returns an attribute that is a whole number, or another one.
func number(n *html.Node, key string, otherwise int) int {
	v, err := strconv.Atoi(strings.TrimSpace(attr(n, key)))
	if err != nil {
		return otherwise
	}
	return v
}
