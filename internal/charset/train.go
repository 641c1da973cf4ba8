package charset

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	maxAlphabet = 60   // letters beyond ASCII of a model
	maxWords    = 2500 // characters of a model of a language with thousands
)

// frequent returns the runes of counts, the most frequent first.
func frequent(counts map[rune]int, most int) []rune {
	var runes []rune
	for r := range counts {
		runes = append(runes, r)
	}
	slices.SortFunc(runes, func(a, b rune) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return int(a - b)
	})
	return runes[:min(most, len(runes))]
}

func trainLetters(dst []byte, language, text string) []byte {
	counts := map[rune]int{}
	total, ascii := 0, 0
	for _, r := range text {
		r = unicode.ToLower(r)
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			total++
			if r < utf8.RuneSelf {
				ascii++
			} else if r < 0x10000 {
				counts[r]++
			}
		}
	}
	for r, n := range counts {
		if n*20000 < total { // from a name or a mistake
			delete(counts, r)
		}
	}
	alphabet := frequent(counts, maxAlphabet)
	kind := byte('s')
	if ascii > total/2 {
		kind = 'l'
	}
	m := newLetterModel(kind == 'l', alphabet)
	pairs := make([]float64, m.n*m.n)
	lefts, rights := make([]float64, m.n), make([]float64, m.n)
	all := 0.0
	before := uint8(classSpace)
	for _, r := range text {
		c := m.class(r)
		pairs[int(before)*m.n+int(c)]++
		lefts[before]++
		rights[c]++
		all++
		before = c
	}
	// An unseen pair is as probable as its second character alone, as if that had been seen
	// weight times.
	const weight = 30
	dst = appendHead(dst, kind, language, alphabet)
	for a := range m.n {
		for b := range m.n {
			alone := (rights[b] + 2) / (all + 2*float64(m.n))
			dst = append(dst, bitsOf((pairs[a*m.n+b]+weight*alone)/(lefts[a]+weight)))
		}
	}
	return dst
}

func trainWords(dst []byte, language, text string) []byte {
	counts := map[rune]int{}
	total := 0
	for _, r := range text {
		if r >= utf8.RuneSelf && r < 0x10000 {
			counts[r]++
			total++
		}
	}
	runes := frequent(counts, maxWords)
	dst = appendHead(dst, 'w', language, runes)
	rest := float64(total)
	for _, r := range runes {
		// No character dominates all texts.
		dst = append(dst, bitsOf(min(float64(counts[r])/float64(total), 1.0/32)))
		rest -= float64(counts[r])
	}
	const others = 5000 // characters outside of the model
	return append(dst, bitsOf(max(rest/float64(total), 0.02)/others))
}

// Train appends the model of a language, made from text in it, to those in dst.
func Train(dst []byte, language, text string) []byte {
	if isWords(language) {
		return trainWords(dst, language, text)
	}
	return trainLetters(dst, language, text)
}
