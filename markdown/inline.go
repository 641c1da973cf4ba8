package markdown

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

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
