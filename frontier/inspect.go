package frontier

import (
	"cmp"
	"iter"
	"maps"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// HostInfo is all that is known of a host at a moment.
type HostInfo struct {
	HostState               // its times are up to now
	Leased    int           // URLs
	Asking    bool          // its robots.txt is leased
	Pace      int           // leases it may have at once now; 0: any number
	Delay     time.Duration // between the end of a response and the next lease
	Next      time.Time     // nothing of it is leased before, if that is later than now
	Resolving bool          // its address is leased
	Full      bool          // it has as many leases as it may have
	Starved   bool          // there is no room for its robots.txt among the rules in memory
	HeldBy    Holder        // what keeps it from being asked, where it could be for itself
}

// Holder is a group that a host waits for.
type Holder int

// What may hold up a host.
const (
	HeldByNone Holder = iota
	HeldByDomain
	HeldByAddress
)

// Host tells of a host, named by its origin.
func (f *Frontier) Host(now time.Time, name string) (info HostInfo, known bool) {
	h := f.find(name)
	if h == nil {
		return HostInfo{}, false
	}
	f.tell(now)
	info = HostInfo{HostState: f.state(h), Leased: int(h.leased), Asking: h.robots.waits(), Delay: f.delay(h.server)}
	if h.robots.phase == asked {
		info.Leased--
	}
	if h.isAsked() {
		info.Leased--
	}
	info.Starved = h.starved
	f.hold(&info, h.server, h.robots.notBefore())
	return info, true
}

// hold tells what keeps a server from being asked for what may be leased of it from a time on.
func (f *Frontier) hold(info *HostInfo, s *server, from moment) {
	info.Resolving = s.resolve == addressAsked
	pace := f.pace(s)
	if pace < anyPace {
		info.Pace = int(pace)
	}
	next := max(f.next(s), from)
	if info.Full = s.busy >= pace; !info.Full {
		if !f.open(s.domain(), max(next, f.now)) {
			info.HeldBy, next = HeldByDomain, max(next, f.freeAt(s.domain()))
		}
		if !f.open(s.address, max(next, f.now)) {
			info.HeldBy, next = cmp.Or(info.HeldBy, HeldByAddress), max(next, f.freeAt(s.address))
		}
	}
	info.Next = f.time(next)
}

// Errand tells where the robots.txt of a host, named by its origin, is to be asked for next, and
// what is known of the server there, of which info tells what keeps it from being asked; ok is
// false if no redirect has led elsewhere, or it is under way there. It looks at every server.
func (f *Frontier) Errand(now time.Time, name string) (at weburl.URL, info HostInfo, ok bool) {
	h := f.find(name)
	if h == nil || h.robots.phase != elsewhere {
		return at, info, false
	}
	f.tell(now)
	for s := range f.names.All {
		if s.origins == nil || s.origins.errands == nil {
			continue
		}
		for _, w := range s.origins.errands.again() {
			if w.url.URL.Origin() == name {
				info = HostInfo{HostState: f.state(&s.own), Delay: f.delay(s)}
				f.hold(&info, s, w.at)
				return *w.url.At, info, true
			}
		}
	}
	return at, info, false
}

// Leased yields the URLs that are leased, in no order.
func (f *Frontier) Leased() iter.Seq[weburl.URL] { return maps.Keys(f.leased) }

// IsLeased reports whether a canonical URL is.
func (f *Frontier) IsLeased(u weburl.URL) bool { return f.leased[u] != nil }
