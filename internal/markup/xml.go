package markup

import (
	"bytes"
	"unicode/utf8"
)

// XML cuts a document for machines into tags and texts. Markup that is not well formed is
// text, or a tag that ends where the next one begins.
//
// Its user calls Next; after a start tag Attr finds attributes, and Collect keeps the text up to
// the next tag.
//
// Invariant: Pos never goes back, and every search ends where Pos goes, or at the end of the
// body. So the time is linear.
type XML struct {
	Body []byte
	Pos  int

	Name     []byte // name of the last tag, as written
	Empty    bool   // it ended in "/>"
	Unclosed bool   // it ended at the '<' of the next one

	Text      []byte // the text that Collect has kept, references decoded
	Cut       bool   // the end of the body cut it off: it is empty
	TooLong   bool   // the text exceeded its limit
	Undefined []byte // the first reference in Text whose name is unknown; nil if there is none

	// Missing is the end of a comment, a CDATA section or a declaration that the body does
	// not have; "" if none is missing. MissingAt is where its content begins.
	Missing   string
	MissingAt int

	attrs      []byte // the last tag after its name
	decoded    []byte // values of its attributes
	collecting bool
	limit      int // of Text, in bytes
}

// Next moves after the next tag. It returns StartTag, EndTag or EOF.
func (x *XML) Next() Token {
	for {
		body, at := x.Body, x.Pos
		n := bytes.IndexByte(body[at:], '<')
		if n < 0 || at+n+1 == len(body) {
			// The text may go on beyond the end of the body.
			x.collecting, x.Text, x.Cut = false, x.Text[:0], true
			x.Pos = len(body)
			return EOF
		}
		x.add(body[at:at+n], true)
		at += n + 1
		rest := body[at:]
		switch c := rest[0]; {
		case isNameStart(c):
			return x.tag(at, StartTag)
		case c == '/' && len(rest) > 1 && isNameStart(rest[1]):
			return x.tag(at+1, EndTag)
		case bytes.HasPrefix(rest, []byte("!--")):
			x.skipPast(at+len("!--"), "-->")
		case bytes.HasPrefix(rest, []byte("![CDATA[")):
			at += len("![CDATA[")
			if x.skipPast(at, "]]>") {
				x.add(body[at:x.Pos-len("]]>")], false)
			}
		case c == '!' || c == '?' || c == '/':
			x.skipPast(at, ">")
		default:
			x.add([]byte("<"), false)
			x.Pos = at
		}
	}
}

// skipPast moves after the next stop, or to the end of the body if there is none.
func (x *XML) skipPast(from int, stop string) bool {
	if n := bytes.Index(x.Body[from:], []byte(stop)); n >= 0 {
		x.Pos = from + n + len(stop)
		return true
	}
	x.Missing, x.MissingAt = stop, from
	x.Pos = len(x.Body)
	return false
}

// tag reads the tag whose name begins at from. One that the end of the body cuts off is none.
func (x *XML) tag(from int, kind Token) Token {
	body, at := x.Body, from
	for at < len(body) && !EndsTagName(body[at]) && body[at] != '<' {
		at++
	}
	x.Name, x.decoded = body[from:at], x.decoded[:0]
	attrs, quote := at, byte(0)
	for ; at < len(body); at++ {
		switch c := body[at]; {
		case c == '<': // no value of an attribute contains one either
			x.attrs, x.Empty, x.Unclosed, x.Pos = body[attrs:at], false, true, at
			x.collecting = false
			return kind
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			x.attrs, x.Unclosed, x.Pos = body[attrs:at], false, at+1
			x.Empty = bytes.HasSuffix(x.attrs, []byte("/"))
			x.collecting = false
			return kind
		}
	}
	x.Pos = len(body)
	return EOF
}

func isNameStart(c byte) bool { return IsLetter(c) || c == '_' || c == ':' || c >= utf8.RuneSelf }

// Attr returns the value of an attribute of the last tag by its local name in lower case,
// with references decoded; nil if the tag has none. undefined is the first reference in it
// whose name is unknown, or nil. Both are valid until the next tag.
func (x *XML) Attr(name string) (value, undefined []byte) {
	if len(x.attrs) == 0 {
		return nil, nil
	}
	s := Scanner{Body: x.attrs}
	for {
		key, raw, ok := s.Attr()
		if !ok {
			return nil, nil
		}
		if EqualFold(LocalName(key), name) {
			if bytes.IndexByte(raw, '&') < 0 {
				return raw, nil
			}
			from := len(x.decoded)
			x.decoded = AppendText(x.decoded, raw, InXML)
			return x.decoded[from:], undefinedName(raw)
		}
	}
}

// Collect keeps the text from here to the next tag in Text, at most limit bytes of it.
func (x *XML) Collect(limit int) {
	x.collecting, x.limit = true, limit
	x.Text, x.TooLong, x.Undefined = x.Text[:0], false, nil
}

// add keeps a piece of text, encoded if it may contain references.
func (x *XML) add(raw []byte, encoded bool) {
	switch {
	case !x.collecting || len(raw) == 0:
	case len(x.Text)+len(raw) > x.limit:
		x.collecting, x.TooLong = false, true
	case encoded:
		if x.Undefined == nil {
			x.Undefined = undefinedName(raw)
		}
		x.Text = AppendText(x.Text, raw, InXML)
	default:
		x.Text = append(x.Text, raw...)
	}
}

// undefinedName returns the first reference in raw that has the form of an entity, but the
// name of none: a document may define it where nobody looks.
func undefinedName(raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			return nil
		}
		raw = raw[i:]
		var text [2 * maxName]byte
		n := bytes.IndexByte(raw[:min(len(raw), maxName)], ';')
		if n > 0 && isName(raw[1:n]) {
			if _, used := AppendReference(text[:0], raw, InXML); used == 1 {
				return raw[:n+1]
			}
		}
		raw = raw[1:]
	}
}

// isName reports whether an entity may have this name.
func isName(name []byte) bool {
	for i, c := range name {
		if !isNameStart(c) && (i == 0 || c != '-' && c != '.' && !IsDigit(c)) {
			return false
		}
	}
	return len(name) > 0
}
