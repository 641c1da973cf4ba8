// Package places is a set of places, such as hosts, that one goroutine extends and any goroutine
// looks at.
//
// A place is remembered by a hash of 64 bits with a random key, so a set takes 8 to 16 bytes for
// each, none of which the garbage collector scans, and nobody can make two places collide. Of a
// million places and a billion questions, one answer is wrong with a probability of 1 in 20,000.
//
// # Concurrency
//
// Add belongs to one goroutine. The others may be called from any: a place that was added before
// a message was sent is there for the receiver of the message.
package places

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

// Set is a set of places.
type Set struct {
	key     maphash.Seed
	n       int
	longest atomic.Int64                    // place, in bytes
	slots   atomic.Pointer[[]atomic.Uint64] // open addressing; 0: empty
}

const (
	leastSlots = 64

	// A table grows by half when a quarter of its slots are empty.
	growth = 1.5
	load   = 0.75
)

// New returns an empty set.
func New() *Set {
	s := &Set{key: maphash.MakeSeed()}
	slots := make([]atomic.Uint64, leastSlots)
	s.slots.Store(&slots)
	return s
}

// Bytes returns how much memory the set takes.
func (s *Set) Bytes() int { return 8 * len(*s.slots.Load()) }

// Longest returns the length of the longest place, in bytes.
func (s *Set) Longest() int { return int(s.longest.Load()) }

// Has reports whether a place was added.
func (s *Set) Has(place string) bool {
	_, found := find(*s.slots.Load(), s.hash(place))
	return found
}

// Add adds a place, and reports whether it is new.
func (s *Set) Add(place string) bool {
	slots, h := *s.slots.Load(), s.hash(place)
	at, found := find(slots, h)
	if found {
		return false
	}
	s.longest.Store(max(s.longest.Load(), int64(len(place))))
	slots[at].Store(h)
	if s.n++; float64(s.n) < load*float64(len(slots)) {
		return true
	}
	larger := make([]atomic.Uint64, int(growth*float64(len(slots))))
	for i := range slots {
		if h := slots[i].Load(); h != 0 {
			at, _ := find(larger, h)
			larger[at].Store(h)
		}
	}
	s.slots.Store(&larger)
	return true
}

func (s *Set) hash(place string) uint64 { return max(1, maphash.String(s.key, place)) }

// find returns the slot of a hash, or the empty one where it belongs.
func find(slots []atomic.Uint64, h uint64) (at int, found bool) {
	first, _ := bits.Mul64(h, uint64(len(slots)))
	for at = int(first); ; {
		switch slots[at].Load() {
		case h:
			return at, true
		case 0:
			return at, false
		}
		if at++; at == len(slots) {
			at = 0
		}
	}
}
