package scope

import (
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// BlocksPort reports whether links may not lead to the port of u. They may where a seed has it.
func (b *Bounds) BlocksPort(u weburl.URL) bool {
	return guard.BlocksPort(u.EffectivePort()) && !b.ports[u.Host()]
}

// openPort opens the port of a seed, and reports whether that changed the bounds.
func (b *Bounds) openPort(seed weburl.URL) bool {
	if !b.BlocksPort(seed) {
		return false
	}
	if b.ports == nil {
		b.ports = make(map[string]bool)
	}
	b.ports[seed.Host()] = true
	return true
}
