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
	info.Resolving = h.resolve == addressAsked
	if pace := f.pace(h.server); pace < anyPace {
		info.Pace = int(pace)
	}
	next := max(f.next(h.server), h.robots.notBefore())
	free := h.busy < f.pace(h.server)
	if free && !f.open(h.domain(), max(next, f.now)) {
		info.HeldBy, next = HeldByDomain, max(next, f.freeAt(h.domain()))
	}
	if free && !f.open(h.address, max(next, f.now)) {
		info.HeldBy, next = cmp.Or(info.HeldBy, HeldByAddress), max(next, f.freeAt(h.address))
	}
	info.Next = f.time(next)
	return info, true
}

// Leased yields the URLs that are leased, in no order.
func (f *Frontier) Leased() iter.Seq[weburl.URL] { return maps.Keys(f.leased) }

// IsLeased reports whether a canonical URL is.
func (f *Frontier) IsLeased(u weburl.URL) bool { return f.leased[u] != nil }
