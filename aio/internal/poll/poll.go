//go:build unix

package poll

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Interest is a set of directions, and how their readiness is reported.
type Interest uint8

const (
	Read Interest = 1 << iota
	Write
	// Edge requests a report when a direction becomes ready, not while it is ready. Only selectors
	// whose Edge method returns true accept it.
	Edge
)

// Event reports that a descriptor is ready. Errors and hang-ups make both directions ready, so
// that the waiter finds out by trying.
type Event struct {
	Token uint64
	Ready Interest // Read, Write
	Hup   bool     // the peer has sent everything, or the descriptor has failed
	// Urgent: the peer has sent urgent data, which a read stops before. Reported only for
	// descriptors with Edge, where it matters.
	Urgent bool
}

// Selector watches descriptors.
type Selector interface {
	// Edge reports whether the selector supports Edge.
	Edge() bool
	// Add starts watching fd, which is not watched yet.
	Add(fd int, token uint64, in Interest) error
	// Modify changes the interest in fd; 0 keeps it registered and watches nothing.
	Modify(fd int, token uint64, in Interest) error
	// Remove stops watching fd. It is called before fd is closed.
	Remove(fd int) error
	// Poll fills events with the descriptors that are ready now and returns how many.
	Poll(events []Event) (int, error)
	// Wait is Poll that waits while nothing is ready, until a time (zero: no limit) or Wake. It
	// may return 0 early.
	Wait(events []Event, until time.Time) (int, error)
	// Wake ends the current Wait or the next one. Any goroutine may call it.
	Wake()
	Close() error
}

// wakeToken marks the descriptor that a selector wakes itself with.
const wakeToken = ^uint64(0)

// New returns a selector by name; empty: the first of Names.
func New(name string) (Selector, error) {
	for _, s := range selectors {
		if name == "" || name == s.name {
			return s.open()
		}
	}
	return nil, fmt.Errorf("aio: no selector %q on this system, there is %s", name, strings.Join(Names(), ", "))
}

// Names returns the selectors of this system, the best first.
func Names() []string {
	var names []string
	for _, s := range selectors {
		names = append(names, s.name)
	}
	return slices.Clip(names)
}

type selectorKind struct {
	name string
	open func() (Selector, error)
}

// timeoutMillis returns the time left until a deadline in whole milliseconds, rounded up so that a
// wait never ends early; −1 for a zero time.
func timeoutMillis(until time.Time) int {
	if until.IsZero() {
		return -1
	}
	left := time.Until(until)
	if left <= 0 {
		return 0
	}
	return int(min((left+time.Millisecond-1)/time.Millisecond, 1<<30))
}
