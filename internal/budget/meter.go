package budget

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weftcrawl/weft/aio"
)

// Small is the largest Hold that may use what is reserved for small ones. Most pages fit into it.
const Small = 64 << 10

// Meter counts the bytes that responses hold. A nil Meter counts nothing and has unlimited room.
type Meter struct {
	share int64
	held  atomic.Int64 // without aside
	// The favoured Hold's bytes, if there is one: they take no room from others.
	aside   atomic.Int64
	peak    atomic.Int64 // of both
	waiting atomic.Int32 // len(mu.queue)

	// Invariant: while the queue is not empty, a Hold is favoured. So one always proceeds, and its
	// release chooses the next.
	mu struct {
		sync.Mutex
		queue    []*waiter // longest waiting first
		favoured bool      // a Hold is favoured
	}
}

// waiter is a Hold that waits to grow.
type waiter struct {
	hold    *Hold
	more    int64
	handle  *aio.Handle // of its loop
	granted bool        // guarded by the meter's lock
	room    aio.Event   // of its loop
}

// New returns a meter with room for share bytes.
func New(share int64) *Meter { return &Meter{share: share} }

// Held returns how many bytes are held now.
func (m *Meter) Held() int64 {
	if m == nil {
		return 0
	}
	return m.held.Load() + m.aside.Load()
}

// Peak returns the most that was ever held at once.
func (m *Meter) Peak() int64 {
	if m == nil {
		return 0
	}
	return m.peak.Load()
}

// Share returns how many bytes may be held; 0 for a nil Meter.
func (m *Meter) Share() int64 {
	if m == nil {
		return 0
	}
	return m.share
}

// Full reports whether no new work that needs room should start, prompt or not.
func (m *Meter) Full(prompt bool) bool { return m != nil && m.held.Load() >= m.limit(0, prompt) }

// Crowded reports whether somebody waits for room, or would.
func (m *Meter) Crowded() bool { return m != nil && (m.waiting.Load() > 0 || m.Full(false)) }

// Open returns an empty Hold; a prompt one may use what is reserved for these.
func (m *Meter) Open(prompt bool) Hold { return Hold{meter: m, prompt: prompt} }

// Hold counts the bytes of one response. The zero Hold counts nothing. It must not be copied; Move
// passes it on.
type Hold struct {
	meter    *Meter
	n        int64
	prompt   bool
	favoured bool
}

// Size returns how many bytes it holds.
func (h *Hold) Size() int { return int(h.n) }

// Try adds bytes to h if there is room for them now.
func (h *Hold) Try(more int) bool {
	m, n := h.meter, int64(more)
	switch {
	case m == nil:
		return true
	case h.favoured:
		m.add(h, n)
	case !m.take(n, m.limit(h.n+n, h.prompt)):
		return false
	}
	h.n += n
	return true
}

// Grow is Try that waits while there is no room. It returns the error of the wait; h may then hold
// the bytes all the same.
func (h *Hold) Grow(t *aio.Task, more int) error {
	if h.Try(more) {
		return nil
	}
	return h.meter.wait(t, h, int64(more))
}

// Set makes h hold n bytes without waiting, for memory that is already allocated.
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

// Release makes h empty, and no longer favoured.
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

// Move moves everything h holds to a new owner; h then counts nothing.
func (h *Hold) Move(to *Hold) {
	*to = *h
	*h = Hold{}
}

// MoveTo makes h count with another meter, without waiting for room there.
func (h *Hold) MoveTo(m *Meter) {
	n, prompt := h.n, h.prompt
	h.Release()
	*h = m.Open(prompt)
	h.Set(int(n))
}

// limit returns the limit that applies to a Hold of n bytes.
func (m *Meter) limit(n int64, prompt bool) int64 {
	switch small := n <= Small; {
	case small && prompt:
		return m.share
	case prompt:
		return m.share - m.share/16
	case small:
		return m.share - m.share/8
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

// take counts n bytes more if that stays within a limit.
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

// note updates the peak.
func (m *Meter) note() {
	held := m.Held()
	for peak := m.peak.Load(); held > peak && !m.peak.CompareAndSwap(peak, held); peak = m.peak.Load() {
	}
}

// wait waits until h may hold n bytes more.
func (m *Meter) wait(t *aio.Task, h *Hold, n int64) error {
	w := &waiter{hold: h, more: n, handle: t.Loop().Handle()}
	defer w.handle.Close()
	m.mu.Lock()
	m.mu.queue = append(m.mu.queue, w)
	// A release from now on sees the waiter; grant sees what was released before.
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

// release wakes waiting Holds, as there is more room, and chooses the next favoured one if the
// caller was favoured.
func (m *Meter) release(favoured bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if favoured {
		m.mu.favoured = false
	}
	m.grant()
}

// grant wakes the Holds that there is room for, and favours the first of the others if none is
// favoured. The caller holds the lock.
func (m *Meter) grant() {
	m.mu.queue = slices.DeleteFunc(m.mu.queue, func(w *waiter) bool {
		if !m.take(w.more, m.limit(w.hold.n+w.more, w.hold.prompt)) {
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
		_ = w.handle.Post(w.room.Set) // it waits, so its handle is open
		return true
	})
}
