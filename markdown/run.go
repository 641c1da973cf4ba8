package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// run is the inline content since the last block. A line feed in it is a line break.
type run struct {
	text   []byte
	space  space
	inLink int
	inCode int
	link   int        // where the link begins that is open
	marks  [marks]int // elements of each that are open
	marked int        // where the last of these begins

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
