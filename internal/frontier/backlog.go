package frontier

import (
	"math"
	"slices"
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
	empty bool // the origin had nothing in memory when its turn came
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
