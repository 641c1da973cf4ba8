package frontier

import "strings"

// origin is a scheme, host and port, with its pending URLs. The parts share it: each field has one
// part that sets it, as archtest holds.
type origin struct {
	host *host
	name string // its origin; empty: see isRobotsRedirects

	// The agenda's.
	queue    urlQueue // pending, never leased
	retry    *retries
	backlog  *backlog // pending, and only in the store; nil: none
	step     *step    // nil: without Config.Levels
	pending  int32    // in queue, retry and backlog
	answered int32    // URLs that were tried
	tried    int32    // of these, neither done nor refused
	errors   int32    // of these, done with an error

	errands *errands // those of Errands; nil: none

	// Politeness's.
	index     int32 // among the origins of its host that are due; -1: not there
	leased    int32 // with robots.txt
	robots    robotsTxt
	trouble   *trouble
	seed      bool // a seed is on it, and it has not answered from a public address
	starved   bool // it waits for room in the robots.txt cache
	responded bool // ever
	doubtful  bool // it has never responded, or not to its last lease
	inDoubts  bool // index is that in origins.doubts

	capped bool // it has had LimitPerHost: the agenda's

	dirty bool // changed since NoteOrigins: the journal's
}

// byName compares origins, for an order that is the same every time.
func byName(a, b *origin) int { return strings.Compare(a.name, b.name) }

// isResolving reports whether the address of the host is leased, as that of o.
func (o *origin) isResolving() bool { return o.host.resolve == addressAsked && o == &o.host.own }

// seeded reports whether a seed is on o, or on its counterpart: the origin that differs only by
// being http or https, each on its default port, as where one redirects to the other.
func (o *origin) seeded() bool {
	if o.seed || o.host.origins == nil {
		return o.seed
	}
	scheme, authority, _ := strings.Cut(o.name, "://")
	counterpart := map[string]string{"http": "https://", "https": "http://"}[scheme]
	other := o.host.origins.known[counterpart+authority]
	return other != nil && other.seed
}

// isRobotsRedirects reports whether o stands for its host's robots.txt redirects.
func (o *origin) isRobotsRedirects() bool { return o.name == "" }

// recorded returns the origin whose record shows that o was leased: of robots.txt redirects only
// the pace is kept, which is the host's.
func (o *origin) recorded() *origin {
	if o.isRobotsRedirects() {
		return &o.host.own
	}
	return o
}
