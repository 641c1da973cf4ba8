package frontier

import (
	"cmp"
	"math"
	"unsafe"

	"github.com/weftcrawl/weft/internal/frontier/queue"
	"github.com/weftcrawl/weft/internal/heap"
	"github.com/weftcrawl/weft/weburl"
)

// urlQueue holds an origin's URLs that were never leased. An origin has few different classes at
// once.
type urlQueue = queue.Queue[class, queued]

// class is the part of a URL's QueueKey that it shares with others.
type class struct {
	depth    int32
	priority int8
	rank     int8
	kept     bool
	byDepth  bool
}

// Compare orders classes as QueueKey.Compare orders the keys of their URLs.
func (c class) Compare(d class) int {
	switch {
	case c.kept != d.kept:
		return first(c.kept)
	case c.byDepth != d.byDepth:
		return first(d.byDepth)
	case c.byDepth && c.depth != d.depth:
		return cmp.Compare(c.depth, d.depth)
	case c.priority != d.priority:
		return cmp.Compare(d.priority, c.priority)
	case c.depth != d.depth:
		return cmp.Compare(c.depth, d.depth)
	}
	return cmp.Compare(d.rank, c.rank)
}

// queued is a URL without its class. A crawl has more of them than of anything else but
// fingerprints.
type queued struct {
	url   weburl.URL
	from  string // URL.Source
	came  uint64 // Seq, in the low 16 bits Role, in the low 14 of these Hops
	known *Snapshot
}

const (
	hopBits  = 14
	roleBits = 2
	maxHops  = 1<<hopBits - 1
)

func (n *queued) seq() uint64 { return n.came >> (hopBits + roleBits) }

func (n *queued) role() Role { return Role(n.came >> hopBits & (1<<roleBits - 1)) }

// as returns the URL of a class.
func (n *queued) as(c class) URL {
	u := URL{
		URL: n.url, Depth: int(c.depth), Hops: int(n.came & maxHops),
		Priority: c.priority, Rank: c.rank, Role: n.role(), Kept: c.kept, ByDepth: c.byDepth,
		Seq: n.seq(), Known: n.known,
	}
	u.SetSource(n.from)
	return u
}

// key returns the key of a URL of the class.
func (c class) key(seq uint64) QueueKey {
	return QueueKey{
		Kept: c.kept, ByDepth: c.byDepth && !c.kept,
		Priority: c.priority, Depth: int(c.depth), Rank: c.rank, Seq: seq,
	}
}

func push(q *urlQueue, u *URL) {
	c := class{int32(min(u.Depth, math.MaxInt32)), u.Priority, u.Rank, u.Kept, u.ByDepth && !u.Kept}
	came := u.Seq<<roleBits | uint64(u.Role)
	q.Push(c, queued{u.URL, u.Source(), came<<hopBits | uint64(min(u.Hops, maxHops)), u.Known})
}

func pop(q *urlQueue, u *URL) {
	c, n := q.Pop()
	*u = n.as(c)
}

// cut removes all but the first URLs of a queue that holds more. It returns a key, which what is
// left does not exceed and what was removed does, and the cost of what was removed.
func cut(q *urlQueue, keep int) (last QueueKey, freed int) {
	first, n := q.First()
	last = first.key(n.seq() - 1)
	q.Cut(keep, func(_ class, n *queued) { freed += n.cost() })
	if keep > 0 {
		c, n := q.Last()
		last = c.key(n.seq())
	}
	return last, freed
}

// all returns the URLs of a queue in order.
func all(q *urlQueue) []URL {
	var urls []URL
	for c, n := range q.All() {
		urls = append(urls, n.as(c))
	}
	return urls
}

// costOfURL is the size of a URL in a queue besides its text, in bytes: the slices of queues are at
// least half full, and most queues have one bucket.
const costOfURL = 2 * int(unsafe.Sizeof(queued{}))

// cost returns the size of a queued URL in memory, in bytes.
func (n *queued) cost() int { return cost(&n.url, n.from, n.known) }

// cost returns the size of a URL in memory while it is queued, in bytes.
func (u *URL) cost() int { return cost(&u.URL, u.From, u.Known) + len(u.Written) + len(u.Data) }

func cost(u *weburl.URL, from string, known *Snapshot) int {
	n := costOfURL + len(u.String()) + len(from)
	if v := known; v != nil {
		n += int(unsafe.Sizeof(*v)) + len(v.Redirect) + len(v.ETag) + len(v.Modified) + len(v.Type) + len(v.Title) + v.About.size()
	}
	return n
}

// costOf returns the size of the URLs of a queue in memory, in bytes.
func costOf(q *urlQueue) int {
	n := 0
	for _, u := range q.All() {
		n += u.cost()
	}
	return n
}

// waiting is a URL with the earliest time of its retry.
type waiting struct {
	url   URL
	at    moment
	order uint64
}

// cost returns the size of a retry in memory, in bytes.
func (w *waiting) cost() int {
	n := int(unsafe.Sizeof(*w)) + w.url.cost()
	for i := range w.url.Past {
		t := &w.url.Past[i]
		n += int(unsafe.Sizeof(*t)) + len(t.Kind) + len(t.Reason)
	}
	if w.url.At != nil {
		n += len(w.url.At.String())
	}
	return n
}

// retries is an origin's URLs that are to be tried again.
type retries struct {
	retryHeap
	bytes int // in memory
}

// retryHeap is a heap of retries, by when they are due.
type retryHeap = heap.Heap[*waiting, byTime]

type byTime struct{}

func (byTime) Before(a, b *waiting) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}

func (byTime) Moved(*waiting, int) {}

// again returns the retries of o, the first of them in front.
func (o *origin) again() []*waiting {
	if o.retry == nil {
		return nil
	}
	return o.retry.Items()
}

// retries reports whether a retry is due: any is if they are refused.
func (o *origin) retries(now moment) bool {
	return o.retry != nil && (o.retry.First().at <= now || o.deadAt(now))
}

// leastDepth returns that of the URLs of o that are in memory; known is false if none are.
func (o *origin) leastDepth() (depth int, known bool) {
	depth = math.MaxInt
	for c := range o.queue.Classes() {
		depth = min(depth, int(c.depth))
	}
	for _, w := range o.again() {
		depth = min(depth, w.url.Depth)
	}
	return depth, depth < math.MaxInt
}

// queued returns how many URLs are in the queue of o.
func (o *origin) queued() int {
	n := int(o.pending) - len(o.again())
	if o.backlog != nil {
		n -= o.backlog.n
	}
	return n
}
