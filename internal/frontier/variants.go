package frontier

import (
	"math/bits"

	"github.com/weftcrawl/weft/internal/frontier/variants"
	"github.com/weftcrawl/weft/weburl"
)

// VariantKey returns what URLs have in common that MaxVariants counts together: see variants.Key.
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
	if worthRecording(n) || n == f.cfg.MaxVariants {
		f.journal.record(func(l Journal) { l.Variants(u.Origin(), key, n) })
	}
	return n == 0
}

// worthRecording reports whether the journal records a count: from 64 on, counts with zeros after
// the first four bits. So the journal lags by less than 64, or an eighth.
func worthRecording(n int) bool {
	return n >= 64 && bits.TrailingZeros(uint(n)) >= bits.Len(uint(n))-4
}
