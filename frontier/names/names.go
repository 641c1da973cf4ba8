// Package names finds the servers of a crawl by host name and by registrable domain.
package names

import (
	"hash/maphash"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Index maps host names, and registrable domains, to servers. Under a domain it keeps the first of
// its servers, so that a second one finds it.
//
// The index does not hold the names, as the servers do: its keys are their hashes, and a name takes
// half as much again. A server whose key is taken by another is under the next key, so a removed
// server leaves a mark if the next key is in use. A name and the same name with "www." in front
// share a key, since one is mostly the domain of the other.
//
// An Index is owned by one goroutine.
type Index[S any] struct {
	seed    maphash.Seed
	name    func(*S) string
	under   map[uint64]*S
	removed *S // the mark
}

// New returns an empty index of servers with the names that name returns.
func New[S any](name func(*S) string) *Index[S] {
	return &Index[S]{maphash.MakeSeed(), name, make(map[uint64]*S), new(S)}
}

func (x *Index[S]) key(name string) uint64 {
	return maphash.String(x.seed, strings.TrimPrefix(name, "www."))
}

// ShareKey reports whether a search for a domain finds what was added under a name of it.
func (x *Index[S]) ShareKey(name, domain string) bool { return x.key(name) == x.key(domain) }

// Find returns the server with a name; nil if there is none.
func (x *Index[S]) Find(name string) *S {
	for key := x.key(name); ; key++ {
		if s := x.under[key]; s == nil || s != x.removed && x.name(s) == name {
			return s
		}
	}
}

// Member returns a server of a registrable domain; nil if there is none.
func (x *Index[S]) Member(domain string) *S {
	for key := x.key(domain); ; key++ {
		s := x.under[key]
		if s == nil || s != x.removed && weburl.RegistrableDomain(x.name(s)) == domain {
			return s
		}
	}
}

// Add adds a server under a name, its own or that of its domain.
func (x *Index[S]) Add(name string, s *S) {
	key := x.key(name)
	for x.under[key] != nil && x.under[key] != x.removed {
		key++
	}
	x.under[key] = s
}

// Remove removes a server from under a name, if it is there.
func (x *Index[S]) Remove(name string, s *S) {
	key := x.key(name)
	for ; x.under[key] != s; key++ {
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

// All yields every server once, in no order.
func (x *Index[S]) All(yield func(*S) bool) {
	for key, s := range x.under {
		if s == x.removed {
			continue
		}
		own := x.key(x.name(s))
		for x.under[own] != s {
			own++
		}
		if key == own && !yield(s) { // otherwise this is the entry of its domain
			return
		}
	}
}
