package budget

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weftcrawl/weft/aio"
)

// Small is the most bytes that a Hold may have of the part of the share that is kept for such: a
// quarter. So many pages fit into it.
const Small = 64 << 10

// Meter counts what answers hold. Nil is one that counts nothing and has room for all.
type Meter struct {
	share   int64
	held    atomic.Int64 // but for aside
	aside   atomic.Int64 // what the favoured Hold has, if there is one: it takes no room from others
	peak    atomic.Int64 // of both
	waiting atomic.Int32 // len(mu.queue)

	// Invariant: while there is a queue, a Hold is favoured. So somebody goes on, and
	// when it is released the next is chosen.
	mu struct {
		sync.Mutex
		queue    []*waiter // the one that has waited longest first
		favoured bool      // one Hold is
	}
}

// waiter is a Hold that waits to grow.
type waiter struct {
	hold    *Hold
	more    int64
	door    *aio.Handle // of its loop
	granted bool        // under the meter's lock
	room    aio.Event   // of its loop
}

// New returns a meter with room for share bytes.
func New(share int64) *Meter { return &Meter{share: share} }

// Held is how many bytes are held now.
func (m *Meter) Held() int64 {
	if m == nil {
		return 0
	}
	return m.held.Load() + m.aside.Load()
}

// Peak is the most that was held at once.
func (m *Meter) Peak() int64 {
	if m == nil {
		return 0
	}
	return m.peak.Load()
}

// Share is how many bytes there is room for; 0 if that is not counted.
func (m *Meter) Share() int64 {
	if m == nil {
		return 0
	}
	return m.share
}

// Full reports whether nothing more should be begun that takes room.
func (m *Meter) Full() bool { return m != nil && m.held.Load() >= m.share }

// Crowded reports whether somebody waits for room, or would.
func (m *Meter) Crowded() bool { return m != nil && (m.waiting.Load() > 0 || m.Full()) }

// Open returns a Hold of nothing.
func (m *Meter) Open() Hold { return Hold{meter: m} }

// Hold is what one answer holds. The zero Hold counts nothing. It is not to be copied; what it
// holds is handed on by Move.
type Hold struct {
	meter    *Meter
	n        int64
	favoured bool
}

// Size is how many bytes it holds.
func (h *Hold) Size() int { return int(h.n) }

// Try makes h hold more bytes if there is room for them now.
func (h *Hold) Try(more int) bool {
	m, n := h.meter, int64(more)
	switch {
	case m == nil:
		return true
	case h.favoured:
		m.add(h, n)
	case !m.take(n, m.limit(h.n+n)):
		return false
	}
	h.n += n
	return true
}

// Grow is Try that waits while there is no room. The error is that of the wait; h may then
// hold them all the same.
func (h *Hold) Grow(t *aio.Task, more int) error {
	if h.Try(more) {
		return nil
	}
	return h.meter.wait(t, h, int64(more))
}

// Set makes h hold n bytes, without a wait: for memory that is there already.
func (h *Hold) Set(n int) {
	m := h.meter
	if m == nil || int64(n) == h.n {
		return
	}
	more := int64(n) - h.n
	h.n = int64(n)
	m.add(h, more)
	if more < 0 && m.waiting.Load() > 0 {
		m.release(false)
	}
}

// Release makes h hold nothing, and be favoured no more.
func (h *Hold) Release() {
	m := h.meter
	if m == nil {
		return
	}
	m.add(h, -h.n)
	h.n = 0
	switch {
	case h.favoured:
		h.favoured = false
		m.release(true)
	case m.waiting.Load() > 0:
		m.release(false)
	}
}

// Move hands what h holds to a new owner; h then counts nothing.
func (h *Hold) Move(to *Hold) {
	*to = *h
	*h = Hold{}
}

// limit is up to where a Hold of n bytes finds room.
func (m *Meter) limit(n int64) int64 {
	if n <= Small {
		return m.share
	}
	return m.share - m.share/4
}

// add counts n bytes of h more, or fewer.
func (m *Meter) add(h *Hold, n int64) {
	if h.favoured {
		m.aside.Add(n)
	} else {
		m.held.Add(n)
	}
	m.note()
}

// take counts n bytes more if there is room, up to a limit.
func (m *Meter) take(n, limit int64) bool {
	for {
		held := m.held.Load()
		if held+n > limit {
			return false
		}
		if m.held.CompareAndSwap(held, held+n) {
			m.note()
			return true
		}
	}
}

// note takes in how much is held.
func (m *Meter) note() {
	held := m.Held()
	for peak := m.peak.Load(); held > peak && !m.peak.CompareAndSwap(peak, held); peak = m.peak.Load() {
	}
}

// wait waits until h may hold n bytes more.
func (m *Meter) wait(t *aio.Task, h *Hold, n int64) error {
	w := &waiter{hold: h, more: n, door: t.Loop().Handle()}
	defer w.door.Close()
	m.mu.Lock()
	m.mu.queue = append(m.mu.queue, w)
	// Who releases from now on sees that somebody waits; what was released before, grant sees.
	m.waiting.Add(1)
	m.grant()
	m.mu.Unlock()
	err := w.room.Wait(t)
	if err == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !w.granted {
		m.mu.queue = slices.DeleteFunc(m.mu.queue, func(other *waiter) bool { return other == w })
		m.waiting.Add(-1)
	}
	return err
}

// release lets those go on that wait, as there is more room, and if who has given it was
// favoured, for another to be.
func (m *Meter) release(favoured bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if favoured {
		m.mu.favoured = false
	}
	m.grant()
}

// grant lets those go on for whom there is room, and the first of the others if none is
// favoured. It is called under the lock.
func (m *Meter) grant() {
	m.mu.queue = slices.DeleteFunc(m.mu.queue, func(w *waiter) bool {
		if !m.take(w.more, m.limit(w.hold.n+w.more)) {
			if m.mu.favoured {
				return false
			}
			m.mu.favoured, w.hold.favoured = true, true
			m.held.Add(-w.hold.n)
			m.aside.Add(w.hold.n + w.more)
			m.note()
		}
		w.hold.n += w.more
		w.granted = true
		m.waiting.Add(-1)
		_ = w.door.Post(w.room.Set) // it waits, and its door is open
		return true
	})
}
