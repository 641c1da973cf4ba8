package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// notes are the footnotes of a page.
type notes struct {
	byRef map[*html.Node]*note // the links that refer to them
	all   []*note              // in the order of the first reference
	refs  map[string]bool      // ids of references, to which notes link back

	titles map[string]bool     // headings above notes
	skip   map[*html.Node]bool // elements that are left out, as the notes take their place
}

// note is a footnote.
type note struct {
	number int
	target *html.Node // the element that has the id
}

// mostNotes bounds the footnotes of a page; references beyond stay links.
const mostNotes = 10_000

// findNotes finds the footnotes that links in a tree refer to, also on the page that it is a part
// of, unless that is nil.
func findNotes(root, page *html.Node, refs []*html.Node) notes {
	if refs == nil {
		return notes{}
	}
	ids := idsOf(root, nil)
	if page != nil {
		ids = idsOf(page, ids)
	}
	s := notes{
		byRef: make(map[*html.Node]*note), refs: make(map[string]bool), titles: make(map[string]bool),
		skip: make(map[*html.Node]bool),
	}
	known := make(map[*html.Node]*note)
	for _, ref := range refs {
		target := ids[attr(ref, "href")[1:]]
		if !isNote(target) || isWithin(ref, target) {
			continue
		}
		one := known[target]
		if one == nil {
			one = &note{len(s.all) + 1, target}
			known[target] = one
			s.all = append(s.all, one)
		}
		s.byRef[ref] = one
		for n := ref; n != nil && !isBlock(n); n = n.Parent {
			s.named(n)
		}
		for d := range ref.Descendants() {
			s.named(d)
		}
		if p := ref.PrevSibling; p != nil {
			s.named(p)
		}
	}
	for _, one := range s.all {
		s.skip[one.target] = true
		if one.target.DataAtom == atom.Dt {
			if dd := nextElement(one.target); dd != nil {
				s.skip[dd] = true
			}
		}
		s.skipContainer(one.target)
	}
	if page != nil && len(s.titles) > 0 {
		s.skipTitlesIn(root)
	}
	return s
}

// skipTitle leaves out what stands above footnotes.
func (s *notes) skipTitle(title *html.Node) {
	s.skip[title] = true
	s.titles[strings.TrimSpace(textOf(title, longestTitle))] = true
}

// skipTitlesIn leaves out such titles with nothing below them in a tree that lacks the notes: these
// were found on the page of which it is the content.
func (s *notes) skipTitlesIn(root *html.Node) {
	for n := range root.Descendants() {
		if (isHeadingAtom(n.DataAtom) || isRubric(n)) && s.titles[strings.TrimSpace(textOf(n, longestTitle))] {
			if next := nextElement(n); next == nil || isHeadingAtom(next.DataAtom) {
				s.skip[n] = true
			}
		}
	}
}

// isRubric reports whether a paragraph is a title, as Sphinx writes them.
func isRubric(n *html.Node) bool { return n.DataAtom == atom.P && hasClass(n, "rubric") }

// longestTitle is the most bytes that are compared of a title.
const longestTitle = 100

// named notes the names of an element that a footnote may link back to.
func (s *notes) named(n *html.Node) {
	for _, key := range []string{"id", "name"} {
		if name := attr(n, key); name != "" {
			s.refs[name] = true
		}
	}
}

// skipContainer leaves out what remains of a list of footnotes: its title and its rule.
func (s *notes) skipContainer(target *html.Node) {
	for n, i := target.Parent, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		if !isNotes(n) {
			continue
		}
		if p := previousElement(n); p != nil && p.DataAtom == atom.Hr {
			s.skip[p] = true
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			switch {
			case child.DataAtom == atom.Hr, child.DataAtom == atom.Br:
				s.skip[child] = true
			case isHeadingAtom(child.DataAtom):
				s.skipTitle(child)
			}
		}
	}
	for n, i := target, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		if p := previousElement(n); p != nil && isRubric(p) {
			s.skipTitle(p)
		}
	}
	for n := target.Parent; n != nil && (n.DataAtom == atom.Ol || n.DataAtom == atom.Dl || n.DataAtom == atom.Ul); n = nil {
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			if child.Type == html.ElementNode && !s.skip[child] {
				return
			}
		}
		s.skip[n] = true
		s.skipHeading(n)
	}
}

// skipHeading leaves out the heading and the rule above a list of footnotes, unless something else
// stands under the heading.
func (s *notes) skipHeading(list *html.Node) {
	for n, i := list, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		title, next := previousElement(n), nextElement(n)
		for ; title != nil && title.DataAtom == atom.Hr; title = previousElement(title) {
			s.skip[title] = true
		}
		switch {
		case title != nil && isHeadingAtom(title.DataAtom) && (next == nil || isHeadingAtom(next.DataAtom) && next.Data <= title.Data):
			s.skipTitle(title)
			return
		case title != nil || next != nil:
			return
		}
	}
}

// isNoteRef reports whether a link looks like a reference to a footnote.
func isNoteRef(n *html.Node) bool {
	if href := attr(n, "href"); len(href) < 2 || href[0] != '#' {
		return false
	}
	if attr(n, "role") == "doc-noteref" || hasClass(n, "footnote-ref", "footnote-reference", "footnote", "footnoteref", "noteref") {
		return true
	}
	inSup := n.Parent != nil && n.Parent.DataAtom == atom.Sup
	for child := n.FirstChild; child != nil && !inSup; child = child.NextSibling {
		inSup = child.DataAtom == atom.Sup
	}
	if !inSup {
		return false
	}
	text := strings.Trim(textOf(n, 12), "[]() \n\u00A0")
	if text == "" || len(text) > 8 {
		return false
	}
	_, err := strconv.Atoi(text)
	return err == nil || len(text) == 1 || strings.Trim(text, "*†‡§") == ""
}

// isNote reports whether an element may be a footnote: an item, or marked as one.
func isNote(n *html.Node) bool {
	if n == nil {
		return false
	}
	switch n.DataAtom {
	case atom.Li, atom.Dt, atom.Aside:
		return true
	case atom.Div, atom.P, atom.Td, atom.Tr, atom.Dd, atom.Section:
		return hasClass(n, "footnote", "fn", "footnote-item", "footnotebody", "footdef") || attr(n, "role") == "doc-footnote" || n.DataAtom == atom.P || isNotes(n.Parent)
	}
	return false
}

func isNotes(n *html.Node) bool {
	return n != nil && (hasClass(n, "footnotes", "footnote-list", "references", "reflist", "endnotes") || attr(n, "role") == "doc-endnotes")
}

func isWithin(n, outer *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// idsOf adds the elements of a tree to a table by their ids, unless they are in it.
func idsOf(root *html.Node, ids map[string]*html.Node) map[string]*html.Node {
	if ids == nil {
		ids = make(map[string]*html.Node)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if id := attr(n, "id"); id != "" && ids[id] == nil {
			ids[id] = n
		}
	}
	return ids
}

// isBack reports whether a link leads from a footnote to where it is referred to.
func (s *notes) isBack(n *html.Node) bool {
	if s.byRef == nil {
		return false
	}
	href := attr(n, "href")
	return len(href) > 1 && href[0] == '#' && s.byRef[n] == nil && s.refs[href[1:]] ||
		attr(n, "role") == "doc-backlink" || hasClass(n, "footnote-backref", "footnote-back", "fn-backref")
}

// isBacks reports whether an element is links back and what parts them, as in "(1,2)", with which a
// note begins that is referred to several times.
func (s *notes) isBacks(n *html.Node) bool {
	found := false
	var only func(n *html.Node) bool
	only = func(n *html.Node) bool {
		switch {
		case n.Type == html.TextNode:
			return !strings.ContainsFunc(n.Data, isLetterOrDigit)
		case n.DataAtom == atom.A && s.isBack(n):
			found = true
			return true
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			if !only(child) {
				return false
			}
		}
		return true
	}
	return n.Type == html.ElementNode && only(n) && found
}

// noted writes a link that refers to a footnote, and reports whether it does.
func (c *converter) noted(n *html.Node) bool {
	one := c.notes.byRef[n]
	if one == nil {
		return false
	}
	mark := "[^" + strconv.Itoa(one.number) + "]"
	if c.Text {
		mark = "[" + strconv.Itoa(one.number) + "]"
	}
	if c.run.inside[code] == 0 {
		c.run.space = noSpace
		c.run.raw(mark)
	}
	return true
}

// writeNotes writes the footnotes.
func (c *converter) writeNotes() {
	for _, one := range c.notes.all {
		delete(c.notes.skip, one.target)
		lead, prefix := "[^"+strconv.Itoa(one.number)+"]: ", "    "
		if c.Text {
			lead, prefix = "["+strconv.Itoa(one.number)+"] ", ""
		}
		c.out.within(lead, prefix, false, func() {
			body := one.target
			if body.DataAtom == atom.Dt {
				if dd := nextElement(body); dd != nil {
					body = dd
				}
			}
			for child := body.FirstChild; child != nil; child = child.NextSibling {
				if !isLabel(child) && !c.notes.isBacks(child) {
					c.node(child)
				}
			}
			c.endRun()
		})
	}
}

// isLabel reports whether an element is the number that stands before a footnote.
func isLabel(n *html.Node) bool { return hasClass(n, "label", "footnote-label", "mw-cite-backlink") }

// survey marks the inline elements that have blocks in them, which are containers, and returns the
// links that look like references to footnotes.
func (c *converter) survey(root *html.Node) (refs []*html.Node) {
	for n := root.FirstChild; n != nil; n = following(n, root) {
		switch {
		case n.Type != html.ElementNode:
		case isBlock(n):
			for p := n.Parent; p != nil && p != root && !isBlock(p) && !c.outer[p]; p = p.Parent {
				c.outer[p] = true
			}
		case n.DataAtom == atom.A && len(refs) < mostNotes && isNoteRef(n):
			refs = append(refs, n)
		}
	}
	return refs
}
