package links

import (
	"bytes"
	"slices"

	"github.com/weftcrawl/weft/internal/markup"
)

// A TextReader is told of the text of a page while its links are looked for, in the order
// in which it stands: of what is between tags, and of those tags that say what part of the
// page it is. So one pass over the page does for both. Slices are of the body, undecoded.
type TextReader interface {
	// Text is told of pieces of the body, each of which stands between two tags, or is the
	// title; not of single blanks. It is told late, of many at once, which is faster. Plain
	// text, as in a CDATA section, has no character references. Script, style and textarea
	// have no text.
	Text(body []byte, pieces []Piece, plain bool)

	// Start is told of a start tag, if its name is one of article, aside, footer, header,
	// iframe, main, nav, noframes, section, svg, template and time, or if it has a role
	// attribute. If it wants nothing of what is in the element, whose name has less than 32
	// letters, it returns true, and is told of the end tag that balances this one next, if any
	// does.
	Start(tag, role []byte) (pass bool)

	// End is told of the end tags of the same names.
	End(tag []byte)
}

// A Piece is body[From:To].
type Piece struct{ From, To int }

// parts are the names that a TextReader is always told of.
var parts = []string{"article", "aside", "footer", "header", "iframe", "main", "nav", "noframes", "section", "svg", "template", "time"}

// A lengthSet has the lengths of some names, by their first letter, as bits: most other
// names are told by these alone.
type lengthSet [32]uint32

func (l *lengthSet) add(name string) { l[name[0]&0x1f] |= 1 << len(name) }

// mayHave reports whether a name may be one of the set. It begins with a letter.
func (l *lengthSet) mayHave(name []byte) bool { return l[name[0]&0x1f]>>len(name)&1 != 0 }

var partLengths = func() (l lengthSet) {
	for _, name := range parts {
		l.add(name)
	}
	return l
}()

// tells reports whether the reader of text is told of a tag, whatever its attributes are, or
// it counts for how deep what is passed over is.
func (s *scanner) tells(name []byte) bool {
	if !s.told.mayHave(name) {
		return false
	}
	if s.passed != nil {
		return bytes.EqualFold(name, s.passed)
	}
	return slices.ContainsFunc(parts, func(part string) bool { return markup.EqualFold(name, part) })
}

// A telling is what a reader of text is to be told.
type telling struct {
	reader TextReader // or nil
	told   lengthSet  // of the names that it is told of
	passed []byte     // the element that it passes over, or nil
	depth  int        // elements of that name that are open
	n      int        // pieces that it is not yet told of
	pieces [128]Piece
}

// note notes text, unless it is nothing or a single blank, as so often stands between two tags.
func (s *scanner) note(from, to int) {
	s.pieces[s.n] = Piece{from, to}
	if to > from+1 || to > from && s.Body[from] > ' ' {
		if s.n++; s.n == len(s.pieces) {
			s.tell(false)
		}
	}
}

// tell tells of the text that was noted, if it is wanted.
func (s *scanner) tell(plain bool) {
	if s.n > 0 && s.passed == nil {
		s.reader.Text(s.Body, s.pieces[:s.n], plain)
	}
	s.n = 0
}

// tellNow tells of a piece of the body, and of what was noted before.
func (s *scanner) tellNow(from, to int, plain bool) {
	if s.telling == nil {
		return
	}
	s.tell(false)
	s.note(from, to)
	s.tell(plain)
}

// start tells of a start tag. What is closed by itself has no content.
func (s *scanner) start(name, role []byte, closed bool) {
	switch {
	case s.telling == nil || closed:
	case s.passed != nil:
		if s.tells(name) {
			s.depth++
		}
	case role != nil || s.tells(name):
		s.tell(false)
		if s.reader.Start(name, role) && len(name) < 32 {
			s.passed, s.depth = name, 1
			s.told = lengthSet{}
			s.told.add(string(name))
		}
	}
}

// end tells of an end tag.
func (s *scanner) end(name []byte) {
	if s.telling == nil || !s.tells(name) {
		return
	}
	if s.passed != nil {
		if s.depth--; s.depth > 0 {
			return
		}
	}
	s.tell(false) // what was noted in an element that is passed over is forgotten
	s.passed, s.told = nil, partLengths
	s.reader.End(name)
}
