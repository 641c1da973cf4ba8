package diff

import (
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxWords bounds the words of a text that are compared: the work is at most a thousand times as
// much for texts that have nothing in common.
const maxWords = 1000

// wordsOf compares two texts by their words; nil: they are too long, or have too little in common
// to tell words apart.
func wordsOf(old, new string) []Word {
	if old == "" || new == "" {
		return nil
	}
	a, b := strings.Fields(old), strings.Fields(new)
	var same []string // at the beginning
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		same, a, b = append(same, a[0]), a[1:], b[1:]
	}
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	end := a[len(a)-tail:]
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	if len(a) > maxWords || len(b) > maxWords {
		return nil
	}
	t := rows{}
	t.add(Same, same...)
	t.middle(a, b)
	t.add(Same, end...)
	return t.words
}

// rows collects words of one side, or of both, in a row.
type rows struct {
	words []Word
}

func (t *rows) add(op Op, words ...string) {
	if len(words) == 0 {
		return
	}
	text := strings.Join(words, " ")
	if last := len(t.words) - 1; last >= 0 && t.words[last].Op == op {
		t.words[last].Text += " " + text
		return
	}
	t.words = append(t.words, Word{op, text})
}

// middle compares words of which neither the first nor the last are the same.
func (t *rows) middle(a, b []string) {
	if len(a) == 0 || len(b) == 0 {
		t.add(Removed, a...)
		t.add(Added, b...)
		return
	}
	// The library compares characters: each word becomes one.
	numbers := make(map[string]rune)
	var names []string
	runes := func(words []string) []rune {
		all := make([]rune, len(words))
		for i, word := range words {
			n, known := numbers[word]
			if !known {
				n = rune(len(names) + 1)
				numbers[word] = n
				names = append(names, word)
			}
			all[i] = n
		}
		return all
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // maxWords is the bound: the result does not depend on the machine
	for _, part := range d.DiffCleanupMerge(d.DiffMainRunes(runes(a), runes(b), false)) {
		op := Same
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			op = Removed
		case diffmatchpatch.DiffInsert:
			op = Added
		}
		for _, r := range part.Text {
			t.add(op, names[r-1])
		}
	}
}
