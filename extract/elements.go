package extract

import (
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// Selector finds elements of pages, by CSS or XPath.
type Selector struct{ s *selector }

// ParseSelector reads a selector. Its error says where it is wrong.
func ParseSelector(text string) (Selector, error) {
	s, err := parseSelector(text)
	return Selector{s}, err
}

// Elements returns the elements of a tree that the selector finds, in the order of the page; whole
// is false if looking for more would have been too much work.
func (s Selector) Elements(root *html.Node) (all []*html.Node, whole bool) {
	p := newPage(weburl.URL{}, root, nil)
	s.s.each(p, root, func(h hit) bool {
		if h.node != nil {
			all = append(all, h.node)
		}
		return true
	})
	return all, !p.work.Spent
}
