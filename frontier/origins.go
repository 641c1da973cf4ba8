package frontier

import (
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
)

// origins are the hosts of a server that has several. There may be 65,535 ports, so nothing looks
// at all of them for a lease.
type origins struct {
	known     map[string]*host
	redirects *host         // the server's robots.txt redirects, if there are any: see RobotsAt
	due       originHeap    // hosts with something to lease or refuse, by when
	delay     time.Duration // the longest Crawl-delay: one machine asks for it
}

// originHeap is a heap of a server's hosts by their turn.
type originHeap = heap.Heap[origin, byOrigin]

// origin is a host and its turn among those of its server.
type origin struct {
	at    moment
	order uint64
	host  *host
}

type byOrigin struct{}

func (byOrigin) Before(a, b origin) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}
func (byOrigin) Moved(o origin, i int) { o.host.index = int32(i) }

// originsOf makes s a server with several hosts.
func (f *Frontier) originsOf(s *server) *origins {
	if s.origins == nil {
		s.origins = &origins{
			known: map[string]*host{s.own.name: &s.own}, delay: s.own.robots.delay(),
		}
		f.placeOrigin(&s.own)
	}
	return s.origins
}

// top returns the host of s whose turn is next; nil if none has anything to lease.
func (s *server) top() *host {
	switch {
	case s.origins == nil:
		return &s.own
	case s.origins.due.Len() == 0:
		return nil
	}
	return s.origins.due.First().host
}

// rulesChanged takes in that the robots.txt of h has changed, whose Crawl-delay was before.
func (s *server) rulesChanged(h *host, before time.Duration) {
	o := s.origins
	switch delay := h.robots.delay(); {
	case o == nil:
	case delay >= o.delay:
		o.delay = delay
	case before == o.delay: // once a day, if at all
		o.delay = 0
		for _, other := range o.known {
			o.delay = max(o.delay, other.robots.delay())
		}
	}
}

// hosts returns all hosts of a server, by name.
func (s *server) hosts() []*host {
	if s.origins == nil {
		return []*host{&s.own}
	}
	var all []*host
	for _, name := range slices.Sorted(maps.Keys(s.origins.known)) {
		all = append(all, s.origins.known[name])
	}
	return all
}

// placeOrigin puts h among its server's hosts that are due, or takes it out. One that stays due, or
// whose time is as before, keeps its turn.
func (f *Frontier) placeOrigin(h *host) {
	due := &h.origins.due
	at, ok := f.dueOf(h)
	at = max(at, f.now)
	switch {
	case !ok && h.index >= 0:
		due.Remove(int(h.index))
	case !ok:
	case h.index < 0:
		due.Push(origin{at, f.nextOrder(), h})
	default:
		if o := due.Items()[h.index]; o.at != at && (o.at > f.now || at > f.now) {
			due.Set(int(h.index), origin{at, f.nextOrder(), h})
		}
	}
}

// placeOrigins places all hosts of a server, if it has several.
func (f *Frontier) placeOrigins(s *server) {
	if s.origins != nil {
		for _, h := range s.hosts() {
			f.placeOrigin(h)
		}
		if s.origins.redirects != nil {
			f.placeOrigin(s.origins.redirects)
		}
	}
}
