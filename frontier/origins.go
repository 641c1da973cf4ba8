package frontier

import (
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
)

// origins are the origins of a host that has several. There may be 65,535 ports, so nothing looks
// at all of them for a lease.
type origins struct {
	known     map[string]*origin
	redirects *origin       // the host's robots.txt redirects, if there are any: see RobotsAt
	due       originHeap    // origins with something to lease or refuse, by when
	delay     time.Duration // the longest Crawl-delay: one machine asks for it
}

// originHeap is a heap of a host's origins by their turn.
type originHeap = heap.Heap[originTurn, byOriginTurn]

// originTurn is an origin and its turn among those of its host.
type originTurn struct {
	at     moment
	order  uint64
	origin *origin
}

type byOriginTurn struct{}

func (byOriginTurn) Before(a, b originTurn) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}
func (byOriginTurn) Moved(t originTurn, i int) { t.origin.index = int32(i) }

// originsOf makes h a host with several origins.
func (f *Frontier) originsOf(h *host) *origins {
	if h.origins == nil {
		h.origins = &origins{
			known: map[string]*origin{h.own.name: &h.own}, delay: h.own.robots.delay(),
		}
		f.placeOrigin(&h.own)
	}
	return h.origins
}

// top returns the origin of h whose turn is next; nil if none has anything to lease.
func (h *host) top() *origin {
	switch {
	case h.origins == nil:
		return &h.own
	case h.origins.due.Len() == 0:
		return nil
	}
	return h.origins.due.First().origin
}

// rulesChanged takes in that the robots.txt of o has changed, whose Crawl-delay was before.
func (h *host) rulesChanged(o *origin, before time.Duration) {
	all := h.origins
	switch delay := o.robots.delay(); {
	case all == nil:
	case delay >= all.delay:
		all.delay = delay
	case before == all.delay: // once a day, if at all
		all.delay = 0
		for _, other := range all.known {
			all.delay = max(all.delay, other.robots.delay())
		}
	}
}

// sortedOrigins returns all origins of a host, by name.
func (h *host) sortedOrigins() []*origin {
	if h.origins == nil {
		return []*origin{&h.own}
	}
	var all []*origin
	for _, name := range slices.Sorted(maps.Keys(h.origins.known)) {
		all = append(all, h.origins.known[name])
	}
	return all
}

// placeOrigin puts o among its host's origins that are due, or takes it out. One that stays due, or
// whose time is as before, keeps its turn.
func (f *Frontier) placeOrigin(o *origin) {
	due := &o.origins.due
	at, ok := f.dueOf(o)
	at = max(at, f.now)
	switch {
	case !ok && o.index >= 0:
		due.Remove(int(o.index))
	case !ok:
	case o.index < 0:
		due.Push(originTurn{at, f.nextOrder(), o})
	default:
		if t := due.Items()[o.index]; t.at != at && (t.at > f.now || at > f.now) {
			due.Set(int(o.index), originTurn{at, f.nextOrder(), o})
		}
	}
}

// placeOrigins places all origins of a host, if it has several.
func (f *Frontier) placeOrigins(h *host) {
	if h.origins != nil {
		for _, o := range h.sortedOrigins() {
			f.placeOrigin(o)
		}
		if h.origins.redirects != nil {
			f.placeOrigin(h.origins.redirects)
		}
	}
}
