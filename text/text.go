package text

import (
	"bytes"
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/weftcrawl/weft/links"
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

	alone *links.Extractor // reads pages for their text alone; made when it is needed
	buf   []byte           // up to n: words that are not yet taken into the fingerprints, each with one blank behind it
	votes votes            // but with HashOnly

	decoded [2 * bufStep]byte // room for a reference

	state
}

// state is what is new with each page.
type state struct {
	parts  parts
	n      int
	sifted int // how much of buf has been looked at for stamps
	floor  int // where in buf the words begin that were in no run
	run    run

	count  int // of words
	digest xxhash.Digest
	last   [shingle - 1]uint64 // hashes of the last words, the last first
}

// Read reads a page: its Content-Type, parameters of which do not matter, and its body in
// UTF-8, which is neither kept nor changed. The fingerprint of a type that has no text is
// zero.
func (r *Reader) Read(contentType string, body []byte) Fingerprint {
	if r.alone == nil {
		r.alone = links.NewExtractor(links.Options{})
	}
	_, f := r.Extract(r.alone, links.Document{ContentType: contentType, Body: body}, nil)
	return f
}

// Extract reads a page, and yields its links: it does what x.Extract does, and Read, for
// little more than the first. With a nil yield there are no links.
func (r *Reader) Extract(x *links.Extractor, d links.Document, yield func(links.Link) bool) (links.Page, Fingerprint) {
	kind, _, _ := strings.Cut(d.ContentType, ";")
	kind = strings.TrimSpace(kind)
	d.Text = nil
	r.begin(parts{})
	switch {
	case strings.EqualFold(kind, "text/html"), strings.EqualFold(kind, "application/xhtml+xml"):
		d.Text = (*listener)(r)
	case strings.EqualFold(kind, "text/plain"):
		r.fill(d.Body, []links.Piece{{From: 0, To: len(d.Body)}}, true)
	}
	page := x.Extract(d, yield)
	f, p := r.end(), r.parts
	if p.passed && f.Words < nearlyNothing || p.passing {
		r.begin(parts{whole: true, broken: p.passing})
		x.Extract(d, nil)
		f = r.end()
		f.Simhash = 0
	}
	return page, f
}

// nearlyNothing is a main text, in words, of a page that has its text elsewhere.
const nearlyNothing = 8

func (r *Reader) begin(p parts) {
	if r.buf == nil {
		r.buf = make([]byte, bufSize)
	}
	r.state = state{parts: p}
	r.digest.Reset()
	if !r.HashOnly {
		r.votes = votes{}
	}
}

// end takes what is left, and returns the fingerprint.
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

// take takes the words at the beginning of buf into the fingerprints, up to end.
func (r *Reader) take(end int) {
	words := r.buf[:end]
	r.count += bytes.Count(words, []byte(" "))
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

// shingle takes the shingle that a word ends.
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

// mix makes one hash of two, in their order. Every bit of the outcome depends on each.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return bits.RotateLeft64(a, 29) + b ^ hi ^ lo
}
