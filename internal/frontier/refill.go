package frontier

import (
	"fmt"
	"math"
	"slices"
)

const (
	// maxRefills is how many origins are refilled at once, so that a crawl with a million origins
	// does not read of each when it restarts.
	maxRefills = 1000

	// refillAll is how many URLs a refill brings without Heads.
	refillAll = 10_000

	// atOnce is how many URLs of an origin a refill brings at least, if so many can be leased at
	// once, even if there is no room.
	atOnce = 8

	// usualCost is what a URL takes, for sharing the room.
	usualCost = costOfURL + 80
)

// beforeAll is a key before that of any URL.
var beforeAll = QueueKey{Tried: true, Priority: math.MaxInt8, Rank: math.MaxInt8}

// backlog is the pending URLs of an origin that are only in the store.
//
// Invariant: URLs at or before the cursor are in memory (queued or retries) or leased; URLs behind
// it are in the store only, unless they are leased or retries.
type backlog struct {
	cursor QueueKey
	more   bool    // there may be URLs behind the cursor
	n      int     // URLs that are only in the store
	tried  int     // of these
	refill *refill // wanted or being read; nil: none
}

// refill is one of an origin that is wanted or being read.
type refill struct {
	turn  bool // the origin had nothing in memory when its turn came
	at    moment
	order uint64 // with at: its turn then
	void  bool   // the cursor has moved, and the page is of no use

	// Changes since the request, as the page may be older or newer than they are.
	ended map[uint64]struct{} // Seq of URLs whose lease has ended, or that were refused
	kept  urlQueue            // new URLs behind the cursor: all, or those up to last
	nKept int
	last  QueueKey
	cut   bool // there are others behind last
}

// keep keeps a new URL behind the cursor.
func (r *refill) keep(u *URL, heads int) {
	if r.cut && r.last.Compare(u.QueueKey()) < 0 {
		return
	}
	push(&r.kept, u)
	r.nKept++
	if heads > 0 && r.nKept > 2*heads {
		r.last, _ = cut(&r.kept, heads)
		r.cut, r.nKept = true, heads
	}
}

// ended takes in that a URL, by its Seq, is not pending any more, or not as it was.
func (b *backlog) ended(seq uint64) {
	if b == nil || b.refill == nil {
		return
	}
	if b.refill.ended == nil {
		b.refill.ended = make(map[uint64]struct{})
	}
	b.refill.ended[seq] = struct{}{}
}

// merge adds the URLs kept since the request to a page of URLs, and moves the cursor to the last of
// them. If more is true, the store has further URLs after the page.
func (b *backlog) merge(r *refill, urls []URL, more bool) []URL {
	if more {
		b.cursor = urls[len(urls)-1].QueueKey()
	}
	if r.cut && (!more || r.last.Compare(b.cursor) < 0) {
		b.cursor, more = r.last, true
	}
	b.more = more
	if r.nKept > 0 {
		urls = slices.Concat(urls, all(&r.kept))
		slices.SortFunc(urls, func(a, b URL) int { return a.QueueKey().Compare(b.QueueKey()) })
	}
	return urls
}

// refills is the share of the queues that is in memory, and the origins whose queues are refilled.
type refills struct {
	cfg      *Config
	held     int       // what the URLs in queues take, in bytes
	backlogs int       // origins that have one
	wanted   []*origin // to be requested
	open     int       // wanted, or requested and not answered
}

// crowded reports whether there is no room for another URL in memory.
func (r *refills) crowded() bool { return r.cfg.InMemory > 0 && r.held > r.cfg.InMemory }

// heads returns how many URLs stay in memory of an origin with a backlog; these origins share the
// room. It may be none.
func (r *refills) heads() int {
	if r.cfg.InMemory <= 0 {
		return r.cfg.Heads
	}
	return min(r.cfg.Heads, r.cfg.InMemory/usualCost/max(1, r.backlogs))
}

// backlog returns that of o, which has one from now on.
func (r *refills) backlog(o *origin) *backlog {
	if o.backlog == nil {
		o.backlog = new(backlog)
		r.backlogs++
	}
	return o.backlog
}

// release drops the backlog of o if it is empty.
func (r *refills) release(o *origin) {
	if b := o.backlog; b != nil && !b.more && b.refill == nil {
		o.backlog = nil
		r.backlogs--
	}
}

// restore makes everything pending of an origin that was recalled its backlog.
func (r *refills) restore(o *origin, s OriginState) {
	if s.Pending > 0 {
		*r.backlog(o) = backlog{cursor: beforeAll, more: true, n: s.Pending, tried: s.Tried}
	}
}

// dropped takes in that an origin with something pending was evicted.
func (r *refills) dropped(o *origin) {
	r.held -= costOf(&o.queue)
	if o.backlog != nil {
		r.backlogs--
	}
}

// add queues a new URL, in memory or behind the cursor in the store.
func (r *refills) add(o *origin, u *URL) {
	if o.step != nil {
		o.step.floor = min(o.step.floor, u.Depth)
	}
	if b := o.backlog; b != nil && b.cursor.Compare(u.QueueKey()) < 0 {
		b.n++
		b.more = true
		if b.refill != nil {
			b.refill.keep(u, max(r.heads(), min(r.cfg.Heads, atOnce)))
		}
		return
	}
	r.queue(o, u)
	r.trim(o)
	if r.crowded() {
		r.spill(o)
	}
}

// queue puts a URL into the queue of o.
func (r *refills) queue(o *origin, u *URL) {
	push(&o.queue, u)
	r.held += u.cost()
}

// trim leaves the tail of a queue that has grown too long to the store.
func (r *refills) trim(o *origin) {
	if r.cfg.Heads > 0 && o.queued() > 2*r.cfg.Heads {
		r.cut(o, r.cfg.Heads)
	}
}

// spill leaves the second half of a queue to the store. An origin's last URL stays while a refill
// is being read, so that its turn is not in vain.
func (r *refills) spill(o *origin) {
	keep := o.queued() / 2
	if keep > 0 || o.backlog == nil || o.backlog.refill == nil {
		r.cut(o, keep)
	}
}

// cut leaves all but the first URLs of a queue to the store.
func (r *refills) cut(o *origin, keep int) {
	n, b := o.queued(), r.backlog(o)
	var freed int
	b.cursor, freed = cut(&o.queue, keep)
	r.held -= freed
	b.more = true
	b.n += n - keep
	if b.refill != nil {
		b.refill.void = true
	}
}

// want requests URLs of o, whose turn it is, if it has few in memory.
func (r *refills) want(o *origin, turn bool) {
	if r.open >= maxRefills {
		return
	}
	heads := r.heads()
	if r.cfg.Heads <= 0 || o.queued() <= heads/4 && (turn || heads > 0 && !r.crowded()) {
		o.backlog.refill = &refill{turn: turn, at: o.host.turn.at, order: o.host.turn.order}
		r.wanted = append(r.wanted, o)
		r.open++
	}
}

// size returns how many URLs to request for o, if usable ones can be leased at its turn.
func (r *refills) size(o *origin, usable int) int {
	switch {
	case r.cfg.InMemory > 0:
		return max(usable, r.heads()-o.queued())
	case r.cfg.Heads > 0:
		return max(1, r.cfg.Heads-o.queued())
	}
	return refillAll
}

// fit returns how many of the URLs read for an origin there is room for, at least usable.
func (r *refills) fit(usable int, urls []URL) int {
	if r.cfg.InMemory <= 0 {
		return len(urls)
	}
	room := r.cfg.InMemory - r.held
	for i := range urls {
		if room -= urls[i].cost(); room < 0 && i >= usable {
			return i
		}
	}
	return len(urls)
}

// usable returns how many URLs of o can be leased when its turn comes: a refill may read that many
// even without room.
func (f *Frontier) usable(o *origin) int {
	return min(max(1, int(f.politeness.pace(o.host)-o.host.busy)), atOnce)
}

// mayRefill reports whether o has URLs that are only in the store, may be leased, and are not
// wanted yet.
func (f *Frontier) mayRefill(o *origin) bool {
	b := o.backlog
	return b != nil && b.more && b.refill == nil && (b.tried > 0 || !f.Limited())
}

// stuck reports whether h, whose turn it is, cannot even want its URLs, because too many others do.
// Those behind it wait with it, or it would lose its turn.
func (f *Frontier) stuck(h *host) bool {
	o := f.politeness.top(h)
	if f.refills.open < maxRefills || h.resolve != addressKnown || !f.mayRefill(o) || f.has(o) ||
		!f.mayDescend(o) {
		return false
	}
	_, known := o.leastDepth() // with which its robots.txt would be leased
	return !known || !o.robots.wanted(f.clock.now)
}

// requestRefills returns the requests for the origins that are wanted.
func (f *Frontier) requestRefills() []Request {
	var requests []Request
	for _, o := range f.refills.wanted {
		r := o.backlog.refill
		*r = refill{turn: r.turn, at: r.at, order: r.order} // the store has the changes up to now
		requests = append(requests, Request{
			Kind: Refill, Origin: o.name, After: o.backlog.cursor, N: f.refills.size(o, f.usable(o)),
		})
	}
	clear(f.refills.wanted)
	f.refills.wanted = f.refills.wanted[:0]
	return requests
}

// refill takes in the page for an origin: the first of its pending URLs after the cursor, in order,
// and whether there are others behind.
func (f *Frontier) refill(name string, urls []URL, more bool) {
	o := f.residency.origin(name)
	if o == nil || o.backlog == nil || o.backlog.refill == nil {
		panic(fmt.Sprintf("frontier: Provide: nobody has requested a refill of %q", name))
	}
	r := o.backlog.refill
	o.backlog.refill = nil
	f.refills.open--
	if !r.void {
		if n := f.refills.fit(f.usable(o), urls); n < len(urls) {
			urls, more = urls[:n], true
		}
		f.load(o, r, urls, more)
		f.refills.trim(o)
	}
	f.refills.release(o)
	f.place(o)
	if r.turn && o.host.hasTurn() && o.host.turn.at <= f.clock.now {
		f.politeness.changeTurn(o.host, r.at, r.order)
	}
	f.consider(o.host)
}

// load brings URLs that were read from the store into memory.
func (f *Frontier) load(o *origin, r *refill, urls []URL, more bool) {
	b := o.backlog
	urls = b.merge(r, urls, more)
	missing := make(map[uint64]struct{}, len(urls))
	for i := range urls {
		missing[urls[i].Seq] = struct{}{}
	}
	for seq := range r.ended {
		delete(missing, seq)
	}
	for _, w := range o.again() {
		delete(missing, w.url.Seq)
	}
	for i := range urls {
		u := &urls[i]
		if b.more && b.cursor.Compare(u.QueueKey()) < 0 {
			break
		}
		if _, ok := missing[u.Seq]; !ok || f.leased[u.leaseKey()] != nil {
			continue
		}
		delete(missing, u.Seq) // it may be both in the page and kept
		b.n--
		if u.Tries > 0 {
			b.tried--
			f.queueAgain(o, *u, f.clock.time(f.restored(u.NotBefore, MaxRetryAfter)))
		} else {
			f.refills.queue(o, u)
		}
	}
	f.recount(o)
}

// recount makes the size of a backlog agree with what was read of it. It does, unless the store was
// damaged; then the crawl ends all the same, with everything there is.
func (f *Frontier) recount(o *origin) {
	b := o.backlog
	n, tried := 0, 0
	if b.more {
		n, tried = max(b.n, 0), max(b.tried, 0)
	}
	if n != b.n || o.step != nil { // its least depth may be known by now
		f.journal.originChanged(o)
	}
	o.pending += int32(n - b.n)
	f.stats.Pending += n - b.n
	f.fresh += n - tried - (b.n - b.tried)
	b.n, b.tried = n, tried
}
