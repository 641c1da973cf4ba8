package links

import (
	"bytes"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
)

// A positioner tells line and column of a position in a document, counted on from the last one.
// Positions come in order, but for the attributes of a tag: to go back costs the distance and at
// most the length of a line. So the time is linear.
type positioner struct {
	body    []byte // of the page, even within a srcdoc
	at      int    // the last position, in bytes
	lines   int    // that end before it; '\n' ends a line
	columns int    // characters between it and the last of these ends
}

// tell returns where a mention stands, counted from 1: its value, if the body has that as it is, or
// else the text that it was decoded from, or else the name of its tag. In a srcdoc that was
// decoded, it is where this is.
func (p *positioner) tell(m *Mention, tag []byte) (line, column int) {
	_ = p.find(m.Value) || p.find(m.from) || p.find(tag)
	return p.lines + 1, p.columns + 1
}

// find moves to a part of the body, without the white space before it, and reports whether it is
// one.
func (p *positioner) find(part []byte) bool {
	part = part[markup.SkipSpace(part, 0):]
	at := cap(p.body) - cap(part) // as both end with the same array
	if len(part) == 0 || at < 0 || at >= len(p.body) || &p.body[at] != &part[0] {
		return false
	}
	p.move(at)
	return true
}

func (p *positioner) move(at int) {
	passed := p.body[min(at, p.at):max(at, p.at)]
	lines := bytes.Count(passed, []byte("\n"))
	chars := utf8.RuneCount(passed)
	switch {
	case lines > 0:
		start := bytes.LastIndexByte(p.body[:at], '\n') + 1
		p.columns = utf8.RuneCount(p.body[start:at])
	case at < p.at:
		p.columns -= chars
	default:
		p.columns += chars
	}
	if at < p.at {
		lines = -lines
	}
	p.at, p.lines = at, p.lines+lines
}
