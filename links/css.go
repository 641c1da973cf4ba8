package links

import (
	"bytes"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
)

// A cssScanner finds the URLs of CSS: those of url(), and the strings of @import and of image-set()
// (CSS Images Module Level 4, section 2.4). It reads comments, strings and escapes as CSS Syntax
// Module Level 3, section 4, defines them, and ignores the rest of the grammar.
//
// Invariant: pos never goes back, so the time is linear.
type cssScanner struct {
	text []byte
	pos  int
	buf  []byte // the last URL, if it had escapes

	from, to int // of the last string or URL in text, without its quotes

	imports bool // an @import awaits its URL
	ignored bool // a @namespace does, whose URL is no link
	font    bool // in @font-face
	option  bool // a string would be an image of image-set()
	depth   int  // of parentheses
	set     int  // the depth within image-set(); 0: not in one
}

// next returns the next URL and its kind.
func (s *cssScanner) next() (url []byte, kind Kind, ok bool) {
	t := s.text
	for s.pos < len(t) {
		c := t[s.pos]
		switch {
		case c == '/' && s.pos+1 < len(t) && t[s.pos+1] == '*':
			s.pos = markup.After(t, s.pos+2, "*/")
		case c == '"' || c == '\'':
			image := s.option
			s.option = false
			if url, ok = s.quoted(); ok && s.imports {
				s.imports = false
				return url, KindStyle, true
			}
			if ok && image && len(url) > 0 {
				return url, KindImage, true
			}
		case c == '@':
			s.pos++
			name := s.name()
			s.imports, s.ignored = markup.EqualFold(name, "import"), markup.EqualFold(name, "namespace")
			s.font = markup.EqualFold(name, "font-face")
		case isNameByte(c):
			s.option = false
			name := s.name()
			if s.pos == len(t) || t[s.pos] != '(' {
				continue
			}
			s.pos++
			s.open(name)
			if !markup.EqualFold(name, "url") {
				continue
			}
			if url, ok = s.argument(); ok && len(url) > 0 && !s.ignored {
				kind = s.kind()
				s.imports = false
				return url, kind, true
			}
		default:
			s.pos++
			if c != ' ' {
				s.delim(c)
			}
		}
	}
	return nil, 0, false
}

// open notes the parenthesis of a function.
func (s *cssScanner) open(name []byte) {
	s.depth++
	if s.set == 0 && (markup.EqualFold(name, "image-set") || markup.EqualFold(name, "-webkit-image-set")) {
		s.set, s.option = s.depth, true
	}
}

// delim notes a character that is part of no name, string or comment.
func (s *cssScanner) delim(c byte) {
	switch c {
	case '(':
		s.open(nil)
	case ')':
		if s.depth == s.set {
			s.set, s.option = 0, false
		}
		s.depth = max(0, s.depth-1)
	case ',':
		s.option = s.set > 0 && s.depth == s.set
	case ';', '{', '}':
		s.imports, s.ignored = false, false
		s.font = s.font && c != '}'
		s.option, s.depth, s.set = false, 0, 0
	}
}

func (s *cssScanner) kind() Kind {
	switch {
	case s.imports:
		return KindStyle
	case s.font:
		return KindFont
	}
	return KindImage
}

// name reads an identifier, with its escapes undecoded.
func (s *cssScanner) name() []byte {
	t, from := s.text, s.pos
	for s.pos < len(t) && isNameByte(t[s.pos]) {
		if t[s.pos] == '\\' {
			s.pos++
		}
		s.pos++
	}
	s.pos = min(s.pos, len(t))
	return t[from:s.pos]
}

func isNameByte(c byte) bool {
	return markup.IsAlphanumeric(c) || c == '-' || c == '_' || c == '\\' || c >= utf8.RuneSelf
}

// quoted reads the string that begins at pos. A newline within it makes it invalid.
func (s *cssScanner) quoted() (text []byte, ok bool) {
	t, quote := s.text, s.text[s.pos]
	s.pos++
	from, escaped := s.pos, false
	for ; s.pos < len(t); s.pos++ {
		switch t[s.pos] {
		case quote:
			s.from, s.to = from, s.pos
			s.pos++
			return s.unescape(t[from:s.to], escaped), true
		case '\n', '\r', '\f':
			return nil, false
		case '\\':
			escaped = true
			s.pos++
		}
	}
	s.pos = len(t)
	s.from, s.to = from, s.pos
	return s.unescape(t[from:], escaped), true
}

// argument reads the argument of url() after the opening parenthesis. The end of the text
// closes whatever is open.
func (s *cssScanner) argument() (url []byte, ok bool) {
	t := s.text
	s.pos = markup.SkipSpace(t, s.pos)
	if s.pos < len(t) && (t[s.pos] == '"' || t[s.pos] == '\'') {
		return s.quoted()
	}
	from, escaped := s.pos, false
	for ; s.pos < len(t) && t[s.pos] != ')'; s.pos++ {
		if t[s.pos] == '\\' {
			escaped = true
			s.pos++
		}
	}
	s.pos = min(s.pos, len(t))
	url = markup.Trim(t[from:s.pos])
	if !escaped && bytes.ContainsAny(url, markup.WhiteSpace+`"'(`) { // a bad url
		return nil, false
	}
	s.from, s.to = from, from+len(url)
	return s.unescape(url, escaped), true
}

// unescape decodes escapes: section 4.3.7.
func (s *cssScanner) unescape(text []byte, escaped bool) []byte {
	if !escaped {
		return text
	}
	s.buf = s.buf[:0]
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			s.buf = append(s.buf, text[i])
			continue
		}
		i++
		from, char := i, 0
		for ; i < len(text) && i-from < 6 && markup.IsHexDigit(text[i]); i++ {
			char = char*16 + markup.HexValue(text[i])
		}
		switch {
		case i > from:
			if char == 0 || char > utf8.MaxRune {
				char = utf8.RuneError
			}
			s.buf = utf8.AppendRune(s.buf, rune(char))
			if i == len(text) || !markup.IsSpace(text[i]) {
				// One white space character belongs to the escape.
				i--
			}
		case i == len(text):
		case text[i] == '\n' || text[i] == '\f': // the string continues on the next line
		case text[i] == '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
		default:
			s.buf = append(s.buf, text[i])
		}
	}
	return s.buf
}

const cssKinds = 1<<KindImage | 1<<KindStyle | 1<<KindFont

// css reads a style sheet.
func (x *Extractor) css() { x.cssLinks("css", "url", x.scan.Body, x.scan.Body) }

// styleSheet reads the text of a <style>.
func (x *Extractor) styleSheet(e *element, text []byte) { x.cssLinks(e.tag, "url", text, text) }

// styleAttribute reads the style attribute of any tag.
func (x *Extractor) styleAttribute(tag, raw []byte) {
	if x.options.Kinds&(cssKinds&^(1<<KindStyle)) != 0 && bytes.IndexByte(raw, '(') >= 0 && len(tag) <= maxText {
		x.cssLinks(x.strings.string(bytes.ToLower(tag)), "style", x.attrs.decode(raw), raw)
	}
}

// cssLinks yields the links of CSS, which the body has as from. References to a part of the
// document itself, such as url(#gradient), are no links. Queries are in UTF-8: only HTML has URLs
// in the encoding of the document
// (https://html.spec.whatwg.org/multipage/urls-and-fetching.html#encoding-parsing-a-url).
func (x *Extractor) cssLinks(tag, attr string, text, from []byte) {
	if x.options.Kinds&cssKinds == 0 {
		return
	}
	if charset := x.resolver.charset; charset != "" {
		x.resolver.setCharset("")
		defer x.resolver.setCharset(charset)
	}
	s := cssScanner{text: text}
	for !x.stopped {
		url, kind, ok := s.next()
		if !ok {
			return
		}
		if url = markup.Trim(url); len(url) > 0 && len(url) <= maxValue && url[0] != '#' && !hasOtherScheme(url) {
			m := Mention{Value: url, Tag: tag, Attr: attr, Kind: kind, from: from}
			if &text[0] == &from[0] {
				m.from = text[s.from:s.to]
			}
			if kind == KindStyle {
				m.Attr = "import"
			}
			x.found(&m)
		}
	}
}
