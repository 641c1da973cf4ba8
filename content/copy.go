package content

import (
	"strings"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// copier copies a tree without what is not kept. An element is copied when something in it is.
type copier struct {
	s     *selection
	whole bool
	slab  []html.Node
	path  []level // from the root to where the copy stands
	next  int32   // the element that comes next
	block int     // the block that comes next
	core  int32   // the smallest element that has most of what is kept
}

// level is an element on the way.
type level struct {
	from, to *html.Node // its copy, nil as long as nothing in it is kept
	element  int32      // of the block that its text belongs to
	keep     bool       // that text
	formula  bool       // it is MathML, or in it: no element of the page is in one
	verbatim bool       // all that is in it: a formula that is kept
	link     bool       // it is a link, or in one
}

// copy returns a tree of what is kept, with body as its root.
func (s *selection) copy(root *html.Node, whole bool) *html.Node {
	c := copier{s: s, whole: whole, next: 1, core: s.core(s.kept)}
	top := c.node(root)
	if top.Type == html.DocumentNode {
		top.Type, top.Data, top.DataAtom = html.ElementNode, "body", atom.Body
	}
	c.path = append(c.path, level{from: root, to: top, keep: c.own(0)})
	for n := root.FirstChild; n != nil; {
		if c.enter(n) {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			if n = n.Parent; n != root {
				c.path = c.path[:len(c.path)-1]
			}
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	return top
}

// own reports whether the own text of an element is kept. Elements come in document order.
func (c *copier) own(element int32) bool {
	if c.s.page.All[element].Own == 0 {
		return false
	}
	c.block++
	return c.s.keep[c.block-1]
}

// enter takes a node in, and reports whether to go on with its children.
func (c *copier) enter(n *html.Node) bool {
	around := c.path[len(c.path)-1]
	l := level{from: n, element: around.element, keep: around.keep, formula: around.formula, verbatim: around.verbatim, link: around.link || n.DataAtom == atom.A}
	switch {
	case n.Type == html.TextNode:
		// White space stays where something beside it does, so that words stay apart; signs without
		// a word, such as a list of operators, where most of what is around them does.
		isBlank := strings.TrimSpace(n.Data) == ""
		if around.keep || around.verbatim || isBlank && around.to != nil || !isBlank && c.s.page.All[around.element].Own == 0 && c.amid(around.element) {
			c.add(n)
		}
		return false
	case n.Type != html.ElementNode:
		return false
	case blocks.Textless(n) && !around.verbatim:
		if isFormula(n) && (around.keep || c.amid(around.element)) {
			c.add(n)
			c.path[len(c.path)-1].to.LastChild.AppendChild(c.node(n.FirstChild))
		}
		return false
	case around.formula:
	case !blocks.Inline(n):
		l.element = c.next
		c.next++
		l.keep = c.own(l.element)
	case n.Namespace == "math":
		l.formula, l.verbatim = true, around.keep || c.amid(around.element) // like a picture
	}
	switch {
	case l.verbatim || !l.formula && c.seen(n, l.element):
		l.to = c.add(n)
	case around.keep && c.s.kept[l.element] == 0 && isBreak(n):
		// Text before and behind it stays apart.
		c.add(&html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	}
	if n.FirstChild != nil {
		c.path = append(c.path, l)
	}
	return n.FirstChild != nil
}

// isFormula reports whether a script is TeX that another script would typeset.
func isFormula(n *html.Node) bool {
	return n.DataAtom == atom.Script && n.FirstChild != nil && strings.HasPrefix(attr(n, "type"), "math/")
}

// isHidden reports whether a picture is shown by a script, if at all, such as the arrow that
// unfolds a row.
func isHidden(n *html.Node) bool {
	style := attr(n, "style")
	return strings.Contains(style, "display:none") || strings.Contains(style, "display: none")
}

// isBreak reports whether text behind an element begins a new line, even if the element is empty.
func isBreak(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Aside, atom.Nav, atom.Header, atom.Footer, atom.Figure, atom.Blockquote,
		atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Pre, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr:
		return true
	}
	return false
}

// seen reports whether an element without text is kept: pictures, rules and line breaks in or
// beside what is kept, the empty cells of a table, and the blank lines of code.
func (c *copier) seen(n *html.Node, element int32) bool {
	all := c.s.page.All
	switch n.DataAtom {
	case atom.Img, atom.Picture, atom.Video, atom.Audio, atom.Source:
		return c.amid(element) && (c.within(element) || !c.path[len(c.path)-1].link) && !isHidden(n)
	case atom.Hr:
		return c.amid(element) && c.within(element)
	case atom.Br, atom.Wbr:
		return c.path[len(c.path)-1].keep
	case atom.Input: // the box of a task, which may have a label without words around it
		return c.path[len(c.path)-1].keep || all[element].Words == 0 && c.amid(element)
	case atom.Div: // a line of code each
		code := all[element].Parent
		return all[element].Words == 0 && all[code].Node.DataAtom == atom.Pre && c.s.kept[code] > 0
	case atom.Td, atom.Th:
		if all[element].Words > 0 {
			return false
		}
		around := all[element].Parent
		for around > 0 && all[around].Words == 0 {
			// Rows of empty cells count, where a cell spans several.
			around = all[around].Parent
		}
		return c.s.kept[around] > 0 && inTable(all[around].Node)
	}
	return false
}

// inTable reports whether an element is a table or a part of one.
func inTable(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Table:
		return true
	}
	return false
}

// add copies a node to where the copy stands, with the elements around it.
func (c *copier) add(n *html.Node) *html.Node {
	i := len(c.path) - 1
	for c.path[i].to == nil {
		i--
	}
	for ; i+1 < len(c.path); i++ {
		l := &c.path[i+1]
		l.to = c.node(l.from)
		c.path[i].to.AppendChild(l.to)
	}
	m := c.node(n)
	c.path[i].to.AppendChild(m)
	return m
}

// node copies one node, without its children. Attributes are shared: a caller that changes the
// value of one changes the page.
func (c *copier) node(n *html.Node) *html.Node {
	if len(c.slab) == cap(c.slab) {
		c.slab = make([]html.Node, 0, 64)
	}
	c.slab = append(c.slab, html.Node{Type: n.Type, Data: n.Data, DataAtom: n.DataAtom, Namespace: n.Namespace, Attr: n.Attr})
	return &c.slab[len(c.slab)-1]
}

// within reports whether an element is where most of what is kept is. Rules, and pictures that lead
// to other pages, frame it elsewhere.
func (c *copier) within(element int32) bool {
	return c.whole || element >= c.core && element < c.s.page.All[c.core].End
}

// amid reports whether the content surrounds an element.
func (c *copier) amid(element int32) bool { return c.whole || c.s.amid(element) }
