package frontier

import (
	"math/bits"

	"github.com/weftcrawl/weft/frontier/variants"
	"github.com/weftcrawl/weft/weburl"
)

// Drop is why a new URL is seen, and no more: it will never be pending.
type Drop uint8

// Why URLs are dropped.
const (
	DropHost     Drop = iota // its host has had LimitPerHost
	DropVariants             // its path has had MaxVariants
)

// VariantKey returns what the URLs have in common that MaxVariants counts together: see [variants.Key].
func VariantKey(u weburl.URL) (key [16]byte, ok bool) { return variants.Key(u) }

// tooMany reports whether MaxVariants of u were taken. If not, u is one of them.
func (f *Frontier) tooMany(u weburl.URL) bool {
	if f.cfg.MaxVariants <= 0 {
		return false
	}
	key, ok := variants.Key(u)
	if !ok {
		return false
	}
	n := f.variants.Add(key, f.cfg.MaxVariants)
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
	f.variants.Raise(key, n)
}
