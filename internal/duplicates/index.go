package duplicates

import (
	"strings"
	"sync"

	"github.com/weftcrawl/weft/internal/fingerprint"
)

// Page is a page to judge, and what the index keeps of a first.
type Page struct {
	Content uint64 // hash
	Simhash uint64 // 0: none
	URL     string
}

// Verdict is the index's judgement on a page.
type Verdict struct {
	Same string // the first URL with this content; empty: none
	Near string // the URL of a first with nearly identical text; empty: none, or there is Same

	Seq   uint64 // the page's number, from 1; 0: it was not added
	Taken Page   // the page that was added, for Restore
	Left  uint64 // pages with this Seq and below have left the index
}

const (
	blocks   = fingerprint.Near + 1 // of a simhash: if fingerprint.Near bits differ, one is equal
	bits     = 64 / blocks          // per block
	crowd    = 64                   // pages of a chain that are compared, the latest ones
	urlBytes = 128                  // per page, on average

	pageBytes = 64 // of a page without its URL
)

// Index remembers the pages of a crawl.
type Index struct {
	capacity int
	mu       struct {
		sync.Mutex
		state
	}
}

type state struct {
	base    uint64  // Seq of the first page in entries[0]
	seq     uint64  // of the last page
	n       int     // pages in the index: the last n, up to seq
	urls    int     // their total length in bytes
	entries []entry // page seq is at (seq-base) % capacity
	same    []uint32
	near    [blocks][]uint32
}

// entry is a page and, for each chain it belongs to, the page before it. A chain links the pages
// whose content has the same low bits, or whose simhash has the same block, starting with the
// latest: in same and near. A page that has left ends the chain, so no page is ever unlinked.
// Chains hold the low 32 bits of Seq, which repeat after four billion pages: then a chain may lead
// to pages that do not belong to it, which the comparison detects.
type entry struct {
	Page
	same uint32
	near [blocks]uint32
}

// New returns an empty index for at most capacity pages, at least one.
func New(capacity int) *Index { return &Index{capacity: max(1, capacity)} }

// Judge returns what is known of a page, and adds it if its content is new.
func (x *Index) Judge(p Page) Verdict {
	x.mu.Lock()
	defer x.mu.Unlock()
	if first := x.first(p.Content); first != nil {
		return Verdict{Same: first.URL}
	}
	var v Verdict
	if near := x.nearest(p.Simhash); near != nil {
		v.Near = near.URL
		p.Simhash = 0
	}
	p.URL = strings.Clone(p.URL) // it may be part of a larger string
	x.add(x.mu.seq+1, p)
	v.Seq, v.Taken, v.Left = x.mu.seq, p, x.mu.seq-uint64(x.mu.n)
	return v
}

// Restore adds a page that an earlier run's Judge has added, with its Seq. Pages come in the order
// of their Seq; others are ignored.
func (x *Index) Restore(seq uint64, p Page) {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := &x.mu.state
	if seq <= m.seq {
		return
	}
	if m.n == 0 || seq-m.seq > uint64(x.capacity) { // all others have left
		*m = state{seq: seq - 1}
	}
	for m.seq+1 < seq {
		x.add(m.seq+1, Page{}) // a page that was lost
	}
	x.add(seq, p)
}

// first returns the first page with a content, or nil.
func (x *Index) first(content uint64) *entry {
	if x.mu.n == 0 {
		return nil
	}
	age, at := -1, x.mu.same[x.slot(content)]
	for range crowd {
		var e *entry
		if e, age = x.follow(at, age); e == nil || e.Content == content {
			return e
		}
		at = e.same
	}
	return nil
}

// nearest returns the first that is nearest to a simhash, the oldest of several, or nil.
func (x *Index) nearest(simhash uint64) (nearest *entry) {
	if simhash == 0 || x.mu.near[0] == nil {
		return nil
	}
	distance, oldest := fingerprint.Near, -1
	for i := range blocks {
		age, at := -1, x.mu.near[i][block(simhash, i)]
		for range crowd {
			var e *entry
			if e, age = x.follow(at, age); e == nil {
				break
			}
			if d := fingerprint.Distance(e.Simhash, simhash); e.Simhash != 0 && (d < distance || d == distance && age > oldest) {
				nearest, distance, oldest = e, d, age
			}
			at = e.near[i]
		}
	}
	return nearest
}

// follow returns the page that a chain has after one of some age, and its age: how many pages were
// added since. It returns nil at the end of the chain.
func (x *Index) follow(at uint32, age int) (*entry, int) {
	next := int(uint32(x.mu.seq) - at)
	if next <= age || next >= x.mu.n {
		return nil, next
	}
	return x.entry(x.mu.seq - uint64(next)), next
}

func (x *Index) entry(seq uint64) *entry {
	return &x.mu.entries[(seq-x.mu.base)%uint64(x.capacity)]
}

// Bytes returns the memory of the pages.
func (x *Index) Bytes() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	chains := len(x.mu.same)
	for _, near := range x.mu.near {
		chains += len(near)
	}
	return pageBytes*len(x.mu.entries) + x.mu.urls + 4*chains
}

func (x *Index) slot(content uint64) int { return int(content % uint64(len(x.mu.same))) }

// block returns block i of a simhash.
func block(simhash uint64, i int) int { return int(simhash >> (i * bits) & (1<<bits - 1)) }

// add adds a page after the last one. The oldest leave to make room.
func (x *Index) add(seq uint64, p Page) {
	m := &x.mu.state
	if m.same == nil {
		m.same, m.base = make([]uint32, x.capacity), seq
	}
	if p.Simhash != 0 && m.near[0] == nil {
		for i := range m.near {
			m.near[i] = make([]uint32, 1<<bits)
		}
	}
	m.urls += len(p.URL)
	for m.n == x.capacity || m.n > 0 && m.urls > urlBytes*x.capacity {
		oldest := x.entry(m.seq - uint64(m.n) + 1)
		m.urls -= len(oldest.URL)
		oldest.URL = ""
		m.n--
	}
	m.seq, m.n = seq, m.n+1
	if len(m.entries) < x.capacity {
		m.entries = append(m.entries, entry{})
	}
	e := x.entry(seq)
	*e = entry{Page: p}
	if p == (Page{}) {
		return
	}
	same := &m.same[x.slot(p.Content)]
	e.same, *same = *same, uint32(seq)
	if p.Simhash == 0 {
		return
	}
	for i := range m.near {
		last := &m.near[i][block(p.Simhash, i)]
		e.near[i], *last = *last, uint32(seq)
	}
}
