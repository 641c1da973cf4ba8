package text

import (
	"bytes"

	"github.com/weftcrawl/weft/links"
)

// What a part of a page is.
type role uint8

const (
	pass    role = iota + 1 // passed over
	stamped                 // passed over, if every element has its end
	nav                     // furniture
	edge                    // furniture where it is in no section
	section                 // what the edges in it belong to
	box                     // furniture if its role attribute says so, as is a section or an edge
)

// elements are those that are not text like any other. They are known to links, too:
// [links.TextReader] has the names of those that it tells of without a role attribute.
var elements = []struct {
	name string
	role role
}{
	{"article", section}, {"aside", edge}, {"div", box}, {"footer", edge}, {"form", box}, {"header", edge},
	{"iframe", pass}, {"main", section}, {"nav", nav}, {"noframes", pass}, {"ol", box}, {"p", box}, {"section", section},
	{"span", box}, {"svg", pass}, {"table", box}, {"template", pass}, {"time", stamped}, {"ul", box},
}

// furnitureRoles are the values of role that say furniture (WAI-ARIA's landmarks).
var furnitureRoles = []string{"banner", "contentinfo", "navigation"}

// roleOf returns 0 for a tag that does not matter.
func roleOf(name []byte) role {
	for _, e := range elements {
		if len(e.name) == len(name) && bytes.EqualFold(name, []byte(e.name)) {
			return e.role
		}
	}
	return 0
}

// parts is which part of a page is read.
type parts struct {
	whole   bool // furniture is read, too
	broken  bool // and what says when: some such element has no end
	inner   int  // article, main and section that are open
	passed  bool // furniture was passed over
	passing bool // an element is passed over now
}

// A listener is a Reader that links tells of a page.
type listener Reader

func (l *listener) Text(body []byte, pieces []links.Piece, plain bool) {
	(*Reader)(l).fill(body, pieces, plain)
}

func (l *listener) Start(tag, says []byte) (passes bool) {
	p, role := &l.parts, roleOf(tag)
	switch {
	case role == pass || role == stamped && !p.broken:
		p.passing = true
	case !p.whole && (role == nav || role == edge && p.inner == 0 || role != 0 && saysFurniture(says)):
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

// saysFurniture reports whether the first of the roles in a value is one of furniture.
func saysFurniture(value []byte) bool {
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
