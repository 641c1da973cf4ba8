package content

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// MaxBody bounds the markup of a page that is parsed, in bytes.
	MaxBody = 4 << 20
	// MaxTags bounds the elements of a tree: one takes 50 times the memory of a short tag.
	MaxTags = 1 << 18
	// MaxDepth bounds the nesting of elements in a tree.
	MaxDepth = 512
)

// Errors of [Parse], which returns a tree with either.
var (
	ErrTooLong = fmt.Errorf("page longer than %d bytes or %d elements: its beginning was read", MaxBody, MaxTags)
	ErrTooDeep = fmt.Errorf("elements nested deeper than %d: deeper ones stand side by side", MaxDepth)
)

// Parse makes a tree of a page in UTF-8. The tree is never nil: an error says which part of the
// page is missing from it.
//
// What a page shows to readers without scripts is in the tree (noscript): nothing runs scripts here.
func Parse(body []byte) (*html.Node, error) {
	var cut error
	if len(body) > MaxBody {
		body, cut = body[:MaxBody], ErrTooLong
		if at := bytes.LastIndexByte(body, '<'); at > bytes.LastIndexByte(body, '>') {
			body = body[:at] // half a tag
		}
	}
	if (len(body) <= MaxTags || bytes.Count(body, []byte("<")) <= MaxTags) && !copiesTooMuch(body) {
		root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
		if err == nil {
			return root, cut
		}
	}
	root, err := parseFlat(body)
	return root, errors.Join(cmp.Or(cut, err), ErrTooDeep)
}

// copiesTooMuch reports whether the parser might make far more elements than the page has tags. By
// the standard, formatting elements that are left open are opened again in each paragraph, three of
// a kind at most: those with the same name and attributes. Hardly an honest page has many kinds and
// many tags.
// https://html.spec.whatwg.org/multipage/parsing.html#reconstruct-the-active-formatting-elements
func copiesTooMuch(body []byte) bool {
	const most = 4 << 20 // elements: 600 MB
	kinds := make(map[string]bool)
	tags := 0
	for rest := body; 3*len(kinds)*tags <= most; tags++ {
		i := bytes.IndexByte(rest, '<')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if formatting(rest) {
			tag := rest[:min(len(rest), 1<<10)]
			if end := bytes.IndexByte(tag, '>'); end >= 0 {
				tag = tag[:end]
			}
			if !kinds[string(tag)] {
				kinds[string(tag)] = true
			}
		}
	}
	return true
}

// formatting reports whether a tag begins a formatting element. A link is none of them here: it
// closes the one before.
func formatting(tag []byte) bool {
	var name [len("strike") + 1]byte
	n := 0
	for n < len(tag) && n < len(name) && 'a' <= tag[n]|0x20 && tag[n]|0x20 <= 'z' {
		name[n] = tag[n] | 0x20
		n++
	}
	switch string(name[:n]) {
	case "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// flatDepth is where parseFlat stops nesting: less than MaxDepth, so that what is made of the tree
// may nest a little deeper.
const flatDepth = MaxDepth / 2

// parseFlat makes a tree of a page that the parser cannot be given. Elements nest as their tags do,
// to a depth of flatDepth; deeper ones stand side by side. Of those, the ones that directly begin with
// another are left out, so that text behind a million tags is read.
func parseFlat(body []byte) (*html.Node, error) {
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
	nodes := 0
	var deep *html.Node // the last element that was too deep, as long as it is empty
	add := func(n *html.Node) {
		nodes++
		open[len(open)-1].AppendChild(n)
	}
	for z := html.NewTokenizer(bytes.NewReader(body)); z.Next() != html.ErrorToken; {
		switch t := z.Token(); t.Type {
		case html.TextToken:
			text := &html.Node{Type: html.TextNode, Data: t.Data}
			switch {
			case deep == nil:
				add(text)
			case blocks.Silent(deep):
				deep.AppendChild(text)
				add(deep)
				deep = nil
			case strings.TrimSpace(t.Data) != "":
				add(deep)
				add(text)
				deep = nil
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			for len(open) > 1 && slices.Contains(ends[t.DataAtom], open[len(open)-1].DataAtom) {
				open = open[:len(open)-1]
			}
			switch {
			case void[t.DataAtom]:
				add(n)
			case len(open) < flatDepth:
				add(n)
				open = append(open, n)
			default:
				deep = n
			}
		case html.EndTagToken:
			// Only the innermost few, so that an end tag that nothing awaits costs no more.
			open = closed(open, t.Data, 8)
		}
		if nodes >= MaxTags {
			return root, ErrTooLong
		}
	}
	return root, nil
}

// closed is what is still open behind the end of an element, if it is among the innermost few.
func closed(open []*html.Node, name string, few int) []*html.Node {
	for i := len(open) - 1; i > 0 && i >= len(open)-few; i-- {
		if open[i].Data == name {
			return open[:i]
		}
	}
	return open
}

// ends lists what an element ends that is open where it begins: end tags that people leave out.
// https://html.spec.whatwg.org/multipage/syntax.html#optional-tags
var ends = map[atom.Atom][]atom.Atom{
	atom.P: {atom.P}, atom.Li: {atom.Li}, atom.Dt: {atom.Dt, atom.Dd}, atom.Dd: {atom.Dt, atom.Dd},
	atom.Td: {atom.Td, atom.Th}, atom.Th: {atom.Td, atom.Th}, atom.Tr: {atom.Td, atom.Th, atom.Tr},
}

// void lists the elements without content.
// https://html.spec.whatwg.org/multipage/syntax.html#void-elements
var void = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true,
	atom.Hr: true, atom.Img: true, atom.Input: true, atom.Link: true, atom.Meta: true,
	atom.Source: true, atom.Track: true, atom.Wbr: true,
}
