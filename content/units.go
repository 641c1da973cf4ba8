package content

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// unite keeps or leaves a list, a table or the like as a whole, where its blocks were judged one by
// one; a menu in it stays out if it was, and so does what a rule has left out. One with few links
// that stands behind what is kept, beside a paragraph that is, is content however short it is.
func (s *selection) unite() {
	all := s.page.All
	for k := 0; k < len(s.page.Index); {
		i := s.unit(s.page.Index[k])
		if i == 0 {
			k++
			continue
		}
		e, end, kept := &all[i], k, int32(0)
		for ; end < len(s.page.Index) && s.page.Index[end] < e.End; end++ {
			if s.keep[end] {
				kept += all[s.page.Index[end]].Own
			}
		}
		keep := kept*2 >= e.Words
		switch {
		case kept == 0:
			keep = s.why[k] == "" && e.Linked*2 < e.Words && s.follows(k, i)
		case e.Words*2 > all[0].Words: // a page that is a list: of posts, of products
			k = end
			continue
		}
		beyond := int32(0) // the end of a menu
		for ; k < end; k++ {
			at := s.page.Index[k]
			beyond = max(beyond, s.menuEnd(at, i))
			s.keep[k] = keep && (at >= beyond && s.why[k] == "" || s.keep[k])
		}
	}
}

// unit is the outermost list, table or quotation around an element, or 0.
func (s *selection) unit(i int32) (unit int32) {
	for ; i > 0; i = s.page.All[i].Parent {
		switch s.page.All[i].Node.DataAtom {
		case atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.Details:
			unit = i
		}
	}
	return unit
}

// follows reports whether a unit, whose first block is k, stands behind a block that is kept,
// beside a paragraph that is. A heading between them is kept with the unit.
func (s *selection) follows(k int, unit int32) bool {
	all, index := s.page.All, s.page.Index
	for unit > 0 && all[all[unit].Parent].Words == all[unit].Words {
		unit = all[unit].Parent
	}
	if unit == 0 || isMenu(&all[unit]) {
		return false
	}
	parent, before := all[unit].Parent, k-1
	headed := before > 0 && all[index[before]].Parent == parent && isHeading(all[index[before]].Node)
	if headed {
		before--
	}
	if before < 0 || !s.keep[before] {
		return false
	}
	for j := before; j >= 0 && index[j] > parent; j-- {
		e := &all[index[j]]
		if s.keep[j] && e.Parent == parent && isParagraph(e) {
			s.keep[k-1] = true
			return true
		}
	}
	return false
}

// isHeading reports whether an element is the title of a section.
func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}
