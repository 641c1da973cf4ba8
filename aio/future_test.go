package aio_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

func TestFutureWithoutResult(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		expect(t, "done", f.Done(), false)
		expect(t, "error", f.Err(), nil)
		_, err := f.Result()
		expectIs(t, "result", err, aio.ErrNotDone)
		return nil
	})
}

// A future gets exactly one result, whatever comes after it.
func TestFutureOneResult(t *testing.T) {
	failure := errors.New("failure")
	for name, c := range map[string]struct {
		give  func(f *aio.Future[int])
		value int
		err   error
	}{
		"value":        {func(f *aio.Future[int]) { _ = f.Set(42) }, 42, nil},
		"error":        {func(f *aio.Future[int]) { _ = f.Fail(failure) }, 0, failure},
		"cancellation": {func(f *aio.Future[int]) { f.Cancel() }, 0, aio.ErrCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				f := aio.NewFuture[int](task.Loop())
				calls := 0
				f.OnDone(func() { calls++ })
				c.give(f)
				expectIs(t, "set", f.Set(1), aio.ErrAlreadySet)
				expectIs(t, "fail", f.Fail(io.EOF), aio.ErrAlreadySet)
				expect(t, "cancel", f.Cancel(), false)
				expect(t, "done", f.Done(), true)
				expect(t, "error", f.Err(), c.err)
				for range 2 { // reading does not consume it
					v, err := f.Result()
					expect(t, "result: value", v, c.value)
					expect(t, "result: error", err, c.err)
					v, err = f.Await(task)
					expect(t, "await: value", v, c.value)
					expect(t, "await: error", err, c.err)
				}
				settle(task)
				expect(t, "calls of the callback", calls, 1)
				return nil
			})
		})
	}
}

func TestFutureFailWithNil(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		expectPanic(t, "nil error", func() { _ = f.Fail(nil) })
		expect(t, "done", f.Done(), false)
		return nil
	})
}

// Only the task can set its result.
func TestFutureOfATask(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			f := aio.Go(g, "adder", func(task *aio.Task) (int, error) { return 1 + 2, task.Sleep(time.Second) })
			expectIs(t, "set", f.Set(7), aio.ErrAlreadySet)
			expectIs(t, "fail", f.Fail(io.EOF), aio.ErrAlreadySet)
			v, err := f.Await(task)
			expect(t, "value", v, 3)
			expect(t, "time", now(task), time.Second)
			return err
		})
	})
}

func TestFutureCancelCancelsItsTask(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			cleaned := false
			f := aio.Go(g, "sleeper", func(task *aio.Task) (int, error) {
				defer func() { cleaned = true }()
				return 0, task.Sleep(time.Hour)
			})
			settle(task)
			expect(t, "cancel", f.Cancel(), true)
			expect(t, "done before the task has ended", f.Done(), false)
			_, err := f.Await(task)
			expectIs(t, "await", err, aio.ErrCanceled)
			expect(t, "cleaned up", cleaned, true)
			expect(t, "cancel of what has ended", f.Cancel(), false)
			expect(t, "time", now(task), 0)
			return nil
		})
	})
}

func TestFutureAwait(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[string](task.Loop())
		return task.Group(func(g *aio.Group) error {
			for i := range 3 {
				g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
					v, err := f.Await(task)
					j.add("%s: %s at %v", task.Name(), v, now(task))
					return err
				})
			}
			task.Loop().CallLater(time.Second, func() { _ = f.Set("value") })
			return nil
		})
	})
	j.expect(t, "task 0: value at 1s", "task 1: value at 1s", "task 2: value at 1s")
}

func TestFutureCancelledAwaitLeavesItAlone(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		return task.Group(func(g *aio.Group) error {
			waiter := g.Go("waiter", func(task *aio.Task) error { _, err := f.Await(task); return err })
			settle(task)
			waiter.Cancel()
			settle(task)
			expectIs(t, "waiter", waiter.Err(), aio.ErrCanceled)
			expect(t, "future is done", f.Done(), false)
			expectIs(t, "set", f.Set(1), nil)
			v, err := f.Await(task)
			expect(t, "value", v, 1)
			return err
		})
	})
}

func TestFutureResultBeforeCancelIsKept(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		return task.Group(func(g *aio.Group) error {
			waiter := g.Go("waiter", func(task *aio.Task) error {
				v, err := f.Await(task)
				expect(t, "value", v, 1)
				expect(t, "error", err, nil)
				return err
			})
			settle(task)
			_ = f.Set(1)
			waiter.Cancel()
			return nil
		})
	})
}

func TestFutureOfAnotherLoop(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](aio.NewLoop(aio.Options{}))
		const want = "on its own loop"
		expectPanic(t, want, func() { _, _ = f.Await(task) })
		expectPanic(t, want, func() { _, _ = aio.Gather(task, f) })
		return nil
	})
}

func TestFutureSetFromAGoroutine(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		h := task.Loop().Handle()
		go func() {
			defer h.Close()
			_ = h.Post(func() { _ = f.Set(1) })
		}()
		v, err := f.Await(task)
		expect(t, "value", v, 1)
		return err
	})
}

// Callbacks

func TestFutureCallbacksRunOnTheLoopInOrder(t *testing.T) {
	for name, give := range map[string]func(f *aio.Future[int]){
		"value":        func(f *aio.Future[int]) { _ = f.Set(42) },
		"error":        func(f *aio.Future[int]) { _ = f.Fail(io.EOF) },
		"cancellation": func(f *aio.Future[int]) { f.Cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			var j journal
			run(t, func(task *aio.Task) error {
				f := aio.NewFuture[int](task.Loop())
				for i := range 3 {
					f.OnDone(func() { j.add("callback %d, done: %v", i, f.Done()) })
				}
				give(f)
				j.add("never inline")
				f.OnDone(func() { j.add("added late") })
				j.add("never inline, also when added late")
				return task.Yield()
			})
			j.expect(t, "never inline", "never inline, also when added late",
				"callback 0, done: true", "callback 1, done: true", "callback 2, done: true", "added late")
		})
	}
}

func TestFutureCallbackTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		back []int
		want string
	}{
		"first":            {[]int{0}, "[1 2]"},
		"first and second": {[]int{0, 1}, "[2]"},
		"third":            {[]int{2}, "[0 1]"},
		"all":              {[]int{0, 1, 2}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				f := aio.NewFuture[int](task.Loop())
				var called []int
				var callbacks []*aio.Callback
				for i := range 3 {
					callbacks = append(callbacks, f.OnDone(func() { called = append(called, i) }))
				}
				for _, i := range c.back {
					expect(t, "cancel", callbacks[i].Cancel(), true)
					expect(t, "cancel again", callbacks[i].Cancel(), false)
				}
				_ = f.Set(1)
				settle(task)
				expect(t, "called", fmt.Sprint(called), c.want)
				for _, c := range callbacks {
					expect(t, "cancel when all is over", c.Cancel(), false)
				}
				return nil
			})
		})
	}
}

// Callbacks add and cancel others while they run.
func TestFutureCallbacksChangeTheList(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		var second *aio.Callback
		f.OnDone(func() {
			j.add("first")
			second.Cancel() // due in this turn, and yet cancelled
			f.OnDone(func() { j.add("added by the first") })
		})
		second = f.OnDone(func() { j.add("second") })
		f.OnDone(func() { j.add("third") })
		_ = f.Set(1)
		settle(task)
		return nil
	})
	j.expect(t, "first", "third", "added by the first")
}

// A long-lived future, such as a shutdown signal, is awaited again and again together with others.
// That must leave nothing behind.
func TestFutureForgetsCallbacksTakenBack(t *testing.T) {
	run(t, func(task *aio.Task) error {
		shutdown := aio.NewFuture[int](task.Loop())
		wait := func(rounds int) {
			for range rounds {
				f := aio.NewFuture[int](task.Loop())
				_ = f.Set(1)
				if i, err := aio.First(task, shutdown, f); i != 1 || err != nil {
					t.Fatalf("First returned %d, %v", i, err)
				}
			}
		}
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		wait(100)
		before := heap()
		wait(20_000)
		if grown := int64(heap() - before); grown > 256<<10 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
		called := 0
		shutdown.OnDone(func() { called++ })
		_ = shutdown.Set(1)
		settle(task)
		expect(t, "calls of a callback that stayed", called, 1)
		return nil
	})
}

// Gather, First, AsCompleted

// after returns a future that gets v at d; a negative v stands for an error.
func after(l *aio.Loop, d time.Duration, v int) *aio.Future[int] {
	f := aio.NewFuture[int](l)
	l.CallLater(d, func() {
		if v < 0 {
			_ = f.Fail(fmt.Errorf("failure %d", v))
		} else {
			_ = f.Set(v)
		}
	})
	return f
}

func TestGather(t *testing.T) {
	t.Run("values in order", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			got, err := aio.Gather(task, after(l, 3*time.Second, 1), after(l, time.Second, 2), after(l, 2*time.Second, 3))
			expect(t, "values", fmt.Sprint(got), "[1 2 3]")
			expect(t, "time", now(task), 3*time.Second)
			return err
		})
	})
	t.Run("nothing", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			got, err := aio.Gather[int](task)
			expect(t, "values", len(got), 0)
			return err
		})
	})
	t.Run("one future twice", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			f := after(task.Loop(), time.Second, 1)
			got, err := aio.Gather(task, f, f, after(task.Loop(), 0, 2), f)
			expect(t, "values", fmt.Sprint(got), "[1 1 2 1]")
			return err
		})
	})
	t.Run("first error", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			slow := after(l, time.Hour, 1)
			got, err := aio.Gather(task, after(l, time.Second, 1), slow, after(l, 3*time.Second, -3), after(l, 2*time.Second, -2))
			if err == nil || err.Error() != "failure -2" || got != nil {
				t.Errorf("got %v, %v", got, err)
			}
			expect(t, "time", now(task), 2*time.Second)
			expect(t, "the others go on", slow.Done(), false)
			v, err := slow.Await(task)
			expect(t, "value of another", v, 1)
			return err
		})
	})
	t.Run("one cancelled", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			f := aio.NewFuture[int](task.Loop())
			task.Loop().CallLater(time.Second, func() { f.Cancel() })
			_, err := aio.Gather(task, after(task.Loop(), time.Hour, 1), f)
			expectIs(t, "error", err, aio.ErrCanceled)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("cancelled itself", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			f := aio.NewFuture[int](task.Loop())
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				_, err := aio.Gather(task, f, f)
				return err
			})
			expectIs(t, "error", err, aio.ErrTimeout)
			expect(t, "the future was cancelled with it", f.Done(), false)
			return nil
		})
	})
	t.Run("tasks of a group", func(t *testing.T) {
		err := runErr(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				good := aio.Go(g, "good", func(task *aio.Task) (int, error) { return 1, task.Sleep(time.Hour) })
				bad := aio.Go(g, "bad", func(task *aio.Task) (int, error) { return 0, io.ErrUnexpectedEOF })
				_, err := aio.Gather(task, good, bad)
				return err
			})
		})
		expectIs(t, "error", err, io.ErrUnexpectedEOF)
	})
}

// To get all results, including errors, look at each future.
func TestGatherErrorsAsResults(t *testing.T) {
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		fs := []*aio.Future[int]{after(l, 2*time.Second, 1), after(l, time.Second, -2), after(l, 3*time.Second, 3)}
		fs[2].Cancel()
		var got []string
		for _, f := range fs {
			v, err := f.Await(task)
			got = append(got, fmt.Sprint(v, " ", err))
		}
		expect(t, "results", fmt.Sprint(got), "[1 <nil> 0 failure -2 0 canceled]")
		return nil
	})
}

func TestFirst(t *testing.T) {
	t.Run("waits for the first", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			i, err := aio.First(task, after(l, 2*time.Second, 1), after(l, time.Second, 2))
			expect(t, "index", i, 1)
			expect(t, "time", now(task), time.Second)
			return err
		})
	})
	t.Run("lowest of several", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			a, b, c := aio.NewFuture[int](l), aio.NewFuture[int](l), aio.NewFuture[int](l)
			_ = c.Set(3)
			_ = b.Set(2)
			i, err := aio.First(task, a, b, c)
			expect(t, "index", i, 1)
			return err
		})
	})
	t.Run("an error is a result", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			i, err := aio.First(task, after(l, 2*time.Second, 1), after(l, time.Second, -1))
			expect(t, "index", i, 1)
			return err
		})
	})
	t.Run("none", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			expectPanic(t, "no futures", func() { _, _ = aio.First[int](task) })
			return nil
		})
	})
	t.Run("timeout", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			f := aio.NewFuture[int](task.Loop())
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				i, err := aio.First(task, f)
				expect(t, "index", i, -1)
				return err
			})
			expectIs(t, "error", err, aio.ErrTimeout)
			return nil
		})
	})
}

func TestAsCompleted(t *testing.T) {
	t.Run("in the order of completion", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			done := aio.NewFuture[int](l)
			_ = done.Set(0)
			fs := []*aio.Future[int]{after(l, 3*time.Second, 3), after(l, time.Second, 1), after(l, 2*time.Second, -2), done}
			for f, err := range aio.AsCompleted(task, fs...) {
				v, _ := f.Result()
				j.add("%d %v at %v", v, err, now(task))
			}
			return nil
		})
		j.expect(t, "0 <nil> at 0s", "1 <nil> at 1s", "0 failure -2 at 2s", "3 <nil> at 3s")
	})
	t.Run("results that come while the body waits", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			for f := range aio.AsCompleted(task, after(l, 2*time.Second, 2), after(l, time.Second, 1), after(l, 3*time.Second, 3)) {
				v, _ := f.Result()
				j.add("%d at %v", v, now(task))
				if err := task.Sleep(10 * time.Second); err != nil {
					return err
				}
			}
			return nil
		})
		j.expect(t, "1 at 1s", "2 at 11s", "3 at 21s")
	})
	t.Run("two at once", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			var got []int
			for f := range aio.AsCompleted(task, after(l, time.Second, 1), after(l, time.Second, 2)) {
				v, _ := f.Result()
				got = append(got, v)
			}
			expect(t, "values", fmt.Sprint(got), "[1 2]")
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("nothing, and one future twice", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			for range aio.AsCompleted[int](task) {
				t.Error("a result of no futures")
			}
			n := 0
			f := after(task.Loop(), time.Second, 1)
			for g, err := range aio.AsCompleted(task, f, f) {
				expect(t, "future", g, f)
				expect(t, "error", err, nil)
				n++
			}
			expect(t, "results", n, 2)
			return nil
		})
	})
	t.Run("timeout", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			l := task.Loop()
			err := task.Timeout(2*time.Second, func(task *aio.Task) error {
				for f, err := range aio.AsCompleted(task, after(l, time.Second, 1), after(l, time.Hour, 2)) {
					j.add("%v: %v", f != nil, err)
					if f == nil {
						return err
					}
				}
				return nil
			})
			expectIs(t, "error", err, aio.ErrTimeout)
			return nil
		})
		j.expect(t, "true: <nil>", "false: canceled")
	})
	t.Run("timeout that does not come", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			n := 0
			err := task.Timeout(time.Minute, func(task *aio.Task) error {
				for range aio.AsCompleted(task, after(task.Loop(), time.Second, 1), after(task.Loop(), 2*time.Second, 2)) {
					n++
				}
				return nil
			})
			expect(t, "results", n, 2)
			return err
		})
	})
	t.Run("broken off", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			slow := after(task.Loop(), time.Hour, 1)
			for range aio.AsCompleted(task, after(task.Loop(), time.Second, 1), slow) {
				break
			}
			expect(t, "time", now(task), time.Second)
			v, err := slow.Await(task)
			expect(t, "value of the other", v, 1)
			return err
		})
	})
	t.Run("used twice", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			seq := aio.AsCompleted(task, after(task.Loop(), 2*time.Second, 2), after(task.Loop(), time.Second, 1))
			var got []int
			for range 2 {
				for f := range seq {
					v, _ := f.Result()
					got = append(got, v)
				}
			}
			// The second time all are there: they come in the order of the arguments.
			if want := []int{1, 2, 2, 1}; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			return nil
		})
	})
}
