package appshell

import "bytes"

// element is one whose end tells something.
type element struct {
	name   []byte
	place  place
	main   bool   // content is expected within it
	before counts // at its start
}

// maxOpen is the most elements on a stack. Those that are nested deeper are not judged.
const maxOpen = 64

// stack are the open elements, outermost first.
type stack struct {
	elements [maxOpen]element
	n        int

	ignored, code, links, mains int // numbers of those among them
}

func (s *stack) push(e element) {
	if s.n == maxOpen {
		return
	}
	s.elements[s.n] = e
	s.n++
	s.count(&e, 1)
}

func (s *stack) pop() element {
	s.n--
	e := s.elements[s.n]
	s.count(&e, -1)
	return e
}

func (s *stack) count(e *element, by int) {
	if e.main {
		s.mains += by
	}
	switch e.place {
	case ignored, spinner, placeholder:
		s.ignored += by
	case code:
		s.code += by
	case link:
		s.links += by
	}
}

// find returns the position of the innermost element of a name, or -1.
func (s *stack) find(name []byte) int {
	for i := s.n - 1; i >= 0; i-- {
		if bytes.EqualFold(s.elements[i].name, name) {
			return i
		}
	}
	return -1
}
