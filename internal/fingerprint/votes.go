package fingerprint

// shingle is the length of a shingle in words. Of 2 to 4 it is the smallest that takes no two
// pages of a template for nearly the same: docs/bench/text.md.
const shingle = 3

// votes counts, for each of 64 bits, the hashes that have it set, all bits at once: plane i has
// bit i of the 64 counts. Hashes are added in eights, which costs seven full adders and one
// addition to the planes (Harley and Seal).
//
// A repeated hash counts once, or the repetitions of a template would outvote the rest: on pages
// of one template twenty times as many were near. A repetition goes unnoticed if another hash
// has taken its slot, which is rare.
type votes struct {
	n      int // hashes that count
	ones   uint64
	twos   uint64
	fours  uint64
	eights [28]uint64   // planes 3 and up: enough for any body
	eight  [8]uint64    // the latest
	known  [2048]uint64 // hashes, by their low bits
}

func (v *votes) add(hash uint64) {
	slot := &v.known[hash%uint64(len(v.known))]
	if *slot == hash {
		return
	}
	*slot = hash
	v.eight[v.n&7] = hash
	if v.n++; v.n&7 == 0 {
		v.take()
	}
}

// take adds the eight latest hashes.
func (v *votes) take() {
	e := &v.eight
	ones, a := sum(v.ones, e[0], e[1])
	ones, b := sum(ones, e[2], e[3])
	twos, c := sum(v.twos, a, b)
	ones, a = sum(ones, e[4], e[5])
	ones, b = sum(ones, e[6], e[7])
	twos, d := sum(twos, a, b)
	fours, carry := sum(v.fours, c, d)
	v.ones, v.twos, v.fours = ones, twos, fours
	for i := 0; carry != 0; i++ {
		v.eights[i], carry = v.eights[i]^carry, v.eights[i]&carry
	}
}

// sum adds three bits in each of 64 columns.
func sum(a, b, c uint64) (low, high uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// majority returns the bits that more than half of the hashes have.
func (v *votes) majority() uint64 {
	half := v.n / 2
	clear(v.eight[v.n&7:])
	v.take()
	planes := [3 + len(v.eights)]uint64{v.ones, v.twos, v.fours}
	copy(planes[3:], v.eights[:])
	more, same := uint64(0), ^uint64(0) // than half, in the planes from the top so far
	for i := len(planes) - 1; i >= 0; i-- {
		if half>>i&1 == 1 {
			same &= planes[i]
			continue
		}
		more |= same & planes[i]
		same &^= planes[i]
	}
	return more
}
