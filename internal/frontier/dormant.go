package frontier

import "time"

const (
	// maxRevive is the number of names that one request revives, and minRevive the least that it does,
	// unless leases wait for them: they are read together.
	maxRevive = 256
	minRevive = 64

	// leasesAStay is the number of leases of anybody that pay for one dormant host that is revived
	// though others have enough to do: as many as it has itself on average before it is evicted again.
	// Its read, its address and its connections have to be worth it.
	leasesAStay = 4

	// usualHost is the usual size of a host in memory, with its name and its share of groups.
	usualHost = costOfHost + costOfGroup + 40

	// When none of the revived hosts could be leased from, the next are requested after a pause
	// that doubles.
	firstRest = 50 * time.Millisecond
	maxRest   = 2 * time.Second
)

// dormant is the hosts that were evicted though URLs of theirs are pending: these, and everything
// else about them, are in the store only. They left because hosts took more memory than they may,
// with nothing leased and no delay running. They are revived when one of their URLs is added, as
// any evicted host is, and at their turn: a cursor goes round all origins in the store, and never
// skips one for good.
//
// Invariant: what the store knows of a host does not change while the host is not resident.
type dormant struct {
	waiting evictionLine // resident hosts that may become dormant
	dormantCount

	cursor    string              // the origin that was looked at last; empty: none of this round
	request   *Request            // not answered yet; nil: none
	left      map[string]struct{} // names evicted since the request: the page may be older
	same      bool                // none was evicted or revived since the round began
	fruitless bool                // none was revived by turn since then
	credit    int                 // leases that count for leasesAStay
	need      int                 // leases that the last Lease could not provide
	pause     time.Duration
	notBefore moment // need requests nothing before this
}

// count counts an origin that is dormant from now on, or with -1 is not any more.
func (d *dormant) count(s OriginState, n int) {
	if s.Pending > 0 {
		d.dormantCount.count(s, n)
		d.same = false
	}
}

// countAll counts the dormant origins of a partition, or with -1 not any more.
func (d *dormant) countAll(c dormantCount, n int) {
	d.origins += n * c.origins
	d.urls += n * c.urls
	d.tried += n * c.tried
	d.same = d.same && c.origins == 0
}

// evicted takes in that the host of a name was evicted.
func (d *dormant) evicted(name string) {
	if d.left != nil {
		d.left[name] = struct{}{}
	}
}

// useful reports whether a request can bring anything to lease, or to refuse.
func (d *dormant) useful(limited bool) bool {
	return d.request == nil && d.origins > 0 && (d.tried > 0 || !limited)
}

// turnover returns the bytes of hosts that make room so that dormant ones get their turn.
func (d *dormant) turnover(hostBytes int) int {
	if d.origins == 0 {
		return 0
	}
	return min(d.credit/leasesAStay*usualHost, hostBytes/8)
}

// resting reports whether nothing is requested at a time, as a whole round was in vain.
func (d *dormant) resting(now moment) bool { return d.cursor == "" && d.fruitless && now < d.notBefore }

// ask requests dormant origins if there is room for them, if it is their turn, or if Lease has too
// little to hand out. Room is how many bytes of hostBytes are free, resident how many origins are
// resident, and refilling how many origins are being refilled.
func (d *dormant) ask(
	now moment, room, hostBytes, resident, refilling int, limited bool,
) (Request, bool) {
	n := 0
	if fit := room / usualHost; fit >= min(minRevive, max(1, hostBytes/usualHost/8)) {
		n = fit
	}
	if now >= d.notBefore {
		n = max(n, d.need-refilling)
	}
	// All residents have had their turn, and none may leave.
	if d.credit >= leasesAStay*max(1, resident) {
		n = max(n, resident/8+1)
	}
	if n <= 0 {
		return Request{}, false
	}
	d.request = &Request{Kind: Revive, Cursor: d.cursor, N: min(n, maxRevive), Tried: limited}
	d.left = make(map[string]struct{})
	if d.cursor == "" {
		d.same, d.fruitless = true, true
	}
	return *d.request, true
}

// answered takes in that a request has revived a number of origins, up to an origin; empty: none
// is behind it. It reports whether a whole round has found no dormant origin.
func (d *dormant) answered(now moment, revived int, last string) (missed bool) {
	d.left = nil
	d.credit = max(0, d.credit-leasesAStay*revived)
	d.cursor = last
	missed = last == "" && d.same
	if revived > 0 || last == "" && d.fruitless { // unless one of them can be leased from: see leased
		d.pause = min(max(firstRest, 2*d.pause), maxRest)
		d.notBefore = now + d.pause
	}
	d.fruitless = d.fruitless && revived == 0
	return missed
}

// residence is the state of a host in memory.
type residence struct {
	noted   uint32 // the last NoteOrigins that recorded it
	idling  bool   // in the line residency.idle
	waiting bool   // in the line dormant.waiting
	owed    bool   // it came back for its turn, which it has not had
	evicted bool
}

// isKept reports whether a commit has kept the last record of the host.
func (x *residence) isKept(j *journal) bool { return x.noted <= j.saved }

// leased takes in a lease of the host, and reports whether it came back for its turn. A robots.txt
// is no turn.
func (x *residence) leased(u *URL) (owed bool) {
	owed = x.owed
	x.owed = owed && u.Robots
	return owed
}

// leased takes in a lease of h.
func (d *dormant) leased(h *host, u *URL) {
	if d.origins > 0 {
		d.credit++
	}
	if h.residence.leased(u) { // reviving it was not in vain
		d.pause, d.notBefore = 0, 0
	}
}

// missing takes in that the store lacks dormant origins, because it was damaged; if only the tried
// ones were looked for, those. It returns how many pending URLs are lost, and how many of these
// were never leased.
func (d *dormant) missing(tried bool) (pending, fresh int) {
	pending = d.urls
	if tried {
		pending = d.tried
	} else {
		d.origins = 0
		fresh = d.urls - d.tried
	}
	d.urls -= pending
	d.tried = 0
	return pending, fresh
}
