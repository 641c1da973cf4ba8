package frontier

import "time"

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
	own origin // the first that was known

	// Politeness's.
	origins  *origins // all of them; nil: there is one
	pace     pace
	last     moment    // from which the delay counts: last request, response or restart
	asked    moment    // its last request or response
	moved    moment    // the end of its last lease, or the first one since it had none
	address  *group    // nil: unknown
	siblings *siblings // nil: it is alone in its registrable domain
	turn     turn
	busy     int32   // leases of all origins
	waitsFor Blocker // the holder of the line that its host turn is in
	resolve  uint8   // state of its address
	quick    uint8   // pages in a row that came within PromptTime, up to promptPages
	visited  bool    // its last lease was for an errand of a page of another site
	prompt   bool    // it has the host turns of prompt ones: see stalls
	located  uint16  // the minute in which it came to its address: see pinned

	leases int32 // URLs leased for the first time: the agenda's

	// Residency's.
	part      int32 // its partition
	residence residence
	held      bool // nothing is leased: see Hold
	foreign   bool // it was of another frontier when it came: see partitions
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

// isRedirecting reports whether robots.txt redirects to the host wait, or are leased.
func (all *origins) isRedirecting() bool {
	return all.redirects != nil && (all.redirects.retry != nil || all.redirects.leased > 0)
}

// crawlDelay returns what the robots.txt of the host's origins ask for.
func (h *host) crawlDelay() time.Duration {
	if h.origins == nil {
		return h.own.robots.delay()
	}
	return h.origins.delay
}

// aloneUntil returns the time before which no request to h is made, because it is overloaded or
// does not respond.
func (h *host) aloneUntil() moment {
	if h.origins == nil {
		return max(h.pace.backOffEnd, h.own.parked())
	}
	return max(h.pace.backOffEnd, h.origins.park)
}
