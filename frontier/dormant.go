package frontier

import (
	"iter"
	"time"

	"github.com/weftcrawl/weft/robots"
)

const (
	// maxRouse is how many names are asked for at once, and minRouse how many before they are, if no
	// lease waits for them: they are read together.
	maxRouse = 256
	minRouse = 64

	// leasesAStay is how many leases there are of all hosts for each dormant server that is brought
	// back though others have enough to do: as many as it has itself on average before it leaves
	// again. What is read of it, its address and its connections have to be worth it.
	leasesAStay = 4

	// usualHost is what a host takes in memory with its name and its share of groups.
	usualHost = costOfServer + costOfGroup + 40

	// When none of those that came back could be asked, the next are asked for after a pause that doubles.
	firstRest = 50 * time.Millisecond
	maxRest   = 2 * time.Second
)

// dormant is the servers that are not in memory though URLs of theirs are pending: these are in the ledger
// only, as all that is known of them is. They left because hosts took more than they may: no lease
// of theirs was under way, nor a delay. They come back when a URL of theirs is added, as idle ones
// do, and when it is their turn: a cursor goes round the names of all hosts in the ledger, and never
// passes one over for good.
//
// Invariant: what is known of a server that is not in memory does not change in the ledger.
type dormant struct {
	line  leavers // servers in memory that may become dormant
	hosts int     // that are dormant
	urls  int     // pending, of these
	tried int     // of these, to be tried again

	cursor string              // the host that was looked at last; empty: none of this round
	asked  bool                // Rouse is to be answered
	want   Rouse               // what was asked for last
	gone   map[string]struct{} // names of servers that have left since: what was read may be older
	same   bool                // none has left or come back since the round began
	none   bool                // none has come back by Roused since then
	credit int                 // leases that count for leasesAStay
	need   int                 // leases that were wanted last, and not to be had
	pause  time.Duration
	again  moment // because of need nothing is asked for before
}

// Rouse asks for dormant hosts: those of the first N names after an origin, in the ledger's order, of which
// something is pending, with all their hosts. It is answered by Roused.
type Rouse struct {
	After string // an origin; empty: from the first on
	N     int    // ≥ 1
	Tried bool   // only names with a URL to be tried again
}

// Dormant is how many hosts are not in memory though something is pending of them.
func (f *Frontier) Dormant() int { return f.dormant.hosts }

// mayDoze reports whether s may leave memory with what is pending of it, but for what settled says.
func (s *server) mayDoze() bool {
	if s.busy > 0 || s.resolve == addressAsked || s.origins != nil && s.origins.errands != nil {
		return false
	}
	for h := range s.each {
		if h.leased > 0 || h.starved || h.robots.waits() || h.disk != nil && h.disk.refill != nil || !mayLeave(h.name) {
			return false
		}
	}
	return true
}

// heldBack reports whether it is others that s waits for: of its domain, or its address.
func (s *server) heldBack() bool {
	if s.index >= 0 {
		return s.where != inReady
	}
	return s.sub >= 0
}

// lay takes what is pending of h, which leaves memory, out of it.
func (f *Frontier) lay(h *host) {
	if h.pending == 0 {
		return
	}
	f.held -= costOf(&h.queue)
	if h.disk != nil {
		f.backlogs--
	}
	f.sleeps(HostState{Pending: int(h.pending), Tried: int(h.tried)}, 1)
}

// sleeps counts a host that is dormant from now on, or with −1 is not any more.
func (f *Frontier) sleeps(s HostState, n int) {
	if s.Pending > 0 {
		d := &f.dormant
		d.hosts += n
		d.urls += n * s.Pending
		d.tried += n * s.Tried
		d.same = false
	}
}

// mayRouse reports whether Roused can bring anything to lease, or to refuse.
func (f *Frontier) mayRouse() bool {
	d := &f.dormant
	return !d.asked && d.hosts > 0 && (d.tried > 0 || !f.Limited())
}

// turnover is how many bytes of hosts are to leave so that dormant ones get their turn.
func (f *Frontier) turnover() int {
	d := &f.dormant
	if d.hosts == 0 {
		return 0
	}
	return min(d.credit/leasesAStay*usualHost, f.cfg.HostBytes/8)
}

// Rouse returns which dormant hosts are wanted in memory, if any are: when there is room for them, when it is
// their turn, or when others have too little to lease. Who calls Wants calls it, too, but not
// between Doubts and the last Add of what that was asked about; reads, and answers with Roused.
func (f *Frontier) Rouse() (Rouse, bool) {
	d := &f.dormant
	if !f.mayRouse() || d.cursor == "" && d.none && f.now < d.again {
		return Rouse{}, false
	}
	f.makeRoom()
	n := 0
	if room := (f.cfg.HostBytes - f.HostBytes()) / usualHost; room >= min(minRouse, max(1, f.cfg.HostBytes/usualHost/8)) {
		n = room
	}
	if f.now >= d.again {
		n = max(n, d.need-f.wanting)
	}
	if d.credit >= leasesAStay*max(1, f.hosts) { // those in memory have all had theirs, and none may leave
		n = max(n, f.hosts/8+1)
	}
	if n <= 0 {
		return Rouse{}, false
	}
	n = min(n, maxRouse)
	d.asked, d.want = true, Rouse{d.cursor, n, f.Limited()}
	d.gone = make(map[string]struct{})
	if d.cursor == "" {
		d.same, d.none = true, true
	}
	return d.want, true
}

// Roused answers Rouse: these are all hosts of the names that were found, as the ledger had them at
// the time of that call or later. Last is the origin that was looked at last; empty: there is none
// behind. There may be none to return, and others behind.
func (f *Frontier) Roused(now time.Time, hosts iter.Seq2[HostState, robots.Rules], last string) {
	d := &f.dormant
	if !d.asked {
		panic("frontier: hosts are roused that nobody has asked for")
	}
	f.tell(now)
	d.asked = false
	back := 0
	for s, r := range hosts {
		if _, left := d.gone[Hostname(s.Name)]; left || f.find(s.Name) != nil {
			continue
		}
		h := f.comeBack(s, r)
		h.owed = true
		back++
	}
	d.gone = nil
	d.credit = max(0, d.credit-leasesAStay*back)
	if d.cursor = last; last == "" && d.same {
		f.missed()
	}
	if back > 0 || last == "" && d.none { // unless one of them can be asked: see lease
		d.pause = min(max(firstRest, 2*d.pause), maxRest)
		d.again = f.now + d.pause
	}
	d.none = d.none && back == 0
}

// leased takes in that u is, of s.
func (d *dormant) leased(s *server, u *URL) {
	if d.hosts > 0 {
		d.credit++
	}
	if s.owed { // to bring it back was not in vain
		d.pause, d.again = 0, 0
		s.owed = u.Robots
	}
}

// missed takes in that a whole round has found no host that is dormant. There are some, unless the
// ledger was damaged; then the crawl ends all the same, and has all that is there.
func (f *Frontier) missed() {
	d := &f.dormant
	n := d.urls
	if d.want.Tried {
		n = d.tried
	} else {
		d.hosts = 0
		f.fresh -= d.urls - d.tried
	}
	d.urls -= n
	f.stats.Pending -= n
	d.tried = 0
}

// comeBack brings a host back to memory.
func (f *Frontier) comeBack(s HostState, r robots.Rules) *host {
	h, latest := f.recall(s, r)
	h.last = max(h.last, f.idle.waits, min(h.asked, f.now))
	if latest {
		h.pace.most = uint8(s.Most) // be it unbounded: it is the same process
	}
	if f.idle.steered {
		f.steerPace(h)
	}
	f.idle.left--
	f.wake(h, s)
	return h
}

// wake has a host that was dormant take its turn.
func (f *Frontier) wake(h *host, s HostState) {
	f.sleeps(s, -1)
	f.fill(h, s)
	f.place(h)
	f.rests(h.server)
}

// fill makes what is pending of a host that was recalled its backlog.
func (f *Frontier) fill(h *host, s HostState) {
	if s.Pending > 0 {
		*f.backlog(h) = backlog{cursor: beforeAll, more: true, n: s.Pending, tried: s.Tried}
	}
}

// leavers are servers that may leave memory, those first that have waited for it for longest.
type leavers struct {
	servers []rest
	head    int
}

// rest is a server and what it was last told of when it was put into a line.
type rest struct {
	server *server
	noted  uint32
}

func (l *leavers) push(s *server) { l.servers = append(l.servers, rest{s, s.noted}) }

func (l *leavers) empty() bool { return l.head == len(l.servers) }

// pop removes the first of a line that is not empty. It reports whether the ledger was told of it since.
func (l *leavers) pop() (s *server, again bool) {
	r := l.servers[l.head]
	l.servers[l.head] = rest{}
	if l.head++; l.head > len(l.servers)/2 {
		l.servers = append(l.servers[:0:0], l.servers[l.head:]...)
		l.head = 0
	}
	return r.server, r.server.noted != r.noted
}
