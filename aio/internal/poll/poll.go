//go:build unix

// Package poll tells which descriptors are ready.
//
// A Selector is owned by one goroutine; only Wake may be called from others.
// There are three: epoll (Linux), kqueue (macOS and the BSDs: compiles, has never
// run) and poll, which is poll(2), works on any Unix and stands for select(2) too.
//
// Descriptors are known by a token that the caller chooses, not by their number:
// the number may mean another file by the time an event is looked at.
package poll

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Interest is a set of directions, and how to be told of them.
type Interest uint8

const (
	Read Interest = 1 << iota
	Write
	// Edge asks to be told when a direction becomes ready, not while it is.
	// Only selectors whose Edge method returns true take it.
	Edge
)

// Event says that a descriptor is ready. Errors and hang-ups make both directions
// ready, so that whoever waits finds out by trying.
type Event struct {
	Token uint64
	Ready Interest // Read, Write
	Hup   bool     // the peer has sent all it will send, or the descriptor has failed
	// Urgent: the peer has sent urgent data, which a read stops before. Only told
	// where it matters: to those who asked for Edge.
	Urgent bool
}

// Selector watches descriptors.
type Selector interface {
	// Edge reports whether Edge is understood.
	Edge() bool
	// Add begins to watch fd, which is not watched yet.
	Add(fd int, token uint64, in Interest) error
	// Modify changes what fd is watched for; 0 keeps it added and watches nothing.
	Modify(fd int, token uint64, in Interest) error
	// Remove ends it. It is called before fd is closed.
	Remove(fd int) error
	// Poll fills events with what is ready now and returns how many.
	Poll(events []Event) (int, error)
	// Wait is Poll that waits while nothing is ready, until a time (zero: for
	// ever) or Wake. It may return 0 early.
	Wait(events []Event, until time.Time) (int, error)
	// Wake ends the current Wait or the next one. Any goroutine may call it.
	Wake()
	Close() error
}

// wakeToken marks the descriptor a selector wakes itself by.
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

// timeoutMillis is the time left until a deadline in whole milliseconds, rounded
// up so that a wait never ends before it; −1 for a zero time.
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
