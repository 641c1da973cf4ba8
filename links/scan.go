package links

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A scanner cuts markup into tags, after the tokenizer of the HTML Standard:
// https://html.spec.whatwg.org/multipage/parsing.html#tokenization.
//
// Its user calls next; after a start or end tag it reads the attributes with
// attr until there are no more, or calls skip, and if the tag opens raw text,
// rawText. Slices point into the body, undecoded.
//
// Invariant: pos never goes back, and every search for a byte ends where pos
// goes, or at the end of the body, after which nothing is left to scan. So
// the time is linear.
type scanner struct {
	body []byte
	pos  int
	xml  bool // tags can close themselves

	sections bool // CDATA sections exist

	text        []byte // what stood before the last token, undecoded
	from        int    // where it stands
	name        []byte // name of the last tag, as written
	cdata       []byte // of a CDATA section that was the last token, its text; else nil
	sectionFrom int    // where that stands
	style       []byte // of a tag that was skipped, its style attribute; else nil
	role        []byte // the same, its role attribute

	only bool // nothing matters but text
	*telling

	element *element // of a start tag, nil if it does not matter

	selfClosing bool // the tag just read ended in "/>"
	cut         bool // the body ended within the tag: it is not a tag then
}

type token uint8

const (
	eof token = iota
	startTag
	endTag
	other   // comment, doctype, processing instruction, CDATA section
	skipped // a start tag that matters for its style or role attribute only, and was skipped; of seek
)

// next moves to the next token. The pieces of text before tokens, put together,
// are the page's text.
func (s *scanner) next() token {
	body, from := s.body, s.pos
	s.cdata, s.from = nil, from
	for at := from; ; at++ {
		if at >= len(body) || body[at] != '<' { // often a tag stands just behind a tag
			i := bytes.IndexByte(body[at:], '<')
			if i < 0 {
				break
			}
			at += i
		}
		if at+1 == len(body) {
			break
		}
		c := body[at+1]
		if isLetter(c) {
			s.text = body[from:at]
			s.readName(at + 1)
			s.element = lookupElement(s.name)
			return startTag
		}
		switch c {
		case '/':
			if at+2 == len(body) {
				break // out of the switch: "</" at the end is text
			}
			s.text = body[from:at]
			if isLetter(body[at+2]) {
				s.readName(at + 2)
				return endTag
			}
			s.pos = after(body, at+2, ">")
			return other
		case '!':
			s.text = body[from:at]
			s.pos = s.declaration(at + 2)
			return other
		case '?':
			s.text = body[from:at]
			s.pos = after(body, at+2, ">")
			return other
		}
		// Any other '<' is text.
	}
	s.text = body[from:]
	s.pos = len(body)
	return eof
}

// seek moves to the next token that matters for links, if no text and no end tag does:
// a start tag of one of elements, one with a style attribute (which is then skipped), or
// another token than a tag; with a reader of text, also the tags that matter for that. It is
// next and skip, again and again, with no note of what is passed but for that reader:
// this is where most of a page goes by.
func (s *scanner) seek() token {
	body, at := s.body, s.pos
	reads := s.telling != nil
	s.cdata = nil
	for {
		text := at                              // where it begins
		if at >= len(body) || body[at] != '<' { // often a tag stands just behind a tag
			if at = indexByte(body, at, '<'); at < 0 {
				s.text, s.from, s.pos = body[text:], text, len(body)
				return eof
			}
		}
		from := at + 1
		if from < len(body) && body[from] == '/' {
			from++
		}
		if from >= len(body) || classes[body[from]]&letter == 0 {
			s.pos = text
			return s.next()
		}
		end := from + 1
		for end < len(body) && classes[body[end]]&endsTagName == 0 {
			end++
		}
		isEnd := from == at+2
		if reads && s.told.mayHave(body[from:end]) && s.tells(body[from:end]) {
			s.text, s.from, s.name, s.pos = body[text:at], text, body[from:end], end
			s.selfClosing, s.cut = false, false
			if isEnd {
				return endTag
			}
			s.element = lookupElement(s.name)
			return startTag
		}
		if isEnd && end < len(body) && body[end] == '>' {
			if reads {
				s.note(text, at)
			}
			at = end + 1
			continue
		}
		if !isEnd {
			if e := lookupElement(body[from:end]); e != nil && (!s.only || e.raw || e.root) {
				s.text, s.from, s.element = body[text:at], text, e
				s.name, s.pos = body[from:end], end
				s.selfClosing, s.cut = false, false
				return startTag
			}
		}
		after, style, role := skipPlain(body, end)
		if after < 0 {
			s.pos = end
			s.skip()
			after, style, role = s.pos, s.style, s.role
			if s.cut {
				style, role = nil, nil
			}
		}
		if !isEnd && (style != nil || reads && role != nil) {
			s.text, s.from = body[text:at], text
			s.name, s.style, s.role, s.pos = body[from:end], style, role, after
			return skipped
		}
		if reads {
			s.note(text, at)
		}
		at = after
	}
}

// indexByte returns where c is first at or behind at, or -1. Most of what is looked for
// is some bytes away: the first 16 are looked at here, eight at a time, before the call
// to what is faster on more.
func indexByte(body []byte, at int, c byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for range 2 {
		if at+8 > len(body) {
			break
		}
		x := binary.LittleEndian.Uint64(body[at:]) ^ ones*uint64(c)
		if found := (x - ones) &^ x & highs; found != 0 { // its lowest bit is that of the first byte that is c
			return at + bits.TrailingZeros64(found)/8
		}
		at += 8
	}
	if i := bytes.IndexByte(body[at:], c); i >= 0 {
		return at + i
	}
	return -1
}

// skipPlain returns where the tag ends whose attributes begin at at, and its style and role
// attributes, if it is a plain one as nearly all are: each attribute is a space, a name
// and a value in double quotes. Else it returns -1.
func skipPlain(body []byte, at int) (end int, style, role []byte) {
	at = skipClass(body, at)
	for at < len(body) {
		switch body[at] {
		case '>':
			return at + 1, style, role
		case ' ', '\n':
			at++
			continue
		}
		from := at
		for at < len(body) && classes[body[at]]&endsAttrName == 0 {
			at++
		}
		if at == from || at+1 >= len(body) || body[at] != '=' || body[at+1] != '"' {
			return -1, nil, nil
		}
		name := body[from:at]
		at += len(`="`)
		quote := indexByte(body, at, '"')
		if quote < 0 {
			return -1, nil, nil
		}
		switch {
		case len(name) == len("style") && style == nil && equalFold(name, "style"):
			style = body[at:quote]
		case len(name) == len("role") && role == nil && equalFold(name, "role"):
			role = body[at:quote]
		}
		at = quote + 1
	}
	return -1, nil, nil
}

// readName reads the tag name at from (tag name state).
func (s *scanner) readName(from int) {
	body, end := s.body, from+1
	for end < len(body) && classes[body[end]]&endsTagName == 0 {
		end++
	}
	s.name = body[from:end]
	s.pos = end
	s.selfClosing, s.cut = false, false
}

// declaration returns where what follows "<!" ends. A doctype ends at its
// first '>' like a bogus comment: even in quotes, that byte ends it.
func (s *scanner) declaration(from int) int {
	switch rest := s.body[from:]; {
	case bytes.HasPrefix(rest, []byte("--")):
		return commentEnd(s.body, from+2)
	case s.sections && bytes.HasPrefix(rest, []byte("[CDATA[")):
		text := from + len("[CDATA[")
		end := after(s.body, text, "]]>")
		s.sectionFrom, s.cdata = text, bytes.TrimSuffix(s.body[text:end], []byte("]]>"))
		return end
	}
	return after(s.body, from, ">")
}

// commentEnd returns where a comment ends whose text begins at from: after
// "-->" or "--!>", or at once after ">" or "->".
func commentEnd(body []byte, from int) int {
	if text := body[from:]; bytes.HasPrefix(text, []byte(">")) {
		return from + 1
	} else if bytes.HasPrefix(text, []byte("->")) {
		return from + 2
	}
	for at := from; ; {
		end := after(body, at, ">")
		text := body[from:end]
		if bytes.HasSuffix(text, []byte("-->")) || bytes.HasSuffix(text, []byte("--!>")) || end == len(body) {
			return end
		}
		at = end
	}
}

// after returns the position after the next stop at or behind from, or the end.
func after(body []byte, from int, stop string) int {
	if i := bytes.Index(body[from:], []byte(stop)); i >= 0 {
		return from + i + len(stop)
	}
	return len(body)
}

// attr reads the next attribute of a tag: its name as written, and its value
// without quotes, never nil. ok is false after the last one, and pos is then
// behind the tag. An attribute can come twice: the first one counts.
func (s *scanner) attr() (name, value []byte, ok bool) {
	body, at := s.body, s.pos
	// Before attribute name state. A '/' has no meaning but just before '>'.
	for at < len(body) && (isSpace(body[at]) || body[at] == '/') {
		at++
	}
	if at == len(body) {
		return s.cutOff()
	}
	if body[at] == '>' {
		s.selfClosing = at > s.pos && body[at-1] == '/'
		s.pos = at + 1
		return nil, nil, false
	}

	// Attribute name state. A '=' in front belongs to the name.
	from := at
	for at++; at < len(body) && classes[body[at]]&endsAttrName == 0; at++ {
	}
	name = body[from:at]
	at = skipSpace(body, at)
	if at == len(body) {
		return s.cutOff()
	}
	if body[at] != '=' {
		s.pos = at
		return name, body[at:at], true
	}

	// Before attribute value state. A '>' here ends the tag: the value is missing.
	at = skipSpace(body, at+1)
	if at == len(body) {
		return s.cutOff()
	}
	switch quote := body[at]; quote {
	case '"', '\'':
		n := bytes.IndexByte(body[at+1:], quote)
		if n < 0 {
			return s.cutOff()
		}
		s.pos = at + 1 + n + 1
		return name, body[at+1 : at+1+n], true
	}
	from = at
	for at < len(body) && classes[body[at]]&endsUnquoted == 0 {
		at++
	}
	s.pos = at
	return name, body[from:at], true
}

// cutOff ends a tag that the body's end has cut.
func (s *scanner) cutOff() (name, value []byte, ok bool) {
	s.pos = len(s.body)
	s.cut = true
	return nil, nil, false
}

// skipClass returns where a class attribute ends that stands at at, as ` class="…"`, or
// at: most attributes there are, and none is read. Its beginning is eight bytes.
func skipClass(body []byte, at int) int {
	const begin = ` class="`
	if at+len(begin) > len(body) || string(body[at:at+len(begin)]) != begin {
		return at
	}
	if end := indexByte(body, at+len(begin), '"'); end >= 0 {
		return end + 1
	}
	return at
}

// skip moves behind the tag, and notes its style and role attributes.
func (s *scanner) skip() {
	s.cut = false
	end, style, role := skipPlain(s.body, s.pos)
	s.style, s.role = style, role
	if end >= 0 {
		s.pos = end
		return
	}
	for {
		name, value, ok := s.attr()
		switch {
		case !ok:
			return
		case s.style == nil && equalFold(name, "style"):
			s.style = value
		case s.role == nil && equalFold(name, "role"):
			s.role = value
		}
	}
}

// rawText moves to the end tag of the raw text element name, or to the end of
// the body, and returns what stood before it.
func (s *scanner) rawText(name string) []byte {
	from := s.pos
	if name == "script" {
		s.pos = scriptEnd(s.body, from)
		return s.body[from:s.pos]
	}
	for at := from; name != "plaintext"; at += len("</") {
		i := bytes.Index(s.body[at:], []byte("</"))
		if i < 0 {
			break
		}
		if at += i; startsTag(s.body[at+len("</"):], name) {
			s.pos = at
			return s.body[from:at]
		}
	}
	s.pos = len(s.body)
	return s.body[from:]
}

// scriptEnd returns where the end tag of a script is (script data states). In
// "<!--" to "-->" a script is escaped, as pages of 1996 hid theirs from browsers
// without scripts; there, "<script" hides the next "</script".
func scriptEnd(body []byte, from int) int {
	escaped, hidden := false, false
	for at := from; ; at++ {
		i := bytes.IndexByte(body[at:], '<')
		if i < 0 {
			return len(body)
		}
		if escaped && bytes.Contains(body[at:at+i], []byte("-->")) {
			escaped, hidden = false, false
		}
		at += i
		switch rest := body[at:]; {
		case bytes.HasPrefix(rest, []byte("</")) && startsTag(rest[2:], "script"):
			if !hidden {
				return at
			}
			hidden = false
		case !escaped && bytes.HasPrefix(rest, []byte("<!--")):
			escaped = true
			at++ // the dashes may already be those of "-->"
		case escaped && startsTag(rest[1:], "script"):
			hidden = true
		}
	}
}

// startsTag reports whether b starts with the whole tag name, which is in lower case.
func startsTag(b []byte, name string) bool {
	if len(b) <= len(name) || !equalFold(b[:len(name)], name) {
		return false
	}
	c := b[len(name)]
	return isSpace(c) || c == '/' || c == '>'
}

// equalFold reports whether s is name, which is in lower case, but for ASCII case.
func equalFold[S ~string | ~[]byte](s S, name string) bool {
	if len(s) != len(name) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && isSpace(b[at]) {
		at++
	}
	return at
}

// What a byte means, as bits of classes.
const (
	space        = 1 << iota // HTML's ASCII white space
	letter                   // of ASCII
	endsTagName              // space, '/' and '>'
	endsAttrName             // these and '='
	endsUnquoted             // space and '>'
)

var classes = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			table[c] = space | endsTagName | endsAttrName | endsUnquoted
		case c == '>':
			table[c] = endsTagName | endsAttrName | endsUnquoted
		case c == '/':
			table[c] = endsTagName | endsAttrName
		case c == '=':
			table[c] = endsAttrName
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			table[c] = letter
		}
	}
	return table
}()

func isSpace(c byte) bool  { return classes[c]&space != 0 }
func isLetter(c byte) bool { return classes[c]&letter != 0 }
