package extract

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/weftcrawl/weft/internal/css"
	"golang.org/x/net/html"
)

// selector finds parts of a page: by CSS, or by XPath.
type selector struct {
	css      *css.Selector
	xpath    *xpathExpr
	absolute bool // from the root of the page, wherever it is looked for
}

// hit is a find of a selector: an element, or a text that stands in it.
type hit struct {
	node   *html.Node // the element; nil: an expression has computed the text
	text   string
	isText bool // text counts, not the element
}

// isXPath matches the beginning of XPath that is no CSS: a path, an attribute, a call of a
// function.
var isXPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(/|\./|\.\.|\.$|@|\(|((re|set|str|math|date):)?[a-z-]+\(|(child|descendant|ancestor|self|parent|following|preceding|attribute)(-or-self|-sibling)?::)`)
})

// parseSelector reads a selector in either language. Its error says where it is wrong.
func parseSelector(text string) (*selector, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("no selector, expected CSS such as h1 or .price::text, or XPath such as //h1")
	}
	if isXPath().MatchString(text) {
		x, err := parseXPath(text)
		path := strings.Trim(text, whiteSpace)
		if plain := asCSS(path); err == nil && plain != nil {
			return &selector{css: plain, absolute: path[0] == '/'}, nil
		}
		return &selector{xpath: x}, err
	}
	s, err := css.Parse(text)
	return &selector{css: s}, err
}

// each yields what the selector finds within from, in the order of the page.
func (s *selector) each(p *page, from *html.Node, yield func(hit) bool) {
	if s.xpath != nil {
		s.xpath.each(p, from, yield)
		return
	}
	if s.absolute {
		from = p.root
	}
	if from != p.root {
		p.work.Scope = from
		defer func() { p.work.Scope = nil }()
		if s.css.OfScope() && !s.take(p, from, yield) {
			return
		}
		for n := css.Following(from, from, true); n != nil && p.spend(1); n = css.Following(n, from, true) {
			if n.Type == html.ElementNode && !s.take(p, n, yield) {
				return
			}
		}
		return
	}
	for _, n := range p.elements {
		if !s.take(p, n, yield) || p.work.Spent {
			return
		}
	}
}

// take yields what the selector takes of an element, if it matches, and reports whether to go on.
func (s *selector) take(p *page, n *html.Node, yield func(hit) bool) bool {
	take, ok := s.css.Match(n, &p.work)
	if !ok {
		return true
	}
	switch take.What {
	case css.TakeAttr:
		if v, ok := attr(n, take.Attr); ok {
			return yield(hit{n, v, true})
		}
		return true
	case css.TakeText:
		for c := n.FirstChild; c != nil && p.spend(1); c = c.NextSibling {
			if c.Type == html.TextNode && strings.Trim(c.Data, whiteSpace) != "" && !yield(hit{n, c.Data, true}) {
				return false
			}
		}
		return true
	}
	return yield(hit{node: n})
}

func attr(n *html.Node, name string) (string, bool) {
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}
