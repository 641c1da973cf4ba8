package fingerprint

import (
	"bytes"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/weftcrawl/weft/links"
)

// A Fingerprint is the text fingerprint of a page.
type Fingerprint struct {
	Hash    uint64 // of the main text, or of the whole text if that is nearly empty; 0: no text
	Simhash uint64 // of the main text; 0: too short
	Words   int    // in the text that Hash covers
}

// Near is the largest distance of texts that are nearly the same. Manku et al. chose 3 of 64 bits
// on eight billion pages; docs/bench/text.md shows what that finds here.
const Near = 3

// MinShingles is the least number of different shingles for a Simhash.
const MinShingles = 64

// Distance returns the number of bits in which two simhashes differ, 0 to 64.
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// A Reader reads one page after another. It keeps its buffers, so that a page costs no
// allocation. One task at a time uses it. The zero Reader is ready.
type Reader struct {
	HashOnly bool // skip Simhash and its cost; Hash is the same

	alone *links.Extractor // reads pages for their text alone; made on first use
	buf   []byte           // up to n: words not hashed yet, each followed by one blank
	votes votes            // unused with HashOnly

	sketch sketch // see Sketch

	decoded [2 * bufStep]byte // room for a reference

	state
}

// state is reset for each page.
type state struct {
	parts  parts
	pause  func() // of the document, or nil
	taken  int    // bytes of words since the last pause
	n      int
	sifted int // length of buf that has been searched for stamps
	floor  int // start of the words in buf that were in no run
	run    run

	count  int // of words
	digest xxhash.Digest
	last   [shingle - 1]uint64 // hashes of the last words, the latest first
}

// pauseStep is the number of bytes of words that are read from one pause of the document to the
// next.
const pauseStep = 64 << 10

// nearlyNothing is the length of a main text, in words, below which the page has its text in
// furniture.
const nearlyNothing = 8

func (r *Reader) begin(p parts, pause func()) {
	if r.buf == nil {
		r.buf = make([]byte, bufSize)
	}
	r.state = state{parts: p, pause: pause}
	r.digest.Reset()
	if !r.HashOnly {
		r.votes = votes{}
	}
}

// end hashes the rest and returns the fingerprint.
func (r *Reader) end() Fingerprint {
	r.take(r.settle(r.n))
	if len(r.buf) > bufSize {
		r.buf = nil
	}
	if r.count == 0 {
		return Fingerprint{}
	}
	f := Fingerprint{Hash: max(1, r.digest.Sum64()), Words: r.count}
	if !r.HashOnly && r.votes.n >= MinShingles {
		f.Simhash = r.votes.majority()
	}
	return f
}

// take hashes the words at the beginning of buf, up to end.
func (r *Reader) take(end int) {
	words := r.buf[:end]
	r.count += bytes.Count(words, []byte(" "))
	if r.sketch.on {
		r.sketch.read(words)
		return
	}
	_, _ = r.digest.Write(words) // which cannot fail
	if r.HashOnly {
		return
	}
	for len(words) > 0 {
		n := bytes.IndexByte(words, ' ')
		r.shingle(xxhash.Sum64(words[:n]))
		words = words[n+1:]
	}
}

// shingle adds the shingle that ends with a word.
func (r *Reader) shingle(hash uint64) {
	if r.last[shingle-2] != 0 {
		sum := hash
		for i, h := range r.last {
			sum += bits.RotateLeft64(h, 17*(i+1))
		}
		r.votes.add(mix(sum, 0))
	}
	copy(r.last[1:], r.last[:])
	r.last[0] = max(1, hash)
}

// mix combines two hashes in order. Every bit of the result depends on every bit of both.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return bits.RotateLeft64(a, 29) + b ^ hi ^ lo
}
