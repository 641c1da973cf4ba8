package fingerprint

import (
	"bytes"
	"math/bits"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/weftcrawl/weft/internal/markup"
)

// sketch sums up what a page says that its URL does not explain: the set of its words, and of the
// pictures, media and frames in it. Words that the URL explains are numbers of its path or query,
// those next to them, years, and its tokens. Two days of an empty calendar have the same sketch.
type sketch struct {
	on    bool
	sum   uint64 // of the hashes of the different words
	own   []byte // parts of the URL that have digits, or are long, each before a blank
	word  []byte // being read, without what the URL explains
	known [512]uint64
}

// longToken is the length from which a part of a URL without digits counts as a token.
const longToken = 20

// longestRead is the length from which a word is taken as it is.
const longestRead = 256

// begin empties the sketch, for a page with a request target.
func (s *sketch) begin(target string) {
	s.sum, s.own = 1, append(s.own[:0], ' ')
	clear(s.known[:])
	for len(target) > 0 {
		n, figures := 0, 0
		for ; n < len(target) && isPart(target[n]); n++ {
			if markup.IsDigit(target[n]) {
				figures++
			}
		}
		if figures > 0 || n >= longToken {
			s.own = append(append(s.own, target[:n]...), ' ')
			if figures == n {
				s.ownNumber(target[:n])
			}
		}
		target = target[min(n+1, len(target)):]
	}
}

// ownNumber adds a number of the URL as it may be written, and those next to it.
func (s *sketch) ownNumber(figures string) {
	number, err := strconv.ParseUint(figures, 10, 62)
	if err != nil {
		return
	}
	for n := max(number, 1) - 1; n <= number+1; n++ {
		s.own = append(strconv.AppendUint(s.own, n, 10), ' ')
	}
}

func isPart(c byte) bool {
	return markup.IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// read adds words, each followed by a blank.
func (s *sketch) read(words []byte) {
	for len(words) > 0 {
		n := bytes.IndexByte(words, ' ')
		s.readWord(words[:n])
		words = words[n+1:]
	}
}

// readWord adds a word. What the URL explains of it is left out, and so is the whole word if that
// leaves nothing.
func (s *sketch) readWord(word []byte) {
	if len(word) > longestRead {
		s.add(xxhash.Sum64(word))
		return
	}
	s.word = s.word[:0]
	for len(word) > 0 {
		n, figures := 0, 0
		for ; n < len(word) && isPart(word[n]); n++ {
			if markup.IsDigit(word[n]) {
				figures++
			}
		}
		if n == 0 {
			s.word, word = append(s.word, word[0]), word[1:]
			continue
		}
		if figures == 0 && n < longToken || !s.explains(word[:n], figures == n) {
			s.word = append(s.word, word[:n]...)
		}
		word = word[n:]
	}
	if len(s.word) > 0 {
		s.add(xxhash.Sum64(s.word))
	}
}

// explains reports whether a part of a word is a year, or in the URL.
func (s *sketch) explains(part []byte, isNumber bool) bool {
	if isNumber {
		if len(part) == 4 && (part[0] == '1' || part[0] == '2') {
			return true
		}
		if part = bytes.TrimLeft(part, "0"); len(part) == 0 {
			part = []byte("0")
		}
	}
	at := bytes.Index(s.own, part)
	for at >= 0 {
		if s.own[at-1] == ' ' && s.own[at+len(part)] == ' ' {
			return true
		}
		next := bytes.Index(s.own[at+1:], part)
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// add adds the hash of a word or a URL, unless it is known.
func (s *sketch) add(hash uint64) {
	hash = max(1, hash)
	slot := &s.known[hash%uint64(len(s.known))]
	if *slot != hash {
		*slot = hash
		s.sum += bits.RotateLeft64(hash, 32) | 1
	}
}
