package charset

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// modelBytes is the knowledge of detection about languages. `go -C bench run ./charset -train DIR`
// makes models.bin, with [Train].
//
//go:embed models.bin
var modelBytes []byte

// A letterModel has the chances of one character behind another in a language written with letters,
// as eighths of a bit: -8 log2 of the probability. Characters are grouped into classes: space (all
// ASCII except letters), the letters of ASCII (a single class where the language uses others),
// punctuation beyond ASCII, the letters of the language, and others.
type letterModel struct {
	latin   bool
	classes map[rune]uint8 // of the language's letters, in lower case
	n       int            // number of classes
	bits    []uint8        // at class times n plus the following class
}

// Classes of characters. The language's letters follow the last.
const (
	classSpace = iota
	classPunctuation
	classOther
	classASCII // the letter a, or all letters
)

// A wordModel holds the frequency of characters in a language with thousands of them.
type wordModel struct {
	bits map[rune]uint8
	rare uint8 // of any other character
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
	if r == '\u00a0' || unicode.IsPunct(r) || unicode.IsSymbol(r) && (r < 0x2500 || r > 0x259f) {
		// Boxes are no symbols of a text.
		return classPunctuation
	}
	return classOther
}

// newLetterModel returns a model with an alphabet and no bits yet.
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

// models parses modelBytes, once.
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

func appendHead(dst []byte, kind byte, language string, runes []rune) []byte {
	dst = append(dst, kind, byte(len(language)))
	dst = append(dst, language...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(runes)))
	for _, r := range runes {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
	}
	return dst
}

// bitsOf returns a probability as stored.
func bitsOf(p float64) uint8 { return uint8(min(255, math.Round(-8*math.Log2(p)))) }
