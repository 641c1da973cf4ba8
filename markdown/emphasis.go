package markdown

import "golang.org/x/net/html"

func (c *converter) strong(n *html.Node)   { c.mark(n, strong) }
func (c *converter) emphasis(n *html.Node) { c.mark(n, emphasis) }
func (c *converter) deleted(n *html.Node)  { c.mark(n, deleted) }

// mark converts an element with emphasis. In an element of its kind, and in code, there is none.
func (c *converter) mark(n *html.Node, mark kind) {
	switch {
	case c.outer[n]:
		c.container(n)
	case c.run.inside[mark] > 0 || c.run.inside[code] > 0:
		c.children(n)
	default:
		c.run.span(span{kind: mark}, func() { c.children(n) })
	}
}
