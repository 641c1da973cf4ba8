package frontier

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// maxWants is how many hosts are refilled at once, so that a crawl with a million
	// hosts does not read of each when it begins again.
	maxWants = 1000

	// refillAll is how many URLs a refill brings without Heads.
	refillAll = 10_000

	// atOnce is how many URLs of a host a refill brings at least, if so many can be leased at
	// once, whatever room there is.
	atOnce = 8

	// usualCost is what a URL costs, for sharing out the room.
	usualCost = costOfURL + 80
)

// beforeAll is a place before that of any URL.
var beforeAll = Place{Tried: true, Priority: math.MaxInt8, Rank: math.MaxInt8}

// backlog is the pending URLs of a host that are only in the ledger.
//
// Invariant: those at or before the cursor are in memory (in the queue, or to be tried
// again) or leased; those behind it are in the ledger only, unless they are leased or
// to be tried again.
type backlog struct {
	cursor Place
	more   bool    // there may be URLs behind the cursor
	n      int     // URLs that are only in the ledger
	tried  int     // of these
	refill *refill // wanted or under way; nil: none
}

// refill is a Want that is not answered.
type refill struct {
	turn  bool // the host had nothing in memory when its turn came
	at    moment
	order uint64 // with at: its key then
	void  bool   // what is read is of no use: the cursor has moved

	// What has happened since Wants, for what is read may be older or newer than that.
	ended map[uint64]struct{} // Seq of URLs whose lease was answered, or that were refused
	kept  hostQueue           // new URLs behind the cursor: all, or those up to last
	nKept int
	last  Place
	cut   bool // there are others behind last
}

// push makes a new URL pending.
func (f *Frontier) push(h *host, u *URL) {
	h.pending++
	f.fresh++
	f.stats.Pending++
	f.note(h)
	if d := h.disk; d != nil && d.cursor.Compare(u.Place()) < 0 {
		d.n++
		d.more = true
		if d.refill != nil {
			d.refill.keep(u, max(f.heads(), min(f.cfg.Heads, atOnce)))
		}
		return
	}
	push(&h.queue, u)
	f.held += u.cost()
	f.trim(h)
	if f.crowded() {
		f.spill(h)
	}
}

// InMemory is what URLs that are pending and were never leased take in memory, in bytes.
func (f *Frontier) InMemory() int { return f.held }

// crowded reports whether there is no room for another URL in memory.
func (f *Frontier) crowded() bool { return f.cfg.InMemory > 0 && f.held > f.cfg.InMemory }

// heads is how many URLs of a host are to be in memory that has others in the ledger: the room
// is shared by these hosts. It may be none.
func (f *Frontier) heads() int {
	if f.cfg.InMemory <= 0 {
		return f.cfg.Heads
	}
	return min(f.cfg.Heads, f.cfg.InMemory/usualCost/max(1, f.backlogs))
}

// usable is how many URLs of h can be leased when its turn comes, of those that a refill may bring
// though there is no room.
func (f *Frontier) usable(h *host) int { return min(max(1, int(f.pace(h.server)-h.busy)), atOnce) }

// backlog is that of h, which has one from now on.
func (f *Frontier) backlog(h *host) *backlog {
	if h.disk == nil {
		h.disk = new(backlog)
		f.backlogs++
	}
	return h.disk
}

// letGo lets go of the backlog of h if it is as good as none.
func (f *Frontier) letGo(h *host) {
	if d := h.disk; d != nil && !d.more && d.refill == nil {
		h.disk = nil
		f.backlogs--
	}
}

// trim leaves the tail of a queue that has grown too long to the ledger.
func (f *Frontier) trim(h *host) {
	if f.cfg.Heads > 0 && h.queued() > 2*f.cfg.Heads {
		f.cut(h, f.cfg.Heads)
	}
}

// spill leaves the second half of a queue to the ledger. The last that a host has stays if a refill
// is under way, so that its turn is not in vain.
func (f *Frontier) spill(h *host) {
	keep := h.queued() / 2
	if keep > 0 || h.disk == nil || h.disk.refill == nil {
		f.cut(h, keep)
	}
}

// cut leaves all but the first URLs of a queue to the ledger.
func (f *Frontier) cut(h *host, keep int) {
	n, d := h.queued(), f.backlog(h)
	var freed int
	d.cursor, freed = cut(&h.queue, keep)
	f.held -= freed
	d.more = true
	d.n += n - keep
	if d.refill != nil {
		d.refill.void = true
	}
}

// keep takes note of a new URL behind the cursor.
func (r *refill) keep(u *URL, heads int) {
	if r.cut && r.last.Compare(u.Place()) < 0 {
		return
	}
	push(&r.kept, u)
	r.nKept++
	if heads > 0 && r.nKept > 2*heads {
		r.last, _ = cut(&r.kept, heads)
		r.cut, r.nKept = true, heads
	}
}

// gone takes note that a URL, by its Seq, is not pending any more, or not as it was.
func (d *backlog) gone(seq uint64) {
	if d == nil || d.refill == nil {
		return
	}
	if d.refill.ended == nil {
		d.refill.ended = make(map[uint64]struct{})
	}
	d.refill.ended[seq] = struct{}{}
}

// mayWant reports whether h has URLs that are only in the ledger, may be leased, and are
// not asked for.
func (f *Frontier) mayWant(h *host) bool {
	d := h.disk
	return d != nil && d.more && d.refill == nil && (d.tried > 0 || !f.Limited())
}

// stuck reports whether s, whose turn it is, cannot even ask for its URLs, for too
// many others do. Those behind it wait with it, or it would lose its turn.
func (f *Frontier) stuck(s *server) bool {
	h := s.top()
	if f.wanting < maxWants || s.resolve != addressKnown || !f.mayWant(h) || f.has(h) {
		return false
	}
	_, known := h.leastDepth() // with which its robots.txt would be leased
	return !known || !h.robots.wanted(f.now)
}

// want asks for URLs of h, whose turn it is, if it has few in memory.
func (f *Frontier) want(h *host, turn bool) {
	if !f.mayWant(h) || f.wanting >= maxWants {
		return
	}
	heads := f.heads()
	if f.cfg.Heads <= 0 || h.queued() <= heads/4 && (turn || heads > 0 && !f.crowded()) {
		h.disk.refill = &refill{turn: turn, at: h.at, order: h.order}
		f.wanted = append(f.wanted, h)
		f.wanting++
	}
}

// Wants returns the hosts whose turn has come, or will soon, and which have too few
// URLs in memory. Each is to be answered by one Refill, with what is read from the ledger
// after all that it was told before this call.
func (f *Frontier) Wants() []Want {
	var wants []Want
	for _, h := range f.wanted {
		d := h.disk
		r := d.refill
		*r = refill{turn: r.turn, at: r.at, order: r.order} // what was till now, is in the ledger
		n := refillAll
		switch {
		case f.cfg.InMemory > 0:
			n = max(f.usable(h), f.heads()-h.queued())
		case f.cfg.Heads > 0:
			n = max(1, f.cfg.Heads-h.queued())
		}
		wants = append(wants, Want{h.name, d.cursor, n})
	}
	clear(f.wanted)
	f.wanted = f.wanted[:0]
	return wants
}

// Refill answers a Want: urls are the first of the host's pending URLs after its place
// in order, at most N; more says whether there are others behind; if so, there is one at
// least in urls.
func (f *Frontier) Refill(now time.Time, host string, urls []URL, more bool) {
	h := f.find(host)
	if h == nil || h.disk == nil || h.disk.refill == nil {
		panic(fmt.Sprintf("frontier: refill of %q, which is not wanted", host))
	}
	f.tell(now)
	r := h.disk.refill
	h.disk.refill = nil
	f.wanting--
	if !r.void {
		if n := f.fit(h, urls); n < len(urls) {
			urls, more = urls[:n], true
		}
		f.load(h, r, urls, more)
		f.trim(h)
	}
	f.letGo(h)
	f.place(h)
	if r.turn && h.hasTurn() && h.at <= f.now {
		f.rekey(h.server, r.at, r.order)
	}
	f.rests(h.server)
}

// fit is how many of the URLs that were read for h there is room for in memory, but at least those that
// can be leased at once.
func (f *Frontier) fit(h *host, urls []URL) int {
	if f.cfg.InMemory <= 0 {
		return len(urls)
	}
	least, room := f.usable(h), f.cfg.InMemory-f.held
	for i := range urls {
		if room -= urls[i].cost(); room < 0 && i >= least {
			return i
		}
	}
	return len(urls)
}

// load puts URLs that were read from the ledger into memory, and moves the cursor.
func (f *Frontier) load(h *host, r *refill, urls []URL, more bool) {
	d := h.disk
	if more {
		d.cursor = urls[len(urls)-1].Place()
	}
	if r.cut && (!more || r.last.Compare(d.cursor) < 0) {
		d.cursor, more = r.last, true
	}
	if r.nKept > 0 {
		urls = slices.Concat(urls, all(&r.kept))
		slices.SortFunc(urls, func(a, b URL) int { return a.Place().Compare(b.Place()) })
	}
	missing := make(map[uint64]struct{}, len(urls))
	for i := range urls {
		missing[urls[i].Seq] = struct{}{}
	}
	for seq := range r.ended {
		delete(missing, seq)
	}
	for _, w := range h.again() {
		delete(missing, w.url.Seq)
	}
	for i := range urls {
		u := &urls[i]
		if more && d.cursor.Compare(u.Place()) < 0 {
			break
		}
		if _, ok := missing[u.Seq]; !ok || f.leased[u.URL] != nil {
			continue
		}
		delete(missing, u.Seq) // it may have been read and kept
		d.n--
		if u.Tries > 0 {
			d.tried--
			f.queueAgain(h, *u, u.NotBefore)
		} else {
			push(&h.queue, u)
			f.held += u.cost()
		}
	}
	d.more = more
	f.recount(h)
}

// recount makes the size of a backlog agree with what was read of it. It does, unless
// the ledger was damaged; then the crawl ends all the same, and has all that is there.
func (f *Frontier) recount(h *host) {
	d := h.disk
	n, tried := 0, 0
	if d.more {
		n, tried = max(d.n, 0), max(d.tried, 0)
	}
	if n != d.n {
		f.note(h)
	}
	h.pending += int32(n - d.n)
	f.stats.Pending += n - d.n
	f.fresh += n - tried - (d.n - d.tried)
	d.n, d.tried = n, tried
}
