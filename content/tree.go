package content

import (
	"iter"
	"strings"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// walk visits a tree in document order. Visit reports whether to go on with a node's children.
func walk(root *html.Node, visit func(*html.Node) bool) {
	for n := root; n != nil; {
		if visit(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
		}
		if n == root {
			return
		}
		n = n.NextSibling
	}
}

// find returns the first element of a name, or nil.
func find(root *html.Node, name atom.Atom) (found *html.Node) {
	walk(root, func(n *html.Node) bool {
		if found == nil && n.Type == html.ElementNode && n.DataAtom == name {
			found = n
		}
		return found == nil
	})
	return found
}

// isParagraph reports whether a block has a sentence, and few links.
func isParagraph(e *blocks.Element) bool { return e.Own >= 12 && e.Marks > 0 && e.Links*3 < e.Own }

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf is the text of an element, up to the length of a field.
func textOf(n *html.Node) string {
	const most = 400 // bytes
	var text strings.Builder
	for m := range first(n) {
		switch {
		case m.Type == html.TextNode:
			text.WriteString(m.Data[:min(len(m.Data), most)])
		case m.DataAtom == atom.Br || m.Type == html.ElementNode && !blocks.Inline(m):
			text.WriteByte(' ')
		}
		if text.Len() >= most {
			break
		}
	}
	return strings.ToValidUTF8(text.String(), "")
}

// first are the first nodes in an element: of nested ones, each would go through all in it.
func first(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		const most = 500
		seen := 0
		for m := range n.Descendants() {
			if seen++; seen > most || !yield(m) {
				return
			}
		}
	}
}
