package weburl

import "github.com/cespare/xxhash/v2"

// Hash returns 64 bits of the canonical form (XXH64), for tables in memory that compare
// the URLs too: pages can be made that have the same. It is the same in every run.
func (b URL) Hash() uint64 {
	b.canonicalise()
	return xxhash.Sum64String(b.href)
}

// A Memo remembers some of the URLs that it was lately shown, in canonical form, with
// their fingerprints: the links of a site's pages repeat each other. It forgets, but
// takes none for another.
//
// It is used by one goroutine or task at a time.
type Memo struct {
	slots []memoSlot // a power of two of them; a URL has one place
	last  uint64     // the place that was asked for last: links come in runs
}

type memoSlot struct {
	url         URL
	fingerprint [16]byte
}

// NewMemo returns a Memo that remembers at most n URLs, with 64 bytes for each and the
// text of the URL; n is rounded up to a power of two.
func NewMemo(n int) *Memo {
	size := 1
	for size < n {
		size *= 2
	}
	return &Memo{slots: make([]memoSlot, size)}
}

// Add returns the canonical form of u, in memory of its own (see [URL.Clone]), its
// fingerprint, and whether it was not remembered. u must not be zero.
func (m *Memo) Add(u URL) (canonical URL, fingerprint [16]byte, added bool) {
	slot, added := m.add(&u)
	return slot.url, slot.fingerprint, added
}

// add is Add of what it makes canonical.
func (m *Memo) add(u *URL) (slot *memoSlot, added bool) {
	u.canonicalise()
	if slot = &m.slots[m.last]; slot.url.href == u.href {
		return slot, false
	}
	m.last = xxhash.Sum64String(u.href) & uint64(len(m.slots)-1)
	if slot = &m.slots[m.last]; slot.url.href == u.href {
		return slot, false
	}
	slot.url, slot.fingerprint = u.Clone(), fingerprint(u.href)
	return slot, true
}

// Forget lets u, which is canonical, be added again.
func (m *Memo) Forget(u URL) {
	if slot := &m.slots[xxhash.Sum64String(u.href)&uint64(len(m.slots)-1)]; slot.url.href == u.href {
		*slot = memoSlot{}
	}
}
