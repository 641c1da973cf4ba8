package charset

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// models.bin has what detection knows of languages. `go run ./internal/bench/charset
// -train DIR` makes it, with [Train].
//
//go:embed models.bin
var modelBytes []byte

// A letterModel tells how well characters follow each other in a language that is
// written with letters: in bits, which is -log2 of the probability, times eight. To it
// characters are classes: space (all ASCII that is no letter), the letters of ASCII (one class of
// all where the language has others), punctuation beyond ASCII, the letters of the language, and others.
type letterModel struct {
	latin   bool
	classes map[rune]uint8 // of the language's letters, in lower case
	n       int            // how many classes
	bits    []uint8        // at class times n plus the class that follows
}

// Classes of characters. Behind the last are the language's letters.
const (
	classSpace = iota
	classPunctuation
	classOther
	classASCII // a, or all
)

// A wordModel tells how frequent characters are in a language that has thousands.
type wordModel struct {
	bits map[rune]uint8
	rare uint8 // of one that is not there
}

func (m *letterModel) class(r rune) uint8 {
	r = unicode.ToLower(r)
	switch {
	case 'a' <= r && r <= 'z' && m.latin:
		return classASCII + uint8(r-'a')
	case 'a' <= r && r <= 'z':
		return classASCII
	case r < utf8.RuneSelf:
		return classSpace
	}
	if c, ok := m.classes[r]; ok {
		return c
	}
	if r == '\u00a0' || unicode.IsPunct(r) || unicode.IsSymbol(r) && (r < 0x2500 || r > 0x259f) { // no boxes
		return classPunctuation
	}
	return classOther
}

// newLetterModel has an alphabet, and no bits yet.
func newLetterModel(latin bool, alphabet []rune) *letterModel {
	m := &letterModel{latin: latin, classes: map[rune]uint8{}, n: classASCII + 1}
	if latin {
		m.n = classASCII + 26
	}
	for _, r := range alphabet {
		m.classes[r] = uint8(m.n)
		m.n++
	}
	return m
}

// models reads models.bin, once.
var models = sync.OnceValues(func() (map[string]*letterModel, map[string]*wordModel) {
	letters, words := map[string]*letterModel{}, map[string]*wordModel{}
	b := modelBytes
	next := func(n int) []byte {
		head := b[:n]
		b = b[n:]
		return head
	}
	for len(b) > 0 {
		kind := next(1)[0]
		language := string(next(int(next(1)[0])))
		runes := make([]rune, binary.LittleEndian.Uint16(next(2)))
		for i := range runes {
			runes[i] = rune(binary.LittleEndian.Uint16(next(2)))
		}
		if kind == 'w' {
			m := &wordModel{bits: map[rune]uint8{}}
			for i, bits := range next(len(runes)) {
				m.bits[runes[i]] = bits
			}
			m.rare = next(1)[0]
			words[language] = m
			continue
		}
		m := newLetterModel(kind == 'l', runes)
		m.bits = next(m.n * m.n)
		letters[language] = m
	}
	return letters, words
})

// Train appends the model of a language, made of text in it, to those in dst.
func Train(dst []byte, language, text string) []byte {
	if isWords(language) {
		return trainWords(dst, language, text)
	}
	return trainLetters(dst, language, text)
}

func appendHead(dst []byte, kind byte, language string, runes []rune) []byte {
	dst = append(dst, kind, byte(len(language)))
	dst = append(dst, language...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(runes)))
	for _, r := range runes {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
	}
	return dst
}

// bitsOf is a probability as it is stored.
func bitsOf(p float64) uint8 { return uint8(min(255, math.Round(-8*math.Log2(p)))) }
