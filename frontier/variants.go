package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Drop is why a new URL is seen, and no more: it will never be pending.
type Drop uint8

// Why URLs are dropped.
const (
	DropHost     Drop = iota // its host has had LimitPerHost
	DropVariants             // its path has had MaxVariants
)

// variants counts, by path, the URLs that were taken: a count-min sketch (Cormode and
// Muthukrishnan, 2005) with conservative update (Estan and Varghese, 2002). It is never
// below the truth. With N URLs counted it is above it by more than N·e/2¹⁸, one in a hundred
// thousand, for at most e⁻⁴ of the paths, 1.8 %, and by far less in truth: see TestVariantsError.
//
// The hash has no secret, so that a crawl is the same every time. A site that has pages of four
// paths counted to the limit can so spend that of a path elsewhere; and gains nothing by it.
type variants struct {
	counts []uint32 // by row and column; nil: nothing is counted
}

const (
	variantRows    = 4
	variantColumns = 1 << 18 // 4 MiB together
)

// VariantKey returns what the URLs have in common that differ only in their query and in the
// parameters of their path: 128 bits of what comes before the first ';' or '?'. ok is false if
// there is none: such a URL has no variants.
func VariantKey(u weburl.URL) (key [16]byte, ok bool) {
	href, target := u.String(), u.RequestTarget()
	at := strings.IndexAny(target, ";?")
	if at < 0 {
		return key, false
	}
	sum := sha256.Sum256([]byte(href[:len(href)-len(target)+at]))
	return [16]byte(sum[:16]), true
}

// add counts a variant if fewer than limit were, and returns how many there are then. Of one
// that is not counted it returns 0.
func (v *variants) add(key [16]byte, limit int) int {
	v.make()
	n := uint32(math.MaxUint32)
	cells := v.cells(key)
	for _, c := range cells {
		n = min(n, *c)
	}
	if int64(n) >= int64(limit) || n == math.MaxUint32 {
		return 0
	}
	v.raise(cells, n+1)
	return int(n + 1)
}

// raise makes the count of a key n, if it is less.
func (v *variants) raise(cells [variantRows]*uint32, n uint32) {
	for _, c := range cells {
		*c = max(*c, n)
	}
}

func (v *variants) make() {
	if v.counts == nil {
		v.counts = make([]uint32, variantRows*variantColumns)
	}
}

// cells returns where a key is counted.
func (v *variants) cells(key [16]byte) (cells [variantRows]*uint32) {
	for row := range cells {
		column := binary.LittleEndian.Uint32(key[4*row:]) % variantColumns
		cells[row] = &v.counts[row*variantColumns+int(column)]
	}
	return cells
}

// tooMany reports whether MaxVariants of u were taken. If not, u is one of them.
func (f *Frontier) tooMany(u weburl.URL) bool {
	if f.cfg.MaxVariants <= 0 {
		return false
	}
	key, ok := VariantKey(u)
	if !ok {
		return false
	}
	n := f.variants.add(key, f.cfg.MaxVariants)
	if f.ledger != nil && (worthNoting(n) || n == f.cfg.MaxVariants) {
		f.ledger.Variants(key, n)
	}
	return n == 0
}

// worthNoting reports whether a ledger is told of a count: from 64 on those of which only the
// first four bits are not 0. So what it knows is behind by less than 64, or an eighth.
func worthNoting(n int) bool { return n >= 64 && bits.TrailingZeros(uint(n)) >= bits.Len(uint(n))-4 }

// RestoreVariants says what Ledger.Variants was last told of a key.
func (f *Frontier) RestoreVariants(key [16]byte, n int) {
	f.variants.make()
	f.variants.raise(f.variants.cells(key), uint32(min(uint64(n), math.MaxUint32)))
}
