package content

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// describe fills in what a page says about itself.
func describe(p Page, c *Content) {
	c.Language = p.Language
	for n := range p.Root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			if lang := attr(n, "lang"); lang != "" {
				c.Language = lang
			}
		case atom.Title:
			if c.Title == "" && n.FirstChild != nil {
				c.Title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
			}
		case atom.Body:
			return
		}
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
