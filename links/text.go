package links

import (
	"bytes"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
)

// appendValue appends an attribute's value, decoded: newlines and NUL as the HTML Standard
// normalises them, and character references.
func appendValue(dst, raw []byte) []byte {
	for {
		i := bytes.IndexAny(raw, "&\r\x00")
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		n := 1
		switch raw[i] {
		case '&':
			dst, n = markup.AppendReference(dst, raw[i:], markup.InAttribute)
		case '\r':
			dst = append(dst, '\n')
			if i+1 < len(raw) && raw[i+1] == '\n' {
				n = 2
			}
		case 0:
			dst = append(dst, "\uFFFD"...)
		}
		raw = raw[i+n:]
	}
}

// A collapsed is text for people: references decoded, each run of white space one blank, no
// white space at the ends, valid UTF-8 of at most max bytes.
type collapsed struct {
	buf   []byte
	max   int
	blank bool // white space followed the text in buf
	full  bool
}

// maxChunk bounds the part of one piece of text that is read, in bytes.
const maxChunk = 4096

func (t *collapsed) reset(max int) { *t = collapsed{buf: t.buf[:0], max: max} }

// add appends a piece of a page's text.
func (t *collapsed) add(raw []byte) {
	if t.full || len(raw) == 0 {
		return
	}
	raw = raw[:min(len(raw), maxChunk)]
	if bytes.IndexByte(raw, '&') >= 0 {
		raw = markup.AppendText(nil, raw, markup.InText)
	}
	t.addDecoded(raw)
}

// addDecoded appends text whose references are decoded.
func (t *collapsed) addDecoded(text []byte) {
	for len(text) > 0 {
		if n := words(text); n > 0 && !t.blank && len(t.buf)+n <= t.max {
			t.buf = append(t.buf, text[:n]...)
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRune(text) // bytes that are not UTF-8 become U+FFFD
		text = text[n:]
		switch {
		case r == 0: // as in the tree builder
			continue
		case r < utf8.RuneSelf && markup.IsSpace(byte(r)):
			t.blank = len(t.buf) > 0
			continue
		}
		size := utf8.RuneLen(r)
		if t.blank {
			size++
		}
		if len(t.buf)+size > t.max {
			t.full = true
			return
		}
		if t.blank {
			t.buf = append(t.buf, ' ')
			t.blank = false
		}
		t.buf = utf8.AppendRune(t.buf, r)
	}
}

// words returns the length of the words that a text begins with, with single blanks between them,
// as far as they are ASCII: nearly all of it is.
func words(text []byte) int {
	n := 0
	for n < len(text) {
		switch c := text[n]; {
		case c > ' ' && c < utf8.RuneSelf:
			n++
		case c == ' ' && n > 0 && n+1 < len(text) && text[n+1] > ' ' && text[n+1] < utf8.RuneSelf:
			n += 2
		default:
			return n
		}
	}
	return n
}

// space appends white space.
func (t *collapsed) space() { t.blank = len(t.buf) > 0 }

// An anchor is the <a> that is open, with the text read so far.
type anchor struct {
	open bool
	link Link
	text collapsed
}

func (a *anchor) begin(l Link) {
	a.link, a.open = l, true
	a.text.reset(maxText)
}

// add appends a piece of text and a CDATA section.
func (a *anchor) add(text, cdata []byte) {
	if a.open {
		a.text.add(text)
		a.text.add(cdata)
	}
}

// end returns the link of the anchor that is open, with its text.
func (a *anchor) end(strings *arena) Link {
	a.open = false
	a.link.Text = strings.string(a.text.buf)
	return a.link
}

// A heading is the <h1> that is open, with the text read so far.
type heading struct {
	open  bool
	text  collapsed
	spare []byte // for other short texts
}

// add appends a piece of text and a CDATA section, and reports whether there is room for more.
func (h *heading) add(text, cdata []byte) bool {
	h.text.add(text)
	h.text.add(cdata)
	return !h.text.full
}

// beginsLine reports whether what follows a start tag in a heading stands on a line of its own.
func beginsLine(name []byte) bool {
	switch len(name) {
	case 1:
		return name[0]|0x20 == 'p'
	case 2:
		return markup.EqualFold(name, "br") || markup.EqualFold(name, "hr") || isHeading(name)
	}
	return markup.EqualFold(name, "div")
}

// isHeading reports whether a name is one of h1 to h6.
func isHeading(name []byte) bool {
	return len(name) == 2 && name[0]|0x20 == 'h' && '1' <= name[1] && name[1] <= '6'
}
