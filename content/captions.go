package content

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	longestCaption = 100 // words
	mostOfFigure   = 200 // nodes of a figure in which its picture is looked for
)

// captions keeps the captions of pictures in the core: where a reader sees the picture, its caption
// belongs to it, although the text is whole without either.
func (s *selection) captions() {
	all, core := s.page.All, s.core(s.kept)
	k, found := 0, false
	for i := core; i < all[core].End; i++ {
		for k < len(s.page.Index) && s.page.Index[k] < i {
			k++
		}
		e := &all[i]
		if e.Node.DataAtom != atom.Figcaption || e.Words > longestCaption || !s.amid(i) || !inFigure(e.Node) {
			continue
		}
		for at := k; at < len(s.page.Index) && s.page.Index[at] < e.End; at++ {
			s.keep[at] = s.keep[at] || s.why[at] == ""
			found = true
		}
	}
	if found {
		s.sum()
	}
}

// inFigure reports whether a caption is that of a picture.
func inFigure(caption *html.Node) bool {
	figure := caption.Parent
	for figure != nil && figure.DataAtom != atom.Figure {
		figure = figure.Parent
	}
	if figure == nil {
		return false
	}
	looked := 0
	for n := range figure.Descendants() {
		if looked++; n.DataAtom == atom.Img || looked == mostOfFigure {
			return n.DataAtom == atom.Img
		}
	}
	return false
}

// amid reports whether the smallest element with words around another keeps most of them. A figure
// counts as part of the element around it.
func (s *selection) amid(element int32) bool {
	all := s.page.All
	for element > 0 && (all[element].Words == 0 || all[element].Node.DataAtom == atom.Figure || all[element].Node.DataAtom == atom.Figcaption) {
		element = all[element].Parent
	}
	return s.kept[element]*2 > all[element].Words
}
