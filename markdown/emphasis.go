package markdown

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Marks of emphasis.
const (
	strongMark = iota
	emphasisMark
	deletedMark
	marks
)

var markText = [marks]string{"**", "*", "~~"}

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
	around, from := r.marked, len(r.text)
	r.marks[mark]++
	r.marked = from
	start := c.wrapped(n)
	r.marks[mark]--
	r.marked = around
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
	if start == from && start > r.link && start-len(text) >= r.marked && bytes.HasSuffix(r.text[:start], []byte(text)) && c.closed(start, mark) {
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
