package content

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html/atom"
)

// When an element is content throughout, in percent.
const (
	mostOfText  = 85 // of the words that were chosen are in it
	mostOfSolid = 65 // of its words were chosen
	mostOfPlain = 40 // likewise, where nothing in it can be pressed: it is for reading
	mostOfShort = 25 // likewise, on a page of at most fewOfPage words outside of menus
	mostOfOuter = 95 // likewise, of an element around one that is content throughout
	fewOfPage   = 200
	mostOfMain  = 98 // of the words that are content are in the only element that is
	mostOfCode  = 40 // of the words around a page's only code were chosen
)

// Part is an element that holds most of a page, or one right in such an element that holds less.
type Part struct {
	Place uint64 // see Block
	// Of the former: all of it is content, but for menus in it, and hardly anything else is; of the
	// latter: some is.
	Main bool
}

// fill chooses all blocks of an element that is content throughout: headings, lists of links and
// short lines among paragraphs, which alone look like none. Menus in it, by their elements and
// roles, what stands beside an article, and what hardly any page of the site has as content, stay
// out. It returns the elements that hold most of the page, from the body inwards, and those right
// in them that hold less.
func (s *selection) fill(isBeside func(place uint64) bool) (trunk, beside []Part) {
	judged, all := s.count()
	chosen := judged
	main, solid := s.solid(judged, all)
	if solid {
		s.fillIn(main)
		if s.outer(main) > 0 {
			s.fillBehind(main)
		}
		s.beside()
		s.dropOthers(main, judged, isBeside)
		chosen, _ = s.count()
	}
	var d xxhash.Digest
	s.trunk(all, func(i int32, at uint64) bool {
		inside := solid && i >= main && i < s.page.All[main].End
		trunk = append(trunk, Part{Place: at, Main: inside && chosen[i]*100 >= chosen[0]*mostOfMain})
		for in := range s.children(i) {
			if all[in]*2 <= all[0] {
				beside = append(beside, Part{Place: place(&d, at, s.page.All[in].Node), Main: judged[in] > 0})
			}
		}
		return true
	})
	return trunk, beside
}

// fillMains chooses what is at the places where the content of the site's pages is, the parts of a
// text behind it, and nothing else; it reports whether there is something. Only in menus there
// blocks are looked at one by one. What stands beside an article, and what hardly any page of the
// site has as content, is none.
func (s *selection) fillMains(isMain, isBeside func(place uint64) bool) bool {
	mains := s.mains(isMain)
	if len(mains) == 0 {
		return false
	}
	if s.hasMenu(mains) {
		s.choose()
	}
	next := 0 // the main element that ends behind a block
	for k, i := range s.page.Index {
		for next < len(mains) && i >= s.page.All[mains[next]].End {
			next++
		}
		if next == len(mains) || i < mains[next] {
			s.keep[k], s.why[k] = false, besideContent
		}
	}
	for _, main := range mains {
		s.fillIn(main)
	}
	s.fillBehind(mains[len(mains)-1])
	s.beside()
	s.dropOthers(mains[0], nil, isBeside)
	return true
}

// mains are the elements where the content of the site's pages is, in their order, none in another.
func (s *selection) mains(isMain func(place uint64) bool) (mains []int32) {
	_, all := s.count()
	s.trunk(all, func(i int32, at uint64) bool {
		if mains = s.mainsIn(i, at, all, isMain); len(mains) == 0 && isMain(at) {
			mains = []int32{i}
		}
		return len(mains) == 0
	})
	return mains
}

// mainsIn are those in an element at a place. One that holds several is a main element itself: they
// are its parts.
func (s *selection) mainsIn(i int32, at uint64, all []int32, isMain func(place uint64) bool) (mains []int32) {
	var d xxhash.Digest
	for in := range s.children(i) {
		here := place(&d, at, s.page.All[in].Node)
		if all[in] == 0 || !isMain(here) {
			continue
		}
		if inner := s.mainsIn(in, here, all, isMain); len(inner) == 1 {
			in = inner[0]
		}
		mains = append(mains, in)
	}
	return mains
}

// hasMenu reports whether there is a menu in some elements.
func (s *selection) hasMenu(mains []int32) bool {
	return slices.ContainsFunc(mains, func(main int32) bool {
		for i := main + 1; i < s.page.All[main].End; i++ {
			if isMenu(&s.page.All[i]) {
				return true
			}
		}
		return false
	})
}

// trunk calls yield for the elements that hold most of the words of the page, outside of menus,
// from the body inwards, with their places, until it returns false: for those that can hold a text.
func (s *selection) trunk(all []int32, yield func(i int32, at uint64) bool) {
	var d xxhash.Digest
	at := uint64(0)
	for i := int32(0); i >= 0; {
		at = place(&d, at, s.page.All[i].Node)
		if !isText(s.page.All[i].Node) && !yield(i, at) {
			return
		}
		most := int32(-1)
		for in := i + 1; in < s.page.All[i].End && most < 0; in = s.page.All[in].End {
			if all[in]*2 > all[0] {
				most = in
			}
		}
		i = most
	}
}

// fillIn chooses all blocks of an element, but for menus in it.
func (s *selection) fillIn(main int32) {
	first, _ := slices.BinarySearch(s.page.Index, main)
	beyond := int32(0) // the end of a menu
	for k := first; k < len(s.page.Index) && s.page.Index[k] < s.page.All[main].End; k++ {
		i := s.page.Index[k]
		if beyond = max(beyond, s.menuEnd(i, main)); i >= beyond {
			s.keep[k] = true
		}
	}
}

// solid finds the smallest element that can hold a text and has most of it, and reports whether
// most of it is text.
func (s *selection) solid(chosen, all []int32) (main int32, solid bool) {
	if chosen[0] == 0 {
		return 0, false
	}
	main = s.core(chosen)
	for isText(s.page.All[main].Node) {
		main = s.page.All[main].Parent
	}
	around := main
	for prose := s.prose(); around > 0 && prose[around] == 0; {
		around = s.page.All[around].Parent
	}
	if around > 0 && chosen[around]*100 >= all[around]*mostOfCode {
		main = around // a few lines about code look like none of a page's text
	}
	if plain := s.plain(main, chosen, all); plain > 0 {
		return plain, true
	}
	return main, chosen[main]*100 >= all[main]*mostOfSolid
}

// core is the smallest element that has most of what was chosen.
func (s *selection) core(chosen []int32) (core int32) {
	if chosen[0] == 0 {
		return 0
	}
	for next := core; next >= 0; {
		next = -1
		for i := core + 1; i < s.page.All[core].End; i = s.page.All[i].End {
			if chosen[i]*100 >= chosen[0]*mostOfText {
				next = i
			}
		}
		if next >= 0 {
			core = next
		}
	}
	return core
}

// prose counts the words of each element that are no code.
func (s *selection) prose() []int32 {
	code, words := make([]bool, len(s.page.All)), make([]int32, len(s.page.All))
	for i := range s.page.All {
		e := &s.page.All[i]
		code[i] = e.Node.DataAtom == atom.Pre || i > 0 && code[e.Parent]
		if !code[i] {
			words[i] = e.Own
		}
	}
	for i := len(words) - 1; i > 0; i-- {
		words[s.page.All[i].Parent] += words[i]
	}
	return words
}

// count counts the words of each element that were chosen, and all outside of menus.
func (s *selection) count() (chosen, all []int32) {
	chosen, all = make([]int32, len(s.page.All)), make([]int32, len(s.page.All))
	beyond := int32(0)
	for k, i := range s.page.Index {
		if beyond = max(beyond, s.menuEnd(i, 0)); i < beyond {
			continue
		}
		all[i] = s.page.All[i].Own
		if s.keep[k] {
			chosen[i] = all[i]
		}
	}
	for i := len(all) - 1; i > 0; i-- {
		parent := s.page.All[i].Parent
		chosen[parent], all[parent] = chosen[parent]+chosen[i], all[parent]+all[i]
	}
	return chosen, all
}

// menuEnd returns where the outermost menu around an element ends, or 0.
func (s *selection) menuEnd(i, within int32) (end int32) {
	for ; i > within; i = s.page.All[i].Parent {
		if isMenu(&s.page.All[i]) {
			end = s.page.All[i].End
		}
	}
	return end
}

func isMenu(e *blocks.Element) bool {
	switch e.Node.DataAtom {
	case atom.Nav, atom.Footer, atom.Form:
		return true
	case atom.Aside: // or an abstract, or a note beside the text
		return e.Linked*2 > e.Words
	}
	switch attr(e.Node, "role") {
	case "navigation", "search", "complementary", "contentinfo", "banner":
		return true
	}
	return false
}

// plain returns the largest element around another that is for reading and of which enough was
// chosen, or 0.
func (s *selection) plain(i int32, chosen, all []int32) (plain int32) {
	controls, enough := s.controls(), int32(mostOfPlain)
	if all[0] <= fewOfPage {
		enough = mostOfShort
	}
	for ; i > 0 && controls[i] == 0; i = s.page.All[i].Parent {
		if chosen[i]*100 >= all[i]*enough {
			plain = i
		}
		enough = mostOfOuter
	}
	return plain
}

// controls counts what readers can press or fill in in each element: shops and forums have buttons
// beside what they list, manuals have not.
func (s *selection) controls() []int32 {
	n := make([]int32, len(s.page.All))
	for i := len(n) - 1; i > 0; i-- {
		switch s.page.All[i].Node.DataAtom {
		case atom.Form, atom.Input, atom.Button, atom.Select, atom.Video:
			n[i]++
		}
		n[s.page.All[i].Parent] += n[i]
	}
	return n
}
