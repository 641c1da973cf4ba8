package aio

import "time"

// Callback is a function that the loop will call: the low-level way onto the loop, for code that
// is not a task. A panic in it ends the loop.
type Callback struct {
	loop  *Loop
	fn    func() // nil once called or cancelled
	timer timer
}

// CallSoon schedules fn for the next turn, after everything that is ready now.
func (l *Loop) CallSoon(fn func()) *Callback {
	c := &Callback{loop: l, fn: fn}
	l.ready.push(c)
	return c
}

// CallLater schedules fn for d from now: never in the current turn, even if d ≤ 0. Callbacks for
// the same time run in the order in which they were scheduled.
func (l *Loop) CallLater(d time.Duration, fn func()) *Callback {
	return l.callAt(addTime(l.clock(), d), fn)
}

// CallAt schedules fn for a point in time on the loop's clock.
func (l *Loop) CallAt(at time.Time, fn func()) *Callback {
	return l.callAt(l.time.since(at), fn)
}

func (l *Loop) callAt(when int64, fn func()) *Callback {
	c := &Callback{loop: l, fn: fn}
	c.timer.owner = c
	l.timers.arm(&c.timer, when)
	return c
}

// Cancel cancels the callback and reports whether it was still pending.
func (c *Callback) Cancel() bool {
	pending := c.fn != nil
	c.fn = nil
	c.loop.timers.disarm(&c.timer)
	return pending
}

func (c *Callback) alarm() { c.loop.ready.push(c) }

func (c *Callback) run(l *Loop) {
	l.enter(nil)
	if fn := c.fn; fn != nil {
		c.fn = nil
		fn()
	}
}
