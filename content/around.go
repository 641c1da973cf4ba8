package content

import (
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const besideContent = "beside the content"

// isText reports whether an element is a part of a text, such as a paragraph or a list, and never
// what holds one: where most pages of a site have one paragraph, others have two.
func isText(n *html.Node) bool {
	switch n.DataAtom {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Figure, atom.Figcaption,
		atom.Details, atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Tbody, atom.Tr:
		return true
	}
	return false
}

// fillBehind chooses the parts of a text that stand right behind the content, in the element around
// it: the first element there can be all of the content of most pages, and not of this one.
func (s *selection) fillBehind(main int32) {
	all := s.page.All
	around := s.outer(main)
	for i := range s.children(around) {
		e := &all[i]
		if i >= all[main].End && isText(e.Node) && e.Linked*2 < e.Words && besideRule(e.Node) == "" && !s.hasRights(i) {
			s.fillIn(i)
		}
	}
}

// outer is the smallest element around another that has more words, or the root.
func (s *selection) outer(i int32) int32 {
	words := s.page.All[i].Words
	for i > 0 && s.page.All[i].Words == words {
		i = s.page.All[i].Parent
	}
	return i
}

// hasRights reports whether a copyright line is in an element.
func (s *selection) hasRights(i int32) bool {
	first, _ := slices.BinarySearch(s.page.Index, i)
	last, _ := slices.BinarySearch(s.page.Index, s.page.All[i].End)
	return slices.ContainsFunc(s.page.Index[first:last], s.isRights)
}

// dropOthers leaves out what stands in the content behind its beginning, and what hardly any page
// of the site has as content, with the heading above it: links to other pages, comments, a form.
// Code stays, and what was chosen on this page, if judged says how many words of each element were.
func (s *selection) dropOthers(main int32, judged []int32, isBeside func(place uint64) bool) {
	if isBeside == nil {
		return
	}
	_, all := s.count()
	var d xxhash.Digest
	s.trunk(all, func(i int32, at uint64) bool {
		if i < main || i >= s.page.All[main].End {
			return true
		}
		begun, heading := false, int32(-1) // the content; right before an element
		for c := range s.children(i) {
			e := &s.page.All[c]
			switch {
			case isHeading(e.Node):
				heading = c
				continue
			case isText(e.Node) && e.Linked*2 < e.Words || all[c]*2 > all[0] || judged != nil && judged[c] > 0 || s.hasCode(c) ||
				!isBeside(place(&d, at, e.Node)):
				begun = true
			case begun:
				if heading < 0 {
					heading = c
				}
				s.leaveOut(heading, e.End)
			}
			heading = -1
		}
		return true
	})
}

// leaveOut leaves out all blocks from an element to the end of another.
func (s *selection) leaveOut(from, end int32) {
	first, _ := slices.BinarySearch(s.page.Index, from)
	for k := first; k < len(s.page.Index) && s.page.Index[k] < end; k++ {
		s.keep[k], s.why[k] = false, besideContent
	}
}

// hasCode reports whether code is in an element.
func (s *selection) hasCode(i int32) bool {
	return slices.ContainsFunc(s.page.All[i:s.page.All[i].End], func(e blocks.Element) bool { return e.Node.DataAtom == atom.Pre })
}

// children yields the elements right in another that have words.
func (s *selection) children(i int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for in := i + 1; in < s.page.All[i].End; in = s.page.All[in].End {
			if s.page.All[in].Words > 0 && !yield(in) {
				return
			}
		}
	}
}
