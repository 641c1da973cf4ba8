package links

import "bytes"

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
	xml  bool // CDATA sections exist

	text []byte // what stood before the last token, undecoded
	name []byte // name of the last tag, as written

	selfClosing bool // the tag just read ended in "/>"
	cut         bool // the body ended within the tag: it is not a tag then
}

type token uint8

const (
	eof token = iota
	startTag
	endTag
	other // comment, doctype, processing instruction
)

// next moves to the next token. The pieces of text before tokens, put together,
// are the page's text.
func (s *scanner) next() token {
	from := s.pos
	for at := from; ; at++ {
		i := bytes.IndexByte(s.body[at:], '<')
		if i < 0 {
			break
		}
		at += i
		if at+1 == len(s.body) {
			break
		}
		switch c := s.body[at+1]; {
		case isLetter(c):
			s.text = s.body[from:at]
			s.readName(at + 1)
			return startTag
		case c == '/':
			if at+2 == len(s.body) {
				break // out of the switch: "</" at the end is text
			}
			s.text = s.body[from:at]
			if isLetter(s.body[at+2]) {
				s.readName(at + 2)
				return endTag
			}
			s.pos = after(s.body, at+2, ">")
			return other
		case c == '!':
			s.text = s.body[from:at]
			s.pos = s.declaration(at + 2)
			return other
		case c == '?':
			s.text = s.body[from:at]
			s.pos = after(s.body, at+2, ">")
			return other
		}
		// Any other '<' is text.
	}
	s.text = s.body[from:]
	s.pos = len(s.body)
	return eof
}

// readName reads the tag name at from (tag name state).
func (s *scanner) readName(from int) {
	end := from
	for end < len(s.body) && !isSpace(s.body[end]) && s.body[end] != '/' && s.body[end] != '>' {
		end++
	}
	s.name = s.body[from:end]
	s.pos = end
	s.selfClosing, s.cut = false, false
}

// declaration returns where what follows "<!" ends. A doctype ends at its
// first '>' like a bogus comment: even in quotes, that byte ends it.
func (s *scanner) declaration(from int) int {
	switch rest := s.body[from:]; {
	case bytes.HasPrefix(rest, []byte("--")):
		return commentEnd(s.body, from+2)
	case s.xml && bytes.HasPrefix(rest, []byte("[CDATA[")):
		return after(s.body, from+7, "]]>")
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
	for at++; at < len(body) && !isSpace(body[at]) && body[at] != '/' && body[at] != '>' && body[at] != '='; at++ {
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
	for at < len(body) && !isSpace(body[at]) && body[at] != '>' {
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

// skip moves behind the tag. Only quotes can hide its '>', so without them
// there is no need to read the attributes.
func (s *scanner) skip() {
	rest := s.body[s.pos:]
	end := bytes.IndexByte(rest, '>')
	if end < 0 {
		s.cutOff()
		return
	}
	if rest = rest[:end]; bytes.IndexByte(rest, '"') < 0 && bytes.IndexByte(rest, '\'') < 0 {
		s.pos += end + 1
		return
	}
	for ok := true; ok; {
		_, _, ok = s.attr()
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

// isSpace is HTML's ASCII white space.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
