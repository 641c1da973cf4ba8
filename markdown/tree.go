package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

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

func isBlock(n *html.Node) bool { return n.Namespace == "" && blocks[n.DataAtom] }

func isCell(n *html.Node) bool { return n.DataAtom == atom.Td || n.DataAtom == atom.Th }

func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; {
		n = n.NextSibling
	}
	return n
}

func previousElement(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil && n.Type != html.ElementNode; {
		n = n.PrevSibling
	}
	return n
}

func isHeadingAtom(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

// isPermalink reports whether a link leads to where it stands, as documentation tools put beside
// headings.
func isPermalink(n *html.Node) bool {
	if !strings.HasPrefix(attr(n, "href"), "#") {
		return false
	}
	switch strings.TrimSpace(textOf(n, 8)) {
	case "\u00B6", "#", "\u00A7", "\U0001F517", "\u2693", "\u2693\uFE0E", "\uF0C1":
		return true
	case "":
		return hasClass(n, "headerlink", "anchor", "header-anchor", "anchorlink", "heading-link", "permalink", "hash-link")
	}
	return hasClass(n, "headerlink", "header-anchor", "hash-link")
}

// textOf returns the beginning of the text of an element, somewhat more than most bytes.
func textOf(n *html.Node, most int) string {
	text := ""
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			if text += d.Data; len(text) > most {
				break
			}
		}
	}
	return text
}

func hasElement(n *html.Node, name atom.Atom) bool {
	for d := range n.Descendants() {
		if d.DataAtom == name {
			return true
		}
	}
	return false
}
