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
)

// beforeAll is a place before that of any URL.
var beforeAll = Place{Tried: true, Priority: math.MaxInt8}

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
	kept  queue               // new URLs behind the cursor: all, or those up to last
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
			d.refill.keep(u, f.cfg.Heads)
		}
		return
	}
	h.queue.push(u)
	f.trim(h)
}

// trim leaves the tail of a queue that has grown too long to the ledger.
func (f *Frontier) trim(h *host) {
	n := h.queued()
	if f.cfg.Heads <= 0 || n <= 2*f.cfg.Heads {
		return
	}
	if h.disk == nil {
		h.disk = new(backlog)
	}
	h.disk.cursor, h.disk.more = h.queue.cut(f.cfg.Heads), true
	h.disk.n += n - f.cfg.Heads
	if h.disk.refill != nil {
		h.disk.refill.void = true
	}
}

// keep takes note of a new URL behind the cursor.
func (r *refill) keep(u *URL, heads int) {
	if r.cut && r.last.Compare(u.Place()) < 0 {
		return
	}
	r.kept.push(u)
	r.nKept++
	if heads > 0 && r.nKept > 2*heads {
		r.last, r.cut, r.nKept = r.kept.cut(heads), true, heads
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

// orNone is d, or nil if that is as good.
func (d *backlog) orNone() *backlog {
	if d.more || d.refill != nil {
		return d
	}
	return nil
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
	return f.wanting >= maxWants && s.resolve == addressKnown && f.mayWant(h) && !f.has(h) && !h.robots.wanted(f.now)
}

// want asks for URLs of h, whose turn it is, if it has few in memory.
func (f *Frontier) want(h *host, turn bool) {
	if f.mayWant(h) && f.wanting < maxWants && (f.cfg.Heads <= 0 || h.queued() <= f.cfg.Heads/4) {
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
		if f.cfg.Heads > 0 {
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
		f.load(h, r, urls, more)
		f.trim(h)
	}
	h.disk = h.disk.orNone()
	f.place(h)
	if r.turn && h.hasTurn() && h.at <= f.now {
		f.rekey(h.server, r.at, r.order)
	}
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
		urls = slices.Concat(urls, r.kept.all())
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
			h.queue.push(u)
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
	h.pending += int32(n - d.n)
	f.stats.Pending += n - d.n
	f.fresh += n - tried - (d.n - d.tried)
	d.n, d.tried = n, tried
}
