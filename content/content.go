package content

import (
	"strings"
	"time"

	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is a page to extract from.
type Page struct {
	URL      weburl.URL
	Root     *html.Node // of Parse; it is read only
	Language string     // of the header Content-Language, or ""
}

// Options are what a caller decides. The zero value means the main content.
type Options struct {
	Whole bool             // everything that a reader of the page sees
	Drop  func(Block) bool // reports whether a block is no content, or nil
}

// Content is the main content of a page, and what the page says about it. What a page does not say
// is "" or the zero time.
type Content struct {
	Title       string
	Author      string
	Site        string
	Description string
	Language    string // a BCP 47 tag
	Date        time.Time
	Modified    time.Time

	// Node is a copy of the body that has only the main content. It is never nil, and has text if
	// the page has any. It belongs to the caller.
	Node *html.Node

	// Removed is what was left out of the body, in document order.
	Removed []Removal
}

// Removal is an element that was left out.
type Removal struct {
	Rule string // its name
	Path string // of the element, see Path
	Text string // its beginning
}

// Extract returns the main content of a page.
func Extract(p Page, o Options) Content {
	body := find(p.Root, atom.Body)
	if body == nil {
		body = p.Root
	}
	c := Content{}
	describe(p, &c)
	dropped := make(map[*html.Node]bool)
	if o.Drop != nil {
		Blocks(body, func(b Block) bool {
			if o.Drop(b) {
				dropped[b.Node] = true
			}
			return true
		})
	}
	c.Node = keep(body, &c, o, dropped)
	if !o.Whole && !hasText(c.Node) {
		c.Removed = nil
		c.Node = keep(body, &c, Options{Whole: true}, nil)
	}
	return c
}

// keep copies a tree without what is no content.
func keep(root *html.Node, c *Content, o Options, dropped map[*html.Node]bool) *html.Node {
	copyOf := func(n *html.Node) *html.Node {
		return &html.Node{Type: n.Type, Data: n.Data, DataAtom: n.DataAtom, Namespace: n.Namespace, Attr: n.Attr}
	}
	top := copyOf(root)
	if top.Type == html.DocumentNode {
		top = &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	}
	into := top
	for n := root.FirstChild; n != nil; {
		rule := ruleFor(n, o.Whole)
		if rule == "" && dropped[n] {
			rule = "boilerplate"
		}
		switch {
		case rule == "":
			m := copyOf(n)
			into.AppendChild(m)
			if n.FirstChild != nil {
				n, into = n.FirstChild, m
				continue
			}
		case n.Type == html.ElementNode && rule != silentRule:
			if text := beginning(n); text != "" {
				c.Removed = append(c.Removed, Removal{rule, Path(n), text})
			}
		}
		for n != nil && n.NextSibling == nil {
			n, into = n.Parent, into.Parent
			if n == root {
				return top
			}
		}
		n = n.NextSibling
	}
	return top
}

const silentRule = "silent"

func ruleFor(n *html.Node, whole bool) string {
	switch {
	case n.Type == html.TextNode:
		return ""
	case n.Type != html.ElementNode, silent[n.DataAtom]:
		return silentRule
	case whole:
		return ""
	}
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return n.Data
	}
	return ""
}

// beginning is the beginning of the text of an element.
func beginning(n *html.Node) string {
	const most = 80
	var text strings.Builder
	for m := range n.Descendants() {
		if m.Type != html.TextNode || silent[m.Parent.DataAtom] {
			continue
		}
		for word := range strings.FieldsSeq(m.Data) {
			if text.Len() > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(word)
			if text.Len() > most {
				return strings.ToValidUTF8(text.String()[:most], "")
			}
		}
	}
	return text.String()
}

func hasText(n *html.Node) bool {
	for m := range n.Descendants() {
		if m.Type == html.TextNode && strings.TrimSpace(m.Data) != "" {
			return true
		}
	}
	return false
}

// find returns the first element of a name, or nil.
func find(root *html.Node, name atom.Atom) *html.Node {
	for n := range root.Descendants() {
		if n.DataAtom == name && n.Type == html.ElementNode {
			return n
		}
	}
	return nil
}

// silent lists the elements whose content nobody reads.
var silent = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Head: true,
	atom.Iframe: true, atom.Object: true, atom.Applet: true, atom.Canvas: true, atom.Datalist: true,
}

// inline lists the elements that do not begin a new line.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.Acronym: true, atom.B: true, atom.Bdi: true, atom.Bdo: true,
	atom.Big: true, atom.Br: true, atom.Cite: true, atom.Code: true, atom.Data: true, atom.Del: true,
	atom.Dfn: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Ins: true, atom.Kbd: true,
	atom.Label: true, atom.Mark: true, atom.Q: true, atom.Rp: true, atom.Rt: true, atom.Ruby: true,
	atom.S: true, atom.Samp: true, atom.Small: true, atom.Span: true, atom.Strike: true,
	atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true, atom.Tt: true, atom.U: true,
	atom.Var: true, atom.Wbr: true,
}
