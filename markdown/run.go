package markdown

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// run is the inline content since the last block: its text, as readers see it, and what stands in
// that. A line feed is a line break. Marks and escapes come when it is written, for only then the
// characters on both sides of them are known.
type run struct {
	plain  bool // there are no spans
	text   []byte
	spans  []span // in document order, the outer before the inner
	space  space
	open   []int      // spans whose elements are open
	inside [kinds]int // number of each that these are in
}

// span is a part of a run.
type span struct {
	kind       kind
	start, end int    // in the text
	target     string // of a link; the name of the element that raises or lowers
	title      string // of a link
	again      bool   // it goes on from another paragraph
}

// kind is the type of a span.
type kind byte

const (
	strong kind = iota
	emphasis
	deleted
	raised
	linked
	code
	raw // Markdown, to be written as it is
	kinds
)

// unended is the end of a span whose element is open.
const unended = int(^uint(0) >> 1)

// space is the white space that is due before the next character.
type space byte

const (
	noSpace  space = iota
	blank          // a blank
	lineFeed       // one with a line feed, which is nothing between two letters of Chinese or Japanese
)

// span converts what is in an element of the line. Where that ends the run, the span goes on in the
// next.
func (r *run) span(s span, content func()) {
	if r.plain {
		content()
		return
	}
	r.enter(s)
	content()
	r.leave()
}

// enter begins a span.
func (r *run) enter(s span) {
	s.start, s.end = len(r.text), unended
	r.open = append(r.open, len(r.spans))
	r.spans = append(r.spans, s)
	r.inside[s.kind]++
}

// leave ends the span that has begun last, and returns it.
func (r *run) leave() *span {
	last := len(r.open) - 1
	s := &r.spans[r.open[last]]
	s.end = len(r.text)
	r.open = r.open[:last]
	r.inside[s.kind]--
	return s
}

// begin begins a run, in which the spans that are open go on.
func (r *run) begin() {
	for i, at := range r.open { // which is i at least
		s := r.spans[at]
		s.start, s.again = 0, true
		r.spans[i], r.open[i] = s, i
	}
	r.text, r.spans, r.space = r.text[:0], r.spans[:len(r.open)], noSpace
}

// apart converts content to a run of its own.
func (r *run) apart(content func()) {
	outer, open := *r, slices.Clone(r.open)
	r.text, r.spans = nil, slices.Clone(outer.spans)
	r.begin()
	content()
	r.text, r.spans, r.space, r.open = outer.text, outer.spans, outer.space, open
}

// write adds text.
func (r *run) write(s string) {
	r.due(s)
	r.text = append(r.text, s...)
}

// raw adds Markdown. Code and plain text have none.
func (r *run) raw(s string) {
	r.due(s)
	if start := len(r.text); !r.plain && r.inside[code] == 0 {
		r.spans = append(r.spans, span{kind: raw, start: start, end: start + len(s)})
	}
	r.text = append(r.text, s...)
}

// due adds the white space that is due before s.
func (r *run) due(s string) {
	was := r.space
	r.space = noSpace
	if was == noSpace || len(r.text) == 0 || isSpace(r.text[len(r.text)-1]) {
		return
	}
	if was == lineFeed && r.text[len(r.text)-1] >= utf8.RuneSelf && s != "" && s[0] >= utf8.RuneSelf {
		before, _ := utf8.DecodeLastRune(r.text)
		after, _ := utf8.DecodeRuneInString(s)
		if isWide(before) && isWide(after) { // CSS Text 3, section 4.1.3
			return
		}
	}
	r.text = append(r.text, ' ')
}

// add adds text in which white space collapses.
func (r *run) add(s string) {
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !control[s[i]] {
			i++
		}
		if start < i {
			r.due(s[start:])
			r.text = append(r.text, s[start:i]...)
			continue
		}
		switch b := s[i]; {
		case b == '\n' || b == '\r':
			r.space = lineFeed
		case b == ' ' || b == '\t' || b == '\f':
			r.space = max(r.space, blank)
		case b == 0xC2:
			i += r.latin(s[i:])
			continue
		}
		i++
	}
}

// latin adds a character from U+0080 to U+00BF.
func (r *run) latin(s string) int {
	switch {
	case len(s) < 2 || s[1] < 0xA0 || s[1] == 0xAD: // broken, a control character, a soft hyphen
	case s[1] == 0xA0:
		r.space = max(r.space, blank)
	default:
		r.due(s)
		r.text = append(r.text, s[:2]...)
	}
	return min(2, len(s))
}

// outsideCode converts what no code can hold: code ends before it, and goes on behind.
func (r *run) outsideCode(content func()) {
	if r.inside[code] == 0 || r.plain {
		content()
		return
	}
	r.leave()
	content()
	r.enter(span{kind: code})
}

// breakLine begins a new line where a block would begin, in a cell or in a heading.
func (r *run) breakLine(flat bool) {
	r.space = noSpace
	switch {
	case len(r.text) == 0, r.text[len(r.text)-1] == '\n', bytes.HasSuffix(r.text, []byte(bullet)):
	case r.plain || flat:
		r.space = blank
	default:
		r.outsideCode(func() { r.text = append(r.text, '\n') })
	}
}

// isWide reports whether a character is one of Chinese or Japanese, which put no blank between
// words.
func isWide(r rune) bool {
	return r >= 0x2E80 && r <= 0xA4CF && r != 0x3000 || r >= 0xF900 && r <= 0xFAFF || r >= 0xFF00 && r <= 0xFF60 || r >= 0x20000 && r <= 0x3FFFF
}
