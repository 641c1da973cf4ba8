package markdown

import (
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// Options are the form of a tree as text. The zero value means Markdown, with links as they stand.
type Options struct {
	Base weburl.URL // that links are resolved against
	Text bool       // plain text: no marks, no link targets
	Page *html.Node // the document of footnotes that the tree lacks, or nil
}

// Document is a tree as text.
type Document struct {
	Text     string
	Headings []Heading
	Blocks   []int // offsets in Text of the outermost blocks, headings included
}

// Heading is a heading that stands in no list, quotation or table.
type Heading struct {
	Offset int // in the text of the document
	Level  int // 1 to 6
	Text   string
}

// deepest bounds the nesting of containers: each adds to every line in it.
const deepest = 10

// converter is the state of a conversion between two nodes.
type converter struct {
	Options
	resolver weburl.Resolver
	out      output
	run      run
	writer   writer // of runs
	notes    notes
	outer    map[*html.Node]bool // inline elements that have blocks in them
	cells    int                 // cells that are open
	inline   int                 // open cells and headings: blocks within stand in their line
	flat     int                 // of these, where it has no line of its own
	targets  int                 // bytes of targets that are not in the page
}

// children converts what is in an element.
func (c *converter) children(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.node(child)
	}
}

// node converts a node.
func (c *converter) node(n *html.Node) {
	if n.Type == html.TextNode {
		c.run.add(n.Data)
		return
	}
	if n.Type != html.ElementNode || c.notes.skip[n] || hasAttr(n, "hidden") {
		return
	}
	rule, known := rules[n.DataAtom]
	switch {
	case n.Namespace == "math" || n.Namespace == "svg":
		c.foreign(n)
	case c.math(n):
	case known:
		rule(c, n)
	case c.outer[n]:
		c.container(n)
	default:
		c.children(n)
	}
}
