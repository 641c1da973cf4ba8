package blocks

import (
	"math/bits"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// said is the evidence of the words of a short block.
type said struct {
	cues  uint32
	terms []uint16 // the numbers of those in the vocabulary
	words int32
	title uint64  // the words of the page's title, a bit each
	like  float32 // the words that block and title share, as a part of all of both
	about int32   // words that the description of the page has
}

// shortWords bounds the length of a block whose words are looked at: they say little about
// paragraphs.
const shortWords = 40

// reader reads the words of short blocks.
type reader struct {
	said
	title, about phrase
	room         []uint16 // the terms of all blocks, one behind another
	from         int      // those of this one
}

// read looks at the words of all short blocks, and finds the title of the page among them: the
// block most like it.
func (p *Page) read(title, description string) {
	r := reader{title: newPhrase(title), about: newPhrase(description)}
	terms := terms()
	eachTerm(title[:min(len(title), mostPhraseBytes)], func(w word) {
		if m := terms.entry(w); m != nil {
			p.terms = note(p.terms, 0, m.number)
		}
	})
	p.said, p.title = make([]said, len(p.Index)), -1
	most := float32(0.45)
	for k, i := range p.Index {
		e := &p.All[i]
		if e.Own > shortWords {
			continue
		}
		p.said[k] = r.block(e.Node)
		if like := p.said[k].like + asHeading(e.Node.DataAtom); like > most {
			most, p.title = like, int32(k)
		}
	}
}

// asHeading is the advantage of an element as a title over another with the same words.
func asHeading(a atom.Atom) float32 {
	switch {
	case a == atom.H1:
		return 0.4
	case isHeading(a):
		return 0.2
	}
	return 0
}

// block reads a block.
func (r *reader) block(n *html.Node) said {
	r.said, r.from = said{}, len(r.room)
	eachText(n, r.text)
	r.terms = slices.Clip(r.room[r.from:])
	r.cues &^= 1 << cNone
	both := bits.OnesCount64(r.said.title)
	r.like = float32(both) / float32(max(1, max(int(r.words), both)+r.title.words-both))
	return r.said
}

// text reads a piece of text.
func (r *reader) text(s string) {
	r.cues |= signsIn(s)
	terms := terms()
	eachTerm(s, func(w word) {
		r.words++
		if m := terms.entry(w); m != nil {
			r.cues |= 1 << m.group
			r.room = note(r.room, r.from, m.number)
		}
		if m := r.title.entry(w); m != nil {
			r.said.title |= 1 << m.number
		}
		if r.about.entry(w) != nil {
			r.said.about++
		}
	})
}

// eachText calls yield for each piece of text of a block.
func eachText(block *html.Node, yield func(string)) {
	for n := block.FirstChild; n != nil; {
		switch {
		case n.Type == html.TextNode:
			yield(n.Data)
		case n.FirstChild != nil && Inline(n) && !Textless(n) && n.Namespace != "math":
			n = n.FirstChild
			continue
		}
		for n.NextSibling == nil {
			if n = n.Parent; n == block {
				return
			}
		}
		n = n.NextSibling
	}
}

// Terms yields the words of the block k if it is short, for those who count them.
func (p *Page) Terms(k int, yield func(string)) {
	if e := &p.All[p.Index[k]]; e.Own <= shortWords {
		eachText(e.Node, func(text string) { eachTerm(text, func(w word) { yield(w.String()) }) })
	}
}
