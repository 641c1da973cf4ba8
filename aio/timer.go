package aio

import "time"

// alarm is called by a timer when it is due. It runs on the loop between two tasks, and must only
// mark and schedule: no user code.
type alarm interface{ alarm() }

// timer is a point in time at which its owner's alarm is called once. It is embedded in its owner
// and can be armed repeatedly without allocating.
type timer struct {
	owner  alarm
	when   int64  // in loop time; 0 while not armed
	seq    uint64 // order of arming: breaks ties
	queued int64  // the time of this timer's entry in the heap; 0 if it has none
	entry  uint64 // seq of that entry, which distinguishes it from dead ones
}

// enter returns a new entry of the timer, which replaces the one before.
func (t *timer) enter() timerEntry {
	t.queued, t.entry = t.when, t.seq
	return timerEntry{t.when, t.seq, t}
}

// alive reports whether an entry with a seq stands for the timer: none replaced it, and the timer
// is armed.
func (t *timer) alive(seq uint64) bool { return t.entry == seq && t.when != 0 }

// leave notes that an entry which is not alive leaves the heap.
func (t *timer) leave(seq uint64) {
	if t.entry == seq {
		t.queued, t.entry = 0, 0
	}
}

// expire disarms the timer, whose entry has left the heap, and calls the alarm.
func (t *timer) expire() {
	t.when, t.queued, t.entry = 0, 0, 0
	t.owner.alarm()
}

// timers is a 4-ary min-heap of (when, order of arming).
//
// Disarming leaves the entry in the heap, and so does arming for a later time: the entry moves
// when it comes to the top. A deadline that is pushed back with every packet thus costs two stores
// per packet. Dead entries are swept out once they are the majority.
type timers struct {
	heap []timerEntry
	seq  uint64
	dead int // entries whose timer is not armed, or that a newer entry replaced
}

type timerEntry struct {
	when int64
	seq  uint64
	t    *timer
}

func (e *timerEntry) before(o *timerEntry) bool {
	return e.when < o.when || e.when == o.when && e.seq < o.seq
}

func (h *timers) arm(t *timer, when int64) {
	if when <= 0 {
		when = 1 // 0 means not armed; every loop time is later than 1
	}
	revived := t.when == 0 && t.queued != 0
	h.seq++
	t.when, t.seq = when, h.seq
	if t.queued != 0 && t.queued <= when {
		if revived {
			h.dead--
		}
		return
	}
	if t.queued != 0 && !revived {
		h.dead++ // the old entry; a revived one is counted already
	}
	h.push(t.enter())
	h.sweep()
}

func (h *timers) disarm(t *timer) {
	if t.when == 0 {
		return
	}
	t.when = 0
	if t.queued != 0 {
		h.dead++
		h.sweep()
	}
}

// next returns a time before which no timer is due, 0 if none is armed: the earliest entry's time,
// even if its timer has since been armed for later; such an entry moves when its old time comes.
func (h *timers) next() int64 {
	for len(h.heap) > 0 {
		e := &h.heap[0]
		if e.t.alive(e.seq) {
			return e.when
		}
		e.t.leave(e.seq)
		h.dead--
		h.pop()
	}
	return 0
}

// fire calls the alarms of all timers that are due at now, in the order of their times and then of
// their arming. It returns how late the first of them was, and whether there was any.
func (h *timers) fire(now int64) (late time.Duration, fired bool) {
	for {
		when := h.next()
		if when == 0 || when > now {
			return late, fired
		}
		e := &h.heap[0]
		t := e.t
		if t.seq != e.seq { // armed again, for later
			*e = t.enter()
			h.down(0)
			continue
		}
		late, fired = max(late, time.Duration(now-when)), true
		h.pop()
		t.expire()
	}
}

// sweep rebuilds the heap without its dead entries when they are the majority.
func (h *timers) sweep() {
	if h.dead < 64 || h.dead*2 < len(h.heap) {
		return
	}
	live := h.heap[:0]
	for _, e := range h.heap {
		if e.t.alive(e.seq) {
			live = append(live, e.t.enter())
		} else {
			e.t.leave(e.seq)
		}
	}
	clear(h.heap[len(live):])
	h.heap, h.dead = live, 0
	for i := (len(live) - 2) / 4; i >= 0 && len(live) > 1; i-- {
		h.down(i)
	}
}

func (h *timers) push(e timerEntry) {
	h.heap = append(h.heap, e)
	i := len(h.heap) - 1
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(&h.heap[p]) {
			break
		}
		h.heap[i] = h.heap[p]
		i = p
	}
	h.heap[i] = e
}

func (h *timers) pop() {
	last := len(h.heap) - 1
	h.heap[0] = h.heap[last]
	h.heap[last] = timerEntry{}
	h.heap = h.heap[:last]
	if last > 1 {
		h.down(0)
	}
}

func (h *timers) down(i int) {
	n, e := len(h.heap), h.heap[i]
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if h.heap[c].before(&h.heap[least]) {
				least = c
			}
		}
		if !h.heap[least].before(&e) {
			break
		}
		h.heap[i] = h.heap[least]
		i = least
	}
	h.heap[i] = e
}
