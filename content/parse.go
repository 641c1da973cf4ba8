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
// What a page shows to readers without scripts is in the tree (noscript): nothing runs scripts
// here.
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
// a kind at most: those with the same name and attributes, which are copied, too. Honest pages
// close most of them, and the others are few.
// https://html.spec.whatwg.org/multipage/parsing.html#reconstruct-the-active-formatting-elements
func copiesTooMuch(body []byte) bool {
	const most = 1 << 20 // elements without attributes: 120 MB
	return copies(body, most) > most
}

// copies bounds the elements that the parser makes beside those of the tags: more than most, if
// they are.
func copies(body []byte, most int) (n int) {
	f := formatting{left: make(map[string]int)}
	for n <= most {
		i := bytes.IndexByte(body, '<')
		if i < 0 {
			break
		}
		body = body[i+1:]
		f.read(body)
		n += f.openSize + f.leftSize
	}
	return n
}

// formatting are the formatting elements of a page, as far as they may be opened again. A comment
// or a script can hold what looks like a tag: at each sign that may begin one, those that are open
// count as left open for good, unless all between them and their end is plain.
type formatting struct {
	open     []format
	openSize int
	left     map[string]int // number of those of a kind left open: three at most count
	leftSize int
}

// format is a formatting element. Its size is that of the elements that take as much memory.
type format struct {
	name atom.Atom
	kind []byte
	size int
}

// read reads what stands behind a sign that may begin a tag.
func (f *formatting) read(text []byte) {
	isEnd := len(text) > 0 && text[0] == '/'
	if isEnd {
		text = text[1:]
	}
	name, isFormat := inlineName(text)
	if name == 0 {
		f.leave()
		return
	}
	if !isFormat && len(f.open) == 0 {
		return
	}
	length, attributes := tag(text)
	isWhole := bytes.IndexByte(text[:length], '<') < 0
	switch last := len(f.open) - 1; {
	case isEnd && (attributes > 0 || !isWhole || isFormat && (last < 0 || f.open[last].name != name)):
		f.leave()
	case isEnd && isFormat:
		f.openSize -= f.open[last].size
		f.open = f.open[:last]
	case isFormat:
		size := 1 + attributes/2
		f.open = append(f.open, format{name, text[:length], size})
		f.openSize += size
	}
	if !isWhole {
		f.leave()
	}
}

// leave counts what is open as left open.
func (f *formatting) leave() {
	for _, one := range f.open {
		if n := f.left[string(one.kind)]; n < 3 {
			f.left[string(one.kind)] = n + 1
			f.leftSize += one.size
		}
	}
	f.open, f.openSize = f.open[:0], 0
}

// inlineName is the name of a formatting element that begins or ends, or of one that changes
// nothing between the two tags of another; or 0. A link is among the latter: it closes the one
// before.
func inlineName(tag []byte) (name atom.Atom, isFormat bool) {
	var small [len("strike") + 1]byte
	n := 0
	for n < len(tag) && n < len(small) && 'a' <= tag[n]|0x20 && tag[n]|0x20 <= 'z' {
		small[n] = tag[n] | 0x20
		n++
	}
	if n < len(tag) && strings.IndexByte(" \t\n\f\r/>", tag[n]) < 0 {
		return 0, false
	}
	switch name := atom.Lookup(small[:n]); name {
	case atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return name, true
	case atom.A, atom.Br, atom.Img, atom.Span, atom.Sub, atom.Sup:
		return name, false
	}
	return 0, false
}

// tag returns how long a tag is behind its first sign, and how many attributes it has, as the
// parser reads them. One without end has as many as its first bytes may hold.
// https://html.spec.whatwg.org/multipage/parsing.html#before-attribute-name-state
func tag(text []byte) (length, attributes int) {
	const most = 4 << 10 // bytes
	text = text[:min(len(text), most)]
	const blanks = " \t\n\f\r"
	skip := func(these string) { // these signs
		for length < len(text) && strings.IndexByte(these, text[length]) >= 0 {
			length++
		}
	}
	find := func(these string) { // the first of these signs
		for length < len(text) && strings.IndexByte(these, text[length]) < 0 {
			length++
		}
	}
	for find(blanks + "/>"); length < len(text); {
		if skip(blanks + "/"); length == len(text) || text[length] == '>' {
			break
		}
		attributes++
		length++ // even "=" begins a name
		find(blanks + "/=>")
		if skip(blanks); length == len(text) || text[length] != '=' {
			continue
		}
		length++
		if skip(blanks); length == len(text) {
			break
		}
		switch quote := text[length]; quote {
		case '"', '\'':
			length++
			find(string(quote))
			length = min(length+1, len(text))
		default:
			find(blanks + ">")
		}
	}
	if length == len(text) {
		return length, most / len("a ")
	}
	return length, attributes
}

// flatDepth is the depth at which parseFlat stops nesting: less than MaxDepth, so that what is made
// of the tree may nest a little deeper.
const flatDepth = MaxDepth / 2

// parseFlat makes a tree of a page that the parser cannot be given. Elements nest as their tags do,
// to a depth of flatDepth; deeper ones stand side by side. Of those, the ones that directly begin
// with another are left out, so that text behind a million tags is read.
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
			case blocks.Textless(deep):
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

// closed returns the elements still open behind the end of one, if it is among the innermost few.
func closed(open []*html.Node, name string, few int) []*html.Node {
	for i := len(open) - 1; i > 0 && i >= len(open)-few; i-- {
		if open[i].Data == name {
			return open[:i]
		}
	}
	return open
}

// ends lists the open elements that an element ends where it begins: end tags that people leave
// out. https://html.spec.whatwg.org/multipage/syntax.html#optional-tags
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
