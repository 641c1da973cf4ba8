package content

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// MaxBody bounds the markup of a page that is parsed, in bytes.
	MaxBody = 4 << 20
	// MaxDepth bounds the nesting of elements in a tree, as browsers do.
	MaxDepth = 512
)

// Errors of [Parse], which returns a tree with either.
var (
	ErrTooLong = fmt.Errorf("page longer than %d bytes: its beginning was read", MaxBody)
	ErrTooDeep = fmt.Errorf("elements nested deeper than %d: deeper ones were joined", MaxDepth)
)

// Parse makes a tree of a page in UTF-8. The tree is never nil: an error says which part of the
// page is missing from it.
func Parse(body []byte) (*html.Node, error) {
	var tooLong error
	if len(body) > MaxBody {
		body, tooLong = body[:MaxBody], ErrTooLong
	}
	root, err := html.Parse(bytes.NewReader(body))
	if err == nil {
		return root, tooLong
	}
	return parseFlat(body), errors.Join(tooLong, ErrTooDeep)
}

// flatDepth is where parseFlat stops nesting: less than MaxDepth, so that what is made of the tree
// may nest a little deeper.
const flatDepth = MaxDepth / 2

// parseFlat makes a tree of a page that the parser has refused. Elements nest as their tags do, to
// a depth of flatDepth; deeper ones have no children, and what they contain stands behind them.
func parseFlat(body []byte) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
	add := func(n *html.Node) { open[len(open)-1].AppendChild(n) }
	for z := html.NewTokenizer(bytes.NewReader(body)); z.Next() != html.ErrorToken; {
		switch t := z.Token(); t.Type {
		case html.TextToken:
			add(&html.Node{Type: html.TextNode, Data: t.Data})
		case html.StartTagToken, html.SelfClosingTagToken:
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			add(n)
			if !void[t.DataAtom] && len(open) < flatDepth {
				open = append(open, n)
			}
		case html.EndTagToken:
			// Only the innermost few: an end tag that nothing awaits costs the same.
			for i := len(open) - 1; i > 0 && i > len(open)-9; i-- {
				if open[i].Data == t.Data {
					open = open[:i]
					break
				}
			}
		}
	}
	return root
}

// void lists the elements without content.
// https://html.spec.whatwg.org/multipage/syntax.html#void-elements
var void = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true,
	atom.Hr: true, atom.Img: true, atom.Input: true, atom.Link: true, atom.Meta: true,
	atom.Source: true, atom.Track: true, atom.Wbr: true,
}
