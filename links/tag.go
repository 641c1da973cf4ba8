package links

import "github.com/weftcrawl/weft/internal/markup"

// A Tag is a start tag of a page, valid until the next one.
type Tag struct {
	Name       []byte // as written
	x          *Extractor
	attributes []byte // the text behind the name
}

// Attr returns the value of an attribute by its name in lower case, decoded, and whether the tag
// has it.
func (t *Tag) Attr(name string) (value []byte, ok bool) {
	s := markup.Scanner{Body: t.attributes}
	for {
		key, raw, ok := s.Attr()
		if !ok {
			return nil, false
		}
		if markup.EqualFold(key, name) {
			return t.x.attrs.decode(raw), true
		}
	}
}

// Position returns line and column, from 1, at which the tag begins: see [Options].Positions.
func (t *Tag) Position() (line, column int) {
	line, column = t.x.places.tell(&Mention{}, t.Name)
	return line, column - 1
}
