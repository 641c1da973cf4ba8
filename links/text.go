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
	for _, r := range string(raw) { // bytes that are not UTF-8 become U+FFFD
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
