package aio_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestTimeoutExpires(t *testing.T) {
	for name, limited := range map[string]func(task *aio.Task, fn func(task *aio.Task) error) error{
		"timeout": func(task *aio.Task, fn func(task *aio.Task) error) error { return task.Timeout(time.Second, fn) },
		"deadline": func(task *aio.Task, fn func(task *aio.Task) error) error {
			return task.Deadline(aiotest.Epoch.Add(time.Second), fn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				err := limited(task, func(task *aio.Task) error {
					err := task.Sleep(10 * time.Second)
					expectIs(t, "what the function sees", err, aio.ErrCanceled)
					return err
				})
				expect(t, "time", now(task), time.Second)
				for _, target := range []error{aio.ErrTimeout, context.DeadlineExceeded, os.ErrDeadlineExceeded} {
					expectIs(t, "error", err, target)
				}
				expect(t, "is a cancellation", errors.Is(err, aio.ErrCanceled), false)
				var te *aio.TimeoutError
				if !errors.As(err, &te) {
					t.Fatalf("got %v, want a TimeoutError", err)
				}
				expect(t, "after", te.After, time.Second)
				expectIs(t, "what it interrupted", te.During, aio.ErrCanceled)
				expect(t, "text", err.Error(), "timed out after 1s: canceled")
				expect(t, "the task can wait again", task.Sleep(time.Second), nil)
				return nil
			})
		})
	}
}

func TestTimeoutDoesNotExpire(t *testing.T) {
	run(t, func(task *aio.Task) error {
		err := task.Timeout(10*time.Second, sleep(time.Second))
		expect(t, "error", err, nil)
		expect(t, "time", now(task), time.Second)
		for range 1000 {
			if err := task.Timeout(time.Hour, (*aio.Task).Yield); err != nil {
				return err
			}
		}
		if n := task.Loop().Stats().Timers; n > 200 {
			t.Errorf("%d timers are left of 1,000 timeouts", n)
		}
		return nil
	})
}

func TestTimeoutOfNothing(t *testing.T) {
	for name, d := range map[string]time.Duration{"zero": 0, "in the past": -11 * time.Second} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				for _, wait := range []time.Duration{time.Hour, 0} {
					expectIs(t, "sleep", task.Timeout(d, sleep(wait)), aio.ErrTimeout)
				}
				expectIs(t, "deadline", task.Deadline(task.Loop().Now().Add(d), sleep(0)), aio.ErrTimeout)
				done := aio.NewFuture[string](task.Loop())
				_ = done.Set("done")
				err := task.Timeout(d, func(task *aio.Task) error { _, err := done.Await(task); return err })
				expectIs(t, "a wait for an available result", err, aio.ErrTimeout)
				err = task.Timeout(d, func(task *aio.Task) error { _, err := done.Result(); return err })
				expect(t, "a look at an available result", err, nil)
				expect(t, "time", now(task), 0)
				return nil
			})
		})
	}
	t.Run("a task started in it never begins", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Timeout(0, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("child", func(*aio.Task) error {
						t.Error("the body ran")
						return nil
					})
					return nil
				})
			})
			expectIs(t, "error", err, aio.ErrTimeout)
			return nil
		})
	})
}

func TestTimeoutWithoutEnd(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Timeout(1<<63-1, sleep(100*365*24*time.Hour))
	})
}

// Only a cancellation by this deadline becomes a TimeoutError.
func TestTimeoutPassesOtherResults(t *testing.T) {
	run(t, func(task *aio.Task) error {
		expect(t, "an error before the deadline", task.Timeout(time.Second, func(*aio.Task) error { return errA }), errA)
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			_ = task.Sleep(time.Hour)
			return errA
		})
		expect(t, "an error after the deadline", err, errA)
		err = task.Timeout(time.Second, func(task *aio.Task) error {
			_ = task.Sleep(time.Hour)
			return nil
		})
		expect(t, "success after the deadline", err, nil)

		f := aio.NewFuture[int](task.Loop())
		f.Cancel()
		err = task.Timeout(time.Second, func(task *aio.Task) error { _, err := f.Await(task); return err })
		expect(t, "a cancelled future before the deadline", err, aio.ErrCanceled)
		return nil
	})
}

func TestTimeoutOfACancelledTask(t *testing.T) {
	run(t, func(task *aio.Task) error {
		for name, cancelAt := range map[string]time.Duration{"before": time.Second, "together with": 10 * time.Second} {
			start := now(task)
			err := cancelRunner(task, cancelAt, func(task *aio.Task) error {
				err := task.Timeout(10*time.Second, sleep(time.Hour))
				expect(t, "cancelled "+name+" the deadline", err, aio.ErrCanceled)
				return err
			})
			expect(t, "error", err, aio.ErrCanceled)
			expect(t, "time", now(task)-start, cancelAt)
		}
		return nil
	})
}

func TestTimeoutDoesNotCancelTheTask(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error {
				expectIs(t, "timeout", task.Timeout(time.Second, sleep(time.Hour)), aio.ErrTimeout)
				return nil
			})
			return child.Await(task)
		})
	})
}

// Results

// A result that arrived in the turn in which the deadline passed is not lost.
func TestTimeoutKeepsAResultOfTheSameTurn(t *testing.T) {
	clock := newBusyClock()
	err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
		var (
			q    aio.Queue[int]
			lot  aio.Lot
			lock aio.Lock
			e    aio.Event
			f    = aio.NewFuture[int](task.Loop())
			s    = aio.NewSemaphore(1)
		)
		s.TryAcquire()
		lock.TryLock(task)
		waits := map[string]struct {
			wait func(task *aio.Task) error
			wake func()
		}{
			"queue":     {func(task *aio.Task) error { _, err := q.Get(task); return err }, func() { q.TryPut(1) }},
			"future":    {func(task *aio.Task) error { _, err := f.Await(task); return err }, func() { _ = f.Set(1) }},
			"lot":       {func(task *aio.Task) error { return lot.Park(task, "the test") }, func() { lot.Unpark(nil) }},
			"lock":      {lock.Lock, func() { lock.Unlock(task) }},
			"semaphore": {s.Acquire, s.Release},
			"event":     {e.Wait, e.Set},
		}
		for name, w := range waits {
			err := task.Group(func(g *aio.Group) error {
				g.Go("waiter", func(task *aio.Task) error {
					err := task.Timeout(time.Second, w.wait)
					expect(t, name+" in time", err, nil)
					return nil
				})
				settle(task)
				w.wake()
				clock.spend(time.Minute) // before the waiter runs, its deadline has passed
				return nil
			})
			if err != nil {
				return err
			}
		}
		expect(t, "items left", q.Len(), 0)
		return nil
	})
	expect(t, "error", err, nil)
}

// The reverse: a wait that timed out first takes nothing.
func TestTimeoutTakesNothing(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var q aio.Queue[int]
		return task.Group(func(g *aio.Group) error {
			g.Go("putter", func(task *aio.Task) error {
				err := task.Sleep(time.Second)
				q.TryPut(1)
				return err
			})
			err := task.Timeout(time.Second, func(task *aio.Task) error { _, err := q.Get(task); return err })
			expectIs(t, "get", err, aio.ErrTimeout)
			v, err := q.Get(task)
			expect(t, "item", v, 1)
			return err
		})
	})
}

// Timeout returns when its function has, however long its clean-up takes.
func TestTimeoutWaitsForCleanUp(t *testing.T) {
	for name, d := range map[string]time.Duration{"a second": time.Second, "zero": 0} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				cleaned := false
				err := task.Timeout(d, func(task *aio.Task) error {
					err := task.Sleep(time.Hour)
					_ = task.Shield(sleep(time.Minute))
					cleaned = true
					return err
				})
				expectIs(t, "error", err, aio.ErrTimeout)
				expect(t, "cleaned", cleaned, true)
				expect(t, "time", now(task), d+time.Minute)
				return nil
			})
		})
	}
}

// A time-out of a wait for a task, and one of the task itself.
func TestTimeoutAroundATask(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			stopped := false
			work := g.Go("work", func(task *aio.Task) error {
				defer func() { stopped = true }()
				return task.Sleep(time.Hour)
			})
			expectIs(t, "await", task.Timeout(time.Second, work.Await), aio.ErrTimeout)
			expect(t, "stopped by a time-out of its waiter", stopped, false)
			work.Cancel()
			expectIs(t, "work", work.Await(task), aio.ErrCanceled)
			expect(t, "stopped", stopped, true)

			err := task.Timeout(time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					work = g.Go("work", sleep(time.Hour))
					return nil
				})
			})
			expectIs(t, "group", err, aio.ErrTimeout)
			expectIs(t, "its task", work.Err(), aio.ErrCanceled)
			expect(t, "time", now(task), 2*time.Second)
			return nil
		})
	})
}

// Nesting

func TestTimeoutNested(t *testing.T) {
	// nest returns the results of the outer and the inner Timeout.
	nest := func(task *aio.Task, outer, inner time.Duration, fn func(task *aio.Task) error) (out, in error) {
		out = task.Timeout(outer, func(task *aio.Task) error {
			in = task.Timeout(inner, fn)
			return in
		})
		return out, in
	}
	t.Run("inner first", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var in error
			out := task.Timeout(time.Minute, func(task *aio.Task) error {
				in = task.Timeout(time.Second, sleep(time.Hour))
				expect(t, "time", now(task), time.Second)
				return task.Sleep(time.Second)
			})
			expectIs(t, "inner", in, aio.ErrTimeout)
			expect(t, "outer", out, nil)
			return nil
		})
	})
	t.Run("inner first, passed on", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			out, in := nest(task, time.Minute, time.Second, sleep(time.Hour))
			expectIs(t, "inner", in, aio.ErrTimeout)
			expect(t, "outer", out, in) // not wrapped again: the outer one has not expired
			return nil
		})
	})
	t.Run("outer first", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			out, in := nest(task, time.Second, time.Minute, sleep(time.Hour))
			expect(t, "inner", in, aio.ErrCanceled)
			expectIs(t, "outer", out, aio.ErrTimeout)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("equal", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			out, in := nest(task, time.Second, time.Second, sleep(time.Hour))
			expect(t, "inner", in, aio.ErrCanceled)
			expectIs(t, "outer", out, aio.ErrTimeout)
			return nil
		})
	})
	t.Run("inner first, but both have passed when the loop sees it", func(t *testing.T) {
		clock := newBusyClock()
		err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
			out, in := nest(task, time.Minute, time.Second, func(task *aio.Task) error {
				clock.spend(time.Hour)
				return task.Sleep(time.Hour)
			})
			expect(t, "inner", in, aio.ErrCanceled)
			expectIs(t, "outer", out, aio.ErrTimeout)
			return nil
		})
		expect(t, "error", err, nil)
	})
	t.Run("inner expired, the wait after it is the outer one's", func(t *testing.T) {
		clock := newBusyClock()
		err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
			out := task.Timeout(10*time.Second, func(task *aio.Task) error {
				in := task.Timeout(time.Second, func(task *aio.Task) error {
					clock.spend(5 * time.Second)
					return task.Sleep(time.Hour)
				})
				expectIs(t, "inner", in, aio.ErrTimeout)
				return task.Sleep(time.Hour)
			})
			expectIs(t, "outer", out, aio.ErrTimeout)
			expect(t, "time", now(task), 10*time.Second)
			return nil
		})
		expect(t, "error", err, nil)
	})
	t.Run("one in the clean-up of another", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				err := task.Sleep(time.Hour)
				_ = task.Shield(func(task *aio.Task) error {
					in := task.Timeout(time.Second, sleep(time.Hour))
					expectIs(t, "of the clean-up", in, aio.ErrTimeout)
					return in
				})
				return err
			})
			expectIs(t, "error", err, aio.ErrTimeout)
			expect(t, "time", now(task), 2*time.Second)
			return nil
		})
	})
	t.Run("one opened after the outer one has expired", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				_ = task.Sleep(time.Hour)
				in := task.Timeout(time.Minute, sleep(time.Second))
				expect(t, "inner", in, aio.ErrCanceled)
				return in
			})
			expectIs(t, "error", err, aio.ErrTimeout)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
}

// Scopes nest as deep as a program recurses, and a cancellation reaches the innermost.
func TestScopesTenThousandDeep(t *testing.T) {
	const depth = 10_000
	t.Run("timeouts", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var down func(n int) error
			down = func(n int) error {
				if n == 0 {
					return task.Sleep(time.Hour)
				}
				return task.Timeout(time.Minute, func(*aio.Task) error { return down(n - 1) })
			}
			err := task.Timeout(time.Second, func(*aio.Task) error { return down(depth) })
			expectIs(t, "error", err, aio.ErrTimeout)
			var te *aio.TimeoutError
			if errors.As(err, &te) {
				expect(t, "of the outermost", te.After, time.Second)
				expect(t, "what the others returned", te.During, aio.ErrCanceled)
			}
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("groups, with a context in each", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var down func(n int) error
			down = func(n int) error {
				if n == 0 {
					return task.Sleep(time.Hour)
				}
				return task.Group(func(*aio.Group) error {
					if n%100 == 0 {
						_ = task.Context()
					}
					return down(n - 1)
				})
			}
			err := task.Timeout(time.Second, func(*aio.Task) error { return down(depth) })
			expectIs(t, "error", err, aio.ErrTimeout)
			return nil
		})
	})
	t.Run("shields", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var down func(n int) error
			down = func(n int) error {
				if n == 0 {
					return task.Sleep(time.Minute)
				}
				return task.Shield(func(*aio.Task) error { return down(n - 1) })
			}
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				expect(t, "behind the shields", down(depth), nil)
				return task.Yield()
			})
			expectIs(t, "outside", err, aio.ErrTimeout)
			expect(t, "time", now(task), time.Minute)
			return nil
		})
	})
}
