package css

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Selector is a list of alternatives: an element that matches one of them matches.
type Selector struct {
	all  []complex
	text string
}

// String returns the selector as it was written.
func (s *Selector) String() string { return s.text }

// Take is the part of a matching element that is taken.
type Take struct {
	What TakeKind
	Attr string // its name, in lower case
}

// TakeKind tells elements from parts of them.
type TakeKind uint8

// Kinds of what is taken.
const (
	TakeElement TakeKind = iota
	TakeText             // ::text: its own pieces of text
	TakeAttr             // ::attr(name)
)

// complex is one alternative: compounds with combinators between them. It is kept from the right to
// the left, as elements are matched: compounds[0] is the element itself.
type complex struct {
	compounds   []compound
	combinators []byte // combinators[i]: compounds[i] to [i+1], by ' ', '>', '+', '~' or within
	take        Take
}

// within is the space of "p ::text": p itself, or what is in it.
const within = '='

// compound is the conditions on a single element.
type compound struct {
	tag   string // lower case; "": any
	atom  atom.Atom
	tests []test
}

// test is a condition of a compound.
type test interface {
	holds(n *html.Node, m *Work) bool
}

// Work is the budget of matching, in steps of some nanoseconds, and its starting element.
type Work struct {
	Steps int
	Scope *html.Node // the element of :scope and a leading combinator; nil: the root
	Spent bool       // there were not enough steps: what was found is not all
}

// spend takes steps, and reports whether there were enough.
func (w *Work) spend(n int) bool {
	if w.Steps -= n; w.Steps < 0 {
		w.Spent = true
	}
	return !w.Spent
}

// Match reports whether an element matches, and what is to be taken of it.
func (s *Selector) Match(n *html.Node, w *Work) (Take, bool) {
	for i := range s.all {
		c := &s.all[i]
		if c.compounds[0].mayBe(n) && c.matches(n, 0, w) {
			return c.take, true
		}
	}
	return Take{}, false
}

// OfScope reports whether the scope itself may match: as :scope, or as the element of ::text and
// ::attr that stand alone.
func (s *Selector) OfScope() bool {
	return slices.ContainsFunc(s.all, func(c complex) bool {
		is := c.compounds[0]
		if len(c.combinators) > 0 && c.combinators[0] == within {
			// ":scope ::text" has the scope's own text, too.
			is = c.compounds[1]
		}
		bare := len(c.compounds) == 1 && is.tag == "" && len(is.tests) == 1 && c.take.What != TakeElement
		return bare || slices.Contains(is.tests, test(scope{}))
	})
}

// mayBe is a first look that rules out most elements.
func (c *compound) mayBe(n *html.Node) bool {
	return c.atom == 0 || c.atom == n.DataAtom
}

// matches reports whether n is compounds[at], and what stands around it what the others are.
func (c *complex) matches(n *html.Node, at int, w *Work) bool {
	if !c.compounds[at].is(n, w) {
		return false
	}
	if at == len(c.combinators) {
		return true
	}
	switch c.combinators[at] {
	case '>':
		p := parent(n)
		return p != nil && c.matches(p, at+1, w)
	case within, ' ':
		if c.combinators[at] == within && c.matches(n, at+1, w) {
			return true
		}
		for p := parent(n); p != nil && !w.Spent; p = parent(p) {
			if c.matches(p, at+1, w) {
				return true
			}
		}
	case '+':
		p := previous(n, w)
		return p != nil && c.matches(p, at+1, w)
	case '~':
		for p := previous(n, w); p != nil && !w.Spent; p = previous(p, w) {
			if c.matches(p, at+1, w) {
				return true
			}
		}
	}
	return false
}

func (c *compound) is(n *html.Node, w *Work) bool {
	if !w.spend(1) || !c.hasType(n) {
		return false
	}
	for _, t := range c.tests {
		if !t.holds(n, w) {
			return false
		}
	}
	return true
}

func (c *compound) hasType(n *html.Node) bool {
	switch {
	case c.tag == "":
		return true
	case c.atom != 0:
		return n.DataAtom == c.atom
	}
	return len(n.Data) == len(c.tag) && strings.EqualFold(n.Data, c.tag) // names of SVG have capitals
}

// parent returns the element around n. The document, for :scope of a whole page, is none.
func parent(n *html.Node) *html.Node {
	if p := n.Parent; p != nil && (p.Type == html.ElementNode || p.Type == html.DocumentNode) {
		return p
	}
	return nil
}

// previous returns the element before n.
func previous(n *html.Node, w *Work) *html.Node {
	for p := n.PrevSibling; p != nil && w.spend(1); p = p.PrevSibling {
		if p.Type == html.ElementNode {
			return p
		}
	}
	return nil
}

// next returns the element after n.
func next(n *html.Node, w *Work) *html.Node {
	for p := n.NextSibling; p != nil && w.spend(1); p = p.NextSibling {
		if p.Type == html.ElementNode {
			return p
		}
	}
	return nil
}

// Following returns the node after n in the order of the document, within root; inside says whether
// the children of n come first.
func Following(n, root *html.Node, inside bool) *html.Node {
	if inside && n.FirstChild != nil {
		return n.FirstChild
	}
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		if n = n.Parent; n == nil {
			return nil
		}
	}
	return nil
}

// attr returns the value of an attribute.
func attr(n *html.Node, name string) (string, bool) {
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}
