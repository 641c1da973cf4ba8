package frontier

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// seen is the set of the URLs that were ever added, by fingerprint: a table of 64 bits a
// URL, without pointers, so that no collection of garbage looks into it.
//
// The first 10 bits of a fingerprint choose a segment, and the next 64 are the URL's key
// in it. Two URLs of a crawl are taken for one with a probability of n²/2⁷⁵: of 10⁻¹⁰ for a
// million, 3·10⁻⁷ for 100 million.
//
// A segment is open addressing over buckets of a cache line. The order of keys is that of
// their buckets, so growing copies from front to back, and to fill a table in the order of
// fingerprints touches memory in order. Segments grow by a quarter, one at a time, and each
// at a size of its own, so that at any time as many are roomy as are full: a URL takes 9.6
// bytes (8 by growth's mean slack of 12 %, by a load of 15/16), whatever the size.
//
// With a limit a segment has its share, and grows no further. When that is full the segment is
// packed: see packed. It takes 5.7 bytes a URL then. When that is full too it is lossy: half of
// it becomes a cache, in which a new key takes the place of another, and half a
// Bloom filter of all keys, in blocks of a cache line (Putze, Sanders and Singler, 2007). So of
// what is new little is in doubt, as long as the filter has some bits a key: 2 % at 8, 16 % at 4.
type seen struct {
	segments [seenSegments]segment
	limited  bool
	most     int    // buckets, if limited
	largest  int    // keys of the segment that has most
	bytes    int    // of all buckets, and of keys beside them
	touched  uint64 // so that touch is not optimised away
}

// segment is the keys that begin alike.
//
// Invariant: it has buckets, or it is packed. Keys fill a bucket from its first slot on. While a
// segment is not lossy, a key is in its home bucket or in one behind it (the first follows the
// last), with no empty slot between; in a lossy one only those in their home bucket count, and
// the filter has the bits of every key that was added.
type segment struct {
	buckets []line // one slot is empty
	packed  packed
	filter  []line // of a lossy one; may be empty
	n       int32  // keys; of a lossy one, when it was whole
	step    int16  // of growth: see seen.size
	lossy   bool   // and packed
}

// line is a bucket, a cache line of keys; 0: none.
type line [8]uint64

const (
	segmentBits  = 10
	seenSegments = 1 << segmentBits
	bucketBytes  = 64

	seenGrowth = 1.25
)

// newSeen returns an empty table, whose buckets take so many bytes at most; 0: any number.
func newSeen(limit int) *seen {
	return &seen{limited: limit > 0, most: (limit - limit/64) / bucketBytes} // some is for keys that are far from home
}

// share is how many buckets a segment may have.
func (s *seen) share(seg int) int {
	if !s.limited {
		return math.MaxInt
	}
	return (s.most + seenSegments - 1 - seg) / seenSegments // the first ones take what does not divide
}

// locate returns the segment of a fingerprint, and its key there.
func (s *seen) locate(fp [16]byte) (seg int, key uint64) {
	hi := binary.BigEndian.Uint64(fp[:])
	key = hi<<segmentBits | uint64(binary.BigEndian.Uint16(fp[8:]))>>(16-segmentBits)
	return int(hi >> (64 - segmentBits)), max(key, 1) // 0 is an empty slot
}

// home is the index of the bucket in which a key is, if that has room.
func (g *segment) home(key uint64) int { return indexOf(key, len(g.buckets)) }

// indexOf is one of n, which the first bits of a key choose.
func indexOf(key uint64, n int) int {
	i, _ := bits.Mul64(key, uint64(n))
	return int(i)
}

// has reports whether a fingerprint was added. If final is false it may have been all the same.
func (s *seen) has(fp [16]byte) (found, final bool) {
	seg, key := s.locate(fp)
	g := &s.segments[seg]
	found = g.has(key)
	return found, found || !g.lossy || !g.maybe(key)
}

func (g *segment) has(key uint64) bool {
	if len(g.buckets) == 0 {
		return g.packed.has(key, g.lossy)
	}
	for i := g.home(key); ; {
		b := &g.buckets[i]
		for _, k := range b {
			if k == key {
				return true
			}
		}
		if b[7] == 0 {
			return false
		}
		if i++; i == len(g.buckets) {
			i = 0
		}
	}
}

// touch reads the home buckets of many fingerprints, so that the memory fetches them at
// once, and not one after the other as has asks for them.
func (s *seen) touch(batch [][16]byte) {
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

// add adds a fingerprint, and reports whether the table did not have it.
func (s *seen) add(fp [16]byte) bool {
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

// room is how many keys a segment may have as it is.
func (g *segment) room() int { return max(len(g.buckets)*15/2, packedRoom(len(g.packed.buckets))) }

// put puts a key into a segment that has room.
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

// pack makes a segment a packed one.
func (g *segment) pack(s *seen) {
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

// lose makes a segment, which is packed, lossy.
func (g *segment) lose(s *seen) {
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

// probes is how many bits a key has in the filter, all in one line, which the key's first bits
// choose; nine bits of a hash of it say where each is.
const probes = 4

// probe returns the line of the filter in which a key's bits are, and nine bits for each of them.
// All keys that a packed segment takes for one have the same.
func (g *segment) probe(key uint64) (b *line, at uint64) {
	key = g.packed.cut(key)
	return &g.filter[indexOf(key, len(g.filter))], key * 0x9e3779b97f4a7c15 >> (64 - 9*probes)
}

// mark puts a key into the filter.
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

// maybe reports whether a key may have been put into the filter.
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

// grow makes a segment larger; if it is as large as it may be, packed; and if it was that, lossy.
func (s *seen) grow(seg int) {
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

// size is how many buckets a segment has after so many steps.
func (s *seen) size(seg int, step int16) int {
	return min(int(math.Pow(seenGrowth, float64(step)+float64(seg)/seenSegments)), s.share(seg))
}

func (s *seen) resize(g *segment, n int) {
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

// reserve makes room for so many URLs at once.
func (s *seen) reserve(urls int) {
	want := int(math.Ceil(float64(urls)/seenSegments*1.02*2/15)) + 1 // buckets, as segments differ by some
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

// roomy reports whether the table loses nothing if so many are added, whichever they are.
func (s *seen) roomy(urls int) bool {
	return !s.limited || s.largest+urls <= packedRoom(s.most/seenSegments)
}
