package links

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/weftcrawl/weft/internal/markup"
)

// A scanner finds the tags of a page that matter, over a [markup.Scanner].
//
// Its user calls seek, or next where every tag matters; after a start or end tag it reads the
// attributes with Attr, or calls skip.
type scanner struct {
	markup.Scanner
	xml bool // tags can close themselves

	style      []byte   // style attribute of a tag that was skipped; else nil
	role       []byte   // its role attribute
	background []byte   // its background attribute
	element    *element // of a start tag; nil if it does not matter

	hidden []byte // text cut off by the end of the body, where a tag or the like should have ended

	only   bool        // nothing matters but text
	output *textOutput // of the text; or nil
	pauses
}

// pauses are the calls of Document.Pause.
type pauses struct {
	pause func() // or nil
	due   int    // position of the next one
}

// pauseStep is the distance between two of them, in bytes.
const pauseStep = 128 << 10

// rest makes a pause at a position.
func (p *pauses) rest(at int) {
	if p.due = at + pauseStep; p.pause != nil {
		p.pause()
	}
}

// skipped is the token by which seek reports a start tag that matters only for its style, role or
// background attribute. Its attributes have been read.
const skipped = markup.Other + 1

// next moves to the next token.
func (s *scanner) next() markup.Token {
	kind := s.Next()
	if kind == markup.StartTag {
		s.element = lookupElement(s.Name)
	}
	return kind
}

// seek moves to the next token that matters for links where text and end tags do not: a start tag
// of one of elements, one with a style or background attribute (which it skips), or a token that is
// no tag; with a text reader, also the tags that matter to it. It does what next and skip do again
// and again, in one loop: most of a page goes by here.
func (s *scanner) seek() markup.Token {
	body, at, output := s.Body, s.Pos, s.output
	s.CDATA, s.background = nil, nil
	for {
		if at >= s.due {
			s.rest(at)
		}
		text := at                              // where the text begins
		if at >= len(body) || body[at] != '<' { // often a tag follows a tag
			if at = indexByte(body, at, '<'); at < 0 {
				s.Text, s.From, s.Pos = body[text:], text, len(body)
				return markup.EOF
			}
		}
		from := at + 1
		if from < len(body) && body[from] == '/' {
			from++
		}
		if from >= len(body) || !markup.IsLetter(body[from]) {
			s.Pos = text
			return s.next()
		}
		end := from + 1
		for end < len(body) && !markup.EndsTagName(body[end]) {
			end++
		}
		isEnd := from == at+2
		if output != nil && output.watched.mayHave(body[from:end]) && output.watches(body[from:end]) {
			s.Text, s.From, s.Name, s.Pos = body[text:at], text, body[from:end], end
			s.SelfClosing, s.Cut = false, false
			if isEnd {
				return markup.EndTag
			}
			s.element = lookupElement(s.Name)
			return markup.StartTag
		}
		if isEnd && end < len(body) && body[end] == '>' {
			if output != nil {
				output.add(text, at)
			}
			at = end + 1
			continue
		}
		if !isEnd {
			if e := lookupElement(body[from:end]); e != nil && (!s.only || e.raw || e.root) {
				s.Text, s.From, s.element = body[text:at], text, e
				s.Name, s.Pos = body[from:end], end
				s.SelfClosing, s.Cut = false, false
				return markup.StartTag
			}
		}
		after, style, role := s.skipPlain(body, end)
		if after < 0 {
			s.Pos = end
			s.skip()
			after, style, role = s.Pos, s.style, s.role
			if s.Cut {
				style, role, s.background = nil, nil, nil
				s.hidden = body[end:]
			}
		}
		if !isEnd && (style != nil || output != nil && role != nil || s.background != nil) {
			s.Text, s.From = body[text:at], text
			s.Name, s.style, s.role, s.Pos = body[from:end], style, role, after
			return skipped
		}
		if output != nil {
			output.add(text, at)
		}
		at, s.background = after, nil
	}
}

// indexByte returns the first position of c at or after at, or -1. Most are a few bytes away: it
// reads the first 16 bytes here, eight at a time, before it calls bytes.IndexByte, which is
// faster on more.
func indexByte(body []byte, at int, c byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for range 2 {
		if at+8 > len(body) {
			break
		}
		x := binary.LittleEndian.Uint64(body[at:]) ^ ones*uint64(c)
		if found := (x - ones) &^ x & highs; found != 0 { // the lowest bit belongs to the first c
			return at + bits.TrailingZeros64(found)/8
		}
		at += 8
	}
	if i := bytes.IndexByte(body[at:], c); i >= 0 {
		return at + i
	}
	return -1
}

// skipPlain returns the end of the tag whose attributes begin at at, and its style and role
// attributes, if the tag is plain, as nearly all are: each attribute is a space, a name and a
// value in double quotes. Otherwise it returns -1. It keeps a background attribute, which is rare.
func (s *scanner) skipPlain(body []byte, at int) (end int, style, role []byte) {
	at = skipClass(body, at)
	for at < len(body) {
		switch body[at] {
		case '>':
			return at + 1, style, role
		case ' ', '\n':
			at++
			continue
		}
		from := at
		for at < len(body) && !markup.EndsAttrName(body[at]) {
			at++
		}
		if at == from || at+1 >= len(body) || body[at] != '=' || body[at+1] != '"' {
			return -1, nil, nil
		}
		name := body[from:at]
		at += len(`="`)
		quote := indexByte(body, at, '"')
		if quote < 0 {
			return -1, nil, nil
		}
		switch {
		case len(name) == len("style") && style == nil && markup.EqualFold(name, "style"):
			style = body[at:quote]
		case len(name) == len("role") && role == nil && markup.EqualFold(name, "role"):
			role = body[at:quote]
		case len(name) == len("background") && s.background == nil && markup.EqualFold(name, "background"):
			s.background = body[at:quote]
		}
		at = quote + 1
	}
	return -1, nil, nil
}

// skipClass returns the end of a class attribute at at, written ` class="…"`; otherwise at. Most
// attributes are classes, which nobody reads, and their beginning is eight bytes long.
func skipClass(body []byte, at int) int {
	const begin = ` class="`
	if at+len(begin) > len(body) || string(body[at:at+len(begin)]) != begin {
		return at
	}
	if end := indexByte(body, at+len(begin), '"'); end >= 0 {
		return end + 1
	}
	return at
}

// endOfOther keeps what a token that is no tag hides, if it is the last one and has no end. A
// doctype has its first '>'.
func (s *scanner) endOfOther() {
	if s.Pos < len(s.Body) {
		return
	}
	token := s.Body[s.From+len(s.Text):]
	ends := []string{">"}
	switch {
	case bytes.HasPrefix(token, []byte("<!--")):
		ends = []string{"-->", "--!>"}
	case s.CDATA != nil:
		ends = []string{"]]>"}
	}
	for _, end := range ends {
		if bytes.HasSuffix(token, []byte(end)) {
			return
		}
	}
	s.hidden = token
}

// skip moves after the tag and keeps its style, role and background attributes.
func (s *scanner) skip() {
	s.Cut, s.background = false, nil
	end, style, role := s.skipPlain(s.Body, s.Pos)
	s.style, s.role = style, role
	if end >= 0 {
		s.Pos = end
		return
	}
	s.background = nil
	for {
		name, value, ok := s.Attr()
		switch {
		case !ok:
			return
		case s.style == nil && markup.EqualFold(name, "style"):
			s.style = value
		case s.role == nil && markup.EqualFold(name, "role"):
			s.role = value
		case s.background == nil && markup.EqualFold(name, "background"):
			s.background = value
		}
	}
}
