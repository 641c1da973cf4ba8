package frontier

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// Config is the politeness of a frontier. The zero value is the default.
type Config struct {
	Delay   time.Duration // between the end of a response and the host's next request; 0: none
	PerHost int           // leases a host may have at once; 0: any number

	MaxRedirects int // followed one after the other; 0: none
}

// URL is a canonical URL and what it takes to fetch it.
type URL struct {
	URL   weburl.URL // canonical
	From  string     // the page it was found on; empty for a seed
	Depth int        // links from a seed; a redirect keeps it
	Hops  int        // redirects that led here from a link or seed
	Tries int        // made so far
}

// Stats are counts of URLs by state, and what Add has refused.
type Stats struct {
	Pending, Leased, Done int
	Hosts                 int
	Duplicates            int // URLs given to Add that had been seen
}

// Frontier holds the URLs of a crawl.
//
// Invariants: every URL in seen is in exactly one state. A host is in the heap if
// and only if it has a pending URL and may have another lease. No key in the heap is
// set to a time before now: a host whose delay is long over, or that is new, comes
// after those that are due already.
type Frontier struct {
	cfg    Config
	now    time.Time // told last
	seen   map[[16]byte]struct{}
	leased map[weburl.URL]struct{}
	hosts  map[string]*host
	hops   map[[16]byte]*hops // by fingerprint; not of URLs that a link led to first
	ready  hostHeap           // by the time at which the host may next be asked
	order  uint64             // of getting into a heap: what is due at once takes turns
	stats  Stats
}

// host is the queue of one host.
type host struct {
	name   string
	queue  []URL // pending, from head on
	head   int
	retry  retryHeap // pending, but not before a time
	leased int
	next   time.Time // not before: the delay after the last response
	at     time.Time // key in ready
	order  uint64
	index  int // in ready, −1 while not there
}

// hops is kept for a URL that was first reached over redirects.
type hops struct {
	fewest int  // of all ways to it that were found
	target *URL // of its own redirect, once it has answered with one
}

// New returns an empty frontier.
func New(cfg Config) *Frontier {
	return &Frontier{
		cfg:    cfg,
		seen:   make(map[[16]byte]struct{}),
		leased: make(map[weburl.URL]struct{}),
		hosts:  make(map[string]*host),
		hops:   make(map[[16]byte]*hops),
	}
}

// Stats returns the counts.
func (f *Frontier) Stats() Stats {
	f.stats.Hosts = len(f.hosts)
	return f.stats
}

// Over reports whether nothing is pending and nothing leased.
func (f *Frontier) Over() bool { return f.stats.Pending == 0 && f.stats.Leased == 0 }

// Add makes a URL pending unless it was seen before, and reports whether it did.
func (f *Frontier) Add(u URL) bool {
	fp := u.URL.Fingerprint()
	if _, ok := f.seen[fp]; ok {
		f.stats.Duplicates++
		if h := f.hops[fp]; h != nil && u.Hops < h.fewest {
			h.fewest = u.Hops
			f.follow(h)
		}
		return false
	}
	f.seen[fp] = struct{}{}
	if u.Hops > 0 {
		f.hops[fp] = &hops{fewest: u.Hops}
	}
	h := f.host(u.URL)
	h.queue = append(h.queue, u)
	f.stats.Pending++
	f.place(h)
	return true
}

// Redirect says that u, which is leased, was answered by a redirect. The target is
// added like any link, so two ways to one target meet; unless MaxRedirects led to u
// one after the other. Then Redirect returns false, and the target waits for a
// shorter way to u to turn up: what a crawl finds does not depend on the order in
// which answers come.
func (f *Frontier) Redirect(u, target URL) bool {
	h := f.hops[u.URL.Fingerprint()]
	if h == nil {
		h = new(hops) // a link or seed: there is no shorter way
	}
	h.target = &target
	return f.follow(h)
}

// follow adds the target of a URL that has redirected, if that is near enough.
func (f *Frontier) follow(h *hops) bool {
	if h.target == nil || h.fewest >= f.cfg.MaxRedirects {
		return false
	}
	target := *h.target
	target.Hops = h.fewest + 1
	f.Add(target)
	return true
}

// Lease hands out at most max URLs whose hosts may be asked now, hosts in turn.
func (f *Frontier) Lease(now time.Time, max int) []URL {
	f.tell(now)
	var leases []URL
	for len(leases) < max && len(f.ready) > 0 && !f.ready[0].at.After(now) {
		h := heap.Pop(&f.ready).(*host) // goes to the end of those that are due
		u := h.take(now)
		leases = append(leases, u)
		f.leased[u.URL] = struct{}{}
		h.leased++
		f.stats.Pending--
		f.stats.Leased++
		if f.cfg.Delay > 0 {
			h.next = now.Add(f.cfg.Delay) // until the response says when it really ended
		}
		f.place(h)
	}
	return leases
}

// Next returns the earliest time at which Lease will have something, if no URL is
// added or answered before; ok is false if there is no such time.
func (f *Frontier) Next() (at time.Time, ok bool) {
	if len(f.ready) == 0 {
		return time.Time{}, false
	}
	return f.ready[0].at, true
}

// Done answers a lease: the URL is finished.
func (f *Frontier) Done(now time.Time, u URL) {
	f.answer(now, u)
	f.stats.Done++
}

// Retry answers a lease: the URL is pending again, not before at. It counts as a try.
func (f *Frontier) Retry(now time.Time, u URL, at time.Time) {
	u.Tries++
	f.Postpone(now, u, at)
}

// Postpone is Retry that counts as no try: what stood in the way was not the host's.
func (f *Frontier) Postpone(now time.Time, u URL, at time.Time) {
	h := f.answer(now, u)
	f.order++
	heap.Push(&h.retry, waiting{u, at, f.order})
	f.stats.Pending++
	f.place(h)
}

func (f *Frontier) answer(now time.Time, u URL) *host {
	if _, ok := f.leased[u.URL]; !ok {
		panic(fmt.Sprintf("frontier: answer for %s, which is not leased", u.URL))
	}
	delete(f.leased, u.URL)
	f.tell(now)
	h := f.hosts[hostKey(u.URL)]
	h.leased--
	f.stats.Leased--
	if f.cfg.Delay > 0 {
		h.next = now.Add(f.cfg.Delay)
	}
	f.place(h)
	return h
}

func (f *Frontier) tell(now time.Time) {
	if now.After(f.now) {
		f.now = now
	}
}

func (f *Frontier) host(u weburl.URL) *host {
	key := hostKey(u)
	h := f.hosts[key]
	if h == nil {
		h = &host{name: key, index: -1}
		f.hosts[key] = h
	}
	return h
}

func hostKey(u weburl.URL) string { return u.Origin() }

// place puts h into the heap at the time at which it may be asked next, or takes
// it out if it may not be asked at all for now. A host that stays due, or whose time
// is as before, keeps its turn.
func (f *Frontier) place(h *host) {
	at, ok := h.due()
	full := f.cfg.PerHost > 0 && h.leased >= f.cfg.PerHost
	if !ok || full {
		if h.index >= 0 {
			heap.Remove(&f.ready, h.index)
		}
		return
	}
	if at.Before(f.now) {
		at = f.now
	}
	switch {
	case h.index < 0:
		f.order++
		h.at, h.order = at, f.order
		heap.Push(&f.ready, h)
	case h.at.Equal(at), !h.at.After(f.now) && !at.After(f.now):
	default:
		f.order++
		h.at, h.order = at, f.order
		heap.Fix(&f.ready, h.index)
	}
}

// due returns when the first URL of h may be fetched.
func (h *host) due() (at time.Time, ok bool) {
	switch {
	case h.head < len(h.queue):
	case len(h.retry) > 0:
		at = h.retry[0].at
	default:
		return at, false
	}
	if h.next.After(at) {
		at = h.next
	}
	return at, true
}

// take removes the URL that is due: one to be tried again, if its time has come,
// before those that were not tried.
func (h *host) take(now time.Time) URL {
	if len(h.retry) > 0 && !h.retry[0].at.After(now) {
		return heap.Pop(&h.retry).(waiting).url
	}
	u := h.queue[h.head]
	h.queue[h.head] = URL{}
	h.head++
	if h.head == len(h.queue) {
		h.queue, h.head = h.queue[:0], 0
	} else if h.head >= 64 && 2*h.head >= len(h.queue) {
		n := copy(h.queue, h.queue[h.head:])
		clear(h.queue[n:])
		h.queue, h.head = h.queue[:n], 0
	}
	return u
}

// hostHeap is a min-heap of hosts by (at, order).
type hostHeap []*host

func (q hostHeap) Len() int { return len(q) }
func (q hostHeap) Less(i, j int) bool {
	if c := q[i].at.Compare(q[j].at); c != 0 {
		return c < 0
	}
	return q[i].order < q[j].order
}
func (q hostHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *hostHeap) Push(x any) {
	h := x.(*host)
	h.index = len(*q)
	*q = append(*q, h)
}
func (q *hostHeap) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	h.index = -1
	return h
}

// waiting is a URL that is not to be tried before a time.
type waiting struct {
	url   URL
	at    time.Time
	order uint64
}

// retryHeap is a min-heap by (at, order).
type retryHeap []waiting

func (q retryHeap) Len() int { return len(q) }
func (q retryHeap) Less(i, j int) bool {
	if c := q[i].at.Compare(q[j].at); c != 0 {
		return c < 0
	}
	return q[i].order < q[j].order
}
func (q retryHeap) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *retryHeap) Push(x any)   { *q = append(*q, x.(waiting)) }
func (q *retryHeap) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	(*q)[last] = waiting{}
	*q = (*q)[:last]
	return w
}
