package blocks

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// word is a word in small letters, as its first sixteen bytes.
type word [2]uint64

const mostWord = 16

// add puts a byte behind n others.
func (w *word) add(c byte, n int) {
	if n < mostWord {
		w[n>>3] |= uint64(c) << (n & 7 * 8)
	}
}

func wordOf(s string) (w word) {
	for n := range len(s) {
		w.add(s[n], n)
	}
	return w
}

func (w word) String() string {
	var b []byte
	for _, half := range w {
		for ; half != 0; half >>= 8 {
			b = append(b, byte(half))
		}
	}
	return string(b)
}

// lexicon has the meanings of known words. It is a hash table with open addressing, at most a
// quarter full.
type lexicon struct {
	slots []uint16 // indexes of known
	known []meaning
}

type meaning struct {
	word   word
	number uint16 // in the vocabulary, or unnumbered
	group  uint8  // its hint or cue, or 0
}

const unnumbered = ^uint16(0)

// newLexicon knows the words of a vocabulary, numbered as they come, and those of groups. There is
// room for so many.
func newLexicon(vocabulary iter.Seq[string], groups map[uint8]string, room int) *lexicon {
	l := &lexicon{known: make([]meaning, 1, room)} // no slot leads to the first
	number := uint16(0)
	for s := range vocabulary {
		l.known = append(l.known, meaning{wordOf(s), number, 0})
		number++
	}
	for group, list := range groups {
		for s := range strings.FieldsSeq(list) {
			l.known = append(l.known, meaning{wordOf(s), unnumbered, group})
		}
	}
	l.slots = make([]uint16, 4<<bits.Len(uint(len(l.known))))
	for i, m := range l.known[1:] {
		switch at := l.find(m.word); {
		case l.slots[at] == 0:
			l.slots[at] = uint16(i + 1)
		case m.group != 0:
			l.known[l.slots[at]].group = m.group
		}
	}
	return l
}

// find is the slot of a word, or the free one where it would be.
func (l *lexicon) find(w word) uint64 {
	mask := uint64(len(l.slots) - 1)
	at := (w[0] ^ w[1]*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 40 & mask
	for l.slots[at] != 0 && l.known[l.slots[at]].word != w {
		at = (at + 1) & mask
	}
	return at
}

// entry returns the entry of a word, or nil.
func (l *lexicon) entry(w word) *meaning {
	if i := l.slots[l.find(w)]; i != 0 {
		return &l.known[i]
	}
	return nil
}

// The sizes of the vocabularies (vocabulary_words.go): the words of ids and classes, and those of
// short blocks, that stand on most sites. What each is worth is measured, as are all facts; hints
// and cues group words that people know.
const (
	MostNames = 1200
	MostTerms = 1500
)

var (
	names = sync.OnceValue(func() *lexicon { return newLexicon(strings.FieldsSeq(nameList), hintWords, 2*MostNames) })
	terms = sync.OnceValue(func() *lexicon { return newLexicon(strings.FieldsSeq(termList), cueWords, 2*MostTerms) })
)

// mostNoted bounds the words of the vocabulary that are noted of an element.
const mostNoted = 64

// note appends the number of a word to others, unless it is among those of its element.
func note(all []uint16, from int, number uint16) []uint16 {
	if of := all[from:]; number == unnumbered || len(of) == mostNoted || slices.Contains(of, number) {
		return all
	}
	return append(all, number)
}

// eachName yields the words of an id or a list of classes: letters, parted by anything else, or by
// a capital behind a small letter.
func eachName(s string, yield func(word)) {
	var w word
	n, small := 0, false
	for i := 0; i <= len(s); i++ {
		c := byte(0)
		if i < len(s) {
			c = s[i]
		}
		lower := c | 0x20
		letter := 'a' <= lower && lower <= 'z'
		if n > 0 && (!letter || small && c != lower) {
			yield(w)
			w, n = word{}, 0
		}
		if letter {
			w.add(lower, n)
			n++
		}
		small = letter && c == lower
	}
}

// eachTerm yields the words of a text: letters, parted by anything else.
func eachTerm(s string, yield func(word)) {
	var w word
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		switch {
		case 'a' <= c && c <= 'z', c >= 0x80 && c != 0xc2 && c != 0xe2:
			w.add(c, n)
			n++
			continue
		case c == 0xc2: // U+0080 to U+00BF: signs and the blank that breaks no line
			i++
		case c == 0xe2: // U+2000 to U+2FFF: dashes, quotes, symbols
			i += 2
		}
		if n > 0 {
			yield(w)
			w, n = word{}, 0
		}
	}
	if n > 0 {
		yield(w)
	}
}

// Names yields the words of ids and classes of an element, for those who count them.
func Names(n *html.Node, yield func(string)) {
	for _, a := range n.Attr {
		if a.Key == "class" || a.Key == "id" {
			eachName(a.Val, func(w word) { yield(w.String()) })
		}
	}
}

// phrase is a part of a page's account of itself, to be found in its blocks.
type phrase struct {
	*lexicon
	words int
}

// mostPhrase is the number of words of a phrase that count.
const (
	mostPhrase      = 64
	mostPhraseBytes = 2 << 10
)

func newPhrase(s string) phrase {
	var all []string
	eachTerm(s[:min(len(s), mostPhraseBytes)], func(w word) {
		if word := w.String(); len(all) < mostPhrase && !slices.Contains(all, word) {
			all = append(all, word)
		}
	})
	return phrase{newLexicon(slices.Values(all), nil, len(all)+1), len(all)}
}
