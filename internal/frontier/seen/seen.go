// Package seen is the set of the URLs that a crawl has ever found, by fingerprint.
//
// It is a table of 64 bits a URL without pointers, so the garbage collector never scans it. The
// first 10 bits of a fingerprint choose a segment, and the next 64 are the URL's key in it. Two
// URLs of a crawl share a key with a probability of n²/2⁷⁵: 10⁻¹⁰ for a million, 3·10⁻⁷ for 100
// million.
//
// A segment uses open addressing over buckets of one cache line. Keys are in the order of their
// buckets, so growing copies from front to back, and filling a table in the order of
// fingerprints touches memory in order. Segments grow by a quarter, one at a time, each at a size
// of its own, so at any time as many are roomy as are full: a URL takes 9.6 bytes (8, plus
// growth's mean slack of 12 % and a load of 15/16), whatever the size of the set.
//
// With a limit each segment has its share. Once that is full the segment is packed (see packed),
// and a URL takes 5.7 bytes. Once that is full too the segment becomes lossy: half of it turns
// into a cache, where a new key replaces another, and half into a Bloom filter of all keys, in
// blocks of a cache line (Putze, Sanders and Singler, 2007). The set then answers with certainty
// for most new fingerprints as long as the filter has some bits a key: it is unsure of 2 % at 8
// bits, of 16 % at 4.
//
// A Set is owned by one goroutine.
package seen

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Set is a set of fingerprints.
type Set struct {
	segments [segmentCount]segment
	limited  bool
	most     int    // buckets, if limited
	largest  int    // keys of the segment with the most
	bytes    int    // of all buckets, and of keys outside them
	touched  uint64 // keeps the compiler from optimising Touch away
}

// segment holds the keys that begin alike.
//
// Invariant: it has buckets, or it is packed. Keys fill a bucket from its first slot on. While a
// segment is not lossy, a key is in its home bucket or in a later one (the first follows the
// last), with no empty slot between. In a lossy segment a key is in its home bucket or nowhere,
// and the filter has the bits of every key ever added.
type segment struct {
	buckets []line // one slot is empty
	packed  packed
	filter  []line // of a lossy segment; may be empty
	n       int32  // keys; of a lossy segment, before it lost any
	step    int16  // of growth: see Set.size
	lossy   bool   // implies packed
}

// line is a bucket: a cache line of keys. 0 marks an empty slot.
type line [8]uint64

const (
	segmentBits  = 10
	segmentCount = 1 << segmentBits
	bucketBytes  = 64

	growth = 1.25
)

// New returns an empty set whose buckets take at most limit bytes; 0: any number.
func New(limit int) *Set {
	room := limit - limit/64 // the rest is for keys far from home
	return &Set{limited: limit > 0, most: room / bucketBytes}
}

// Limited reports whether the set has a limit, and so may forget.
func (s *Set) Limited() bool { return s.limited }

// Bytes returns how much memory the set takes.
func (s *Set) Bytes() int { return s.bytes }

// share returns how many buckets a segment may have.
func (s *Set) share(seg int) int {
	if !s.limited {
		return math.MaxInt
	}
	return (s.most + segmentCount - 1 - seg) / segmentCount // the first segments take the remainder
}

// locate returns the segment of a fingerprint and its key there.
func (s *Set) locate(fp [16]byte) (seg int, key uint64) {
	hi := binary.BigEndian.Uint64(fp[:])
	key = hi<<segmentBits | uint64(binary.BigEndian.Uint16(fp[8:]))>>(16-segmentBits)
	return int(hi >> (64 - segmentBits)), max(key, 1) // 0 is an empty slot
}

// home returns the index of the bucket for a key, which holds it unless that is full.
func (g *segment) home(key uint64) int { return indexOf(key, len(g.buckets)) }

// indexOf maps the first bits of a key to one of n.
func indexOf(key uint64, n int) int {
	i, _ := bits.Mul64(key, uint64(n))
	return int(i)
}

// Has reports whether the set holds a fingerprint. If final is false, the fingerprint may have been
// added and forgotten.
func (s *Set) Has(fp [16]byte) (found, final bool) {
	seg, key := s.locate(fp)
	g := &s.segments[seg]
	found = g.has(key)
	return found, found || !g.lossy || !g.maybe(key)
}

func (g *segment) has(key uint64) bool {
	if len(g.buckets) == 0 {
		return g.packed.has(key, g.lossy)
	}
	_, slot := g.find(key)
	return slot >= 0
}

// find returns where a key is, in a segment with buckets; the slot is -1 if it is nowhere.
func (g *segment) find(key uint64) (bucket, slot int) {
	for i := g.home(key); ; {
		b := &g.buckets[i]
		for slot, k := range b {
			if k == key {
				return i, slot
			}
		}
		if b[7] == 0 {
			return 0, -1
		}
		if i++; i == len(g.buckets) {
			i = 0
		}
	}
}

// Touch reads the home buckets of many fingerprints, so that the memory fetches them at once rather
// than one after the other as Has asks for them.
func (s *Set) Touch(batch [][16]byte) {
	for _, fp := range batch {
		seg, key := s.locate(fp)
		g := &s.segments[seg]
		if len(g.buckets) > 0 {
			s.touched ^= g.buckets[g.home(key)][0]
		}
		if n := len(g.packed.buckets); n > 0 {
			s.touched ^= uint64(g.packed.buckets[indexOf(key, n)].low[0])
		}
		if len(g.filter) > 0 {
			s.touched ^= g.filter[indexOf(key, len(g.filter))][0]
		}
	}
}

// Add adds a fingerprint, and reports whether the set did not hold it.
func (s *Set) Add(fp [16]byte) bool {
	seg, key := s.locate(fp)
	g := &s.segments[seg]
	for !g.lossy && int(g.n) >= g.room() {
		s.grow(seg)
	}
	switch {
	case g.lossy:
		g.mark(key)
		return g.packed.replace(key)
	case len(g.buckets) == 0:
		far := len(g.packed.far)
		if !g.packed.put(key) {
			return false
		}
		s.bytes += 8 * (len(g.packed.far) - far)
	case !g.put(key):
		return false
	}
	g.n++
	s.largest = max(s.largest, int(g.n))
	return true
}

// room returns how many keys a segment may hold before it has to grow.
func (g *segment) room() int { return max(len(g.buckets)*15/2, packedRoom(len(g.packed.buckets))) }

// put adds a key to a segment that has room.
func (g *segment) put(key uint64) bool {
	for i := g.home(key); ; {
		b := &g.buckets[i]
		for j, k := range b {
			switch k {
			case key:
				return false
			case 0:
				b[j] = key
				return true
			}
		}
		if i++; i == len(g.buckets) {
			i = 0
		}
	}
}

// pack packs a segment.
func (g *segment) pack(s *Set) {
	keys := g.buckets
	g.buckets, g.packed = nil, newPacked(len(keys))
	for i := range keys {
		for _, key := range keys[i] {
			if key != 0 {
				g.packed.put(key)
			}
		}
	}
	s.bytes += 8 * len(g.packed.far)
}

// lose makes a packed segment lossy.
func (g *segment) lose(s *Set) {
	old := g.packed
	half := (len(old.buckets) + 1) / 2
	g.lossy = true
	g.packed, g.filter = newPacked(half), make([]line, len(old.buckets)-half)
	for key := range old.keys {
		g.mark(key)
		g.packed.replace(key)
	}
	s.bytes -= 8 * len(old.far)
}

// probes is the number of bits of a key in the filter. All are in one line, which the key's first
// bits choose; nine bits of the key's hash locate each.
const probes = 4

// probe returns the filter's line for a key, and nine bits for each probe. Keys that a packed
// segment cannot tell apart have the same probes.
func (g *segment) probe(key uint64) (b *line, at uint64) {
	key = g.packed.cut(key)
	return &g.filter[indexOf(key, len(g.filter))], key * 0x9e3779b97f4a7c15 >> (64 - 9*probes)
}

// mark adds a key to the filter.
func (g *segment) mark(key uint64) {
	if len(g.filter) == 0 {
		return
	}
	b, at := g.probe(key)
	for range probes {
		b[at%512/64] |= 1 << (at % 64)
		at >>= 9
	}
}

// maybe reports whether a key may have been added to the filter.
func (g *segment) maybe(key uint64) bool {
	if len(g.filter) == 0 {
		return true
	}
	b, at := g.probe(key)
	for range probes {
		if b[at%512/64]>>(at%64)&1 == 0 {
			return false
		}
		at >>= 9
	}
	return true
}

// grow enlarges a segment. At its share the segment is packed instead, and a packed one made lossy.
func (s *Set) grow(seg int) {
	g := &s.segments[seg]
	n := len(g.buckets)
	switch {
	case len(g.packed.buckets) > 0 || s.share(seg) == 0:
		g.lose(s)
		return
	case n >= s.share(seg):
		g.pack(s)
		return
	}
	for n == len(g.buckets) {
		n = s.size(seg, g.step)
		g.step++
	}
	s.resize(g, n)
}

// size returns how many buckets a segment has after a number of steps.
func (s *Set) size(seg int, step int16) int {
	return min(int(math.Pow(growth, float64(step)+float64(seg)/segmentCount)), s.share(seg))
}

func (s *Set) resize(g *segment, n int) {
	old := g.buckets
	g.buckets = make([]line, n)
	s.bytes += bucketBytes * (n - len(old))
	for i := range old {
		for _, key := range old[i] {
			if key != 0 {
				g.put(key)
			}
		}
	}
}

// Reserve makes room for a number of URLs at once.
func (s *Set) Reserve(urls int) {
	want := int(math.Ceil(float64(urls)/segmentCount*1.02*2/15)) + 1 // buckets; sizes differ
	for seg := range s.segments {
		g := &s.segments[seg]
		if len(g.packed.buckets) > 0 || g.lossy {
			continue
		}
		n := len(g.buckets)
		for n < min(want, s.share(seg)) {
			n = s.size(seg, g.step)
			g.step++
		}
		if n > len(g.buckets) {
			s.resize(g, n)
		}
	}
}

// Roomy reports whether the set stays exact if this many URLs are added, whichever they are.
func (s *Set) Roomy(urls int) bool {
	return !s.limited || s.largest+urls <= packedRoom(s.most/segmentCount)
}
