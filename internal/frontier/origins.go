package frontier

import (
	"math"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
)

// origins are the origins of a host that has several. There may be 65,535 ports, so nothing looks
// at all of them for a lease.
type origins struct {
	known     map[string]*origin
	redirects *origin       // the host's robots.txt redirects, if there are any: see RobotsAt
	due       originHeap    // origins with something to lease or refuse, by when
	doubts    originHeap    // the same, of doubtful ones that take a request
	delay     time.Duration // the longest Crawl-delay: one machine asks for it

	// Any page can link to 65,535 ports of a host. While others respond, those that have not have a
	// quarter of the leases; once one has failed, they take turns as one origin.
	vouchers int32  // origins that are not doubtful
	failing  int32  // doubtful ones that have failed
	probing  int32  // leases of doubtful ones
	fails    uint8  // of all origins, in a row
	probed   moment // when a doubtful one was leased last
	order    uint64 // of that lease
	park     moment // no doubtful one is leased before
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
		h.origins = newOrigins(&h.own)
		f.placeOrigin(&h.own)
	}
	return h.origins
}

// newOrigins returns the origins of a host that has had one.
func newOrigins(own *origin) *origins {
	all := &origins{known: map[string]*origin{own.name: own}, delay: own.robots.delay()}
	if own.doubtful {
		all.probing = own.leased
	} else {
		all.vouchers = 1
	}
	if own.trouble != nil && own.trouble.fails > 0 {
		all.fails, all.failing = own.trouble.fails, 1
	}
	return all
}

// failed takes in a failure of a doubtful origin, and returns how many there were in a row, of all
// origins. As long as another one responds, the doubtful ones take a third of the time at most;
// if none does, they are tried once a second.
func (all *origins) failed(now moment) uint8 {
	if now >= all.park {
		all.fails += min(1, math.MaxUint8-all.fails)
		if all.vouchers > 0 {
			all.park = now + 2*(now-all.probed)
		} else if all.fails >= parkFrom {
			all.park = now + firstPause
		}
	}
	return all.fails
}

// top returns the origin of h whose turn is next; nil if none has anything to lease.
func (p *politeness) top(h *host) *origin {
	all := h.origins
	switch {
	case all == nil:
		return &h.own
	case !p.mayProbe(h):
		if all.due.Len() == 0 {
			return nil
		}
		return all.due.First().origin
	}
	probe := all.doubts.First()
	if all.due.Len() > 0 {
		turn := probe
		if all.failing > 0 {
			turn.at = max(turn.at, all.park, all.probed)
			turn.order = max(turn.order, all.order)
		}
		if first := all.due.First(); !(byOriginTurn{}).Before(turn, first) {
			return first.origin
		}
	}
	return probe.origin
}

// mayProbe reports whether a doubtful origin of h may take its turn: while others respond, the
// doubtful ones have a quarter of the leases, one at least.
func (p *politeness) mayProbe(h *host) bool {
	all := h.origins
	switch {
	case all.doubts.Len() == 0:
		return false
	case all.probing == 0, all.vouchers == 0, all.due.Len() == 0:
		return true
	}
	return all.probing < p.pace(h)/4
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

// placeOrigin puts o among its host's origins that are due, or takes it out. One that stays due, or
// whose time is as before, keeps its turn.
func (f *Frontier) placeOrigin(o *origin) {
	at, ok := f.dueOf(o)
	at = max(at, f.clock.now)
	if in := o.doubtful && !o.refusing(at); in != o.inDoubts {
		o.leaveTurns()
		o.inDoubts = in
	}
	due := o.turns()
	switch {
	case !ok:
		o.leaveTurns()
	case o.index < 0 && at <= f.clock.now && o.inDoubts && o.isFrontDoor():
		due.Push(originTurn{0, f.nextOrder(), o})
	case o.index < 0:
		due.Push(originTurn{at, f.nextOrder(), o})
	default:
		if t := due.Items()[o.index]; t.at != at && (t.at > f.clock.now || at > f.clock.now) {
			due.Set(int(o.index), originTurn{at, f.nextOrder(), o})
		}
	}
}

// turns returns the heap in which o has its turn, or would have it.
func (o *origin) turns() *originHeap {
	if o.inDoubts {
		return &o.host.origins.doubts
	}
	return &o.host.origins.due
}

// leaveTurns takes the turn of o among its host's origins away, if it has one.
func (o *origin) leaveTurns() {
	if o.index >= 0 {
		o.turns().Remove(int(o.index))
	}
}

// isFrontDoor reports whether o comes before other doubtful origins of its host: a seed is on it,
// or it has a default port. Anybody can link to the others.
func (o *origin) isFrontDoor() bool {
	_, authority, _ := strings.Cut(o.name, "://")
	return o.seed || authority != "" && authority == Hostname(o.name)
}

// setDoubtful says whether o is doubtful from now on.
func (o *origin) setDoubtful(is bool) {
	if o.doubtful == is {
		return
	}
	o.doubtful = is
	if all := o.host.origins; all != nil && is {
		all.vouchers--
		all.probing += o.leased
	} else if all != nil {
		all.vouchers++
		all.probing -= o.leased
	}
}

// countLeases counts n more leases of o.
func (o *origin) countLeases(n int32) {
	o.leased += n
	if all := o.host.origins; all != nil && o.doubtful {
		all.probing += n
	}
}
