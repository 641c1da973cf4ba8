package content

import (
	"cmp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const mostFrames = 100 // of a page that are listed

// unframed makes a body for a page of frames, which has none: what it shows to readers without
// frames, and links to the frames. It is nil if the page has no frames.
func unframed(root *html.Node) *html.Node {
	if find(root, atom.Frameset) == nil {
		return nil
	}
	body := element(atom.Body)
	list := element(atom.Ul)
	frames := 0
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Noframes:
			if n.FirstChild != nil && body.FirstChild == nil {
				page, _ := Parse([]byte(n.FirstChild.Data)) // what can be read of it
				moveChildren(body, find(page, atom.Body))
			}
		case atom.Frame:
			if src := attr(n, "src"); src != "" && frames < mostFrames {
				link := element(atom.A, html.Attribute{Key: "href", Val: src})
				link.AppendChild(&html.Node{Type: html.TextNode, Data: cmp.Or(attr(n, "title"), attr(n, "name"), src)})
				item := element(atom.Li)
				item.AppendChild(link)
				list.AppendChild(item)
				frames++
			}
		}
	}
	if frames > 0 {
		body.AppendChild(list)
	}
	return body
}

func element(name atom.Atom, attrs ...html.Attribute) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: name.String(), DataAtom: name, Attr: attrs}
}

// moveChildren moves what is in an element, which may be nil, to another.
func moveChildren(to, from *html.Node) {
	for from != nil && from.FirstChild != nil {
		n := from.FirstChild
		from.RemoveChild(n)
		to.AppendChild(n)
	}
}
