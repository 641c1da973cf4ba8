package aio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// virtualLoop returns a loop on a virtual clock of its own, for calls before Run.
func virtualLoop() *aio.Loop { return aio.NewLoop(aio.Options{Clock: aiotest.NewClock()}) }

// idle is a task function that waits until it is cancelled, however long.
func idle(task *aio.Task) error { return task.Sleep(1000 * time.Hour) }

// nothing is a task function that has nothing to do.
func nothing(*aio.Task) error { return nil }

func TestCallSoonKeepsOrder(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		for i := range 3 {
			l.CallSoon(func() { j.add("callback %d", i) })
		}
		j.add("main goes on first")
		if err := task.Yield(); err != nil {
			return err
		}
		j.add("main")
		return nil
	})
	j.expect(t, "main goes on first", "callback 0", "callback 1", "callback 2", "main")
}

func TestCallSoonTakesTurnsWithTasks(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("first", func(*aio.Task) error { j.add("first"); return nil })
			task.Loop().CallSoon(func() { j.add("callback") })
			g.Go("second", func(*aio.Task) error { j.add("second"); return nil })
			return nil
		})
	})
	j.expect(t, "first", "callback", "second")
}

func TestCallbackOfCallbackRunsInNextTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		var added, called uint64
		l.CallSoon(func() {
			added = l.Stats().Turns
			l.CallSoon(func() { called = l.Stats().Turns })
		})
		settle(task)
		expect(t, "turns between adding and calling", called-added, 1)
		return nil
	})
}

func TestCallSoonBeforeRun(t *testing.T) {
	var j journal
	l := virtualLoop()
	l.CallSoon(func() { j.add("callback") })
	err := l.Run(t.Context(), func(*aio.Task) error { j.add("main"); return nil })
	expectIs(t, "Run", err, nil)
	j.expect(t, "callback", "main")
}

func TestCallLater(t *testing.T) {
	tests := []struct {
		name   string
		delays []time.Duration
		want   []string
	}{
		{"in the order of time", []time.Duration{3 * time.Second, time.Second, 2 * time.Second},
			[]string{"#1 at 1s", "#2 at 2s", "#0 at 3s"}},
		{"equal times in the order of asking", []time.Duration{time.Second, time.Second, time.Second},
			[]string{"#0 at 1s", "#1 at 1s", "#2 at 1s"}},
		{"zero is soon", []time.Duration{time.Second, 0},
			[]string{"#1 at 0s", "#0 at 1s"}},
		{"negative is soon", []time.Duration{time.Second, -time.Hour, 0},
			[]string{"#1 at 0s", "#2 at 0s", "#0 at 1s"}},
		{"the end of time does not overflow", []time.Duration{1<<63 - 1, time.Second},
			[]string{"#1 at 1s"}},
		{"nor does its beginning", []time.Duration{-1 << 63, time.Second},
			[]string{"#0 at 0s", "#1 at 1s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var j journal
			run(t, func(task *aio.Task) error {
				for i, d := range tt.delays {
					task.Loop().CallLater(d, func() { j.add("#%d at %v", i, now(task)) })
				}
				return task.Sleep(time.Minute)
			})
			j.expect(t, tt.want...)
		})
	}
}

func TestCallLaterIsNeverInTheCurrentTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		calls := 0
		var again func()
		again = func() {
			if calls++; calls < 5 {
				l.CallLater(-time.Second, again)
			}
		}
		before := l.Stats().Turns
		l.CallLater(0, again)
		for calls < 5 {
			if err := task.Yield(); err != nil {
				return err
			}
		}
		if turns := l.Stats().Turns - before; turns < 5 {
			t.Errorf("5 callbacks, each posted by the one before, took %d turns", turns)
		}
		return nil
	})
}

func TestCallAt(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		l.CallAt(aiotest.Epoch.Add(2*time.Second), func() { j.add("second at %v", now(task)) })
		l.CallAt(aiotest.Epoch.Add(time.Second), func() { j.add("first at %v", now(task)) })
		l.CallAt(aiotest.Epoch.Add(-time.Hour), func() { j.add("past at %v", now(task)) })
		l.CallAt(time.Time{}, func() { j.add("year 1 at %v", now(task)) })
		return task.Sleep(time.Minute)
	})
	// To a loop, everything in the past is equally long ago.
	j.expect(t, "past at 0s", "year 1 at 0s", "first at 1s", "second at 2s")
}

func TestCallLaterBeforeRunCountsFromTheCall(t *testing.T) {
	clock := newBusyClock()
	l := aio.NewLoop(aio.Options{Clock: clock})
	clock.spend(time.Hour) // between the loop's creation and its use
	asked := clock.Now()
	var called time.Time
	l.CallLater(time.Second, func() { called = l.Now() })
	err := l.Run(t.Context(), func(task *aio.Task) error { return task.Sleep(time.Minute) })
	expectIs(t, "Run", err, nil)
	expect(t, "delay", called.Sub(asked), time.Second)
}

func TestCallbackCancel(t *testing.T) {
	t.Run("soon", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			c := task.Loop().CallSoon(func() { t.Error("called though cancelled") })
			expect(t, "cancel of a pending callback", c.Cancel(), true)
			expect(t, "second cancel", c.Cancel(), false)
			settle(task)
			return nil
		})
	})
	t.Run("later", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			c := task.Loop().CallLater(time.Second, func() { t.Error("called though cancelled") })
			expect(t, "cancel of a pending callback", c.Cancel(), true)
			return task.Sleep(time.Minute)
		})
	})
	t.Run("after the call", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			calls := 0
			c := task.Loop().CallLater(time.Second, func() { calls++ })
			if err := task.Sleep(time.Minute); err != nil {
				return err
			}
			expect(t, "cancel of a callback that was called", c.Cancel(), false)
			expect(t, "calls", calls, 1)
			return nil
		})
	})
	t.Run("by another of the same turn", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var late *aio.Callback
			task.Loop().CallLater(time.Second, func() { late.Cancel() })
			late = task.Loop().CallLater(time.Second, func() { t.Error("called though cancelled") })
			return task.Sleep(time.Minute)
		})
	})
	t.Run("by itself", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var c *aio.Callback
			c = task.Loop().CallSoon(func() { expect(t, "cancel from within", c.Cancel(), false) })
			settle(task)
			return nil
		})
	})
}

func TestCancelledTimersAreSweptOut(t *testing.T) {
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		kept := 0
		for i := range 10_000 {
			c := l.CallLater(time.Duration(i+1)*time.Millisecond, func() { kept++ })
			if i%100 != 0 {
				c.Cancel()
			}
		}
		if n := l.Stats().Timers; n > 300 {
			t.Errorf("100 timers are pending, the loop holds %d", n)
		}
		if err := task.Sleep(time.Minute); err != nil {
			return err
		}
		expect(t, "called", kept, 100)
		expect(t, "timers left", l.Stats().Timers, 0)
		return nil
	})
}

func TestRunReturnsWhatMainReturned(t *testing.T) {
	own := errors.New("own error")
	tests := []struct {
		name string
		main func(task *aio.Task) error
		want error
	}{
		{"nil", nothing, nil},
		{"an error", func(*aio.Task) error { return own }, own},
		{"a wrapped error", func(*aio.Task) error { return fmt.Errorf("reading seeds: %w", own) }, own},
		{"an error after a wait", func(task *aio.Task) error { _ = task.Sleep(time.Hour); return own }, own},
		{"an error of a task", func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Go("worker", func(*aio.Task) error { return own })
				return nil
			})
		}, own},
		{"its own cancellation", func(task *aio.Task) error { task.Cancel(); return task.Sleep(time.Hour) }, aio.ErrCanceled},
		{"a Goexit", func(*aio.Task) error { runtime.Goexit(); return nil }, aio.ErrGoexit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expectIs(t, "Run", runErr(t, tt.main), tt.want) })
	}
}

func TestRunNamesTasksButNotMain(t *testing.T) {
	own := errors.New("no route")
	err := runErr(t, func(*aio.Task) error { return own })
	expect(t, "error of main", err, own)

	err = runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("worker", func(*aio.Task) error { return own })
			return nil
		})
	})
	expect(t, "error of a task", err.Error(), "worker: no route")
}

func TestRunReturnsPanicOfMain(t *testing.T) {
	err := runErr(t, func(*aio.Task) error { panic("out of cheese") })
	var p *aio.PanicError
	if !errors.As(err, &p) {
		t.Fatalf("got %v, want a PanicError", err)
	}
	expect(t, "value", p.Value, any("out of cheese"))
	if !strings.Contains(string(p.Stack), "TestRunReturnsPanicOfMain") {
		t.Errorf("the stack does not show where the panic was:\n%s", p.Stack)
	}
}

func TestRunOnce(t *testing.T) {
	l := virtualLoop()
	expectIs(t, "first Run", l.Run(t.Context(), nothing), nil)
	again := func(*aio.Task) error { t.Error("main of the second Run began"); return nil }
	expectIs(t, "second Run", l.Run(t.Context(), again), aio.ErrLoopClosed)
}

func TestRunOnceWhileItRuns(t *testing.T) {
	run(t, func(task *aio.Task) error {
		expectIs(t, "Run within Run", task.Loop().Run(t.Context(), nothing), aio.ErrLoopClosed)
		return task.Yield()
	})
}

func TestRunNested(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		j.add("outer begins")
		err := virtualLoop().Run(t.Context(), func(inner *aio.Task) error {
			j.add("inner begins")
			err := inner.Sleep(time.Hour)
			j.add("inner ends")
			return err
		})
		if err != nil {
			return err
		}
		err = task.Sleep(time.Second) // the outer loop is unaffected
		j.add("outer ends at %v", now(task))
		return err
	})
	j.expect(t, "outer begins", "inner begins", "inner ends", "outer ends at 1s")
}

func TestTwoLoopsShareNothing(t *testing.T) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var e aio.Event
			err := virtualLoop().Run(t.Context(), func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for range 100 {
						g.Go("worker", e.Wait)
					}
					if err := task.Sleep(time.Second); err != nil {
						return err
					}
					e.Set()
					return nil
				})
			})
			expectIs(t, "Run", err, nil)
		})
	}
	wg.Wait()
}

func TestRunDropsWhatIsPendingWhenMainHasEnded(t *testing.T) {
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		l.CallLater(time.Hour, func() { t.Error("a timer ran after the end") })
		l.CallSoon(func() { l.CallSoon(func() { t.Error("a callback ran after the end") }) })
		return nil
	})
}

func TestRunWaitsForGroups(t *testing.T) {
	clock := aiotest.NewClock()
	ended := 0
	err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for i := range 3 {
				g.Go("worker", func(task *aio.Task) error {
					err := task.Sleep(time.Duration(i) * time.Minute)
					ended++
					return err
				})
			}
			return nil
		})
	})
	expectIs(t, "Run", err, nil)
	expect(t, "tasks that ended", ended, 3)
	expect(t, "virtual time", clock.Now().Sub(aiotest.Epoch), 2*time.Minute)
}

func TestRunWithoutItsSelector(t *testing.T) {
	l := aio.NewLoop(aio.Options{Selector: "select"})
	h := l.Handle()
	ran := false
	expectIs(t, "Post before Run", h.Post(func() { ran = true }), nil)
	err := l.Run(t.Context(), func(*aio.Task) error { t.Error("main began"); return nil })
	if err == nil || !strings.Contains(err.Error(), `"select"`) || !strings.Contains(err.Error(), "poll") {
		t.Errorf("got error %v, want one that names the selector and those there are", err)
	}
	expect(t, "what was posted with success ran", ran, true)
	expectIs(t, "Post after Run", h.Post(func() {}), aio.ErrLoopClosed)
}

func TestRunContext(t *testing.T) {
	why := errors.New("the operator pressed stop")
	t.Run("done before: main never begins", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		err := virtualLoop().Run(ctx, func(*aio.Task) error { t.Error("main began"); return nil })
		expectIs(t, "Run", err, why)
	})
	t.Run("without a cause", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		expectIs(t, "Run", virtualLoop().Run(ctx, nothing), context.Canceled)
	})
	t.Run("done during: the waits are cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		l := aio.NewLoop(aio.Options{})
		cleaned := false
		err := l.Run(ctx, func(task *aio.Task) error {
			l.CallSoon(func() { cancel(why) })
			err := idle(task)
			cleaned = true
			expectIs(t, "wait", err, aio.ErrCanceled)
			return err
		})
		expectIs(t, "Run", err, why)
		expect(t, "main cleaned up", cleaned, true)
	})
	t.Run("done during, tasks of groups too", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		l := aio.NewLoop(aio.Options{})
		err := l.Run(ctx, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Go("idle", idle)
				g.Go("stopper", func(task *aio.Task) error { cancel(why); return nil })
				return nil
			})
		})
		expectIs(t, "Run", err, why)
	})
	t.Run("a result is not lost", func(t *testing.T) {
		own := errors.New("disk full")
		for _, want := range []error{nil, own} {
			ctx, cancel := context.WithCancelCause(t.Context())
			l := aio.NewLoop(aio.Options{})
			err := l.Run(ctx, func(task *aio.Task) error {
				l.CallSoon(func() { cancel(why) })
				expectIs(t, "wait", idle(task), aio.ErrCanceled)
				return want
			})
			expect(t, "Run", err, want)
		}
	})
	t.Run("its values and its end reach the tasks", func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "weft"))
		defer cancel()
		l := aio.NewLoop(aio.Options{})
		err := l.Run(ctx, func(task *aio.Task) error {
			own := task.Context()
			expect(t, "value", own.Value(key{}), any("weft"))
			expectIs(t, "Err before", own.Err(), nil)
			l.CallSoon(cancel)
			err := idle(task)
			expectIs(t, "Err after", own.Err(), context.Canceled)
			return err
		})
		expectIs(t, "Run", err, context.Canceled)
	})
}

func TestPanicInCallbackEndsTheLoop(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name string
		arm  func(task *aio.Task, fn func())
	}{
		{"CallSoon", func(task *aio.Task, fn func()) { task.Loop().CallSoon(fn) }},
		{"CallLater", func(task *aio.Task, fn func()) { task.Loop().CallLater(time.Second, fn) }},
		{"Post", func(task *aio.Task, fn func()) {
			h := task.Loop().Handle()
			defer h.Close()
			expectIs(t, "Post", h.Post(fn), nil)
		}},
		{"OnDone", func(task *aio.Task, fn func()) {
			f := aio.NewFuture[int](task.Loop())
			f.OnDone(fn)
			expectIs(t, "Set", f.Set(1), nil)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cleaned := 0
			err := runErr(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for range 3 {
						g.Go("waits", func(task *aio.Task) error {
							defer func() { cleaned++ }()
							return task.Shield(idle) // not even Shield prevents it
						})
					}
					if err := task.Yield(); err != nil {
						return err
					}
					tt.arm(task, func() { panic(boom) })
					return nil
				})
			})
			var p *aio.PanicError
			if !errors.As(err, &p) || !errors.Is(err, boom) {
				t.Fatalf("got %v, want a PanicError of %q", err, boom)
			}
			if !strings.Contains(string(p.Stack), "TestPanicInCallbackEndsTheLoop") {
				t.Errorf("the stack does not show where the panic was:\n%s", p.Stack)
			}
			expect(t, "tasks unwound", cleaned, 3)
		})
	}
}

func TestPanicInCallbackRunsTheRestOfTheTurn(t *testing.T) {
	var j journal
	err := runErr(t, func(task *aio.Task) error {
		l := task.Loop()
		l.CallSoon(func() { j.add("before") })
		l.CallSoon(func() { panic("boom") })
		l.CallSoon(func() { j.add("after") })
		return idle(task)
	})
	var p *aio.PanicError
	expect(t, "Run returned a PanicError", errors.As(err, &p), true)
	j.expect(t, "before", "after")
}

// A function may be posted so late that main has ended when it runs.
func TestPanicInWhatWasPostedLast(t *testing.T) {
	l := virtualLoop()
	h := l.Handle()
	var j journal
	err := l.Run(t.Context(), func(*aio.Task) error {
		_ = h.Post(func() { j.add("first") })
		_ = h.Post(func() { panic("boom") })
		_ = h.Post(func() { runtime.Goexit() })
		_ = h.Post(func() { j.add("last") })
		return nil
	})
	var p *aio.PanicError
	if !errors.As(err, &p) {
		t.Fatalf("got %v, want a PanicError", err)
	}
	j.expect(t, "first", "last")
}

func TestGoexitInCallback(t *testing.T) {
	run(t, func(task *aio.Task) error {
		called := false
		task.Loop().CallSoon(runtime.Goexit)
		task.Loop().CallSoon(func() { called = true })
		if err := task.Sleep(time.Second); err != nil {
			return err
		}
		expect(t, "the next callback was called", called, true)
		return nil
	})
}

func TestNow(t *testing.T) {
	clock := newBusyClock()
	err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
		l := task.Loop()
		began := l.Now()
		expect(t, "at the beginning", began, aiotest.Epoch)
		clock.spend(time.Second)
		expect(t, "within a turn it stands still", l.Now(), began)
		if err := task.Yield(); err != nil {
			return err
		}
		expect(t, "in the next turn it has gone on", l.Now(), began.Add(time.Second))
		if err := task.Sleep(time.Hour); err != nil {
			return err
		}
		expect(t, "after Sleep", l.Now(), began.Add(time.Hour+time.Second))
		return nil
	})
	expectIs(t, "Run", err, nil)
}

func TestSystemClock(t *testing.T) {
	const nap = 3 * time.Millisecond
	began := time.Now()
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		if d := task.Loop().Now().Sub(began); d < 0 || d > time.Minute {
			t.Errorf("the loop's clock is %v off", d)
		}
		return task.Sleep(nap)
	})
	expectIs(t, "Run", err, nil)
	if d := time.Since(began); d < nap {
		t.Errorf("Sleep(%v) took %v", nap, d)
	}
}

func TestStats(t *testing.T) {
	clock := newBusyClock()
	err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
		l := task.Loop()
		return task.Group(func(g *aio.Group) error {
			for range 3 {
				g.Go("idle", idle)
			}
			before := l.Stats()
			settle(task)
			s := l.Stats()
			expect(t, "turns of 10 yields", s.Turns-before.Turns, 10)
			expect(t, "tasks", s.Tasks, 4)
			expect(t, "timers", s.Timers, 3)
			expect(t, "descriptors", s.Descriptors, 0)
			expect(t, "lag", s.MaxLag, 0)

			l.CallLater(time.Second, func() {})
			clock.spend(1800 * time.Millisecond)
			settle(task)
			s = l.Stats()
			expect(t, "lag of a timer that the turn kept from firing", s.MaxLag, 800*time.Millisecond)
			expect(t, "mean lag", s.Lag, 100*time.Millisecond)
			g.Cancel()
			return nil
		})
	})
	expectIs(t, "Run", err, nil)
}

func TestDump(t *testing.T) {
	var out bytes.Buffer
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var e aio.Event
			g.Go("fetch a.example", e.Wait)
			g.Go("nap", idle)
			if err := task.Sleep(90 * time.Second); err != nil {
				return err
			}
			g.Go("late", nothing)
			err := task.Loop().Dump(&out)
			g.Cancel()
			return err
		})
	})
	lines := make([]string, 0, 5)
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	j := journal{lines}
	j.expect(t,
		"id  task             parent  state    waits for       since",
		"1   main                     running                  1m30s",
		"2   fetch a.example  main    parked   an event        1m30s",
		"3   nap              main    parked   a time          1m30s",
		"4   late             main    new      its first step  0s",
	)
}

// The reports come from the watchdog's goroutine during the turn, and from the loop after it.
func TestSlowTurnIsReported(t *testing.T) {
	tests := []struct {
		name string
		hold func(task *aio.Task, wait func()) error
		who  string
	}{
		{"of a task", func(task *aio.Task, wait func()) error { wait(); return task.Yield() }, "main"},
		{"of a callback", func(task *aio.Task, wait func()) error {
			task.Loop().CallSoon(wait)
			settle(task)
			return nil
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const limit = 10 * time.Millisecond
			reports := make(chan aio.Report, 64)
			// On a busy machine other turns may be slow too.
			next := func(ongoing bool) {
				for r := range reports {
					if r.Kind == aio.ReportSlowTurn && r.Task == tt.who && r.Ongoing == ongoing {
						if r.For < limit {
							t.Errorf("a turn of %v was reported as slow", r.For)
						}
						return
					}
				}
			}
			l := aio.NewLoop(aio.Options{SlowTurn: limit, Report: func(r aio.Report) { reports <- r }})
			err := l.Run(t.Context(), func(task *aio.Task) error {
				return tt.hold(task, func() { next(true) })
			})
			expectIs(t, "Run", err, nil)
			next(false)
		})
	}
}

func TestSlowTurnCanBeSwitchedOff(t *testing.T) {
	tests := []struct {
		name string
		opt  aio.Options
	}{
		{"negative", aio.Options{SlowTurn: -1}},
		{"a virtual clock", aio.Options{Clock: aiotest.NewClock()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opt.Report = func(r aio.Report) { t.Errorf("reported: %v", r) }
			before := runtime.NumGoroutine()
			err := aio.NewLoop(tt.opt).Run(t.Context(), func(*aio.Task) error {
				// The loop's own goroutine and main's coroutine; a watchdog would be a third.
				if n := runtime.NumGoroutine() - before; n > 2 {
					t.Errorf("the loop runs %d goroutines, one is a watchdog", n)
				}
				return nil
			})
			expectIs(t, "Run", err, nil)
		})
	}
}
