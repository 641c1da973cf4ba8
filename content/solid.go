package content

import (
	"golang.org/x/net/html"
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
	mostOfCode  = 40 // of the words around a page's only code were chosen
)

// fill chooses all blocks of the smallest element that has most of the text, if most of it is text:
// headings, lists of links and short lines among paragraphs, which alone look like none. Menus in
// it, by their elements and roles, stay out.
func (s *selection) fill() {
	chosen, all := s.count()
	if chosen[0] == 0 {
		return
	}
	main := int32(0)
	for next := main; next >= 0; {
		next = -1
		for i := main + 1; i < s.page.All[main].End; i = s.page.All[i].End {
			if chosen[i]*100 >= chosen[0]*mostOfText {
				next = i
			}
		}
		if next >= 0 {
			main = next
		}
	}
	around := main
	for prose := s.prose(); around > 0 && prose[around] == 0; {
		around = s.page.All[around].Parent
	}
	if around > 0 && chosen[around]*100 >= all[around]*mostOfCode {
		main = around // a few lines about code look like none of a page's text
	}
	solid := chosen[main]*100 >= all[main]*mostOfSolid
	if plain := s.plain(main, chosen, all); plain > 0 {
		main, solid = plain, true
	}
	if !solid {
		return
	}
	beyond := int32(0) // the end of a menu
	for k, i := range s.page.Index {
		if i < main || i >= s.page.All[main].End {
			continue
		}
		if beyond = max(beyond, s.menuEnd(i, main)); i >= beyond {
			s.keep[k] = true
		}
	}
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
		if isMenu(s.page.All[i].Node) {
			end = s.page.All[i].End
		}
	}
	return end
}

func isMenu(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Aside, atom.Footer, atom.Form:
		return true
	}
	switch attr(n, "role") {
	case "navigation", "search", "complementary", "contentinfo", "banner":
		return true
	}
	return false
}

// plain returns the largest element around another that is for reading and of which enough was
// chosen, or 0.
func (s *selection) plain(i int32, chosen, all []int32) (plain int32) {
	controls, enough := s.controls(), int32(mostOfPlain)
	for ; i > 0 && controls[i] == 0; i = s.page.All[i].Parent {
		if all[0] <= fewOfPage {
			enough = mostOfShort
		}
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
