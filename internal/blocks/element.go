package blocks

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Element is an element that begins a new line, with what was counted in it.
type Element struct {
	Node   *html.Node
	Parent int32 // its index; -1 for the root
	End    int32 // the index after the last element inside
	Words  int32 // in it
	Linked int32 // of these, in links
	Own    int32 // words of the block: those in no block further inside
	Links  int32 // own words in links
	Marks  int32 // own commas and sentence ends
	hints  uint64
	names  []uint16 // the numbers of its ids and classes in the vocabulary
	sign   uint32   // a hash of its name and first class
	alike  int32    // siblings of the same sign that have words, and itself
	tag    feature
	inLink bool
}

// Scan lists the elements of a tree that are neither inline nor textless, in document order. The
// first is the root.
func Scan(root *html.Node) []Element {
	s := scanner{all: []Element{{Node: root, Parent: -1}}}
	for n := root.FirstChild; n != nil; {
		if s.enter(n) {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			if n = n.Parent; n != root {
				s.leave(n)
			}
		}
		if n == root {
			break
		}
		n = n.NextSibling
	}
	total(s.all)
	countAlike(s.all)
	return s.all
}

// scanner is the position of a scan.
type scanner struct {
	all   []Element
	at    int32    // the block that text belongs to
	links int      // open links
	names []uint16 // of all elements, one behind another
}

// enter takes a node in, and reports whether to go on with its children.
func (s *scanner) enter(n *html.Node) bool {
	switch {
	case n.Type == html.TextNode:
		s.all[s.at].count(n.Data, s.links > 0)
		return false
	case n.Type != html.ElementNode || Textless(n) || n.Namespace == "math": // a formula has no words
		return false
	case !Inline(n):
		from := len(s.names)
		hints := s.hints(n)
		s.all = append(s.all, Element{
			Node: n, Parent: s.at, hints: hints, names: slices.Clip(s.names[from:]), sign: signOf(n), tag: tags[n.DataAtom],
			inLink: s.links > 0,
		})
		if n.FirstChild != nil {
			s.at = int32(len(s.all) - 1)
		}
	case n.DataAtom == atom.A && n.FirstChild != nil:
		s.links++
	}
	return n.FirstChild != nil
}

// leave ends a node that has children.
func (s *scanner) leave(n *html.Node) {
	switch {
	case s.all[s.at].Node == n:
		s.at = s.all[s.at].Parent
	case n.DataAtom == atom.A && Inline(n):
		s.links--
	}
}

// total adds up what elements contain.
func total(all []Element) {
	for i := len(all) - 1; i >= 0; i-- {
		e := &all[i]
		e.Words += e.Own
		e.Linked += e.Links
		e.End = max(e.End, int32(i+1))
		if i > 0 {
			p := &all[e.Parent]
			p.Words += e.Words
			p.Linked += e.Linked
			p.End = max(p.End, e.End)
		}
	}
}

// countAlike counts the siblings of each element that have its sign.
func countAlike(all []Element) {
	type group struct {
		parent int32
		sign   uint32
	}
	n := make(map[group]int32, len(all)/2)
	for i := range all {
		if all[i].Words > 0 {
			n[group{all[i].Parent, all[i].sign}]++
		}
	}
	for i := range all {
		all[i].alike = n[group{all[i].Parent, all[i].sign}]
	}
}

func signOf(n *html.Node) uint32 {
	h := uint32(n.DataAtom)
	first, _, _ := strings.Cut(strings.TrimSpace(attr(n, "class")), " ")
	for i := range len(first) {
		h = h*16777619 ^ uint32(first[i])
	}
	return h
}

// count adds a piece of text to a block.
func (e *Element) count(text string, linked bool) {
	words, marks := Count(text)
	e.Own += words
	e.Marks += marks
	if linked {
		e.Links += words
	}
}

// Count counts the words of a text, and its commas and sentence ends. Two characters of a script
// that puts no blanks between words count as a word.
func Count(text string) (words, marks int32) {
	word, wide := false, int32(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			if !word {
				word = true
				words++
			}
		case c == '.' || c == ',' || c == '!' || c == '?' || c == ';':
			if word {
				marks++
			}
			word = false
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			word = false
		case c >= 0xe3 && c < 0xf0 && i+2 < len(text): // U+3000 to U+FFFF
			if c == 0xe3 && text[i+1] == 0x80 { // U+3000 to U+303F: ideographic punctuation
				marks++
			} else {
				wide++
			}
			i += 2
			word = false
		case c == 0xc2 && i+1 < len(text) && text[i+1] == 0xa0: // U+00A0: the blank that breaks no line
			word = false
			i++
		case c == 0xe2 && i+2 < len(text): // U+2000 to U+2FFF: dashes, quotes, symbols
			i += 2
		case c >= 0x80:
			if !word {
				word = true
				words++
			}
		}
	}
	return words + (wide+1)/2, marks
}

// hints returns what name, role, id and classes say of an element, and notes their words.
func (s *scanner) hints(n *html.Node) uint64 {
	hints, from, names := elementHints[n.DataAtom], len(s.names), names()
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "id", "aria-label", "data-testid", "data-component":
			eachName(a.Val, func(w word) {
				m := names.entry(w)
				if m == nil {
					return
				}
				hints |= 1 << m.group
				s.names = note(s.names, from, m.number)
			})
		case "role":
			hints |= roleHints[a.Val]
		case "itemprop":
			hints |= itemHints[a.Val]
		case "hidden":
			hints |= 1 << hHidden
		case "aria-hidden":
			if a.Val == "true" {
				hints |= 1 << hAriaHidden
			}
		case "style":
			if strings.Contains(a.Val, "display:none") || strings.Contains(a.Val, "display: none") {
				hints |= 1 << hHidden
			}
		}
	}
	return hints &^ (1 << hNone)
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// Inline reports whether an element begins no new line. MathML is a formula in its line.
func Inline(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Br, atom.Cite, atom.Code,
		atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.Rp,
		atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup,
		atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return n.Namespace == "math"
}

// Textless reports whether nobody reads the text in an element.
func Textless(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Iframe, atom.Object, atom.Applet, atom.Canvas,
		atom.Datalist, atom.Textarea, atom.Svg, atom.Noframes, atom.Noembed, atom.Title:
		return true
	}
	return n.Namespace == "svg"
}
