package frontier

import (
	"net/netip"
	"time"
)

// aloneUntil returns the time before which no request to h is made, because it is overloaded or
// does not respond.
func (h *host) aloneUntil() moment {
	if h.origins == nil {
		return max(h.pace.backOffEnd, h.own.parked())
	}
	return max(h.pace.backOffEnd, h.origins.park)
}

// group is hosts that share a load: those with one address, or those of one registrable domain.
// It has a delay and a pace as a host has, on top of the hosts' own. What robots.txt asks for,
// and back-off, concern a single host.
//
// Invariant: a group is in the heap of groups if and only if hosts wait for it and it may have
// another lease, now or when its delay is over.
type group struct {
	window
	addr     netip.Addr // of an address; invalid: a domain
	hosts    int32
	busy     int32  // leases, and closed while it is shut
	last     moment // from which its delay counts
	waiting  line   // hosts that it held up when their turn came
	siblings map[*group]*siblings
	at       moment // key in the heap of groups: when the first waiting host may be leased from
	order    uint64 // of that host
	soon     moment // of an address that is shared: see dueAt
	index    int32  // in that heap; -1: it is not there
	prompt   bool   // that heap is of prompt hosts, as that host is
}

// The states of a host's address.
const (
	addressKnown   uint8 = iota // or not needed: see Config.Resolve
	addressUnknown              // to be looked up before anything else
	addressAsked                // leased
)

// host is a host name, with all that its origins, which differ by scheme and port, share. A page
// over http and the next over https ask the same machine twice. A crawl may have a million hosts
// with one origin each, so the first origin is part of the host.
type host struct {
	own       origin   // the first that was known
	origins   *origins // all of them; nil: there is one
	pace      pace
	last      moment    // from which the delay counts: last request, response or restart
	asked     moment    // its last request or response
	moved     moment    // the end of its last lease, or the first one since it had none
	address   *group    // nil: unknown
	siblings  *siblings // nil: it is alone in its registrable domain
	turn      turn
	busy      int32   // leases of all origins
	leases    int32   // URLs leased for the first time
	waitsFor  blocker // the holder of the line that its host turn is in
	resolve   uint8   // state of its address
	quick     uint8   // pages in a row that came within PromptTime, up to promptPages
	prompt    bool    // it has the host turns of prompt ones: see stalls
	located   uint16  // the minute in which it came to its address: see pinned
	held      bool    // nothing is leased: see Hold
	foreign   bool    // it was of another frontier when it came: see partitions
	part      int32   // its partition
	residence residence
}

// name returns the host name.
func (h *host) name() string { return Hostname(h.own.name) }

// each yields the origins of h, in no order.
func (h *host) each(yield func(*origin) bool) {
	if h.origins == nil {
		yield(&h.own)
		return
	}
	for _, o := range h.origins.known {
		if !yield(o) {
			return
		}
	}
}

// count returns how many origins h has.
func (h *host) count() int {
	if h.origins == nil {
		return 1
	}
	return len(h.origins.known)
}

// crawlDelay returns what the robots.txt of the host's origins ask for.
func (h *host) crawlDelay() time.Duration {
	if h.origins == nil {
		return h.own.robots.delay()
	}
	return h.origins.delay
}

// origin is a scheme, host and port, with its pending URLs. The three parts share it: queue, retry,
// backlog, step and the counts are the agenda's, robots, trouble and the turn politeness's, dirty
// is the journal's.
type origin struct {
	host     *host
	name     string   // its origin; empty: see isRobotsRedirects
	queue    urlQueue // pending, never leased
	retry    *retries
	backlog  *backlog // pending, and only in the store; nil: none
	robots   robotsTxt
	trouble  *trouble
	step     *step // nil: without Config.Levels
	index    int32 // among the origins of its host that are due; -1: not there
	leased   int32 // with robots.txt
	pending  int32 // in queue, retry and backlog
	answered int32 // URLs that were tried
	tried    int32 // of these, neither done nor refused
	capped   bool  // it has had LimitPerHost
	seed     bool  // a seed is on it, and it has not answered from a public address
	dirty    bool  // changed since NoteOrigins
	starved  bool  // it waits for room in the robots.txt cache

	responded bool // ever
	doubtful  bool // it has never responded, or not to its last lease
	inDoubts  bool // index is that in origins.doubts
}

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

// residence is the state of a host in memory: residency's.
type residence struct {
	noted   uint32 // the last NoteOrigins that recorded it
	idling  bool   // in the line residency.idle
	waiting bool   // in the line dormant.waiting
	owed    bool   // it came back for its turn, which it has not had
	evicted bool
}

// isRedirecting reports whether robots.txt redirects to the host wait, or are leased.
func (all *origins) isRedirecting() bool {
	return all.redirects != nil && (all.redirects.retry != nil || all.redirects.leased > 0)
}

// dropRedirects drops the origin that stands for a host's robots.txt redirects once there are none:
// it takes as much memory as the host, at each host that a redirect has led to.
func (h *host) dropRedirects() {
	all := h.origins
	switch {
	case all.isRedirecting() || all.redirects.trouble != nil:
	case len(all.known) > 1:
		all.redirects.setDoubtful(true) // it vouches for nothing any more
		all.redirects = nil
	default:
		h.own.index, h.origins = -1, nil
	}
}
