package markup

import "bytes"

// A Scanner cuts HTML into tags.
//
// Its user calls Next; after a start or end tag it reads the attributes with Attr until there
// are no more, and if the tag opens raw text, calls RawText. Slices point into the body,
// undecoded.
//
// Invariant: Pos never goes back, and every search for a byte ends where Pos goes, or at the
// end of the body, after which nothing is left to scan. So the time is linear.
type Scanner struct {
	Body []byte
	Pos  int

	Sections bool // CDATA sections exist

	Text      []byte // the text before the last token, undecoded
	From      int    // its position
	Name      []byte // name of the last tag, as written
	CDATA     []byte // text of the CDATA section that was the last token; else nil
	CDATAFrom int    // its position

	SelfClosing bool // the tag just read ended in "/>"
	Cut         bool // the body ended within the tag, which then is none
}

// A Token is a find of Next.
type Token uint8

// The tokens.
const (
	EOF Token = iota
	StartTag
	EndTag
	Other // comment, doctype, processing instruction, CDATA section
)

// Next moves to the next token. The pieces of text before tokens, put together, are the
// page's text.
func (s *Scanner) Next() Token {
	body, from := s.Body, s.Pos
	s.CDATA, s.From = nil, from
	for at := from; ; at++ {
		if at >= len(body) || body[at] != '<' { // often a tag follows a tag
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
		if IsLetter(c) {
			s.Text = body[from:at]
			s.readName(at + 1)
			return StartTag
		}
		switch c {
		case '/':
			if at+2 == len(body) {
				break // out of the switch: "</" at the end is text
			}
			s.Text = body[from:at]
			if IsLetter(body[at+2]) {
				s.readName(at + 2)
				return EndTag
			}
			s.Pos = After(body, at+2, ">")
			return Other
		case '!':
			s.Text = body[from:at]
			s.Pos = s.declaration(at + 2)
			return Other
		case '?':
			s.Text = body[from:at]
			s.Pos = After(body, at+2, ">")
			return Other
		}
		// Any other '<' is text.
	}
	s.Text = body[from:]
	s.Pos = len(body)
	return EOF
}

// readName reads the tag name at from (tag name state).
func (s *Scanner) readName(from int) {
	body, end := s.Body, from+1
	for end < len(body) && !EndsTagName(body[end]) {
		end++
	}
	s.Name = body[from:end]
	s.Pos = end
	s.SelfClosing, s.Cut = false, false
}

// declaration returns the end of what follows "<!". A doctype ends at its first '>' like a
// bogus comment: even in quotes, that byte ends it.
func (s *Scanner) declaration(from int) int {
	switch rest := s.Body[from:]; {
	case bytes.HasPrefix(rest, []byte("--")):
		return commentEnd(s.Body, from+2)
	case s.Sections && bytes.HasPrefix(rest, []byte("[CDATA[")):
		text := from + len("[CDATA[")
		end := After(s.Body, text, "]]>")
		s.CDATAFrom, s.CDATA = text, bytes.TrimSuffix(s.Body[text:end], []byte("]]>"))
		return end
	}
	return After(s.Body, from, ">")
}

// commentEnd returns the end of the comment whose text begins at from: after "-->" or "--!>",
// or at once after ">" or "->".
func commentEnd(body []byte, from int) int {
	if text := body[from:]; bytes.HasPrefix(text, []byte(">")) {
		return from + 1
	} else if bytes.HasPrefix(text, []byte("->")) {
		return from + 2
	}
	for at := from; ; {
		end := After(body, at, ">")
		text := body[from:end]
		if bytes.HasSuffix(text, []byte("-->")) || bytes.HasSuffix(text, []byte("--!>")) || end == len(body) {
			return end
		}
		at = end
	}
}

// Attr reads the next attribute of a tag: its name as written, and its value without quotes,
// never nil. After the last one ok is false and Pos is after the tag. If an attribute occurs
// twice, the first one counts.
func (s *Scanner) Attr() (name, value []byte, ok bool) {
	body, at := s.Body, s.Pos
	// Before attribute name state. A '/' has no meaning except just before '>'.
	for at < len(body) && (IsSpace(body[at]) || body[at] == '/') {
		at++
	}
	if at == len(body) {
		return s.cutOff()
	}
	if body[at] == '>' {
		s.SelfClosing = at > s.Pos && body[at-1] == '/'
		s.Pos = at + 1
		return nil, nil, false
	}

	// Attribute name state. A '=' in front belongs to the name.
	from := at
	for at++; at < len(body) && !EndsAttrName(body[at]); at++ {
	}
	name = body[from:at]
	at = SkipSpace(body, at)
	if at == len(body) {
		return s.cutOff()
	}
	if body[at] != '=' {
		s.Pos = at
		return name, body[at:at], true
	}

	// Before attribute value state. A '>' here ends the tag: the value is missing.
	at = SkipSpace(body, at+1)
	if at == len(body) {
		return s.cutOff()
	}
	switch quote := body[at]; quote {
	case '"', '\'':
		n := bytes.IndexByte(body[at+1:], quote)
		if n < 0 {
			return s.cutOff()
		}
		s.Pos = at + 1 + n + 1
		return name, body[at+1 : at+1+n], true
	}
	from = at
	for at < len(body) && classes[body[at]]&endsUnquoted == 0 {
		at++
	}
	s.Pos = at
	return name, body[from:at], true
}

// cutOff ends a tag that the end of the body cuts.
func (s *Scanner) cutOff() (name, value []byte, ok bool) {
	s.Pos = len(s.Body)
	s.Cut = true
	return nil, nil, false
}

// RawText moves to the end tag of the raw text element name, or to the end of the body, and
// returns the text before it.
func (s *Scanner) RawText(name string) []byte {
	from := s.Pos
	if name == "script" {
		s.Pos = ScriptEnd(s.Body, from)
		return s.Body[from:s.Pos]
	}
	for at := from; name != "plaintext"; at += len("</") {
		i := bytes.Index(s.Body[at:], []byte("</"))
		if i < 0 {
			break
		}
		if at += i; StartsTag(s.Body[at+len("</"):], name) {
			s.Pos = at
			return s.Body[from:at]
		}
	}
	s.Pos = len(s.Body)
	return s.Body[from:]
}

// ScriptEnd returns the position of the end tag of the script whose text begins at from
// (script data states). From "<!--" to "-->" a script is escaped, as pages of 1996 hid theirs
// from browsers without scripts; there, "<script" hides the next "</script".
func ScriptEnd(body []byte, from int) int {
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
		case bytes.HasPrefix(rest, []byte("</")) && StartsTag(rest[2:], "script"):
			if !hidden {
				return at
			}
			hidden = false
		case !escaped && bytes.HasPrefix(rest, []byte("<!--")):
			escaped = true
			at++ // the dashes may already be those of "-->"
		case escaped && StartsTag(rest[1:], "script"):
			hidden = true
		}
	}
}

// StartsTag reports whether b starts with the whole tag name, which is in lower case.
func StartsTag(b []byte, name string) bool {
	if len(b) <= len(name) || !EqualFold(b[:len(name)], name) {
		return false
	}
	return EndsTagName(b[len(name)])
}
