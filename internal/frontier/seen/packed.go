package seen

import (
	"math/bits"
	"slices"
)

// packed is a segment in which a key takes 40 bits, as its first bits follow from where it is. A
// key keeps as many bits as tell 2⁴⁰ apart in each bucket; the rest is cut off. So two URLs share
// a key with a probability of n²/2⁶⁴ at 100 million, which is 5·10⁻⁴.
//
// This is quotienting (Cleary, Compact Hash Tables Using Bidirectional Linear Probing, 1984), with
// a product in place of a quotient, since the number of buckets is arbitrary: the high word of
// n · key is the home bucket, and the remaining bits differ between any two keys of that bucket.
//
// Invariant: keys fill a bucket from its first slot on, and are in their home bucket or one of the
// reach-1 after it (the first follows the last), with no free slot between, or else in far.
type packed struct {
	buckets []packedLine
	far     []uint64 // whole keys; 1 in 100 of all
}

// packedLine is a bucket: a cache line of remainders.
type packedLine struct {
	low  [packedKeys]uint32
	high [packedKeys]uint8
	meta uint32 // two bits a slot: distance from home; the highest four: slots taken
}

const (
	packedKeys = 12
	reach      = 4
	restBits   = 40
)

func newPacked(buckets int) packed { return packed{buckets: make([]packedLine, buckets)} }

// packedRoom is the number of keys that a number of buckets may hold: with more, too many end up in
// far.
func packedRoom(buckets int) int { return buckets * packedKeys * 15 / 16 }

func (b *packedLine) taken() int { return int(b.meta >> 28) }

// is reports whether a slot holds a key, given the remainder and the distance from home.
func (b *packedLine) is(slot int, rest uint64, away int) bool {
	return b.low[slot] == uint32(rest) && b.high[slot] == uint8(rest>>32) && b.away(slot) == away
}

func (b *packedLine) rest(slot int) uint64 { return uint64(b.low[slot]) | uint64(b.high[slot])<<32 }

func (b *packedLine) away(slot int) int { return int(b.meta >> (2 * slot) % reach) }

// push puts a remainder into the first free slot, if there is one.
func (b *packedLine) push(rest uint64, away int) bool {
	slot := b.taken()
	if slot == packedKeys {
		return false
	}
	b.meta += 1 << 28
	b.set(slot, rest, away)
	return true
}

func (b *packedLine) set(slot int, rest uint64, away int) {
	b.low[slot], b.high[slot] = uint32(rest), uint8(rest>>32)
	b.meta = b.meta&^(3<<(2*slot)) | uint32(away)<<(2*slot)
}

// spare returns how many bits of a key are cut off: those beyond 2⁴⁰ keys a bucket.
func (p *packed) spare() int { return max(0, 64-restBits+1-bits.Len(uint(len(p.buckets)))) }

func (p *packed) cut(key uint64) uint64 { return key >> p.spare() << p.spare() }

// split returns a key's home bucket, and the remainder that distinguishes it from others there.
func (p *packed) split(key uint64) (home int, rest uint64) {
	hi, lo := bits.Mul64(p.cut(key), uint64(len(p.buckets)))
	return int(hi), lo >> (64 - restBits)
}

// join is the inverse of split: the one key whose product lies where home and rest say.
func (p *packed) join(home int, rest uint64) uint64 {
	n := uint64(len(p.buckets))
	key, over := bits.Div64(uint64(home), rest<<(64-restBits), n)
	if over > 0 {
		key++
	}
	mask := uint64(1)<<p.spare() - 1
	return (key + mask) &^ mask
}

// has reports whether the segment holds a key; in a lossy one only the home bucket counts.
func (p *packed) has(key uint64, lossy bool) bool {
	_, slot := p.find(key, lossy)
	return slot >= 0
}

// afar is the slot of keys in far, where bucket is the index.
const afar = packedKeys

// find returns where a key is; the slot is -1 if it is nowhere.
func (p *packed) find(key uint64, lossy bool) (bucket, slot int) {
	if len(p.buckets) == 0 {
		return 0, -1
	}
	i, rest := p.split(key)
	for away := range reach {
		b := &p.buckets[i]
		n := b.taken()
		for slot := range n {
			if b.is(slot, rest, away) {
				return i, slot
			}
		}
		if n < packedKeys || lossy {
			return 0, -1
		}
		if i++; i == len(p.buckets) {
			i = 0
		}
	}
	if at := slices.Index(p.far, p.cut(key)); at >= 0 {
		return at, afar
	}
	return 0, -1
}

// put adds a key, and reports whether it is new.
func (p *packed) put(key uint64) bool {
	if p.has(key, false) {
		return false
	}
	i, rest := p.split(key)
	for away := range reach {
		if p.buckets[i].push(rest, away) {
			return true
		}
		if i++; i == len(p.buckets) {
			i = 0
		}
	}
	p.far = append(p.far, p.cut(key))
	return true
}

// replace puts a key into its home bucket, if need be in the place of another, which the key's bits
// choose, and reports whether it is new.
func (p *packed) replace(key uint64) bool {
	if len(p.buckets) == 0 {
		return true
	}
	if p.has(key, true) {
		return false
	}
	i, rest := p.split(key)
	if b := &p.buckets[i]; !b.push(rest, 0) {
		b.set(int(rest%packedKeys), rest, 0)
	}
	return true
}

// keys yields all keys of a segment that is not lossy.
func (p *packed) keys(yield func(uint64) bool) {
	n := len(p.buckets)
	for i := range p.buckets {
		b := &p.buckets[i]
		for slot := range b.taken() {
			home := (i + reach*n - b.away(slot)) % n
			if !yield(p.join(home, b.rest(slot))) {
				return
			}
		}
	}
	for _, key := range p.far {
		if !yield(key) {
			return
		}
	}
}
