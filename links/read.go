package links

import (
	"bytes"
	"slices"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/weburl"
)

// A TextReader receives the text of a page while its links are extracted, in document order: the
// text between tags, and the tags that say which part of the page it is in. So one pass over the
// page serves both. Slices are of the body, undecoded.
type TextReader interface {
	// Text receives pieces of the body, each of them between two tags, or the title; single
	// blanks are left out. Pieces come late, many at once, which is faster. Plain text, as in a
	// CDATA section, has no character references. Script, style and textarea have no text.
	Text(body []byte, pieces []Piece, plain bool)

	// Start receives a start tag named article, aside, footer, header, iframe, main, nav,
	// noframes, section, svg, template or time, or any that has a role attribute, but no shadow
	// root: that is a part of its host. To pass over the content of the element, it returns true;
	// the name must be shorter than 32 letters. The next call is then End for the end tag that
	// balances this one, if there is one. Only a frame of a rendered document comes between, with
	// the text and tags of its own document, if it is one of the page's site.
	Start(tag, role []byte) (pass bool)

	// End receives the end tags of the same names.
	End(tag []byte)
}

// A Piece is body[From:To].
type Piece struct{ From, To int }

// parts are the names of the tags that a TextReader always receives.
var parts = []string{"article", "aside", "footer", "header", "iframe", "main", "nav", "noframes", "section", "svg", "template", "time"}

// A lengthSet holds the lengths of some names by their first letter, as bits: these alone rule
// out most other names.
type lengthSet [32]uint32

func (l *lengthSet) add(name string) { l[name[0]&0x1f] |= 1 << len(name) }

// mayHave reports whether a name may be one of the set. It begins with a letter.
func (l *lengthSet) mayHave(name []byte) bool { return l[name[0]&0x1f]>>len(name)&1 != 0 }

var partLengths = func() (l lengthSet) {
	for _, name := range parts {
		l.add(name)
	}
	return l
}()

// A textOutput sends the text of a document and the tags that matter to its reader, but for the
// content of elements that the reader passes over. A nil one sends nothing.
type textOutput struct {
	reader  TextReader
	body    []byte     // of the document
	home    weburl.URL // of the page
	watched lengthSet  // names of the tags that the reader receives
	passing passing
	n       int // buffered pieces
	pieces  [128]Piece
}

// passing is the element being passed over.
type passing struct {
	name  []byte // nil: none is
	depth int    // open elements of that name
}

// begin begins a document. It returns nil if nobody reads it.
func (o *textOutput) begin(reader TextReader, body []byte, home weburl.URL) *textOutput {
	o.reader, o.body, o.home = reader, body, home
	o.watched, o.passing, o.n = partLengths, passing{}, 0
	if reader == nil {
		return nil
	}
	return o
}

// watches reports whether the reader receives a tag whatever its attributes are, or the tag counts
// for the depth of the element being passed over.
func (o *textOutput) watches(name []byte) bool {
	if !o.watched.mayHave(name) {
		return false
	}
	if o.passing.name != nil {
		return bytes.EqualFold(name, o.passing.name)
	}
	return slices.ContainsFunc(parts, func(part string) bool { return markup.EqualFold(name, part) })
}

// add buffers text, unless it is empty or a single blank, as so often between two tags.
func (o *textOutput) add(from, to int) {
	o.pieces[o.n] = Piece{from, to}
	if to > from+1 || to > from && o.body[from] > ' ' {
		if o.n++; o.n == len(o.pieces) {
			o.flush(false)
		}
	}
}

// flush sends the buffered text, unless its element is being passed over.
func (o *textOutput) flush(plain bool) {
	if o.n > 0 && o.passing.name == nil {
		o.reader.Text(o.body, o.pieces[:o.n], plain)
	}
	o.n = 0
}

// send sends a piece of the body, after the buffered ones.
func (o *textOutput) send(from, to int, plain bool) {
	if o == nil {
		return
	}
	o.flush(false)
	o.add(from, to)
	o.flush(plain)
}

// startPart sends a start tag. A tag that closes itself has no content.
func (o *textOutput) startPart(name, role []byte, closed bool) {
	switch {
	case o == nil || closed:
	case o.passing.name != nil:
		if o.watches(name) {
			o.passing.depth++
		}
	case role != nil || o.watches(name):
		o.flush(false)
		if o.reader.Start(name, role) && len(name) < 32 {
			o.passing = passing{name, 1}
			o.watched = lengthSet{}
			o.watched.add(string(name))
		}
	}
}

// isShadowRoot reports whether a start tag with these attributes is that of a shadow root, of which
// the reader receives the text.
func (o *textOutput) isShadowRoot(name, attributes []byte) bool {
	if o == nil || o.passing.name != nil || !markup.EqualFold(name, "template") {
		return false
	}
	a := markup.Scanner{Body: attributes}
	for {
		key, _, ok := a.Attr()
		if !ok || markup.EqualFold(key, "shadowrootmode") {
			return ok
		}
	}
}

// endPart sends an end tag.
func (o *textOutput) endPart(name []byte) {
	if o == nil || !o.watches(name) {
		return
	}
	if o.passing.name != nil {
		if o.passing.depth--; o.passing.depth > 0 {
			return
		}
	}
	o.flush(false) // drops the text of an element being passed over
	o.passing, o.watched = passing{}, partLengths
	o.reader.End(name)
}

// readsFrame reports whether the reader receives a document in srcdoc: that of a frame of the
// page's own site, in a rendered document. There, what a page has in a srcdoc of its own is in such
// a frame, too.
func (o *textOutput) readsFrame(document []byte) bool {
	if o == nil || o.passing.depth > 1 || !markup.EqualFold(o.passing.name, "iframe") {
		return false
	}
	text, ok := markup.FrameURL(document)
	if !ok || text == "" {
		return ok
	}
	u, err := weburl.Parse(text)
	return err == nil && weburl.SameSite(u, o.home)
}
