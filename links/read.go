package links

import (
	"bytes"
	"slices"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
)

// A TextReader receives the text of a page while its links are extracted, in document order: the
// text between tags, and the tags that say which part of the page it is in. So one pass over the
// page serves both. Slices are of the body, undecoded.
type TextReader interface {
	// Text receives pieces of the body, each of them between two tags, or the title; single
	// blanks are left out. Pieces come late, many at once, which is faster. Plain text, as in a
	// CDATA section, has no character references. Script, style and textarea have no text.
	Text(body []byte, pieces []Piece, plain bool)

	// Start receives a start tag named article, aside, footer, header, iframe, main, nav,
	// noframes, section, svg, template or time, or any that has a role attribute, but no shadow
	// root: that is a part of its host. To pass over the content of the element, it returns true;
	// the name must be shorter than 32 letters. The next call is then End for the end tag that
	// balances this one, if there is one. Only a frame of a rendered document comes between, with
	// the text and tags of its own document, if it is one of the page's site.
	Start(tag, role []byte) (pass bool)

	// End receives the end tags of the same names.
	End(tag []byte)
}

// A Piece is body[From:To].
type Piece struct{ From, To int }

// parts are the names of the tags that a TextReader always receives.
var parts = []string{"article", "aside", "footer", "header", "iframe", "main", "nav", "noframes", "section", "svg", "template", "time"}

// A lengthSet holds the lengths of some names by their first letter, as bits: these alone rule
// out most other names.
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

// watches reports whether the text reader receives a tag whatever its attributes are, or the tag
// counts for the depth of the element being passed over.
func (s *scanner) watches(name []byte) bool {
	if !s.watched.mayHave(name) {
		return false
	}
	if s.passing.name != nil {
		return bytes.EqualFold(name, s.passing.name)
	}
	return slices.ContainsFunc(parts, func(part string) bool { return markup.EqualFold(name, part) })
}

// A textOutput buffers what goes to a text reader.
type textOutput struct {
	reader  TextReader // or nil
	home    weburl.URL // of the page
	watched lengthSet  // names of the tags that it receives
	passing passing
	n       int // buffered pieces
	pieces  [128]Piece
}

// passing is the element being passed over.
type passing struct {
	name  []byte // nil: none is
	depth int    // open elements of that name
}

// addText buffers text, unless it is empty or a single blank, as so often between two tags.
func (s *scanner) addText(from, to int) {
	s.pieces[s.n] = Piece{from, to}
	if to > from+1 || to > from && s.Body[from] > ' ' {
		if s.n++; s.n == len(s.pieces) {
			s.flush(false)
		}
	}
}

// flush sends the buffered text, unless its element is being passed over.
func (s *scanner) flush(plain bool) {
	if s.n > 0 && s.passing.name == nil {
		s.reader.Text(s.Body, s.pieces[:s.n], plain)
	}
	s.n = 0
}

// sendText sends a piece of the body, after the buffered ones.
func (s *scanner) sendText(from, to int, plain bool) {
	if s.textOutput == nil {
		return
	}
	s.flush(false)
	s.addText(from, to)
	s.flush(plain)
}

// startPart sends a start tag. A tag that closes itself has no content.
func (s *scanner) startPart(name, role []byte, closed bool) {
	switch {
	case s.textOutput == nil || closed:
	case s.passing.name != nil:
		if s.watches(name) {
			s.passing.depth++
		}
	case role != nil || s.watches(name):
		s.flush(false)
		if s.reader.Start(name, role) && len(name) < 32 {
			s.passing = passing{name, 1}
			s.watched = lengthSet{}
			s.watched.add(string(name))
		}
	}
}

// isShadowRoot reports whether a start tag that has just been read is that of a shadow root, of
// which the reader receives the text.
func (s *scanner) isShadowRoot(name []byte, attributes int) bool {
	if s.textOutput == nil || s.passing.name != nil || !markup.EqualFold(name, "template") {
		return false
	}
	a := markup.Scanner{Body: s.Body[:s.Pos], Pos: attributes}
	for {
		key, _, ok := a.Attr()
		if !ok || markup.EqualFold(key, "shadowrootmode") {
			return ok
		}
	}
}

// endPart sends an end tag.
func (s *scanner) endPart(name []byte) {
	if s.textOutput == nil || !s.watches(name) {
		return
	}
	if s.passing.name != nil {
		if s.passing.depth--; s.passing.depth > 0 {
			return
		}
	}
	s.flush(false) // drops the text of an element being passed over
	s.passing, s.watched = passing{}, partLengths
	s.reader.End(name)
}
