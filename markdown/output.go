package markdown

import (
	"bytes"
)

// output is the text written so far, in blocks, and the place of the next one.
type output struct {
	text  []byte
	doc   Document
	place place
}

// place is the position of the next block.
type place struct {
	prefix []byte // the beginning of its lines
	lead   []byte // the beginning of its first line, if that differs: a marker is due
	gap    gap
	tight  bool // the blocks of an item follow without an empty line
	depth  int
	marker byte // of the last list, if nothing has followed it
	terms  bool // that was one of definitions
}

// gap is the separation of two blocks.
type gap byte

const (
	noGap   gap = iota // the next block is the first
	newLine            // as between items
	emptyLine
)

// block writes the lines of a block.
func (o *output) block(lines ...string) {
	p := &o.place
	if p.gap != noGap && p.lead == nil && len(o.text) > 0 {
		// Also in a tight list, whose items may follow one another directly.
		o.text = append(append(o.text, bytes.TrimRight(p.prefix, " ")...), '\n')
	}
	if o.outermost() {
		o.doc.Blocks = append(o.doc.Blocks, len(o.text))
	}
	for i, line := range lines {
		before := p.prefix
		if i == 0 && p.lead != nil {
			before = p.lead
		}
		if line == "" {
			before = bytes.TrimRight(before, " ")
		}
		o.text = append(append(append(o.text, before...), line...), '\n')
	}
	o.written()
}

// written notes that something was written: what follows is another block.
func (o *output) written() {
	p := &o.place
	p.lead, p.marker, p.terms = nil, 0, false
	p.gap = emptyLine
	if p.tight {
		p.gap = newLine
	}
}

// within converts the content of a container whose first line begins with lead, and its others
// with prefix, each behind what lines here begin with. Without content there is no container.
func (o *output) within(lead, prefix string, tight bool, content func()) {
	outer := o.place
	if outer.depth >= deepest {
		content()
		return
	}
	before, blocks := len(o.text), len(o.doc.Blocks)
	first := outer.prefix
	if outer.lead != nil {
		first = outer.lead
	}
	if outer.gap == emptyLine && len(o.text) > 0 {
		o.text = append(append(o.text, bytes.TrimRight(outer.prefix, " ")...), '\n')
	}
	if o.outermost() {
		o.doc.Blocks = append(o.doc.Blocks, len(o.text))
	}
	o.place = place{
		lead:   append(bytes.Clone(first), lead...),
		prefix: append(bytes.Clone(outer.prefix), prefix...),
		tight:  tight, depth: outer.depth + 1,
	}
	content()
	if o.place.lead != nil { // nothing was in it
		o.text, o.doc.Blocks = o.text[:before], o.doc.Blocks[:blocks]
		o.place = outer
		return
	}
	o.place = outer
	o.written()
}

// outermost reports whether the next block stands in no container.
func (o *output) outermost() bool { return len(o.place.prefix) == 0 && o.place.lead == nil }

// heading lists a heading, which is written next.
func (o *output) heading(level int, text string) {
	if !o.outermost() {
		return
	}
	offset := len(o.text)
	if offset > 0 && o.place.gap != noGap {
		offset++
	}
	o.doc.Headings = append(o.doc.Headings, Heading{offset, level, text})
}

// document returns what was written.
func (o *output) document() Document {
	o.doc.Text = string(o.text)
	return o.doc
}

// marker is that of a list, which differs from that of a list directly before: they would be one.
func (o *output) marker(numbered bool) byte {
	first, second := byte('-'), byte('*')
	if numbered {
		first, second = '.', ')'
	}
	if o.place.marker == first {
		return second
	}
	return first
}

// termMarker is that of a list of definitions. Several in a row are one.
func (o *output) termMarker() byte {
	if o.place.terms {
		return o.place.marker
	}
	return o.marker(false)
}

// dropRule removes a rule at the end: it divides nothing.
func (o *output) dropRule() {
	if rest, found := bytes.CutSuffix(o.text, []byte("\n---\n")); found && len(o.doc.Blocks) > 0 {
		if last := len(o.doc.Blocks) - 1; o.doc.Blocks[last] == len(rest)+1 {
			o.text, o.doc.Blocks = rest, o.doc.Blocks[:last]
			o.dropRule()
		}
	}
}
