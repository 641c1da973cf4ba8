package sitemap

import (
	"bytes"
	"html"
	"strconv"
	"unicode/utf8"
)

// A scanner cuts XML into tags and texts. What is not well formed is text, or a tag that
// ends where the next one begins.
//
// Invariant: pos never goes back, and every search ends where pos goes, or at the end
// of the body. So the time is linear.
type scanner struct {
	body []byte
	pos  int

	name  []byte // of the last tag, as written
	attrs []byte // what stands in it behind the name
	empty bool   // it ends in "/>"
}

type token uint8

const (
	eof token = iota
	startTag
	endTag
)

// next moves behind the next tag. The text before it goes to the field that is open.
func (r *reader) next() token {
	for {
		body, at := r.body, r.pos
		n := bytes.IndexByte(body[at:], '<')
		if n < 0 || at+n+1 == len(body) {
			r.field = nothing // its text may go on beyond the end
			r.pos = len(body)
			return eof
		}
		r.add(body[at:at+n], true)
		at += n + 1
		rest := body[at:]
		switch c := rest[0]; {
		case isNameStart(c):
			return r.tag(at, startTag)
		case c == '/' && len(rest) > 1 && isNameStart(rest[1]):
			return r.tag(at+1, endTag)
		case bytes.HasPrefix(rest, []byte("!--")):
			r.past(at+len("!--"), "-->")
		case bytes.HasPrefix(rest, []byte("![CDATA[")):
			at += len("![CDATA[")
			if r.past(at, "]]>") {
				r.add(body[at:r.pos-len("]]>")], false)
			} else {
				r.field = nothing
			}
		case c == '!' || c == '?' || c == '/':
			r.past(at, ">")
		default:
			r.add([]byte("<"), false)
			r.pos = at
		}
	}
}

// past moves behind the next stop, or to the end of the body if there is none.
func (r *reader) past(from int, stop string) bool {
	if n := bytes.Index(r.body[from:], []byte(stop)); n >= 0 {
		r.pos = from + n + len(stop)
		return true
	}
	r.broken(from, "the end, expected %q first", stop)
	r.pos = len(r.body)
	return false
}

// tag reads the tag whose name begins at from. One that the body's end cuts off is none.
func (r *reader) tag(from int, kind token) token {
	body, at := r.body, from
	for at < len(body) && !endsName(body[at]) {
		at++
	}
	r.name = body[from:at]
	attrs, quote := at, byte(0)
	for ; at < len(body); at++ {
		switch c := body[at]; {
		case c == '<': // stands in no attribute's value either
			r.attrs, r.empty, r.pos = body[attrs:at], false, at
			r.flawed("<%.40s that does not end before the next '<'", r.name)
			return kind
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			r.attrs, r.pos = body[attrs:at], at+1
			r.empty = bytes.HasSuffix(r.attrs, []byte("/"))
			return kind
		}
	}
	r.pos = len(body)
	return eof
}

func isNameStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == ':' || c >= utf8.RuneSelf
}

func endsName(c byte) bool { return c == '>' || c == '/' || c == '<' || isSpace(c) }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// attr returns the value of an attribute of the last tag, references decoded; nil if it
// has none. Undefined is as of appendText.
func (r *reader) attr(name string) (text, undefined []byte) {
	for rest := r.attrs; ; {
		key, value, found := bytes.Cut(rest, []byte("="))
		if !found {
			return nil, nil
		}
		key = bytes.TrimSpace(key)
		key = key[bytes.LastIndexAny(key, " \t\r\n")+1:]
		value = bytes.TrimLeft(value, " \t\r\n")
		stop := " \t\r\n"
		if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
			stop, value = string(value[:1]), value[1:]
		}
		end := bytes.IndexAny(value, stop)
		if end < 0 {
			end = len(value)
		}
		if bytes.EqualFold(key, []byte(name)) {
			text, undefined = appendText([]byte{}, value[:end])
			return bytes.TrimSpace(text), undefined
		}
		rest = value[min(end+1, len(value)):]
	}
}

// appendText appends text with its references decoded: XML's five entities, HTML's, which are taken
// for these, and numbers. Any other is text, and if it has the form of an entity, the first such is undefined.
func appendText(dst, raw []byte) (text, undefined []byte) {
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			return append(dst, raw...), undefined
		}
		dst, raw = append(dst, raw[:i]...), raw[i:]
		n := bytes.IndexByte(raw[:min(len(raw), maxReference)], ';')
		c := rune(-1)
		if n > 0 {
			c = reference(string(raw[1:n]))
		}
		if c < 0 {
			if n > 0 && undefined == nil && isName(raw[1:n]) {
				undefined = raw[:n+1]
			}
			dst, raw = append(dst, '&'), raw[1:]
			continue
		}
		dst, raw = utf8.AppendRune(dst, c), raw[n+1:]
	}
}

// isName reports whether an entity may have this name.
func isName(name []byte) bool {
	for i, c := range name {
		if !isNameStart(c) && (i == 0 || c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return len(name) > 0
}

// maxReference is the length of a reference that is looked for: zeros can be before a number.
const maxReference = 16

// reference returns the character that a reference is; less than 0 if it is none.
func reference(name string) rune {
	switch name {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	case "apos":
		return '\''
	}
	if name == "" || name[0] != '#' {
		return ofHTML(name)
	}
	if len(name) == 1 {
		return -1
	}
	base, digits := 10, name[1:]
	if digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 31)
	if err != nil {
		return -1
	}
	if n == 0 {
		return utf8.RuneError // which AppendRune makes of all else that is no character
	}
	return rune(n)
}

// ofHTML returns the character that is an entity of HTML; less than 0 if it is none, or more than one.
func ofHTML(name string) rune {
	text := html.UnescapeString("&" + name + ";")
	c, n := utf8.DecodeRuneInString(text)
	if n != len(text) { // of "&notit;" it is "¬it;"
		return -1
	}
	return c
}
