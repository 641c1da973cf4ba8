package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// run is the inline content since the last block: its text, as readers see it, and what stands in
// that. A line feed is a line break. Marks and escapes come when it is written, for only then the
// characters on both sides of them are known.
type run struct {
	text  []byte
	spans []span // in document order, the outer before the inner
	space space
}

// span is a part of a run.
type span struct {
	kind       kind
	start, end int    // in the text
	target     string // of a link; the name of the element that raises or lowers
	title      string // of a link
	again      bool   // it goes on from another paragraph
}

// kind is what a span is.
type kind byte

const (
	strong kind = iota
	emphasis
	deleted
	raised
	linked
	code
	raw // Markdown, to be written as it is
	kinds
)

// unended is the end of a span whose element is open.
const unended = int(^uint(0) >> 1)

// space is the white space that is due before the next character.
type space byte

const (
	noSpace  space = iota
	blank          // a blank
	lineFeed       // one with a line feed, which is nothing between two characters of Chinese or Japanese
)

// span converts what is in an element of the line. Where that ends the run, the span goes on in the
// next.
func (c *converter) span(s span, content func()) {
	if c.Text {
		content()
		return
	}
	c.enter(s)
	content()
	c.leave()
}

// enter begins a span.
func (c *converter) enter(s span) {
	s.start, s.end = len(c.run.text), unended
	c.open = append(c.open, len(c.run.spans))
	c.run.spans = append(c.run.spans, s)
	c.inside[s.kind]++
}

// leave ends the span that has begun last, and returns it.
func (c *converter) leave() *span {
	last := len(c.open) - 1
	s := &c.run.spans[c.open[last]]
	s.end = len(c.run.text)
	c.open = c.open[:last]
	c.inside[s.kind]--
	return s
}

// begin begins a run, in which the spans that are open go on.
func (c *converter) begin() {
	for i, at := range c.open { // which is i at least
		s := c.run.spans[at]
		s.start, s.again = 0, true
		c.run.spans[i], c.open[i] = s, i
	}
	c.run = run{text: c.run.text[:0], spans: c.run.spans[:len(c.open)]}
}

// apart converts content to a run of its own.
func (c *converter) apart(content func()) {
	outer, open := c.run, slices.Clone(c.open)
	c.run.text, c.run.spans = nil, slices.Clone(outer.spans)
	c.begin()
	content()
	c.run, c.open = outer, open
}

// write adds text.
func (c *converter) write(s string) {
	c.due(s)
	c.run.text = append(c.run.text, s...)
}

// raw adds Markdown. Code and plain text have none.
func (c *converter) raw(s string) {
	c.due(s)
	if start := len(c.run.text); !c.Text && c.inside[code] == 0 {
		c.run.spans = append(c.run.spans, span{kind: raw, start: start, end: start + len(s)})
	}
	c.run.text = append(c.run.text, s...)
}

// due adds the white space that is due before s.
func (c *converter) due(s string) {
	r := &c.run
	was := r.space
	r.space = noSpace
	if was == noSpace || len(r.text) == 0 || isSpace(r.text[len(r.text)-1]) {
		return
	}
	if was == lineFeed && r.text[len(r.text)-1] >= utf8.RuneSelf && s != "" && s[0] >= utf8.RuneSelf {
		before, _ := utf8.DecodeLastRune(r.text)
		after, _ := utf8.DecodeRuneInString(s)
		if isWide(before) && isWide(after) { // CSS Text 3, section 4.1.3
			return
		}
	}
	r.text = append(r.text, ' ')
}

// isWide reports whether a character is one of Chinese or Japanese, which put no blank between words.
func isWide(r rune) bool {
	return r >= 0x2E80 && r <= 0xA4CF && r != 0x3000 || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFF60 || r >= 0x20000 && r <= 0x3FFFF
}

func (c *converter) lineBreak(*html.Node) {
	if c.inline > 0 {
		c.breakLine()
		return
	}
	c.outsideCode(func() {
		if text := c.run.text; len(text) > 0 && (text[len(text)-1] != '\n' || len(text) == 1 || text[len(text)-2] != '\n') {
			c.run.text = append(text, '\n')
		}
	})
	c.run.space = noSpace
}

// breakLine begins a new line where a block would begin, in a cell or in a heading.
func (c *converter) breakLine() {
	r := &c.run
	r.space = noSpace
	switch {
	case len(r.text) == 0, r.text[len(r.text)-1] == '\n', bytes.HasSuffix(r.text, []byte(bullet)):
	case c.Text, c.flat > 0:
		r.space = blank
	default:
		c.outsideCode(func() { r.text = append(r.text, '\n') })
	}
}

// endRun writes the run as paragraphs.
func (c *converter) endRun() {
	if c.inline > 0 {
		c.breakLine()
		return
	}
	if len(c.run.text) == 0 {
		c.run.space = noSpace
		return
	}
	for _, p := range c.paragraphs() {
		switch {
		case c.Text:
			c.block(strings.Split(p, "\n")...)
		case strings.IndexByte(p, '\n') < 0:
			c.block(beginning(p, false))
		default:
			lines := strings.Split(p, "\n")
			for i := range lines {
				if lines[i] = beginning(lines[i], i > 0); i+1 < len(lines) {
					lines[i] += `\`
				}
			}
			c.block(lines...)
		}
	}
}

// paragraphs writes the run, and begins another. Two breaks end a paragraph, and with it the spans
// in it, which go on in the next.
func (c *converter) paragraphs() (all []string) {
	w := &c.writer
	w.text, w.cell = c.run.text, c.cells > 0
	rest := c.run.spans
	var around []span // of paragraphs before, that go on
	for start := 0; start < len(w.text); {
		end := len(w.text)
		if i := bytes.Index(w.text[start:], []byte("\n\n")); i >= 0 {
			end = start + i
		}
		w.start, w.end = trim(w.text, start, end)
		start = end + len("\n\n")
		new := 0
		for new < len(rest) && rest[new].start < end {
			new++
		}
		spans := rest[:new]
		if rest = rest[new:]; len(around) > 0 {
			spans = append(around, spans...)
		}
		switch {
		case w.start == w.end:
		case c.Text:
			all = append(all, string(w.text[w.start:w.end]))
		default:
			all = append(all, w.paragraph(spans))
		}
		if around = nil; start < len(w.text) {
			around = slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.end <= end })
			for i := range around {
				around[i].again = true
			}
		}
	}
	c.begin()
	return all
}

// inLine writes the run in one line, and begins another: of a heading or a cell, with breaks as
// text between its lines.
func (c *converter) inLine(between string) string {
	if all := c.paragraphs(); len(all) > 0 {
		return strings.ReplaceAll(strings.Join(all, between), "\n", between)
	}
	return ""
}

// trim returns a part of text without white space at its edges.
func trim(text []byte, start, end int) (int, int) {
	for start < end && isSpace(text[start]) {
		start++
	}
	for start < end && isSpace(text[end-1]) {
		end--
	}
	return start, end
}
