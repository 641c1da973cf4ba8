package frontier

import (
	"container/heap"
	"slices"
	"unsafe"

	"github.com/weftcrawl/weft/weburl"
)

// queue holds a host's URLs that were never leased: first those that are kept; of those with the highest
// priority the ones of least depth come first, of these the ones of highest rank, and of
// these the one that came first. A host has few different such fours at once, so each
// has a bucket.
//
// Invariant: the buckets are in the order in which they are emptied; none is empty.
type queue []bucket

// bucket is the URLs of one priority, depth and rank, kept or not, from head on.
type bucket struct {
	urls     []queued
	depth    int
	head     int32
	priority int8
	rank     int8
	kept     bool
}

// queued is a URL without what its bucket says. There are more of them than of
// anything else but fingerprints.
type queued struct {
	url   weburl.URL
	from  string
	came  uint64 // Seq, and in the low 16 bits Hops
	known *Visit
}

const maxHops = 1<<16 - 1

func (n *queued) seq() uint64 { return n.came >> 16 }

func (q queue) empty() bool { return len(q) == 0 }

func (q *queue) push(u *URL) {
	i, found := slices.BinarySearchFunc(*q, u.Place(), func(b bucket, p Place) int {
		return b.place(0).Compare(Place{Kept: p.Kept, Priority: p.Priority, Depth: p.Depth, Rank: p.Rank})
	})
	if !found {
		*q = slices.Insert(*q, i, bucket{priority: u.Priority, depth: u.Depth, rank: u.Rank, kept: u.Kept})
	}
	b := &(*q)[i]
	b.urls = append(b.urls, queued{u.URL, u.From, u.Seq<<16 | uint64(min(u.Hops, maxHops)), u.Known})
}

// pop removes the first URL of a queue that is not empty.
func (q *queue) pop() URL {
	b := &(*q)[0]
	u := b.url(&b.urls[b.head])
	b.urls[b.head] = queued{}
	b.head++
	switch left := len(b.urls) - int(b.head); {
	case left == 0 && len(*q) == 1:
		*q = nil // most hosts are done with some day
	case left == 0:
		*q = slices.Delete(*q, 0, 1)
	case b.head >= 64 && left <= int(b.head):
		b.urls, b.head = slices.Delete(b.urls, 0, int(b.head)), 0
	}
	return u
}

// url returns a URL of the bucket.
func (b *bucket) url(n *queued) URL {
	return URL{URL: n.url, From: n.from, Depth: b.depth, Hops: int(n.came & maxHops), Priority: b.priority, Rank: b.rank, Kept: b.kept, Seq: n.seq(), Known: n.known}
}

// place is that of a URL of the bucket.
func (b *bucket) place(seq uint64) Place {
	return Place{Kept: b.kept, Priority: b.priority, Depth: b.depth, Rank: b.rank, Seq: seq}
}

// cut removes all but the first URLs of a queue that holds more. It returns a place: what is
// kept is at or before it, what was removed behind it. And the cost of what was removed.
func (q *queue) cut(keep int) (last Place, freed int) {
	i := 0
	for ; keep > (*q)[i].len(); i++ {
		keep -= (*q)[i].len()
	}
	for j := range (*q)[i+1:] {
		freed += (*q)[i+1+j].cost(0)
	}
	b := &(*q)[i]
	freed += b.cost(keep)
	last = b.place(b.urls[b.head].seq() - 1)
	if i == 0 && keep == 0 {
		*q = nil
		return last, freed
	}
	*q = slices.Delete(*q, i+1, len(*q))
	b.urls = slices.Delete(b.urls, int(b.head)+keep, len(b.urls))
	if b.head > 0 || cap(b.urls) > 2*len(b.urls) { // what is not used is not to be held by a host that may wait for long
		b.urls, b.head = slices.Clone(b.urls[b.head:]), 0
	}
	last.Seq = b.urls[len(b.urls)-1].seq()
	return last, freed
}

// costOfURL is what a URL in a queue takes beside its text, in bytes: the slices of queues are
// at least half full, and most have one bucket.
const costOfURL = 2 * int(unsafe.Sizeof(queued{}))

// cost is what a pending URL takes in memory, in bytes.
func (u *URL) cost() int {
	n := costOfURL + len(u.URL.String()) + len(u.From)
	if v := u.Known; v != nil {
		n += int(unsafe.Sizeof(*v)) + len(v.Redirect) + len(v.ETag) + len(v.Modified) + len(v.Type)
	}
	return n
}

// cost is what the URLs of a bucket take, but for the first.
func (b *bucket) cost(without int) int {
	n := 0
	for i := int(b.head) + without; i < len(b.urls); i++ {
		u := b.url(&b.urls[i])
		n += u.cost()
	}
	return n
}

// cost is what the URLs take, in bytes.
func (q queue) cost() int {
	n := 0
	for i := range q {
		n += q[i].cost(0)
	}
	return n
}

func (b *bucket) len() int { return len(b.urls) - int(b.head) }

// all returns the URLs, in order.
func (q queue) all() []URL {
	var urls []URL
	for i := range q {
		for j := int(q[i].head); j < len(q[i].urls); j++ {
			urls = append(urls, q[i].url(&q[i].urls[j]))
		}
	}
	return urls
}

// waiting is a URL that is not to be tried before a time.
type waiting struct {
	url   URL
	at    moment
	order uint64
}

// retryHeap is a min-heap by (at, order).
type retryHeap []waiting

func (q *retryHeap) take() URL { return heap.Pop(q).(waiting).url }

func (q retryHeap) Len() int { return len(q) }
func (q retryHeap) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
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
