package aio

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
