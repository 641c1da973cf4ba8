package read

import (
	"strings"

	"github.com/weftcrawl/weft/markdown"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// headingOf returns the text of the only h1 of a page, as one line, or "". One that names the site
// is none: it stands in the frame of the page, or leads to the start, or the title says it beside
// that of the page.
func headingOf(root *html.Node, title string) string {
	var only *html.Node
	for n := range root.Descendants() {
		if n.DataAtom != atom.H1 || n.Namespace != "" || markdown.Plain(n) == "" {
			continue
		}
		if only != nil {
			return ""
		}
		only = n
	}
	if only == nil || inFrame(only) || isHomeLink(only) {
		return ""
	}
	heading := line(markdown.Plain(only), longestTitle)
	if whole := titleOf(root); heading != title && title != "" && whole != title && strings.Contains(whole, heading) {
		return ""
	}
	return heading
}

// inFrame reports whether an element stands in what frames a page: in its header, which is not that
// of an article, or beside its text.
func inFrame(n *html.Node) bool {
	header := false
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Main, atom.Article:
			return false
		case atom.Nav, atom.Footer, atom.Aside:
			return true
		case atom.Header:
			header = true
		}
	}
	return header
}

// isHomeLink reports whether all that an element shows is a link to the start of the site.
func isHomeLink(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.DataAtom != atom.A {
			continue
		}
		for _, a := range d.Attr {
			if a.Key == "href" {
				_, address, found := strings.Cut(a.Val, "//")
				_, path, slash := strings.Cut(address, "/")
				home := found && (!slash || path == "") || !found && strings.Trim(a.Val, "./") == ""
				return home && markdown.Plain(d) == markdown.Plain(n)
			}
		}
	}
	return false
}
