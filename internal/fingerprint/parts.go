package fingerprint

import (
	"bytes"

	"github.com/weftcrawl/weft/links"
)

// A role is the way to read a part of a page.
type role uint8

const (
	pass    role = iota + 1 // passed over
	stamped                 // passed over, if every such element ends
	nav                     // furniture
	edge                    // furniture outside of sections
	section                 // edges in it belong to it
	box                     // furniture if its role attribute says so; so are sections and edges
)

// elements are the elements that are not ordinary text. Package links knows some of them too:
// [links.TextReader] lists the elements that it receives without a role attribute.
var elements = []struct {
	name string
	role role
}{
	{"article", section}, {"aside", edge}, {"div", box}, {"footer", edge}, {"form", box}, {"header", edge},
	{"iframe", pass}, {"main", section}, {"nav", nav}, {"noframes", pass}, {"ol", box}, {"p", box}, {"section", section},
	{"span", box}, {"svg", pass}, {"table", box}, {"template", pass}, {"time", stamped}, {"ul", box},
}

// furnitureRoles are the values of role for furniture (landmarks of WAI-ARIA).
var furnitureRoles = []string{"banner", "contentinfo", "navigation"}

// roleOf returns the role of a tag, 0 if it does not matter.
func roleOf(name []byte) role {
	for _, e := range elements {
		if len(e.name) == len(name) && bytes.EqualFold(name, []byte(e.name)) {
			return e.role
		}
	}
	return 0
}

// parts is the position within the parts of a page.
type parts struct {
	whole   bool // furniture is read, too
	broken  bool // so are stamps: some such element has no end
	inner   int  // open article, main and section elements
	passed  bool // furniture was passed over
	passing bool // an element is being passed over
}

// A listener is a Reader as the links.TextReader of a page.
type listener Reader

func (l *listener) Text(body []byte, pieces []links.Piece, plain bool) {
	(*Reader)(l).fill(body, pieces, plain)
}

func (l *listener) Start(tag, attr []byte) (passes bool) {
	p, role := &l.parts, roleOf(tag)
	switch {
	case role == pass || role == stamped && !p.broken:
		p.passing = true
	case !p.whole && (role == nav || role == edge && p.inner == 0 || role != 0 && namesFurniture(attr)):
		p.passing, p.passed = true, true
	case role == section:
		p.inner++
	}
	return p.passing
}

func (l *listener) End(tag []byte) {
	p := &l.parts
	switch {
	case p.passing:
		p.passing = false
	case p.inner > 0 && roleOf(tag) == section:
		p.inner--
	}
}

// namesFurniture reports whether the first role in the value of a role attribute is furniture.
func namesFurniture(value []byte) bool {
	for first := range bytes.FieldsSeq(value) {
		for _, name := range furnitureRoles {
			if bytes.EqualFold(first, []byte(name)) {
				return true
			}
		}
		return false
	}
	return false
}
