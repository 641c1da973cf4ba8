package extract

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/antchfx/xpath"
	"github.com/weftcrawl/weft/internal/css"
	"golang.org/x/net/html"
)

// xpathExpr is an expression of XPath 1.0. Evaluating one changes it, so each goroutine takes one of
// its own.
type xpathExpr struct {
	text string
	pool sync.Pool // of *xpath.Expr
}

// mostXPath bounds an expression, in bytes.
const mostXPath = 4 << 10

// called finds literals, so that what is in them is none, and calls.
var called = regexp.MustCompile(`"[^"]*"|'[^']*'|([\w.-]+)\s*\(`)

// checkCalls refuses calls that the library takes: those of functions of XPath 2.0 that have no bound,
// as it keeps each pattern, and a result may be the product of two texts of the page; and steps of
// a path that are none, which would select nothing.
func checkCalls(text string) error {
	for _, m := range called.FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 {
			continue
		}
		name, before := text[m[2]:m[3]], strings.TrimRight(text[:m[2]], whiteSpace)
		wrong := ""
		switch name {
		case "text", "node", "comment":
		case "matches", "replace", "string-join":
			wrong = "XPath 1.0, which does not have it"
		default:
			if strings.HasSuffix(before, "/") || strings.HasSuffix(before, "::") {
				wrong = "text(), node() or comment() as a step: functions stand around a path, as in string(//h1)"
			}
		}
		if wrong != "" {
			return fmt.Errorf("column %d: %s(), expected %s", 1+utf8.RuneCountInString(text[:m[2]]), name, wrong)
		}
	}
	return nil
}

// parseXPath reads an expression, and tries it: some mistakes show only then.
func parseXPath(text string) (*xpathExpr, error) {
	if len(text) > mostXPath {
		return nil, fmt.Errorf("expected an expression of at most %d bytes", mostXPath)
	}
	if err := balanced(text); err != nil {
		return nil, err
	}
	if err := checkCalls(text); err != nil {
		return nil, err
	}
	e, err := compileXPath(text)
	if err != nil {
		return nil, wrongXPath(text, err)
	}
	x := &xpathExpr{text: text}
	x.pool.Put(e)
	root, _ := html.Parse(strings.NewReader("<p class=a><a href=b>c</a></p>"))
	p := &page{root: root}
	p.work.Steps = 1e5
	x.each(p, root, func(hit) bool { return true })
	if len(p.notes) > 0 {
		return nil, errors.New(p.notes[0])
	}
	return x, nil
}

// compileXPath is xpath.Compile without its panics, and of the whole text: package xpath leaves out
// what follows an expression, but not in brackets.
func compileXPath(text string) (e *xpath.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("%v", r)
		}
	}()
	if e, err = xpath.Compile(text); err == nil {
		if _, err = xpath.Compile("(" + text + ")"); err != nil {
			err = errors.New("something follows the expression")
		}
	}
	return e, err
}

// balanced checks that quotation marks and brackets come in pairs: of some that do not, package
// xpath leaves out the rest.
func balanced(text string) error {
	var open []int
	wrong := func(at int, expected string) error {
		return fmt.Errorf("column %d: %.32q, expected %s", 1+utf8.RuneCountInString(text[:at]), text[at:], expected)
	}
	closing := func(at int) string {
		if text[at] == '(' {
			return ")"
		}
		return "]"
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return wrong(i, string(c)+" behind it")
			}
			i += 1 + end
		case '(', '[':
			open = append(open, i)
		case ')', ']':
			last := len(open) - 1
			if last < 0 {
				return wrong(i, "no "+string(c)+" without its beginning")
			}
			if end := closing(open[last]); end != string(c) {
				return wrong(i, end)
			}
			open = open[:last]
		}
	}
	if len(open) > 0 {
		at := open[len(open)-1]
		return wrong(at, closing(at)+" behind it")
	}
	return nil
}

// wrongXPath says where an expression is wrong: behind the longest beginning that is one.
func wrongXPath(text string, err error) error {
	what := strings.TrimPrefix(err.Error(), "xpath: ")
	for at := len(text); at > 0; at-- {
		if !utf8.ValidString(text[:at]) || strings.TrimRight(text[:at], whiteSpace) != text[:at] {
			continue
		}
		if _, err := compileXPath(text[:at]); err == nil && at < len(text) {
			return fmt.Errorf("column %d: %.32q, expected XPath 1.0: %.128s", 1+utf8.RuneCountInString(text[:at]), text[at:], what)
		}
	}
	return fmt.Errorf("column 1: %.32q, expected XPath 1.0: %.128s", text, what)
}

// errSpent is the panic of a navigator whose work is spent: the library knows no other way out.
var errSpent = errors.New("too much work")

// each yields what the expression selects, or the one value that it has.
func (x *xpathExpr) each(p *page, from *html.Node, yield func(hit) bool) {
	e, _ := x.pool.Get().(*xpath.Expr)
	if e == nil {
		e, _ = compileXPath(x.text) // it was tried
	}
	defer func() {
		switch r := recover(); r {
		case nil:
			x.pool.Put(e)
		case errSpent: // the page says so
		default:
			p.note("XPath %.64q: %.128v", x.text, r)
		}
	}()
	at := &navigator{p: p, node: from, attr: -1}
	switch v := e.Evaluate(at).(type) {
	case *xpath.NodeIterator:
		for v.MoveNext() {
			n := v.Current().(*navigator)
			switch {
			case n.attr >= 0:
				if !yield(hit{n.node, n.Value(), true}) {
					return
				}
			case n.node.Type == html.TextNode:
				if strings.Trim(n.node.Data, whiteSpace) != "" && !yield(hit{n.node.Parent, n.node.Data, true}) {
					return
				}
			case n.node.Type == html.ElementNode:
				if !yield(hit{node: n.node}) {
					return
				}
			}
		}
	case string:
		if v != "" {
			yield(hit{text: v, isText: true})
		}
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			yield(hit{text: strconv.FormatFloat(v, 'f', -1, 64), isText: true})
		}
	case bool:
		yield(hit{text: strconv.FormatBool(v), isText: true})
	}
}

// navigator is a place in a page, as the library walks over it. Each step costs work.
type navigator struct {
	p    *page
	node *html.Node
	attr int // index of an attribute of node; -1: node itself
}

func (n *navigator) spend(steps int) {
	if !n.p.spend(steps) {
		panic(errSpent)
	}
}

// to moves to a node; nil: it is not there.
func (n *navigator) to(node *html.Node) bool {
	n.spend(1)
	for node != nil && node.Type == html.DoctypeNode {
		node = nil
	}
	if node == nil || n.attr >= 0 {
		return false
	}
	n.node = node
	return true
}

func (n *navigator) NodeType() xpath.NodeType {
	if n.attr >= 0 {
		return xpath.AttributeNode
	}
	switch n.node.Type {
	case html.DocumentNode:
		return xpath.RootNode
	case html.TextNode:
		return xpath.TextNode
	case html.CommentNode:
		return xpath.CommentNode
	}
	return xpath.ElementNode
}

func (n *navigator) LocalName() string {
	if n.attr >= 0 {
		return n.node.Attr[n.attr].Key
	}
	if n.node.Type == html.ElementNode {
		return n.node.Data
	}
	return ""
}

func (*navigator) Prefix() string { return "" }

// Value returns the text of a node, and counts what the library may do with it.
func (n *navigator) Value() string {
	switch {
	case n.attr >= 0:
		return n.counted(n.node.Attr[n.attr].Val)
	case n.node.Type == html.TextNode, n.node.Type == html.CommentNode:
		return n.counted(n.node.Data)
	}
	var b strings.Builder
	for c := css.Following(n.node, n.node, true); c != nil; c = css.Following(c, n.node, true) {
		n.spend(1)
		if c.Type == html.TextNode {
			b.WriteString(n.counted(c.Data))
		}
	}
	return b.String()
}

func (n *navigator) counted(text string) string {
	n.spend(len(text) >> 2)
	return text
}

func (n *navigator) Copy() xpath.NodeNavigator {
	n.spend(1)
	c := *n
	return &c
}

func (n *navigator) MoveToRoot() { n.node, n.attr = n.p.root, -1 }

func (n *navigator) MoveToParent() bool {
	if n.attr >= 0 {
		n.attr = -1
		return true
	}
	return n.to(n.node.Parent)
}

func (n *navigator) MoveToNextAttribute() bool {
	n.spend(1)
	if n.node.Type != html.ElementNode || n.attr+1 >= len(n.node.Attr) {
		return false
	}
	n.attr++
	return true
}

func (n *navigator) MoveToChild() bool {
	c := n.node.FirstChild
	if c != nil && c.Type == html.DoctypeNode {
		c = c.NextSibling
	}
	return n.to(c)
}

func (n *navigator) MoveToFirst() bool {
	if n.attr >= 0 || n.node.Parent == nil {
		return false
	}
	c := n.node.Parent.FirstChild
	if c.Type == html.DoctypeNode {
		c = c.NextSibling
	}
	return n.to(c)
}

func (n *navigator) MoveToNext() bool     { return n.to(n.node.NextSibling) }
func (n *navigator) MoveToPrevious() bool { return n.to(n.node.PrevSibling) }

func (n *navigator) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*navigator)
	if !ok || o.p != n.p {
		return false
	}
	n.node, n.attr = o.node, o.attr
	return true
}

func (n *navigator) String() string { return n.Value() }
