package links

import "bytes"

// A TextReader is told of the text of a page while its links are looked for, in the order
// in which it stands: of what is between tags, and of those tags that say what part of the
// page it is. So one pass over the page does for both. Slices are of the body, undecoded.
type TextReader interface {
	// Text is told of what stands between two tags, or is the title. Plain text, as in a CDATA
	// section, has no character references. Script, style and textarea have no text.
	Text(text []byte, plain bool)

	// Start is told of a start tag, if its name is one of article, aside, footer, header,
	// iframe, main, nav, noframes, section, svg, template and time, or if it has a role
	// attribute; it may be told of others. If it wants nothing of what is in the element it
	// returns true, and is told of the end tag that balances this one next, if any does.
	Start(tag, role []byte) (pass bool)

	// End is told of the end tags of the same names, and perhaps of others.
	End(tag []byte)
}

// parts are the names that a TextReader is always told of, by their first letter and length.
var parts = func() (index [32][longestName + 1]string) {
	for _, name := range []string{"article", "aside", "footer", "header", "iframe", "main", "nav", "noframes", "section", "svg", "template", "time"} {
		slot := &index[name[0]&0x1f][len(name)]
		if *slot != "" {
			panic("links: two parts of a letter and a length")
		}
		*slot = name
	}
	return index
}()

// tells reports whether a tag matters for the reader of text, whatever its attributes are.
func (s *scanner) tells(name []byte) bool {
	if s.passed != nil {
		return bytes.EqualFold(name, s.passed)
	}
	if len(name) > longestName {
		return false
	}
	part := parts[name[0]&0x1f][len(name)]
	return part != "" && equalFold(name, part)
}

// tell tells of text, if there is some and it is wanted.
func (s *scanner) tell(text []byte, plain bool) {
	if s.reader != nil && s.passed == nil && len(text) > 0 {
		s.reader.Text(text, plain)
	}
}

// start tells of a start tag. What is closed by itself has no content.
func (s *scanner) start(name, role []byte, closed bool) {
	switch {
	case s.reader == nil || closed:
	case s.passed == nil:
		if s.reader.Start(name, role) {
			s.passed, s.depth = name, 1
		}
	case bytes.EqualFold(name, s.passed):
		s.depth++
	}
}

// end tells of an end tag.
func (s *scanner) end(name []byte) {
	switch {
	case s.reader == nil:
		return
	case s.passed != nil && !bytes.EqualFold(name, s.passed):
		return
	case s.passed != nil:
		if s.depth--; s.depth > 0 {
			return
		}
		s.passed = nil
	}
	s.reader.End(name)
}
