package charset

import (
	"bytes"
	"slices"
	"strings"
)

// prescanned is how much of a page is searched for a declaration before it is parsed, in
// bytes.
const prescanned = 1024

// prescan is "prescan a byte stream to determine its encoding" of the HTML Standard
// (section 13.2.3.2), of the first 1,024 bytes. The source is meta or xml. It returns nil
// if they declare nothing.
func prescan(body []byte) (*Encoding, Source) {
	body = body[:min(len(body), prescanned)]
	switch {
	case bytes.HasPrefix(body, []byte("<\x00?\x00x\x00")):
		return utf16LE, XML
	case bytes.HasPrefix(body, []byte("\x00<\x00?\x00x")):
		return utf16BE, XML
	}
	if e := findMeta(body, false); e != nil {
		return e, Meta
	}
	if e := xmlDeclared(body); e != nil {
		return e, XML
	}
	return nil, ""
}

// findMeta finds the first <meta> that declares an encoding. With parsed, a <meta> in
// the text of a script or the like is none: that is not so in a prescan, which comes
// before there is a parser. It ends where b ends, also within a tag.
func findMeta(b []byte, parsed bool) *Encoding {
	for {
		at := bytes.IndexByte(b, '<')
		if at < 0 {
			return nil
		}
		b = b[at:]
		switch {
		case bytes.HasPrefix(b, []byte("<!--")):
			end := bytes.Index(b[2:], []byte("-->")) // its dashes may be those of <!--
			if end < 0 {
				return nil
			}
			b = b[2+end+3:]
		case len(b) > 5 && is(b[:5], "<meta") && (isSpace(b[5]) || b[5] == '/'):
			var e *Encoding
			if b, e = metaTag(b[5:]); e != nil {
				return e
			}
		case len(b) > 1 && isLetter(b[1]), len(b) > 2 && b[1] == '/' && isLetter(b[2]):
			name := b[1 : 1+nameLength(b[1:])]
			b = b[1+len(name):]
			for more := true; more; {
				b, _, _, more = attribute(b)
			}
			if parsed {
				b = skipText(b, name)
			}
		case len(b) > 1 && (b[1] == '!' || b[1] == '/' || b[1] == '?'):
			end := bytes.IndexByte(b, '>')
			if end < 0 {
				return nil
			}
			b = b[end+1:]
		default:
			b = b[1:]
		}
	}
}

// metaTag reads the attributes of a <meta>. It returns what follows, and the encoding if
// one is declared.
func metaTag(b []byte) ([]byte, *Encoding) {
	var equiv, content, charset bool // seen: of attributes with one name the first counts
	var declared *Encoding
	var byContent, gotPragma bool
	for {
		var name, value []byte
		var more bool
		if b, name, value, more = attribute(b); !more {
			break
		}
		switch {
		case !equiv && is(name, "http-equiv"):
			equiv, gotPragma = true, is(value, "content-type")
		case !content && is(name, "content"):
			content = true
			if e := fromContent(lower(value)); e != nil && !charset {
				declared, byContent = e, true
			}
		case !charset && is(name, "charset"):
			charset, declared, byContent = true, Lookup(string(value)), false
		}
	}
	if len(b) == 0 || byContent && !gotPragma { // a tag that does not end is none
		return b, nil
	}
	return b, declarable(declared)
}

// declarable is what an encoding means that ASCII declares.
func declarable(e *Encoding) *Encoding {
	switch {
	case e == nil:
	case e == utf16LE || e == utf16BE:
		return utf8Encoding
	case e.name == "x-user-defined":
		return windows1252
	}
	return e
}

// attribute is "get an attribute" of the prescan, but name and value stay in their case.
// There is none at a > or where b ends; then the rest begins with that >, or is empty.
func attribute(b []byte) (rest, name, value []byte, ok bool) {
	i := 0
	for i < len(b) && (isSpace(b[i]) || b[i] == '/') {
		i++
	}
	start := i
	for i < len(b) && (b[i] != '=' || i == start) && !isSpace(b[i]) && b[i] != '/' && b[i] != '>' {
		i++
	}
	if i == len(b) || i == start {
		return b[i:], nil, nil, false
	}
	name = b[start:i]
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i == len(b) {
		return nil, nil, nil, false
	}
	if b[i] != '=' {
		return b[i:], name, nil, true
	}
	for i++; i < len(b) && isSpace(b[i]); i++ {
	}
	if i == len(b) {
		return nil, nil, nil, false
	}
	if q := b[i]; q == '"' || q == '\'' {
		n := bytes.IndexByte(b[i+1:], q)
		if n < 0 {
			return nil, nil, nil, false
		}
		return b[i+1+n+1:], name, b[i+1 : i+1+n], true
	}
	start = i
	for i < len(b) && !isSpace(b[i]) && b[i] != '>' {
		i++
	}
	if i == len(b) {
		return nil, nil, nil, false
	}
	return b[i:], name, b[start:i], true
}

// fromContent is "extracting a character encoding from a meta element" (section
// 2.5.5 of the HTML Standard), for text in lower case.
func fromContent(s string) *Encoding {
	for {
		var found bool
		if _, s, found = strings.Cut(s, "charset"); !found {
			return nil
		}
		s = strings.TrimLeft(s, "\t\n\f\r ")
		if !strings.HasPrefix(s, "=") {
			continue
		}
		s = strings.TrimLeft(s[1:], "\t\n\f\r ")
		if s == "" {
			return nil
		}
		if s[0] == '"' || s[0] == '\'' {
			label, _, closed := strings.Cut(s[1:], s[:1])
			if !closed {
				return nil
			}
			return Lookup(label)
		}
		if end := strings.IndexAny(s, "\t\n\f\r ;"); end >= 0 {
			s = s[:end]
		}
		return Lookup(s)
	}
}

// xmlDeclared is "get an XML encoding": of a page that begins with <?xml.
func xmlDeclared(b []byte) *Encoding {
	if !bytes.HasPrefix(b, []byte("<?xml")) {
		return nil
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return nil
	}
	_, b, found := bytes.Cut(b[:end], []byte("encoding"))
	if !found {
		return nil
	}
	b = trimControl(b)
	if len(b) == 0 || b[0] != '=' {
		return nil
	}
	b = trimControl(b[1:])
	if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
		return nil
	}
	label, _, closed := bytes.Cut(b[1:], b[:1])
	if !closed || len(trimControl(label)) != len(label) {
		return nil
	}
	if i := bytes.IndexFunc(label, func(r rune) bool { return r <= ' ' }); i >= 0 {
		return nil
	}
	e := Lookup(string(label))
	if e == utf16LE || e == utf16BE {
		return utf8Encoding
	}
	return e
}

func trimControl(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	return b
}

// texts are the elements whose content is text to a parser, with no markup in it.
var texts = []string{"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"}

// skipText returns b behind the end of an element that has only text; b if name is
// of another.
func skipText(b []byte, name []byte) []byte {
	if !slices.ContainsFunc(texts, func(text string) bool { return is(name, text) }) {
		return b
	}
	end := lower(name)
	for {
		at := bytes.Index(b, []byte("</"))
		if at < 0 {
			return nil
		}
		if b = b[at+2:]; len(b) > len(name) && is(b[:len(name)], end) && !isLetter(b[len(name)]) {
			return b[len(name):]
		}
	}
}

// nameLength is how many bytes of b, which follows a <, are before space or >. As in the
// prescan, a slash is not the end.
func nameLength(b []byte) int {
	for i, c := range b {
		if isSpace(c) || c == '>' {
			return i
		}
	}
	return len(b)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// is tells if b is word, which is in lower case, in whatever case of ASCII.
func is(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// lower is in lower case what is ASCII.
func lower(b []byte) string {
	b = bytes.Clone(b)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 0x20
		}
	}
	return string(b)
}
