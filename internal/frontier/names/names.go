// Package names finds the hosts of a crawl by name and by registrable domain.
package names

import (
	"hash/maphash"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Index maps host names, and registrable domains, to hosts. Under a domain it keeps the first of
// its hosts, so that a second one finds it.
//
// The index does not hold the names, as the hosts do: its keys are their hashes, and a name takes
// half as much again. A host whose key is taken by another is under the next key, so a removed
// host leaves a mark if the next key is in use. A name and the same name with "www." in front
// share a key, since one is mostly the domain of the other.
//
// An Index is owned by one goroutine.
type Index[H any] struct {
	seed    maphash.Seed
	name    func(*H) string
	under   map[uint64]*H
	removed *H // the mark
}

// New returns an empty index of hosts with the names that name returns.
func New[H any](name func(*H) string) *Index[H] {
	return &Index[H]{maphash.MakeSeed(), name, make(map[uint64]*H), new(H)}
}

func (x *Index[H]) key(name string) uint64 {
	return maphash.String(x.seed, strings.TrimPrefix(name, "www."))
}

// ShareKey reports whether a search for a domain finds what was added under a name of it.
func (x *Index[H]) ShareKey(name, domain string) bool { return x.key(name) == x.key(domain) }

// Find returns the host with a name; nil if there is none.
func (x *Index[H]) Find(name string) *H {
	for key := x.key(name); ; key++ {
		if h := x.under[key]; h == nil || h != x.removed && x.name(h) == name {
			return h
		}
	}
}

// Member returns a host of a registrable domain; nil if there is none.
func (x *Index[H]) Member(domain string) *H {
	for key := x.key(domain); ; key++ {
		h := x.under[key]
		if h == nil || h != x.removed && weburl.RegistrableDomain(x.name(h)) == domain {
			return h
		}
	}
}

// Add adds a host under a name, its own or that of its domain.
func (x *Index[H]) Add(name string, h *H) {
	key := x.key(name)
	for x.under[key] != nil && x.under[key] != x.removed {
		key++
	}
	x.under[key] = h
}

// Remove removes a host from under a name, if it is there.
func (x *Index[H]) Remove(name string, h *H) {
	key := x.key(name)
	for ; x.under[key] != h; key++ {
		if x.under[key] == nil {
			return
		}
	}
	if x.under[key+1] != nil {
		x.under[key] = x.removed
		return
	}
	for delete(x.under, key); x.under[key-1] == x.removed; key-- {
		delete(x.under, key-1)
	}
}

// All yields every host once, in no order.
func (x *Index[H]) All(yield func(*H) bool) {
	for key, h := range x.under {
		if h == x.removed {
			continue
		}
		own := x.key(x.name(h))
		for x.under[own] != h {
			own++
		}
		if key == own && !yield(h) { // otherwise this is the entry of its domain
			return
		}
	}
}
