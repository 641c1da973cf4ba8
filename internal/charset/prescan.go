package charset

import (
	"bytes"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/markup"
)

// prescanned bounds the search for a declaration before a page is parsed, in bytes.
const prescanned = 1024

// prescan is "prescan a byte stream to determine its encoding" of the HTML Standard (section
// 13.2.3.2), on the first 1,024 bytes. The source is meta or xml. It returns nil if they declare
// nothing.
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

// findMeta finds the first <meta> that declares an encoding. With parsed, a <meta> in raw text,
// such as a script, does not count; in a prescan, which runs before there is a parser, it does.
// The search ends at the end of b, also within a tag.
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
		case len(b) > 5 && markup.EqualFold(b[:5], "<meta") && (markup.IsSpace(b[5]) || b[5] == '/'):
			var e *Encoding
			if b, e = metaTag(b[5:]); e != nil {
				return e
			}
		case len(b) > 1 && markup.IsLetter(b[1]), len(b) > 2 && b[1] == '/' && markup.IsLetter(b[2]):
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

// metaTag reads the attributes of a <meta>. It returns the rest, and the encoding if the tag
// declares one.
func metaTag(b []byte) ([]byte, *Encoding) {
	var equiv, content, charset bool // seen: the first attribute of a name counts
	var declared *Encoding
	var byContent, gotPragma bool
	for {
		var name, value []byte
		var more bool
		if b, name, value, more = attribute(b); !more {
			break
		}
		switch {
		case !equiv && markup.EqualFold(name, "http-equiv"):
			equiv, gotPragma = true, markup.EqualFold(value, "content-type")
		case !content && markup.EqualFold(name, "content"):
			content = true
			if e := fromContent(lower(value)); e != nil && !charset {
				declared, byContent = e, true
			}
		case !charset && markup.EqualFold(name, "charset"):
			charset, declared, byContent = true, Lookup(string(value)), false
		}
	}
	if len(b) == 0 || byContent && !gotPragma { // an unclosed tag is none
		return b, nil
	}
	return b, declarable(declared)
}

// declarable returns the encoding meant by one that is declared in ASCII.
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

// attribute is "get an attribute" of the prescan, except that name and value keep their case. ok
// is false at a > or at the end of b; then the rest begins with that >, or is empty. It differs
// from markup.Scanner.Attr as the prescan differs from the tokenizer: a value that the end of b
// cuts is none, and a slash after a name begins the next attribute.
func attribute(b []byte) (rest, name, value []byte, ok bool) {
	i := 0
	for i < len(b) && (markup.IsSpace(b[i]) || b[i] == '/') {
		i++
	}
	start := i
	for i < len(b) && (b[i] != '=' || i == start) && !markup.IsSpace(b[i]) && b[i] != '/' && b[i] != '>' {
		i++
	}
	if i == len(b) || i == start {
		return b[i:], nil, nil, false
	}
	name = b[start:i]
	for i < len(b) && markup.IsSpace(b[i]) {
		i++
	}
	if i == len(b) {
		return nil, nil, nil, false
	}
	if b[i] != '=' {
		return b[i:], name, nil, true
	}
	for i++; i < len(b) && markup.IsSpace(b[i]); i++ {
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
	for i < len(b) && !markup.IsSpace(b[i]) && b[i] != '>' {
		i++
	}
	if i == len(b) {
		return nil, nil, nil, false
	}
	return b[i:], name, b[start:i], true
}

// fromContent is "extracting a character encoding from a meta element" (section 2.5.5 of the HTML
// Standard), on text in lower case.
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

// xmlDeclared is "get an XML encoding", for a page that begins with <?xml.
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

// texts are the elements whose content is text to a parser.
var texts = []string{"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"}

// skipText returns b after the end of the element if it is one of texts, otherwise b.
func skipText(b []byte, name []byte) []byte {
	if !slices.ContainsFunc(texts, func(text string) bool { return markup.EqualFold(name, text) }) {
		return b
	}
	end := lower(name)
	for {
		at := bytes.Index(b, []byte("</"))
		if at < 0 {
			return nil
		}
		if b = b[at+2:]; len(b) > len(name) && markup.EqualFold(b[:len(name)], end) && !markup.IsLetter(b[len(name)]) {
			return b[len(name):]
		}
	}
}

// nameLength returns the length of the tag name that b begins with. As in the prescan, a slash
// does not end it.
func nameLength(b []byte) int {
	for i, c := range b {
		if markup.IsSpace(c) || c == '>' {
			return i
		}
	}
	return len(b)
}

// lower returns b with ASCII letters in lower case.
func lower(b []byte) string {
	b = bytes.Clone(b)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 0x20
		}
	}
	return string(b)
}
