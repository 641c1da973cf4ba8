package fetch

import (
	"sync/atomic"
	"time"
)

// Heard is the time at which the last bytes of a server came, to any loop. The zero Heard: none
// have.
type Heard struct {
	since time.Time    // on the clock of the loops
	last  atomic.Int64 // nanoseconds from since on; 0: none
}

// Start lets it count, on the clock of the loops.
func (h *Heard) Start(now time.Time) { h.since = now }

// note takes in that bytes have come. Of those that come to several loops at once any may be the
// last.
func (h *Heard) note(at time.Time) {
	if d := int64(at.Sub(h.since)); d > h.last.Load() {
		h.last.Store(d)
	}
}

// At returns when the last bytes came; zero: none have.
func (h *Heard) At() time.Time {
	d := h.last.Load()
	if d == 0 {
		return time.Time{}
	}
	return h.since.Add(time.Duration(d))
}
