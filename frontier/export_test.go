package frontier

import (
	"net/netip"

	"github.com/weftcrawl/weft/weburl"
)

// Locate says where a known host is, as an answer does.
func (f *Frontier) Locate(u weburl.URL, addr netip.Addr) {
	s := f.names.Find(Hostname(u.Origin()))
	s.resolve = addressKnown
	f.moveTo(s, addr)
}

// Hops is of how many URLs is known how many redirects lead to them.
func (f *Frontier) Hops() int { return len(f.hops) }

// RulesHeld is how many bytes the rules of robots.txt take that are in memory.
func (f *Frontier) RulesHeld() int { return f.rulebook.held }
