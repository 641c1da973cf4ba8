package markdown

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// raised converts what stands above or below the line.
func (c *converter) raised(n *html.Node) {
	switch {
	case c.outer[n]:
		c.container(n)
	case c.run.inside[code] > 0 || c.run.inside[raised] >= mostRaised:
		c.children(n)
	default:
		c.run.span(span{kind: raised, target: n.Data}, func() { c.children(n) })
	}
}

// mostRaised is the most elements in one another that raise or lower: each begins again in each
// paragraph.
const mostRaised = 3

// isNoteMark reports whether Markdown refers to a footnote.
func isNoteMark(text []byte) bool { return bytes.HasPrefix(text, []byte("[^")) }

func (c *converter) quoted(n *html.Node) {
	if c.outer[n] {
		c.container(n)
		return
	}
	c.run.write("\u201C")
	c.children(n)
	c.run.space = noSpace
	c.run.write("\u201D")
}

// ruby converts text with its pronunciation, in parentheses.
func (c *converter) ruby(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.DataAtom != atom.Rt {
			c.node(child)
			continue
		}
		c.run.space = noSpace
		c.run.write("(")
		c.children(child)
		c.run.space = noSpace
		c.run.write(")")
	}
}

// input converts the box of a task.
func (c *converter) input(n *html.Node) {
	if !strings.EqualFold(attr(n, "type"), "checkbox") || n.Parent == nil || len(c.run.text) > 0 || c.out.place.lead == nil {
		return
	}
	box := "[ ]"
	if hasAttr(n, "checked") {
		box = "[x]"
	}
	c.run.raw(box)
	c.run.space = blank
}

func (c *converter) strong(n *html.Node) { c.mark(n, strong) }

func (c *converter) emphasis(n *html.Node) { c.mark(n, emphasis) }

func (c *converter) deleted(n *html.Node) { c.mark(n, deleted) }
