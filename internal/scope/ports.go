package scope

import (
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// BlocksPort reports whether links may not lead to the port of u. They may where a seed has it.
func (b *Bounds) BlocksPort(u weburl.URL) bool {
	return guard.BlocksPort(u.EffectivePort()) && !b.opened.Has(portKey(u))
}

// openPort opens the port of a seed, and reports whether that changed the bounds.
func (b *Bounds) openPort(seed weburl.URL) bool {
	return b.BlocksPort(seed) && b.opened.Add(portKey(seed))
}

// portKey is the place of the host and port of u.
func portKey(u weburl.URL) string { return "port of " + u.Host() }
