package aio_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Lock

func TestLockExcludes(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		inside := 0
		return task.Group(func(g *aio.Group) error {
			for range 10 {
				g.Go("worker", func(task *aio.Task) error {
					for range 3 {
						if err := lock.Lock(task); err != nil {
							return err
						}
						inside++
						expect(t, "tasks inside", inside, 1)
						expect(t, "owner", lock.Owner(), task)
						if err := task.Sleep(time.Second); err != nil {
							return err
						}
						inside--
						lock.Unlock(task)
					}
					return nil
				})
			}
			return nil
		})
	})
}

func TestLockOrder(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		if err := lock.Lock(task); err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			for i := range 3 {
				g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
					if err := lock.Lock(task); err != nil {
						return err
					}
					defer lock.Unlock(task)
					j.add("%s", task.Name())
					return nil
				})
			}
			settle(task)
			j.add("unlock")
			lock.Unlock(task)
			return nil
		})
	})
	j.expect(t, "unlock", "task 0", "task 1", "task 2")
}

func TestLockTry(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		expect(t, "free", lock.TryLock(task), true)
		expect(t, "held by the same task", lock.TryLock(task), false)
		lock.Unlock(task)
		expect(t, "owner after unlock", lock.Owner(), nil)
		expect(t, "free again", lock.TryLock(task), true)
		return nil
	})
}

func TestLockMisuse(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		expectPanic(t, "does not hold", func() { lock.Unlock(task) })
		if err := lock.Lock(task); err != nil {
			return err
		}
		expectPanic(t, "that it holds", func() { _ = lock.Lock(task) })
		return task.Group(func(g *aio.Group) error {
			g.Go("other", func(other *aio.Task) error {
				expectPanic(t, "does not hold", func() { lock.Unlock(other) })
				return nil
			})
			return nil
		})
	})
}

func TestLockCancelledWaiterIsSkipped(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		if err := lock.Lock(task); err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			victim := g.Go("victim", lock.Lock)
			next := g.Go("next", lock.Lock)
			settle(task)
			victim.Cancel()
			lock.Unlock(task) // the victim has yet to run
			settle(task)
			expectIs(t, "victim", victim.Err(), aio.ErrCanceled)
			expect(t, "owner", lock.Owner(), next)
			return nil
		})
	})
}

func TestLockWokenWaiterHasIt(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		if err := lock.Lock(task); err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			woken := g.Go("woken", func(task *aio.Task) error {
				err := lock.Lock(task)
				expect(t, "lock", err, nil)
				defer lock.Unlock(task)
				return task.Yield() // the cancel takes effect here
			})
			next := g.Go("next", lock.Lock)
			settle(task)
			lock.Unlock(task)
			woken.Cancel()
			expect(t, "owner", lock.Owner(), woken)
			settle(task)
			expectIs(t, "woken", woken.Err(), aio.ErrCanceled)
			expect(t, "owner after it", lock.Owner(), next)
			return nil
		})
	})
}

func TestLockNobodyBarges(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		lock.TryLock(task)
		return task.Group(func(g *aio.Group) error {
			g.Go("waiter", func(task *aio.Task) error {
				err := lock.Lock(task)
				j.add("waiter")
				lock.Unlock(task)
				return err
			})
			settle(task)
			lock.Unlock(task)
			expect(t, "try while the waiter has yet to run", lock.TryLock(task), false)
			err := lock.Lock(task)
			j.add("barger")
			return err
		})
	})
	j.expect(t, "waiter", "barger")
}

func TestLockTimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lock aio.Lock
		lock.TryLock(task)
		return task.Group(func(g *aio.Group) error {
			g.Go("waiter", func(waiter *aio.Task) error {
				expectIs(t, "lock", waiter.Timeout(time.Second, lock.Lock), aio.ErrTimeout)
				expect(t, "owner", lock.Owner(), task)
				return nil
			})
			return nil
		})
	})
}

// Event

func TestEventWait(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var e aio.Event
		return task.Group(func(g *aio.Group) error {
			for i := range 3 {
				g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
					err := e.Wait(task)
					j.add("%s", task.Name())
					return err
				})
			}
			settle(task)
			j.add("set: %v", e.IsSet())
			e.Set()
			j.add("set: %v", e.IsSet())
			return nil
		})
	})
	j.expect(t, "set: false", "set: true", "task 0", "task 1", "task 2")
}

func TestEventWaitOnSet(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var e aio.Event
		e.Set()
		e.Set()
		if err := e.Wait(task); err != nil {
			return err
		}
		e.Clear()
		expect(t, "set after clear", e.IsSet(), false)
		expectIs(t, "wait after clear", task.Timeout(time.Second, e.Wait), aio.ErrTimeout)
		return nil
	})
}

// Waiters that a Set woke stay awake, even if the event is cleared before they run; later waiters
// wait for the next Set.
func TestEventClearWithWaiters(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var e aio.Event
		return task.Group(func(g *aio.Group) error {
			early := g.Go("early", e.Wait)
			settle(task)
			e.Set()
			e.Clear()
			late := g.Go("late", e.Wait)
			settle(task)
			expect(t, "early is awake", early.Done(), true)
			expect(t, "late is awake", late.Done(), false)
			e.Set()
			return nil
		})
	})
}

func TestEventCancelAndTimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var e aio.Event
		return task.Group(func(g *aio.Group) error {
			cancelled := g.Go("cancelled", e.Wait)
			g.Go("timed out", func(task *aio.Task) error {
				expectIs(t, "wait", task.Timeout(time.Second, e.Wait), aio.ErrTimeout)
				return nil
			})
			inTime := g.Go("in time", func(task *aio.Task) error { return task.Timeout(time.Hour, e.Wait) })
			settle(task)
			cancelled.Cancel()
			if err := task.Sleep(2 * time.Second); err != nil {
				return err
			}
			expectIs(t, "cancelled", cancelled.Err(), aio.ErrCanceled)
			e.Set()
			settle(task)
			expect(t, "in time", inTime.Done() && inTime.Err() == nil, true)
			return nil
		})
	})
}

// Condition

// condWaiters starts n tasks that wait on c and record when they hold the lock again.
func condWaiters(g *aio.Group, c *aio.Condition, j *journal, n int) []*aio.Task {
	var tasks []*aio.Task
	for i := range n {
		tasks = append(tasks, g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
			if err := c.Lock(task); err != nil {
				return err
			}
			defer c.Unlock(task)
			err := c.Wait(task)
			j.add("%s: %v, holds the lock: %v", task.Name(), err, c.Owner() == task)
			return err
		}))
	}
	return tasks
}

// notify calls fn with the lock held.
func notify(task *aio.Task, c *aio.Condition, fn func()) error {
	if err := c.Lock(task); err != nil {
		return err
	}
	defer c.Unlock(task)
	fn()
	return nil
}

func TestConditionNotify(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		return task.Group(func(g *aio.Group) error {
			condWaiters(g, &c, &j, 5)
			for _, n := range []int{0, 1, 2, 2048} {
				settle(task)
				j.add("notify %d", n)
				if err := notify(task, &c, func() { c.Notify(task, n) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
	j.expect(t,
		"notify 0",
		"notify 1", "task 0: <nil>, holds the lock: true",
		"notify 2", "task 1: <nil>, holds the lock: true", "task 2: <nil>, holds the lock: true",
		"notify 2048", "task 3: <nil>, holds the lock: true", "task 4: <nil>, holds the lock: true")
}

func TestConditionNotifyAll(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		return task.Group(func(g *aio.Group) error {
			condWaiters(g, &c, &j, 3)
			settle(task)
			return notify(task, &c, func() {
				c.NotifyAll(task)
				j.add("notified")
			})
		})
	})
	j.expect(t, "notified", "task 0: <nil>, holds the lock: true",
		"task 1: <nil>, holds the lock: true", "task 2: <nil>, holds the lock: true")
}

func TestConditionWaitReleasesTheLock(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		return task.Group(func(g *aio.Group) error {
			condWaiters(g, &c, &j, 2)
			settle(task)
			expect(t, "owner while both wait", c.Owner(), nil)
			return notify(task, &c, func() {
				c.Notify(task, 1)
				settle(task)
				j.add("the notifier still holds the lock")
				c.Notify(task, 1)
			})
		})
	})
	j.expect(t, "the notifier still holds the lock",
		"task 0: <nil>, holds the lock: true", "task 1: <nil>, holds the lock: true")
}

func TestConditionWaitFor(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		n, asked := 0, 0
		return task.Group(func(g *aio.Group) error {
			waiter := g.Go("waiter", func(task *aio.Task) error {
				if err := c.Lock(task); err != nil {
					return err
				}
				defer c.Unlock(task)
				err := c.WaitFor(task, func() bool {
					asked++
					expect(t, "owner where the predicate is asked", c.Owner(), task)
					return n >= 3
				})
				expect(t, "n", n, 3)
				return err
			})
			for range 3 {
				settle(task)
				expect(t, "woke too early", waiter.Done(), false)
				if err := notify(task, &c, func() { n++; c.NotifyAll(task) }); err != nil {
					return err
				}
			}
			settle(task)
			expect(t, "asked", asked, 4)
			return notify(task, &c, func() {
				expect(t, "wait for a true condition", c.WaitFor(task, func() bool { return true }), nil)
			})
		})
	})
}

func TestConditionCancelledWaiterHasTheLock(t *testing.T) {
	t.Run("free lock", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			var c aio.Condition
			return task.Group(func(g *aio.Group) error {
				tasks := condWaiters(g, &c, &j, 2)
				settle(task)
				tasks[0].Cancel()
				settle(task)
				j.add("notify")
				return notify(task, &c, func() { c.Notify(task, 1) })
			})
		})
		j.expect(t, "task 0: canceled, holds the lock: true", "notify", "task 1: <nil>, holds the lock: true")
	})
	t.Run("contested lock", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			var c aio.Condition
			return task.Group(func(g *aio.Group) error {
				tasks := condWaiters(g, &c, &j, 1)
				settle(task)
				return notify(task, &c, func() {
					tasks[0].Cancel()
					settle(task)
					tasks[0].Cancel()
					settle(task)
					j.add("unlock")
				})
			})
		})
		j.expect(t, "unlock", "task 0: canceled, holds the lock: true")
	})
}

func TestConditionCancelAfterNotify(t *testing.T) {
	t.Run("in the same turn", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			var c aio.Condition
			return task.Group(func(g *aio.Group) error {
				tasks := condWaiters(g, &c, &j, 2)
				settle(task)
				err := notify(task, &c, func() {
					c.Notify(task, 1)
					tasks[0].Cancel() // too late: the notification is its own
				})
				settle(task)
				j.add("end")
				g.Cancel()
				return err
			})
		})
		j.expect(t, "task 0: <nil>, holds the lock: true", "end", "task 1: canceled, holds the lock: true")
	})
	t.Run("cancelled first, the next is notified", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			var c aio.Condition
			return task.Group(func(g *aio.Group) error {
				tasks := condWaiters(g, &c, &j, 2)
				settle(task)
				return notify(task, &c, func() {
					tasks[0].Cancel()
					c.Notify(task, 1)
				})
			})
		})
		j.expect(t, "task 0: canceled, holds the lock: true", "task 1: <nil>, holds the lock: true")
	})
}

func TestConditionMisuse(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		const want = "whose lock it does not hold"
		expectPanic(t, want, func() { _ = c.Wait(task) })
		expectPanic(t, want, func() { _ = c.WaitFor(task, func() bool { return false }) })
		expectPanic(t, want, func() { c.Notify(task, 1) })
		expectPanic(t, want, func() { c.NotifyAll(task) })
		return nil
	})
}

func TestConditionTimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		if err := c.Lock(task); err != nil {
			return err
		}
		expectIs(t, "wait", task.Timeout(time.Second, c.Wait), aio.ErrTimeout)
		expect(t, "time", now(task), time.Second)
		expect(t, "owner", c.Owner(), task)
		c.Unlock(task)
		return nil
	})
}

// Tasks that wait for a notification that will not come hold the lock again when the loop ends:
// their deferred Unlock adds no panic to the report.
func TestConditionDeadlock(t *testing.T) {
	var j journal
	err := runErr(t, func(task *aio.Task) error {
		var c aio.Condition
		return task.Group(func(g *aio.Group) error {
			condWaiters(g, &c, &j, 2)
			return nil
		})
	})
	var deadlock *aio.DeadlockError
	var panicked *aio.PanicError
	expect(t, "deadlock reported", errors.As(err, &deadlock), true)
	expect(t, "a task panicked", errors.As(err, &panicked), false)
}

func TestConditionCancelledBeforeTheWait(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var c aio.Condition
		return task.Group(func(g *aio.Group) error {
			g.Go("waiter", func(task *aio.Task) error {
				if err := c.Lock(task); err != nil {
					return err
				}
				defer c.Unlock(task)
				task.Cancel()
				err := c.Wait(task)
				expectIs(t, "wait", err, aio.ErrCanceled)
				return err
			})
			return nil
		})
	})
}

// Semaphore

func TestSemaphoreFree(t *testing.T) {
	run(t, func(task *aio.Task) error {
		s := aio.NewSemaphore(2)
		for _, want := range []int{1, 0} {
			if err := s.Acquire(task); err != nil {
				return err
			}
			expect(t, "free", s.Free(), want)
		}
		expect(t, "try", s.TryAcquire(), false)
		s.Release()
		expect(t, "free", s.Free(), 1)
		expect(t, "try", s.TryAcquire(), true)
		return nil
	})
}

func TestSemaphoreMisuse(t *testing.T) {
	for _, n := range []int{0, -1} {
		expectPanic(t, "places", func() { aio.NewSemaphore(n) })
	}
	s := aio.NewSemaphore(1)
	expectPanic(t, "more often than acquired", s.Release)
	expect(t, "free after it", s.Free(), 1)
}

func TestSemaphoreBounds(t *testing.T) {
	run(t, func(task *aio.Task) error {
		s := aio.NewSemaphore(3)
		inside, most := 0, 0
		return task.Group(func(g *aio.Group) error {
			for range 10 {
				g.Go("worker", func(task *aio.Task) error {
					if err := s.Acquire(task); err != nil {
						return err
					}
					defer s.Release()
					inside++
					most = max(most, inside)
					defer func() { inside-- }()
					return task.Sleep(time.Second)
				})
			}
			if err := task.Sleep(time.Hour); err != nil {
				return err
			}
			expect(t, "most tasks inside", most, 3)
			expect(t, "free at the end", s.Free(), 3)
			return nil
		})
	})
}

// acquirers starts n tasks that acquire s and keep it.
func acquirers(g *aio.Group, s *aio.Semaphore, j *journal, n int) []*aio.Task {
	var tasks []*aio.Task
	for i := range n {
		tasks = append(tasks, g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
			err := s.Acquire(task)
			j.add("%s: %v", task.Name(), err)
			return nil
		}))
	}
	return tasks
}

func TestSemaphoreOrder(t *testing.T) {
	t.Run("first come, first served", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			s := aio.NewSemaphore(1)
			s.TryAcquire()
			return task.Group(func(g *aio.Group) error {
				acquirers(g, s, &j, 4)
				settle(task)
				s.Release()
				s.Release()
				settle(task)
				j.add("two more")
				s.Release()
				s.Release()
				return nil
			})
		})
		j.expect(t, "task 0: <nil>", "task 1: <nil>", "two more", "task 2: <nil>", "task 3: <nil>")
	})
	t.Run("a task that releases and acquires again queues behind", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			s := aio.NewSemaphore(1)
			return task.Group(func(g *aio.Group) error {
				for _, name := range []string{"a", "b", "c"} {
					g.Go(name, func(task *aio.Task) error {
						for range 2 {
							if err := s.Acquire(task); err != nil {
								return err
							}
							j.add("%s", name)
							if err := task.Yield(); err != nil { // the others queue up
								return err
							}
							s.Release()
						}
						return nil
					})
				}
				return nil
			})
		})
		j.expect(t, "a", "b", "c", "a", "b", "c")
	})
	t.Run("nobody barges past a woken task", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			s := aio.NewSemaphore(1)
			s.TryAcquire()
			return task.Group(func(g *aio.Group) error {
				acquirers(g, s, &j, 1)
				settle(task)
				s.Release()
				expect(t, "try while the woken task has yet to run", s.TryAcquire(), false)
				expect(t, "free", s.Free(), 0)
				g.Go("later", func(task *aio.Task) error {
					err := s.Acquire(task)
					j.add("later")
					return err
				})
				settle(task)
				s.Release()
				return nil
			})
		})
		j.expect(t, "task 0: <nil>", "later")
	})
}

func TestSemaphoreCancelledWaiterIsSkipped(t *testing.T) {
	for name, cancel := range map[string][]int{
		"first":             {0},
		"middle":            {1},
		"last":              {3},
		"all but the third": {0, 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				var j journal
				s := aio.NewSemaphore(1)
				s.TryAcquire()
				return task.Group(func(g *aio.Group) error {
					tasks := acquirers(g, s, &j, 4)
					settle(task)
					for _, i := range cancel {
						tasks[i].Cancel()
					}
					for range 4 - len(cancel) {
						s.Release() // before the cancelled tasks have run
						settle(task)
					}
					expect(t, "tasks left", g.Len(), 0)
					expect(t, "free", s.Free(), 0)
					s.Release()
					expect(t, "free at the end", s.Free(), 1)
					return nil
				})
			})
		})
	}
}

// A task that is woken and cancelled in the same turn has its place, and gives it back.
func TestSemaphoreWokenThenCancelled(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		s := aio.NewSemaphore(1)
		s.TryAcquire()
		return task.Group(func(g *aio.Group) error {
			woken := g.Go("woken", func(task *aio.Task) error {
				err := s.Acquire(task)
				j.add("woken: %v", err)
				defer s.Release()
				err = task.Yield()
				j.add("woken: %v", err)
				return err
			})
			settle(task)
			acquirers(g, s, &j, 1)
			settle(task)
			s.Release()
			woken.Cancel()
			return nil
		})
	})
	j.expect(t, "woken: <nil>", "woken: canceled", "task 0: <nil>")
}

func TestSemaphoreTimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		s := aio.NewSemaphore(1)
		s.TryAcquire()
		expectIs(t, "acquire", task.Timeout(time.Second, s.Acquire), aio.ErrTimeout)
		s.Release()
		expect(t, "free", s.Free(), 1)
		return nil
	})
}

// Releases while tasks wait and others take free places: no order of the calls leaves a place
// unused while somebody waits.
func TestSemaphoreNobodyHangs(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var j journal
		s := aio.NewSemaphore(1)
		return task.Group(func(g *aio.Group) error {
			holder := func(task *aio.Task) error {
				if err := s.Acquire(task); err != nil {
					return err
				}
				defer s.Release()
				return task.Sleep(time.Second)
			}
			first := g.Go("first", holder)
			g.Go("second", holder)
			settle(task)
			first.Cancel()
			settle(task)
			acquirers(g, s, &j, 1)
			settle(task)
			err := task.Sleep(time.Second)
			settle(task)
			j.expect(t, "task 0: <nil>")
			return err
		})
	})
}

// Every primitive checks for a cancellation first, even when it need not wait.
func TestPrimitivesOfACancelledTask(t *testing.T) {
	var (
		q    aio.Queue[int]
		lock aio.Lock
		e    aio.Event
		s    = aio.NewSemaphore(1)
		lot  aio.Lot
	)
	q.TryPut(1)
	e.Set()
	calls := map[string]func(task *aio.Task) error{
		"Queue.Put":         func(task *aio.Task) error { return q.Put(task, 2) },
		"Queue.Get":         func(task *aio.Task) error { _, err := q.Get(task); return err },
		"Queue.Join":        q.Join,
		"Lock.Lock":         lock.Lock,
		"Event.Wait":        e.Wait,
		"Semaphore.Acquire": s.Acquire,
		"Lot.Park":          func(task *aio.Task) error { return lot.Park(task, "the test") },
		"Yield":             (*aio.Task).Yield,
		"Sleep":             func(task *aio.Task) error { return task.Sleep(time.Second) },
		"Sleep of nothing":  func(task *aio.Task) error { return task.Sleep(0) },
		"Checkpoint":        (*aio.Task).Checkpoint,
		"Future.Await": func(task *aio.Task) error {
			f := aio.NewFuture[int](task.Loop())
			_ = f.Set(1)
			_, err := f.Await(task)
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("cancelled", func(task *aio.Task) error {
						task.Cancel()
						for range 3 {
							err := call(task)
							if !errors.Is(err, aio.ErrCanceled) {
								t.Errorf("got %v, want ErrCanceled", err)
							}
						}
						return nil
					})
					return nil
				})
			})
		})
	}
	expect(t, "items", q.Len(), 1)
	expect(t, "free", s.Free(), 1)
	expect(t, "owner", lock.Owner(), nil)
}
