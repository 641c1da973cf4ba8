package aio

import "fmt"

// Lock is held by at most one task. It protects invariants that span waits: code without a wait
// needs no lock. Waiting tasks get it in the order of their calls; Unlock hands it to the first,
// and later callers cannot overtake. The zero value is unlocked.
type Lock struct {
	owner *Task
	lot   Lot
}

// Lock waits until t holds the lock. It panics if t holds it already.
func (m *Lock) Lock(t *Task) error {
	if m.owner == t {
		panic(fmt.Sprintf("aio: task %q locks a Lock that it holds", t.name))
	}
	if err := t.Checkpoint(); err != nil {
		return err
	}
	if m.owner == nil {
		m.owner = t
		return nil
	}
	return m.lot.Park(t, "a lock")
}

// TryLock is Lock without waiting: it reports whether t now holds the lock.
func (m *Lock) TryLock(t *Task) bool {
	t.check()
	if m.owner != nil {
		return false
	}
	m.owner = t
	return true
}

// Unlock hands the lock to the task that has waited longest. It panics if t does not hold it.
func (m *Lock) Unlock(t *Task) {
	if m.owner != t {
		panic(fmt.Sprintf("aio: task %q unlocks a Lock that it does not hold", t.name))
	}
	m.owner = m.lot.first
	m.lot.Unpark(nil)
}

// Owner returns the task that holds the lock, or nil.
func (m *Lock) Owner() *Task { return m.owner }

// Condition lets tasks that hold its lock wait for a change that another task announces. The zero
// value is ready to use.
type Condition struct {
	lock    Lock
	waiters Lot
}

// Lock waits until t holds the lock.
func (c *Condition) Lock(t *Task) error { return c.lock.Lock(t) }

// TryLock is Lock without waiting: it reports whether t now holds the lock.
func (c *Condition) TryLock(t *Task) bool { return c.lock.TryLock(t) }

// Unlock hands the lock to the task that has waited longest.
func (c *Condition) Unlock(t *Task) { c.lock.Unlock(t) }

// Owner returns the task that holds the lock, or nil.
func (c *Condition) Owner() *Task { return c.lock.owner }

// Wait releases the lock, waits for Notify and takes the lock again, even when cancelled. So t
// holds the lock whatever Wait returns, unless the loop ends by a deadlock: then another task may
// hold it.
func (c *Condition) Wait(t *Task) error {
	c.mustHold(t, "waits on")
	if err := t.stopped(); err != nil {
		return t.refuse(err)
	}
	c.Unlock(t)
	err := c.waiters.Park(t, "a condition")
	if again := t.Shield(c.Lock); again != nil && !c.TryLock(t) {
		return again
	}
	return err
}

// WaitFor waits until pred, which is called with the lock held, returns true.
func (c *Condition) WaitFor(t *Task, pred func() bool) error {
	for !pred() {
		if err := c.Wait(t); err != nil {
			return err
		}
	}
	return nil
}

// Notify wakes the n tasks that have waited longest. It panics if t does not hold the lock.
func (c *Condition) Notify(t *Task, n int) {
	c.mustHold(t, "notifies")
	for ; n > 0 && c.waiters.Unpark(nil); n-- {
	}
}

// NotifyAll wakes all waiting tasks.
func (c *Condition) NotifyAll(t *Task) { c.Notify(t, c.waiters.Len()) }

func (c *Condition) mustHold(t *Task, does string) {
	if c.lock.owner != t {
		panic(fmt.Sprintf("aio: task %q %s a Condition whose lock it does not hold", t.name, does))
	}
}

// Semaphore admits a bounded number of tasks at once, in the order of their calls.
type Semaphore struct {
	free, max int
	lot       Lot
}

// NewSemaphore returns a semaphore with n places, all free.
func NewSemaphore(n int) *Semaphore {
	if n < 1 {
		panic(fmt.Sprintf("aio: a Semaphore with %d places", n))
	}
	return &Semaphore{free: n, max: n}
}

// Acquire waits for a place.
func (s *Semaphore) Acquire(t *Task) error {
	if err := t.Checkpoint(); err != nil {
		return err
	}
	if s.free > 0 {
		s.free--
		return nil
	}
	return s.lot.Park(t, "a semaphore")
}

// TryAcquire is Acquire that does not wait: it reports whether it got a place.
func (s *Semaphore) TryAcquire() bool {
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

// Release frees a place, or hands it to the task that has waited longest. It panics if all places
// are free.
func (s *Semaphore) Release() {
	switch {
	case s.lot.Unpark(nil): // the place changes hands
	case s.free == s.max:
		panic("aio: Semaphore released more often than acquired")
	default:
		s.free++
	}
}

// Free returns the number of free places.
func (s *Semaphore) Free() int { return s.free }

// Event is a flag that tasks can wait for. The zero value is not set.
type Event struct {
	set bool
	lot Lot
}

// Set sets the flag and wakes all waiting tasks.
func (e *Event) Set() {
	e.set = true
	e.lot.UnparkAll(nil)
}

// Clear clears the flag. Tasks that a Set has woken stay awake.
func (e *Event) Clear() { e.set = false }

// IsSet reports whether the flag is set.
func (e *Event) IsSet() bool { return e.set }

// Wait waits until the flag is set.
func (e *Event) Wait(t *Task) error {
	if err := t.Checkpoint(); err != nil {
		return err
	}
	if e.set {
		return nil
	}
	return e.lot.Park(t, "an event")
}
