package content

import "slices"

// sum adds up what is kept.
func (s *selection) sum() {
	s.kept = make([]int32, len(s.page.All))
	for k, i := range s.page.Index {
		if s.keep[k] {
			s.kept[i] = s.page.All[i].Own
		}
	}
	for i := len(s.kept) - 1; i > 0; i-- {
		s.kept[s.page.All[i].Parent] += s.kept[i]
	}
}

func (s *selection) words() int32 { return s.kept[0] }

// mark notes the blocks that a caller knows for boilerplate.
func (s *selection) mark(is func(Block) bool) {
	if is == nil {
		return
	}
	k := 0
	Blocks(s.page.All[0].Node, func(b Block) bool {
		if is(b) {
			s.why[k] = boilerplate
		}
		k++
		return true
	})
}

// drop takes boilerplate out, unless nothing would be left.
func (s *selection) drop() {
	left := slices.Clone(s.keep)
	for k, why := range s.why {
		left[k] = left[k] && why != boilerplate
	}
	if slices.Contains(left, true) {
		s.keep = left
	}
}

func (s *selection) all() {
	for k := range s.keep {
		s.keep[k] = true
	}
}
