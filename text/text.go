package text

import (
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// A Fingerprint stands for the text of a page.
type Fingerprint struct {
	Hash    uint64 // of the main text, or of the whole one where that is nearly nothing; 0: there is no text
	Simhash uint64 // of the main text; 0: it is too short for one
	Words   int    // of the text that Hash is of
}

// Near is the largest distance of texts that are nearly the same. 3 of 64 is what Manku et
// al. chose on eight billion pages; what it takes for the same here, docs/bench/text.md has.
const Near = 3

// MinShingles is how many different shingles a text has at least that has a Simhash.
const MinShingles = 64

// Distance is how many bits of two simhashes differ, 0 to 64.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// A Reader reads one page after another. It keeps its buffers, so that a page costs no
// allocation. One task uses it at a time. The zero Reader is ready.
type Reader struct {
	HashOnly bool // there is no Simhash, which spares its cost; Hash is the same

	odd   []byte // lent to words that are not as they stand in the body
	votes votes  // but with HashOnly
	state
}

// state is what is new with each page.
type state struct {
	body []byte
	at   int // how far it is read

	classes *[256]class
	xml     bool // tags can close themselves
	whole   bool // furniture is read, too
	broken  bool // and what says when: some such element has no end

	inner    int  // article, main and section that are open
	unclosed bool // an element that was passed over has no end

	held held
	run  run

	count int // of words
	hash  uint64
	last  [shingle - 1]uint64 // hashes of the last words, the last first
}

// Read reads a page: its Content-Type, parameters of which do not matter, and its body in
// UTF-8, which is neither kept nor changed. The fingerprint of a type that has no text is
// zero.
func (r *Reader) Read(contentType string, body []byte) Fingerprint {
	kind, _, _ := strings.Cut(contentType, ";")
	r.classes, r.xml = &markup, false
	switch kind = strings.TrimSpace(kind); {
	case strings.EqualFold(kind, "text/html"):
	case strings.EqualFold(kind, "application/xhtml+xml"):
		r.xml = true
	case strings.EqualFold(kind, "text/plain"):
		r.classes = &plain
	default:
		return Fingerprint{}
	}
	r.body = body
	passed := r.read(false, false)
	f := r.fingerprint()
	if passed && f.Words < nearlyNothing || r.unclosed {
		r.read(true, r.unclosed)
		f = r.fingerprint()
		f.Simhash = 0
	}
	r.body, r.held, r.run = nil, held{}, run{} // hold nothing of the page's
	if cap(r.odd) > maxKept {
		r.odd = nil
	}
	return f
}

// nearlyNothing is a main text, in words, of a page that has its text elsewhere.
const nearlyNothing = 8

// maxKept is how much room for a word outlives a page.
const maxKept = 4 << 10

// read reads the body, and reports whether furniture was passed over.
func (r *Reader) read(whole, broken bool) (passed bool) {
	r.state = state{body: r.body, classes: r.classes, xml: r.xml, whole: whole, broken: broken}
	if !r.HashOnly {
		r.votes = votes{}
	}
	passed = r.words()
	r.settle()
	for _, e := range r.held.take() {
		r.emit(e.hash)
	}
	return passed
}

// words reads on to the end of the body.
func (r *Reader) words() (passed bool) {
	for r.at < len(r.body) {
		body, classes, from := r.body, r.classes, r.at
		switch classes[body[from]] {
		case isSpace:
			r.at++
		case isTag:
			if r.tag() {
				passed = true
			}
		case isPlain:
			end := from + 1
			for end < len(body) && classes[body[end]] == isPlain {
				end++
			}
			if end < len(body) && classes[body[end]] >= isTag && !opensTag(body[end:], classes) {
				r.oddWord(from, end)
				continue
			}
			r.at = end
			hash := xxhash.Sum64(body[from:end])
			if r.run.n == 0 && r.held.n == 0 && !inStamp[body[from]] { // most words, at no further cost
				r.emit(hash)
				continue
			}
			r.add(entry{hash, body[from:end]})
		default:
			r.oddWord(from, from)
		}
	}
	return passed
}

// emit takes a word into the fingerprints.
func (r *Reader) emit(hash uint64) {
	r.count++
	r.hash = mix(r.hash, hash)
	if r.HashOnly {
		return
	}
	if r.count >= shingle {
		sum := hash
		for i, h := range r.last {
			sum += bits.RotateLeft64(h, 17*(i+1))
		}
		r.votes.add(mix(sum, 0))
	}
	copy(r.last[1:], r.last[:])
	r.last[0] = hash
}

// mix makes one hash of two, in their order. Every bit of the outcome depends on each.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return bits.RotateLeft64(a, 29) + b ^ hi ^ lo
}

func (r *Reader) fingerprint() Fingerprint {
	if r.count == 0 {
		return Fingerprint{}
	}
	f := Fingerprint{Hash: max(1, r.hash), Words: r.count}
	if !r.HashOnly && r.votes.n >= MinShingles {
		f.Simhash = r.votes.majority()
	}
	return f
}
