package markdown

import (
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Options say what becomes of a tree. The zero value means Markdown, with links as they stand.
type Options struct {
	Base weburl.URL // what links are resolved against
	Text bool       // plain text: no marks, no link targets
	Page *html.Node // where footnotes are looked for that the tree lacks, or nil
}

// Document is what became of a tree.
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

// Convert converts what is in an element. Its time is linear in the tree.
func Convert(root *html.Node, o Options) Document {
	c := &converter{Options: o, outer: make(map[*html.Node]bool), run: run{plain: o.Text}}
	c.resolver.Reset(o.Base)
	c.notes = findNotes(root, o.Page, c.survey(root))
	if o.Page != nil {
		for _, one := range c.notes.all {
			c.survey(one.target)
		}
	}
	c.children(root)
	c.endRun()
	c.out.dropRule()
	c.writeNotes()
	return c.out.document()
}

// deepest is how many containers nest: each adds to every line in it.
const deepest = 10

// converter holds what is known between two nodes.
type converter struct {
	Options
	resolver weburl.Resolver
	out      output
	run      run
	writer   writer // of runs
	notes    notes
	outer    map[*html.Node]bool // inline elements that have blocks in them
	cells    int                 // cells that are open
	inline   int                 // cells and headings that are open: what begins a block elsewhere stands in their line
	flat     int                 // of these, where it has no line of its own
	targets  int                 // bytes of targets that are not in the page
}

// survey marks the inline elements that have blocks in them, which are containers, and returns the
// links that look like references to footnotes.
func (c *converter) survey(root *html.Node) (refs []*html.Node) {
	for n := root.FirstChild; n != nil; n = following(n, root) {
		switch {
		case n.Type != html.ElementNode:
		case isBlock(n):
			for p := n.Parent; p != nil && p != root && !isBlock(p) && !c.outer[p]; p = p.Parent {
				c.outer[p] = true
			}
		case n.DataAtom == atom.A && len(refs) < mostNotes && isNoteRef(n):
			refs = append(refs, n)
		}
	}
	return refs
}

// following returns the next node of a tree in document order, or nil.
func following(n, root *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
	}
	return nil
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

// rules says what becomes of elements. Others are containers if they have blocks in them, and their
// content stands in the line if not.
var rules map[atom.Atom]func(*converter, *html.Node)

func init() { // the rules refer to the table
	rules = map[atom.Atom]func(*converter, *html.Node){
		atom.H1: (*converter).heading, atom.H2: (*converter).heading, atom.H3: (*converter).heading,
		atom.H4: (*converter).heading, atom.H5: (*converter).heading, atom.H6: (*converter).heading,
		atom.Ul: (*converter).list, atom.Ol: (*converter).list, atom.Menu: (*converter).list, atom.Dir: (*converter).list,
		atom.Li: (*converter).strayItem, atom.Dl: (*converter).definitions,
		atom.Dt: (*converter).container, atom.Dd: (*converter).container,
		atom.Pre: (*converter).pre, atom.Listing: (*converter).pre, atom.Xmp: (*converter).pre,
		atom.Blockquote: (*converter).quote, atom.Hr: (*converter).rule, atom.Table: (*converter).table,
		atom.Summary: (*converter).title, atom.Br: (*converter).lineBreak,
		atom.A: (*converter).link, atom.Img: (*converter).image,
		atom.B: (*converter).strong, atom.Strong: (*converter).strong,
		atom.I: (*converter).emphasis, atom.Em: (*converter).emphasis, atom.Cite: (*converter).emphasis,
		atom.Dfn: (*converter).emphasis, atom.Var: (*converter).emphasis,
		atom.Del: (*converter).deleted, atom.S: (*converter).deleted, atom.Strike: (*converter).deleted,
		atom.Code: (*converter).code, atom.Tt: (*converter).code, atom.Kbd: (*converter).code, atom.Samp: (*converter).code,
		atom.Sup: (*converter).raised, atom.Sub: (*converter).raised, atom.Q: (*converter).quoted,
		atom.P: (*converter).paragraph, atom.Input: (*converter).input, atom.Ruby: (*converter).ruby,
	}
	for name := range blocks {
		if rules[name] == nil {
			rules[name] = (*converter).container
		}
	}
	for _, name := range []atom.Atom{
		atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Iframe, atom.Object, atom.Canvas,
		atom.Datalist, atom.Select, atom.Textarea, atom.Button, atom.Link, atom.Meta, atom.Title, atom.Colgroup, atom.Rp,
	} {
		rules[name] = func(*converter, *html.Node) {}
	}
}

// blocks lists the elements that begin a new line.
var blocks = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Body: true, atom.Center: true,
	atom.Dd: true, atom.Details: true, atom.Dialog: true, atom.Dir: true, atom.Div: true, atom.Dl: true, atom.Dt: true,
	atom.Fieldset: true, atom.Figcaption: true, atom.Figure: true, atom.Footer: true, atom.Form: true,
	atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Header: true,
	atom.Hgroup: true, atom.Hr: true, atom.Html: true, atom.Legend: true, atom.Li: true, atom.Listing: true, atom.Main: true,
	atom.Menu: true, atom.Nav: true, atom.Ol: true, atom.Optgroup: true, atom.Option: true, atom.P: true, atom.Pre: true,
	atom.Search: true, atom.Section: true, atom.Summary: true, atom.Table: true, atom.Caption: true, atom.Tbody: true,
	atom.Td: true, atom.Tfoot: true, atom.Th: true, atom.Thead: true, atom.Tr: true, atom.Ul: true, atom.Xmp: true,
}

func isBlock(n *html.Node) bool { return n.Namespace == "" && blocks[n.DataAtom] }

// attr returns an attribute, or "".
func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}

// number returns an attribute that is a whole number, or another one.
func number(n *html.Node, key string, otherwise int) int {
	v, err := strconv.Atoi(strings.TrimSpace(attr(n, key)))
	if err != nil {
		return otherwise
	}
	return v
}

// hasClass reports whether an element has one of some classes.
func hasClass(n *html.Node, names ...string) bool {
	class := attr(n, "class")
	if class == "" {
		return false
	}
	for token := range strings.FieldsSeq(class) {
		for _, name := range names {
			if token == name {
				return true
			}
		}
	}
	return false
}
