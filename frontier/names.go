package frontier

import (
	"hash/maphash"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// names are the servers by name, and by registrable domain: under the name of a domain there is
// the first of its servers that was known, so that a second one finds it.
//
// The names themselves are in the servers. Their hashes are the keys, as a text would take half
// as much again; who finds another's name under its own looks under the next number. So what is
// removed leaves a mark where there is something under the next. A name and the same with "www." before it have one key, as
// one is mostly the domain of the other.
type names struct {
	seed    maphash.Seed
	under   map[uint64]*server
	removed *server // the mark
}

func newNames() names { return names{maphash.MakeSeed(), make(map[uint64]*server), new(server)} }

func (n *names) key(name string) uint64 {
	return maphash.String(n.seed, strings.TrimPrefix(name, "www."))
}

// shareKey reports whether who looks for a name finds what is under a domain.
func (n *names) shareKey(name, domain string) bool { return n.key(name) == n.key(domain) }

// find returns the server of a name; nil if it is not known.
func (n *names) find(name string) *server {
	for key := n.key(name); ; key++ {
		if s := n.under[key]; s == nil || s != n.removed && s.name() == name {
			return s
		}
	}
}

// member returns a server of a registrable domain; nil if none is known.
func (n *names) member(domain string) *server {
	for key := n.key(domain); ; key++ {
		if s := n.under[key]; s == nil || s != n.removed && weburl.RegistrableDomain(s.name()) == domain {
			return s
		}
	}
}

// add puts a server under a name.
func (n *names) add(name string, s *server) {
	key := n.key(name)
	for n.under[key] != nil && n.under[key] != n.removed {
		key++
	}
	n.under[key] = s
}

// remove removes a server from under a name, if it is there.
func (n *names) remove(name string, s *server) {
	key := n.key(name)
	for ; n.under[key] != s; key++ {
		if n.under[key] == nil {
			return
		}
	}
	if n.under[key+1] != nil {
		n.under[key] = n.removed
		return
	}
	for delete(n.under, key); n.under[key-1] == n.removed; key-- {
		delete(n.under, key-1)
	}
}

// all yields every server once, in no order.
func (n *names) all(yield func(*server) bool) {
	for key, s := range n.under {
		if s == n.removed {
			continue
		}
		own := n.key(s.name())
		for n.under[own] != s {
			own++
		}
		if key == own && !yield(s) { // else it is there for its domain
			return
		}
	}
}
