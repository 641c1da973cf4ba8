package content

import (
	"slices"
	"strings"
	"unicode"

	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The marks of a manual, in percent.
const (
	mostOfPage  = 80 // of the words of a page, without its boilerplate, are in the text of a manual
	mostOfNamed = 50 // of its headings can be the target of a link
)

// fillManual chooses the whole text of a manual if the page has hardly anything else: contents
// pages, signatures and examples do not look like text, and short pages have little else. Made says
// that a generator of manuals made the page: then contents are kept whole at any length.
func (s *selection) fillManual(made bool) {
	kept := slices.Clone(s.keep)
	s.dropRights()
	chosen, all := s.count()
	text := s.text()
	whole := text.in(s, 0)
	i := s.core(chosen)
	for i > 0 && all[i]*100 < all[0]*mostOfPage && text.in(s, i)*100 < whole*mostOfPage {
		i = s.page.All[i].Parent
	}
	if made || whole <= fewOfPage { // of a page with few words, what was chosen may lack the heading
		if around := s.headed(i, chosen[0] == 0); around > 0 && isManual(s.page.All[around].Node, made) {
			i = around
		}
	}
	e, enough := &s.page.All[i], int32(mostOfPlain)
	switch {
	case whole <= fewOfPage, made && isContents(e):
		enough = 0
	case isContents(e):
		enough = mostOfShort
	}
	switch {
	case i > 0 && chosen[i]*100 >= all[i]*enough && isManual(e.Node, made):
		s.dropMenus()
		s.fillIn(i)
	case !slices.Contains(s.keep, true):
		s.keep = kept
	}
}

// isContents reports whether links have most of the words of an element.
func isContents(e *blocks.Element) bool { return e.Linked*2 > e.Words }

// headed returns the smallest element that contains all headings of the page, except those in
// menus, and another element; the root, if there is none. Outermost asks for the largest one around
// the headings.
func (s *selection) headed(i int32, outermost bool) int32 {
	first := i == 0
	for k := range s.page.All {
		e, at := &s.page.All[k], int32(k)
		if e.Words == 0 || !isHeading(e.Node) && e.Node.DataAtom != atom.H1 || s.menuEnd(at, 0) > 0 {
			continue
		}
		if first {
			i, first = at, false
		}
		for i > 0 && (at < i || at >= s.page.All[i].End) {
			i = s.page.All[i].Parent
		}
	}
	for outermost && i > 0 && s.page.All[i].Parent > 0 {
		i = s.page.All[i].Parent
	}
	return i
}

// dropMenus leaves out what is in menus.
func (s *selection) dropMenus() {
	beyond := int32(0) // the end of a menu
	for k, i := range s.page.Index {
		if beyond = max(beyond, s.menuEnd(i, 0)); s.keep[k] && i < beyond {
			s.keep[k], s.why[k] = false, "navigation"
		}
	}
}

// sums are, for each block, the words of the blocks before it that count.
type sums []int32

// text adds up the words that are a page's own: outside of menus, and no lists of links.
func (s *selection) text() sums {
	words := make(sums, len(s.page.Index)+1)
	beyond := int32(0) // the end of a menu
	for k, i := range s.page.Index {
		words[k+1] = words[k]
		if beyond = max(beyond, s.menuEnd(i, 0)); i >= beyond && s.why[k] != rights && s.page.All[i].Links*10 < s.page.All[i].Own*9 {
			words[k+1] += s.page.All[i].Own
		}
	}
	return words
}

// in returns how many of the words are in an element.
func (w sums) in(s *selection, i int32) int32 {
	first, _ := slices.BinarySearch(s.page.Index, i)
	last, _ := slices.BinarySearch(s.page.Index, s.page.All[i].End)
	return w[last] - w[first]
}

const rights = "rights"

// dropRights leaves out the copyright lines at the end of a page.
func (s *selection) dropRights() {
	for k := len(s.page.Index) - 1; k >= 0; k-- {
		i := s.page.Index[k]
		e := &s.page.All[i]
		switch {
		case s.isRights(i):
			s.keep[k], s.why[k] = false, rights
		case e.Links*10 >= e.Own*9 || s.menuEnd(i, 0) > 0:
		default:
			return
		}
	}
}

// isRights reports whether an element is a copyright line, or is in one.
func (s *selection) isRights(i int32) bool {
	if IsRights(s.page.All[i].Node) {
		return true
	}
	for ; i > 0; i = s.page.All[i].Parent {
		if isNamedRights(s.page.All[i].Node) {
			return true
		}
	}
	return false
}

// IsRights reports whether an element is a copyright line, by its text, its names, or those of the
// element around it.
func IsRights(n *html.Node) bool {
	if isNamedRights(n) || n.Parent != nil && isNamedRights(n.Parent) {
		return true
	}
	text := firstText(n)
	return strings.HasPrefix(text, "\u00A9") || len(text) >= len("copyright") && strings.EqualFold(text[:len("copyright")], "copyright")
}

func isNamedRights(n *html.Node) bool {
	for _, a := range n.Attr {
		if (a.Key == "class" || a.Key == "id") && strings.Contains(strings.ToLower(a.Val), "copyright") {
			return true
		}
	}
	return false
}

// firstText is the first text in an element that is not blank.
func firstText(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			if text := strings.TrimSpace(d.Data); text != "" {
				return text
			}
		}
	}
	return ""
}

// isManual reports whether an element is made for looking things up: a generator of manuals made
// it, or links can lead to its headings; and nothing in it can be pressed, runs or comes from
// elsewhere.
func isManual(n *html.Node, made bool) bool {
	headings, named := 0, 0
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Form, atom.Input, atom.Button, atom.Select, atom.Script, atom.Noscript, atom.Style, atom.Iframe, atom.Object,
			atom.Embed, atom.Canvas, atom.Svg, atom.Video:
			if !made || !isFitting(d) {
				return false
			}
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			headings++
			if isNamed(d) {
				named++
			}
		}
	}
	return made || headings > 0 && named*100 >= headings*mostOfNamed
}

// isFitting reports whether generators of manuals put an element into the text: icons, boxes in
// front of tasks, formulas, and buttons beside code.
func isFitting(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Svg:
		return true
	case atom.Input:
		return attr(n, "type") == "checkbox"
	case atom.Script:
		return strings.HasPrefix(attr(n, "type"), "math/")
	case atom.Button:
		return isBesideCode(n) || n.Parent != nil && isBesideCode(n.Parent)
	}
	return false
}

// mostBeside bounds the nodes that are looked at for code beside a button: each button looks.
const mostBeside = 100

// isBesideCode reports whether an element stands in preformatted text, or in an element with
// nothing else.
func isBesideCode(n *html.Node) bool {
	if n.Parent == nil || n.Parent.DataAtom == atom.Pre {
		return n.Parent != nil
	}
	code, nodes := false, 0
	for c := range n.Parent.ChildNodes() {
		if nodes++; nodes > mostBeside || c.Type == html.ElementNode && c != n && c.DataAtom != atom.Pre {
			return false
		}
		code = code || c.DataAtom == atom.Pre
	}
	return code
}

// makers are generators of manuals, which make nothing else, by the first word of their name.
var makers = map[string]bool{
	"antora": true, "asciidoctor": true, "docbook": true, "docfx": true, "docusaurus": true, "docutils": true, "dokka": true, "doxygen": true,
	"gitbook": true, "groff": true, "javadoc": true, "latex2html": true, "makeinfo": true, "mandoc": true, "mdbook": true, "mkdocs": true,
	"pdoc": true, "rustdoc": true, "sphinx": true, "starlight": true, "texinfo": true, "vitepress": true, "vuepress": true, "yard": true,
}

// makesManuals reports whether a program makes manuals, by the meta element "generator".
func makesManuals(generator string) bool {
	end := strings.IndexFunc(generator, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(generator)
	}
	return makers[strings.ToLower(generator[:end])]
}

// isNamed reports whether links can lead to a heading: it has a name, or something in it, an anchor
// right before it or the section that it begins.
func isNamed(heading *html.Node) bool {
	section := heading.Parent
	named := attr(heading, "id") != "" ||
		(section.DataAtom == atom.Section || attr(section, "class") == "section") && attr(section, "id") != ""
	for d := range heading.Descendants() {
		named = named || attr(d, "id") != "" || isAnchor(d)
	}
	before := heading.PrevSibling
	for before != nil && before.Type != html.ElementNode {
		before = before.PrevSibling
	}
	return named || before != nil && isAnchor(before)
}

func isAnchor(n *html.Node) bool { return n.DataAtom == atom.A && attr(n, "name") != "" }
