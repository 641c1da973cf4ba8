package css

import (
	"strings"

	"golang.org/x/net/html"
)

// whiteSpace is HTML's ASCII white space.
const whiteSpace = " \t\n\f\r"

// hasID is #id.
type hasID string

func (t hasID) holds(n *html.Node, _ *Work) bool {
	v, ok := attr(n, "id")
	return ok && v == string(t)
}

// hasClass is .class.
type hasClass string

func (t hasClass) holds(n *html.Node, w *Work) bool {
	v, ok := attr(n, "class")
	return ok && hasWord(v, string(t), false, w)
}

// hasWord reports whether a list, separated by white space, has a word.
func hasWord(list, word string, fold bool, w *Work) bool {
	if list == word {
		return true
	}
	if len(list) < len(word) || !w.spend(1+len(list)>>6) {
		return false
	}
	for len(list) > 0 {
		var first string
		if at := strings.IndexAny(list, whiteSpace); at >= 0 {
			first, list = list[:at], list[at+1:]
		} else {
			first, list = list, ""
		}
		if first != "" && same(first, word, fold) {
			return true
		}
	}
	return false
}

// same compares two texts; with fold, whatever the case of their letters of ASCII.
func same(a, b string, fold bool) bool {
	if a == b || !fold || len(a) != len(b) {
		return a == b
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// folded returns a text with its letters of ASCII in lower case.
func folded(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// foldedInHTML are the attributes whose values HTML compares without regard to case.
// https://html.spec.whatwg.org/multipage/semantics-other.html#case-sensitivity-of-selectors
var foldedInHTML = func() map[string]bool {
	folded := make(map[string]bool)
	for name := range strings.FieldsSeq(`accept accept-charset align alink axis bgcolor charset checked clear codetype color compact
		declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref
		noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink`) {
		folded[name] = true
	}
	return folded
}()

// hasAttr is [name], or [name op value].
type hasAttr struct {
	name, op, value string
	fold            bool // the case of ASCII does not matter
	foldHTML        bool // not that of an element of HTML
}

func (t hasAttr) holds(n *html.Node, w *Work) bool {
	v, ok := attr(n, t.name)
	if !ok {
		return t.op == "!="
	}
	if t.op == "" {
		return true
	}
	if !w.spend(1 + len(v)>>6) {
		return false
	}
	want, fold := t.value, t.fold || t.foldHTML && n.Namespace == ""
	switch t.op {
	case "=":
		return same(v, want, fold)
	case "!=":
		return !same(v, want, fold)
	case "~=":
		return want != "" && !strings.ContainsAny(want, whiteSpace) && hasWord(v, want, fold, w)
	case "|=":
		return same(v, want, fold) || len(v) > len(want) && v[len(want)] == '-' && same(v[:len(want)], want, fold)
	}
	if want == "" || len(v) < len(want) {
		return false
	}
	switch t.op {
	case "^=":
		return same(v[:len(want)], want, fold)
	case "$=":
		return same(v[len(v)-len(want):], want, fold)
	}
	if fold {
		return strings.Contains(folded(v), folded(want))
	}
	return strings.Contains(v, want)
}

// nth is :nth-child and its relatives: the a·k+b-th among its siblings.
type nth struct {
	a, b   int
	last   bool      // counted from the end
	ofType bool      // among those of its type
	of     *Selector // among those that match; nil: all
}

func (t nth) holds(n *html.Node, w *Work) bool {
	if n.Parent == nil {
		return false
	}
	if t.of != nil {
		if _, ok := t.of.Match(n, w); !ok {
			return false
		}
	}
	step := previous
	if t.last {
		step = next
	}
	at := 1
	for s := step(n, w); s != nil; s = step(s, w) {
		if t.counts(s, n, w) {
			at++
		}
		if t.a == 0 && at > t.b {
			return false
		}
	}
	if w.Spent {
		return false
	}
	if t.a == 0 {
		return at == t.b
	}
	return (at-t.b)%t.a == 0 && (at-t.b)/t.a >= 0
}

func (t nth) counts(s, n *html.Node, w *Work) bool {
	if t.of != nil {
		_, ok := t.of.Match(s, w)
		return ok
	}
	return !t.ofType || s.Data == n.Data && s.Namespace == n.Namespace
}

// both holds if two tests do: :only-child is the first and the last.
type both [2]test

func (t both) holds(n *html.Node, w *Work) bool { return t[0].holds(n, w) && t[1].holds(n, w) }

// is is :is and :where; with not, :not.
type is struct {
	of  *Selector
	not bool
}

func (t is) holds(n *html.Node, w *Work) bool {
	_, ok := t.of.Match(n, w)
	return ok != t.not
}

// has is :has: what stands below, or beside, with respect to n.
type has struct{ of *Selector }

func (t has) holds(n *html.Node, w *Work) bool {
	outer := w.Scope
	w.Scope = n
	defer func() { w.Scope = outer }()
	for c := Following(n, n, true); c != nil && w.spend(1); c = Following(c, n, true) {
		if t.found(c, w) {
			return true
		}
	}
	for s := next(n, w); t.beside() && s != nil; s = next(s, w) { // + and ~
		for c := s; c != nil && w.spend(1); c = Following(c, s, true) {
			if t.found(c, w) {
				return true
			}
		}
	}
	return false
}

func (t has) found(c *html.Node, w *Work) bool {
	if c.Type != html.ElementNode {
		return false
	}
	_, ok := t.of.Match(c, w)
	return ok
}

// beside reports whether an alternative begins with + or ~.
func (t has) beside() bool {
	for _, c := range t.of.all {
		if last := len(c.combinators) - 1; last >= 0 && (c.combinators[last] == '+' || c.combinators[last] == '~') {
			return true
		}
	}
	return false
}

// contains is :contains: the text in the element has a piece.
type contains string

func (t contains) holds(n *html.Node, w *Work) bool {
	var text strings.Builder
	for c := Following(n, n, true); c != nil && w.spend(1); c = Following(c, n, true) {
		if c.Type == html.TextNode && w.spend(len(c.Data)>>6) {
			text.WriteString(c.Data)
		}
	}
	return !w.Spent && strings.Contains(text.String(), string(t))
}

// empty is :empty: no elements and no text.
type empty struct{}

func (empty) holds(n *html.Node, w *Work) bool {
	for c := n.FirstChild; c != nil && w.spend(1); c = c.NextSibling {
		if c.Type == html.ElementNode || c.Type == html.TextNode && c.Data != "" {
			return false
		}
	}
	return true
}

// root is :root.
type root struct{}

func (root) holds(n *html.Node, _ *Work) bool {
	return n.Type == html.ElementNode && (n.Parent == nil || n.Parent.Type == html.DocumentNode)
}

// scope is :scope, and what stands before a leading combinator.
type scope struct{}

func (scope) holds(n *html.Node, w *Work) bool {
	if w.Scope == nil {
		return root{}.holds(n, w)
	}
	return n == w.Scope
}

// element rules out the document.
type element struct{}

func (element) holds(n *html.Node, _ *Work) bool { return n.Type == html.ElementNode }
