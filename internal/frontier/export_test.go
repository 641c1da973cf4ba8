package frontier

import (
	"net/netip"

	"github.com/weftcrawl/weft/weburl"
)

// Locate sets the address of a known host, as a response does.
func (f *Frontier) Locate(u weburl.URL, addr netip.Addr) {
	h := f.residency.names.Find(Hostname(u.Origin()))
	h.resolve = addressKnown
	f.politeness.moveTo(f.clock.now, h, addr)
}

// Hops returns the number of URLs whose redirects are remembered.
func (f *Frontier) Hops() int { return len(f.agenda.redirects.hops) }

// RulesHeld returns how many bytes the rules of robots.txt in memory take.
func (f *Frontier) RulesHeld() int { return f.politeness.rules.bytes }

// Troubles returns how many bytes the troubles of origins in memory take.
func (f *Frontier) Troubles() int { return f.politeness.patience.bytes }

// Early returns a request whose page may be provided before NoteOrigins is called.
func (r Request) Early() Request {
	r.seal = 0
	return r
}

// Starved returns how many origins wait in line for room for their rules.
func (f *Frontier) Starved() int { return len(f.politeness.rules.starved) }

// Crowd lets hosts leave although time will free them, however few there are.
func Crowd(f *Frontier) { f.residency.spare = 0 }
