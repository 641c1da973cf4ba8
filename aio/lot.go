package aio

// Lot is a parking lot: tasks wait in it, first come first served. Every primitive in this package
// is built on it. The zero value is ready to use.
//
// A task that Unpark woke has left the lot; if it is cancelled before it runs, its wait still
// returns nil. So nothing that is handed over gets lost, and no wake-up needs to be passed on.
type Lot struct {
	first *Task // its prev is the last
	n     int
}

// Len returns the number of tasks parked.
func (p *Lot) Len() int { return p.n }

// Park suspends t until Unpark reaches it, and returns Unpark's error, or ErrCanceled. waits is
// the reason shown in dumps and traces.
func (p *Lot) Park(t *Task, waits string) error {
	t.check()
	if err := t.stopped(); err != nil {
		return t.refuse(err)
	}
	p.push(t)
	return t.park(waits)
}

// parkDeaf is Park without cancellation.
func (p *Lot) parkDeaf(t *Task, waits string) {
	t.check()
	p.push(t)
	t.status.deaf = true
	t.park(waits)
	t.status.deaf = false
}

// Unpark wakes the task that has waited longest, with err, and reports whether there was one.
func (p *Lot) Unpark(err error) bool {
	if p.first == nil {
		return false
	}
	p.first.wake(err)
	return true
}

// UnparkAll wakes all tasks that are parked now, in order.
func (p *Lot) UnparkAll(err error) {
	for n := p.n; n > 0; n-- {
		p.first.wake(err)
	}
}

func (p *Lot) push(t *Task) {
	t.lot, t.prev, t.next = p, t, nil
	if p.first == nil {
		p.first = t
	} else {
		last := p.first.prev
		last.next, t.prev, p.first.prev = t, last, t
	}
	p.n++
}

func (p *Lot) remove(t *Task) {
	if t == p.first {
		p.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else if p.first != nil {
		p.first.prev = t.prev
	}
	t.lot, t.prev, t.next = nil, nil, nil
	p.n--
}
