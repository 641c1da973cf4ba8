package weburl

import "github.com/cespare/xxhash/v2"

// Hash returns 64 bits of the canonical form (XXH64), for in-memory tables that also compare the
// URLs: pages with equal hashes can be constructed. It is the same in every run.
func (b URL) Hash() uint64 {
	b.canonicalise()
	return xxhash.Sum64String(b.href)
}

// Memo remembers some of the URLs added lately, in canonical form with their fingerprints: the
// links on a site's pages repeat each other. It forgets, but never confuses URLs.
//
// One goroutine or task at a time may use it.
type Memo struct {
	slots []memoSlot // a power of two; each URL has one possible slot
	last  uint64     // the slot of the last call: links come in runs
	bytes int        // of the URLs
	most  int        // bytes, beyond which all are forgotten; 0: any number
}

type memoSlot struct {
	url         URL
	fingerprint [16]byte
	depth       int32
	page        uint32 // see Met
}

// NewMemo returns a Memo that remembers at most n URLs, with 64 bytes for each plus the text of
// the URL; n is rounded up to a power of two. If their texts come to more than most bytes, all are
// forgotten; 0: they may come to any number.
func NewMemo(n, most int) *Memo {
	size := 1
	for size < n {
		size *= 2
	}
	return &Memo{slots: make([]memoSlot, size), most: most}
}

// Add returns the canonical form of u, in memory of its own (see [URL.Clone]), its fingerprint,
// and whether it was new: one that was added at a greater depth only is. u must not be zero.
func (m *Memo) Add(u URL, depth int) (canonical URL, fingerprint [16]byte, added bool) {
	slot, added := m.add(&u)
	if added = added || depth < int(slot.depth); added {
		slot.depth = int32(depth)
	}
	return slot.url, slot.fingerprint, added
}

// add is Add for the URL that it makes canonical.
func (m *Memo) add(u *URL) (slot *memoSlot, added bool) {
	u.canonicalise()
	if slot = &m.slots[m.last]; slot.url.href == u.href {
		return slot, false
	}
	m.last = xxhash.Sum64String(u.href) & uint64(len(m.slots)-1)
	if slot = &m.slots[m.last]; slot.url.href == u.href {
		return slot, false
	}
	if m.bytes += len(u.href) - len(slot.url.href); m.most > 0 && m.bytes > m.most {
		clear(m.slots)
		m.bytes = len(u.href)
	}
	slot.url, slot.fingerprint, slot.page = u.Clone(), fingerprint(u.href), 0
	return slot, true
}

// Met reports whether the URL of the last Add was met on a page before, whose number is not 0, as
// far as that is remembered.
func (m *Memo) Met(page uint32) bool {
	slot := &m.slots[m.last]
	met := slot.page == page
	slot.page = page
	return met
}

// Forget removes u, which is canonical, so that it can be added again.
func (m *Memo) Forget(u URL) {
	if slot := &m.slots[xxhash.Sum64String(u.href)&uint64(len(m.slots)-1)]; slot.url.href == u.href {
		m.bytes -= len(slot.url.href)
		*slot = memoSlot{}
	}
}
