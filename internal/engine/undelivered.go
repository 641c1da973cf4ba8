package engine

import (
	"slices"
	"time"
)

// MaxUndelivered bounds the time for which a node's work may wait to be delivered: while something
// waits for longer, no fetch starts. A node that dies with its disk loses what it finished in that
// time, and what was in flight then.
const MaxUndelivered = 3 * time.Second

// undelivered are the committed batches that are not yet delivered to the servers.
type undelivered struct {
	batches   []posting // in order
	delivered uint64    // the last message that is, and all before it
}

// posting is a committed batch with messages.
type posting struct {
	since time.Time // of its first change
	last  uint64    // its last message
}

// add notes that a batch is committed. Its messages may already have been delivered.
func (u *undelivered) add(now time.Time, b posting) {
	if b.last <= u.delivered {
		return
	}
	if u.overdue(now) { // nothing starts until all is delivered: one batch will do
		b.since = u.batches[0].since
		u.batches = u.batches[:0]
	}
	u.batches = append(u.batches, b)
}

// deliver notes that a message and all before it are delivered.
func (u *undelivered) deliver(last uint64) {
	u.delivered = max(u.delivered, last)
	u.batches = slices.DeleteFunc(u.batches, func(b posting) bool { return b.last <= u.delivered })
}

// overdue reports whether a batch has waited so long for its delivery that no fetch may start.
func (u *undelivered) overdue(now time.Time) bool {
	return len(u.batches) > 0 && now.Sub(u.batches[0].since) > MaxUndelivered
}
