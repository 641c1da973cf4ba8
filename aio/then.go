package aio

import (
	"fmt"
	"time"
)

// continuation is the result of a task's function that continues as another one: not an error, but
// the way on.
type continuation struct {
	next  func(t *Task) error
	lot   *Lot       // to wait in first; nil: none
	dir   *direction // that lot belongs to, or nil
	waits string
	until int64 // 0: without end
}

func (c *continuation) Error() string {
	return "aio: the result of Then, which a task's function must return"
}

// Then continues t with next, on an empty stack, once the function that t runs has returned what
// Then returns:
//
//	return lot.Then(t, "a page", time.Time{}, func(t *aio.Task) error { … })
//
// Until Unpark reaches t, it is cancelled, or the time has come, unless that is zero, t waits in
// the lot without a stack. next is not told which it was: it looks, and waits again if it has to.
// What it returns is what t returns.
//
// The function of a task may return the result of Then, not one that Timeout, Shield or Group runs:
// their end does not wait for next.
func (p *Lot) Then(t *Task, waits string, until time.Time, next func(t *Task) error) error {
	return p.then(t, nil, waits, until, next)
}

func (p *Lot) then(t *Task, dir *direction, waits string, until time.Time, next func(t *Task) error) error {
	t.check()
	if t.scope != &t.own {
		panic(fmt.Sprintf("aio: Then in a Timeout, Shield or Group of task %q, which ends first", t.name))
	}
	c := &continuation{next: next, lot: p, dir: dir, waits: waits}
	if !until.IsZero() {
		c.until = max(1, t.loop.time.since(until))
	}
	return c
}

// Then continues t with next at once, on an empty stack: see Lot.Then.
func (t *Task) Then(next func(t *Task) error) error {
	return (*Lot)(nil).then(t, nil, "", time.Time{}, next)
}

// wait makes t, whose function has returned, wait for its next one. It reports whether t does:
// there may be nothing to wait for.
func (c *continuation) wait(t *Task) bool {
	l := t.loop
	switch {
	case c.lot == nil, t.stopped() != nil, c.until != 0 && c.until <= l.clock():
		return false
	case c.dir != nil && !c.dir.join(t):
		return false
	case c.dir == nil:
		c.lot.push(t)
	}
	t.wakeBy(c.until)
	t.parked(c.waits)
	return true
}
