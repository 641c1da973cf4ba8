package extract

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/antchfx/xpath"
	"github.com/weftcrawl/weft/internal/css"
	"golang.org/x/net/html"
)

// xpathExpr is an expression of XPath 1.0. Evaluating one changes it, so each goroutine takes one
// of its own.
type xpathExpr struct {
	text string
	cost int       // of its patterns: see pattern.Cost
	pool sync.Pool // of *xpath.Expr
}

// Bounds of an expression.
const (
	mostXPath  = 4 << 10 // bytes
	mostTested = 1000    // cost of its patterns, as pattern.Cost has it
)

// The library keeps the patterns that it has compiled, up to 65,536, of whatever length.
func init() {
	xpath.RegexpCache = xpath.NewLoadingCache(func(key any) (any, error) { return regexp.Compile(key.(string)) }, 1024)
}

// parseXPath reads an expression, and tries it: some mistakes show only then.
func parseXPath(text string) (*xpathExpr, error) {
	if len(text) > mostXPath {
		return nil, fmt.Errorf("expected an expression of at most %d bytes", mostXPath)
	}
	read, cost, err := readXPath(text)
	if err != nil {
		return nil, err
	}
	e, err := compileXPath(read)
	if err != nil {
		return nil, fmt.Errorf("%.64q, expected XPath 1.0: %.128s", text, strings.Join(strings.Fields(err.Error()), " "))
	}
	x := &xpathExpr{text: read, cost: cost}
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

// compileXPath is xpath.Compile without its panics.
func compileXPath(text string) (e *xpath.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("%v", r)
		}
	}()
	return xpath.Compile(text)
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
	at := &navigator{p: p, node: from, attr: -1, cost: 1 + x.cost>>3}
	switch v := e.Evaluate(at).(type) {
	case *xpath.NodeIterator:
		for _, n := range p.inOrder(v) {
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

// inOrder returns a set of nodes in the order of the page. Package xpath has some twice, and those
// of an inner element behind those of the outer one.
func (p *page) inOrder(set *xpath.NodeIterator) []navigator {
	all := p.collect(set)
	if len(all) > 1 && p.spend(8*len(all)) { // sorting compares about so often
		order := p.positions()
		slices.SortFunc(all, func(a, b navigator) int {
			return cmp.Or(cmp.Compare(order[a.node], order[b.node]), cmp.Compare(a.attr, b.attr))
		})
	}
	return all
}

// positions returns where in the page its nodes stand.
func (p *page) positions() map[*html.Node]int {
	if p.order == nil {
		p.order = make(map[*html.Node]int)
		for n := p.root; n != nil && p.spend(1); n = css.Following(n, p.root, true) {
			p.order[n] = len(p.order)
		}
	}
	return p.order
}

// collect returns what is in a set. If that takes too much work, it is what was found until then,
// for whose values an eighth of the work is left.
func (p *page) collect(set *xpath.NodeIterator) (all []navigator) {
	left := p.work.Steps / 8
	p.work.Steps -= left
	defer func() {
		switch r := recover(); r {
		case nil:
			p.work.Steps += left
		case errSpent:
			p.short, p.work = true, css.Work{Steps: left, Scope: p.work.Scope}
		default:
			panic(r)
		}
	}()
	seen := make(map[navigator]bool)
	for set.MoveNext() {
		if n := *set.Current().(*navigator); !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	return all
}

// navigator is a place in a page, as the library walks over it. Each step costs work.
type navigator struct {
	p    *page
	node *html.Node
	attr int // index of an attribute of node; -1: node itself
	cost int // steps of work for four bytes of text
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

// Prefix is that of an attribute in SVG: xlink.
func (n *navigator) Prefix() string {
	if n.attr >= 0 {
		return n.node.Attr[n.attr].Namespace
	}
	return ""
}

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
	n.spend(len(text) >> 2 * n.cost)
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
