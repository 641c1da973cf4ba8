package markdown

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

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

// rules has the conversions of elements. Others are containers if they have blocks in them, and
// their content stands in the line if not.
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
