package text

import "bytes"

// A class says what a byte is in text.
type class uint8

const (
	isSpace     class = iota // and what shows nothing
	isPlain                  // ASCII
	isTag                    // the '<' that may begin one
	isReference              // the '&' that may
	isHigh                   // of a character beyond ASCII
)

// Classes of bytes: in markup, in raw text such as a title, and in text/plain.
var (
	markup  = classesOf('<', '&')
	rawText = classesOf(0, '&')
	plain   = classesOf(0, 0)
)

func classesOf(tag, reference byte) (table [256]class) {
	for c := range table {
		switch b := byte(c); {
		case b <= ' ':
			table[c] = isSpace
		case b == tag:
			table[c] = isTag
		case b == reference:
			table[c] = isReference
		case b >= 0x80:
			table[c] = isHigh
		default:
			table[c] = isPlain
		}
	}
	return table
}

// What a byte is in a tag, as bits of classesOfTag.
const (
	endsName     = 1 << iota // of a tag: space, '/' and '>'
	endsAttrName             // these and '='
	endsUnquoted             // space and '>'
	betweenAttrs             // space and '/'
	letter                   // of ASCII
)

var classesOfTag = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f':
			table[c] = endsName | endsAttrName | endsUnquoted | betweenAttrs
		case c == '>':
			table[c] = endsName | endsAttrName | endsUnquoted
		case c == '/':
			table[c] = endsName | endsAttrName | betweenAttrs
		case c == '=':
			table[c] = endsAttrName
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			table[c] = letter
		}
	}
	return table
}()

func isLetter(c byte) bool       { return classesOfTag[c]&letter != 0 }
func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }

// opensTag reports whether text begins with a tag, or a comment or its like.
func opensTag(text []byte, classes *[256]class) bool {
	if classes[text[0]] != isTag || len(text) == 1 {
		return false
	}
	c := text[1]
	return isLetter(c) || c == '!' || c == '?' || c == '/' && len(text) > 2
}

// nameEnd returns where the tag name ends that begins at from.
func nameEnd(body []byte, from int) int {
	for from++; from < len(body) && classesOfTag[body[from]]&endsName == 0; from++ {
	}
	return from
}

// after returns the position after the next stop at or behind from, or the end.
func after(body []byte, from int, stop string) int {
	if i := bytes.Index(body[from:], []byte(stop)); i >= 0 {
		return from + i + len(stop)
	}
	return len(body)
}

// commentEnd returns where a comment ends whose text begins at from: after "-->" or
// "--!>", or at once after ">" or "->".
func commentEnd(body []byte, from int) int {
	for _, at := range []string{">", "->"} {
		if bytes.HasPrefix(body[from:], []byte(at)) {
			return from + len(at)
		}
	}
	for at := from; ; {
		at = after(body, at, ">")
		text := body[from:at]
		if at == len(body) || bytes.HasSuffix(text, []byte("-->")) || bytes.HasSuffix(text, []byte("--!>")) {
			return at
		}
	}
}

// endTag returns where the next end tag of an element begins, or the end.
func endTag(body []byte, from int, name []byte) int {
	for at := from; ; at += len("</") {
		i := bytes.Index(body[at:], []byte("</"))
		if i < 0 {
			return len(body)
		}
		if at += i; startsTag(body[at+len("</"):], name) {
			return at
		}
	}
}

// scriptEnd returns where the end tag of a script begins. In "<!--" to "-->" a script is
// escaped; there, "<script" hides the next "</script".
// See https://html.spec.whatwg.org/multipage/parsing.html#script-data-state.
func scriptEnd(body []byte, from int) int {
	name := []byte("script")
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
		case bytes.HasPrefix(rest, []byte("</")) && startsTag(rest[2:], name):
			if !hidden {
				return at
			}
			hidden = false
		case !escaped && bytes.HasPrefix(rest, []byte("<!--")):
			escaped = true
			at++ // the dashes may already be those of "-->"
		case escaped && startsTag(rest[1:], name):
			hidden = true
		}
	}
}

// startsTag reports whether b starts with the whole tag name, but for ASCII case.
func startsTag(b, name []byte) bool {
	return len(b) > len(name) && bytes.EqualFold(b[:len(name)], name) && classesOfTag[b[len(name)]]&endsName != 0
}

// equalFold reports whether s is name, which is in lower case, but for ASCII case.
func equalFold(s []byte, name string) bool {
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
	for at < len(b) && classesOfTag[b[at]]&(betweenAttrs|endsUnquoted) == betweenAttrs|endsUnquoted {
		at++
	}
	return at
}
