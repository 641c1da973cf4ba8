package aio

import (
	"context"
	"errors"
	"sync"
	"time"
)

// scope is a cancel scope: a region of one task's code that can be cancelled by itself, the whole
// task or the body of a Timeout, Shield or Group. Scopes form a tree (a task's own scope is a child
// of the scope of its group), and cancelling one cancels all below it that are not shielded.
//
// Invariant: canceled is the effective state. It is written for the whole subtree when a scope is
// cancelled, and copied from the parent when a scope is opened; so a wait reads one field.
type scope struct {
	task     *Task  // the task whose waits it cancels
	parent   *scope // nil for the scope of a loop's first task
	children *scope // first child; siblings are linked
	next     *scope
	prev     *scope
	ctx      *scopeContext // made on demand
	deadline *timer        // of a Timeout, else nil
	shield   bool          // cancellation of the parent does not reach it
	canceled bool
	expired  bool // cancelled because its own deadline passed
}

// open makes s the innermost scope of t.
func (t *Task) open(s *scope) {
	s.task = t
	s.attach(t.scope)
	t.scope = s
}

// close leaves s, the innermost scope. If t may wait again, its cancelled waits in s were
// legitimate.
func (t *Task) close(s *scope) {
	t.scope = s.parent
	if t.stopped() == nil {
		t.status.ignore = 0
	}
	s.detach()
}

func (s *scope) attach(parent *scope) {
	s.parent = parent
	if parent == nil {
		return
	}
	s.canceled = s.canceled || parent.canceled && !s.shield
	if s.next = parent.children; s.next != nil {
		s.next.prev = s
	}
	parent.children = s
}

// detach removes s from its parent and ends its context.
func (s *scope) detach() {
	if s.deadline != nil {
		s.task.loop.timers.disarm(s.deadline)
	}
	switch {
	case s.prev != nil:
		s.prev.next = s.next
	case s.parent != nil:
		s.parent.children = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.next, s.prev = nil, nil
	if s.ctx != nil {
		s.ctx.end(context.Canceled)
	}
}

// cancel cancels s and all below it. A task parked in one of them wakes.
func (s *scope) cancel() {
	if s.canceled {
		return
	}
	s.canceled = true
	if s.ctx != nil {
		if s.timedOut() {
			s.ctx.end(context.DeadlineExceeded)
		} else {
			s.ctx.end(context.Canceled)
		}
	}
	if t := s.task; t.scope == s {
		t.interrupt(ErrCanceled)
	}
	for c := s.children; c != nil; c = c.next {
		if !c.shield {
			c.cancel()
		}
	}
}

// Cancel cancels the task: its current and every further wait returns ErrCanceled, and so do those
// of all tasks in its groups; a task that has not started never does. It reports whether there was
// anything left to cancel. The task is done when it returns, not when Cancel does: use Await.
func (t *Task) Cancel() bool {
	if t.done || t.own.canceled {
		return false
	}
	t.own.cancel()
	return true
}

// timedOut reports whether a deadline cancelled s, its own or an outer one.
func (s *scope) timedOut() bool {
	for ; s != nil; s = s.parent {
		if s.expired {
			return true
		}
		if s.shield {
			return false
		}
	}
	return false
}

// alarm is called at the deadline.
func (s *scope) alarm() {
	if !s.canceled {
		s.expired = true
		s.cancel()
	}
}

// limit returns the earliest deadline in force in s, in loop time; 0 for none.
func (s *scope) limit() (when int64) {
	for ; s != nil; s = s.parent {
		if d := s.deadline; d != nil && d.when != 0 && (when == 0 || d.when < when) {
			when = d.when
		}
		if s.shield {
			break
		}
	}
	return when
}

// Timeout runs fn and cancels its waits if it has not returned after d; then it returns a
// *TimeoutError. A result is never lost: when fn returns nil, or an error that is not a
// cancellation, Timeout returns that, however late. Timeouts nest; with d ≤ 0 the first wait of fn
// is cancelled.
func (t *Task) Timeout(d time.Duration, fn func(t *Task) error) error {
	t.check()
	return t.timeout(addTime(t.loop.clock(), d), fn)
}

// Deadline is Timeout with a point in time on the loop's clock.
func (t *Task) Deadline(at time.Time, fn func(t *Task) error) error {
	t.check()
	return t.timeout(t.loop.time.since(at), fn)
}

func (t *Task) timeout(when int64, fn func(t *Task) error) error {
	now := t.loop.clock()
	timed := new(struct {
		scope
		deadline timer
	})
	s := &timed.scope
	s.deadline, timed.deadline.owner = &timed.deadline, s
	t.open(s)
	defer func() {
		t.close(s)
		s.task, s.parent = nil, nil // a dead entry of its timer may keep s for long
	}()
	if when <= now {
		s.alarm()
	} else {
		t.loop.timers.arm(s.deadline, when)
	}
	err := fn(t)
	if err != nil && s.expired && errors.Is(err, ErrCanceled) && !s.parent.canceled {
		return &TimeoutError{After: time.Duration(when - now), During: err}
	}
	return err
}

// Shield runs fn protected from cancellation of t and of all scopes around it, for clean-up that
// must wait. Deadlines opened inside fn work; bound it with one. After Shield, the next wait of t
// is cancelled as before.
func (t *Task) Shield(fn func(t *Task) error) error {
	t.check()
	s := &scope{shield: true}
	t.open(s)
	defer t.close(s)
	return fn(t)
}

// Context returns the context of t's innermost scope: it is done when a wait of t would be
// cancelled, or when that scope (the Timeout, Group or task) ends. Any goroutine may use it; it
// carries the values of Run's context. It is made on demand.
func (t *Task) Context() context.Context {
	t.check()
	s := t.scope
	if s.ctx == nil {
		s.ctx = &scopeContext{base: t.loop.ctx}
		if when := s.limit(); when != 0 {
			s.ctx.deadline = t.loop.time.at(when)
		}
		switch {
		case !s.canceled:
		case s.timedOut():
			s.ctx.end(context.DeadlineExceeded)
		default:
			s.ctx.end(context.Canceled)
		}
	}
	return s.ctx
}

// scopeContext is the view of a scope that other goroutines may have. It has AfterFunc, so
// contexts derived from it start no goroutine.
type scopeContext struct {
	base     context.Context // for Value only
	deadline time.Time

	mu struct {
		sync.Mutex
		err   error
		done  chan struct{}
		after map[*func()]struct{}
	}
}

func (c *scopeContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }
func (c *scopeContext) Value(key any) any           { return c.base.Value(key) }

func (c *scopeContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.err
}

func (c *scopeContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.done == nil {
		c.mu.done = make(chan struct{})
		if c.mu.err != nil {
			close(c.mu.done)
		}
	}
	return c.mu.done
}

// AfterFunc is the method that package context looks for: it runs f on a goroutine of its own when
// c is done, unless stop is called first.
func (c *scopeContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.mu.after == nil {
		c.mu.after = make(map[*func()]struct{})
	}
	key := &f
	c.mu.after[key] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, pending := c.mu.after[key]
		delete(c.mu.after, key)
		return pending
	}
}

func (c *scopeContext) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		return
	}
	c.mu.err = err
	if c.mu.done != nil {
		close(c.mu.done)
	}
	for f := range c.mu.after {
		go (*f)()
	}
	c.mu.after = nil
}
