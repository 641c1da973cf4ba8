package content

import (
	"math/bits"

	"golang.org/x/net/html/atom"
)

const (
	leastRepeat  = 20      // shingles of a repeat: fewer come back in honest texts, too
	mostOfRepeat = 80      // percent of an element's shingles that stand before it
	mostShingles = 1 << 17 // of a page: a longer one is not looked through
	mostAround   = 32      // elements around a block that may be a repeat
)

// repeats leaves out what was said before: pages hold a text again for narrow windows, for search
// engines, or as the caption of each size of a picture. An element is a repeat if most of its
// shingles stand in what is kept before it, enough of them as prose: lists, tables, quotations and
// code repeat themselves on purpose, and so does a paragraph that comes back further down in the
// same element: a plan for each day, conditions of each offer.
func (s *selection) repeats() {
	all, shingles := s.page.All, s.shingles()
	if len(shingles) > mostShingles {
		return
	}
	// The shingles of an element; of these, those said before it; of these, those of prose.
	type count struct{ shingles, again, prose int32 }
	counts := make([]count, len(all))
	seen := newFirsts(len(shingles))
	for _, r := range shingles {
		counts[r.element].shingles++
		first := seen.add(r)
		for up, n := r.element, 0; up > first && n < mostAround; up, n = all[up].Parent, n+1 {
			if up == r.element && all[up].Parent == all[first].Parent && up != all[first].End {
				continue
			}
			counts[up].again++
			if r.prose {
				counts[up].prose++
			}
		}
	}
	for i := len(all) - 1; i > 0; i-- {
		counts[all[i].Parent].shingles += counts[i].shingles
	}
	k, end := 0, int32(0) // of the repeat
	for i := range int32(len(all)) {
		if c := counts[i]; i >= end && c.prose >= leastRepeat && c.again*100 >= c.shingles*mostOfRepeat {
			end = all[i].End
		}
		if all[i].Own == 0 {
			continue
		}
		if s.keep[k] && i < end {
			s.keep[k], s.why[k] = false, "said before"
		}
		k++
	}
}

// shingle is four words in a row: fewer come back by chance.
type shingle struct {
	hash    uint64
	element int32 // of the block that they stand in
	prose   bool  // in no list, table, quotation or code
}

// shingles reads all that is kept, up to mostShingles and a block more.
func (s *selection) shingles() []shingle {
	room := int32(0)
	for k, i := range s.page.Index {
		if s.keep[k] && s.why[k] == "" {
			room += s.page.All[i].Own
		}
	}
	all := make([]shingle, 0, min(room, mostShingles))
	for k, i := range s.page.Index {
		if !s.keep[k] || s.why[k] != "" || len(all) > mostShingles {
			continue
		}
		var words [4]uint64
		n, prose := 0, s.unit(i) == 0 && !s.isCode(i)
		own(s.page.All[i].Node, func(text string) {
			eachWord(text, func(word uint64) {
				words[n%4] = word
				if n++; n >= 4 {
					all = append(all, shingle{shingleHash(words[n%4], words[(n+1)%4], words[(n+2)%4], word), i, prose})
				}
			})
		})
	}
	return all
}

func (s *selection) isCode(i int32) bool {
	for ; i > 0; i = s.page.All[i].Parent {
		if s.page.All[i].Node.DataAtom == atom.Pre {
			return true
		}
	}
	return false
}

func shingleHash(words ...uint64) (hash uint64) {
	for _, w := range words {
		hash = (bits.RotateLeft64(hash, 17) ^ w) * 0x9e3779b97f4a7c15
	}
	return hash
}

// eachWord yields a hash (FNV-1a) of each word of a text, in small letters.
func eachWord(text string, yield func(uint64)) {
	const offset, prime = 14695981039346656037, 1099511628211
	word := uint64(offset)
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		switch {
		case 'A' <= c && c <= 'Z':
			word = (word ^ uint64(c|0x20)) * prime
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c >= 0x80:
			word = (word ^ uint64(c)) * prime
		case word != offset:
			yield(word)
			word = offset
		}
	}
}

// firsts has the first element of each shingle. It is a hash table with open addressing, at most
// half full. A page may be made so that all its shingles meet in one place: beyond mostProbes they
// are new.
type firsts []shingle

const mostProbes = 256

func newFirsts(shingles int) firsts { return make(firsts, 2<<bits.Len(uint(shingles))) }

// add returns the first element of a shingle: its own if it is new.
func (f firsts) add(r shingle) int32 {
	mask := uint64(len(f) - 1)
	at := r.hash & mask
	for n := 0; f[at].hash != 0; n, at = n+1, (at+1)&mask {
		switch {
		case f[at].hash == r.hash:
			return f[at].element
		case n == mostProbes:
			return r.element
		}
	}
	f[at] = r
	return r.element
}
