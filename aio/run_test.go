package aio_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestTaskTree(t *testing.T) {
	var infos []aio.TaskInfo
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var e aio.Event
			g.Go("crawl", func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("fetch", e.Wait)
					g.Go("scan", idle)
					return nil
				})
			})
			if err := task.Sleep(time.Minute); err != nil {
				return err
			}
			g.Go("spins", func(task *aio.Task) error {
				for task.Yield() == nil {
					continue
				}
				return nil
			})
			if err := task.Yield(); err != nil {
				return err
			}
			g.Go("late", nothing)
			infos = task.Loop().Tasks()
			g.Cancel()
			return nil
		})
	})
	want := []aio.TaskInfo{
		{ID: 1, Name: "main", State: "running"},
		{ID: 2, Name: "crawl", Parent: "main", State: "parked", Waits: "its group"},
		{ID: 3, Name: "fetch", Parent: "crawl", State: "parked", Waits: "an event"},
		{ID: 4, Name: "scan", Parent: "crawl", State: "parked", Waits: "a time"},
		{ID: 5, Name: "spins", Parent: "main", State: "ready", Waits: "its turn"},
		{ID: 6, Name: "late", Parent: "main", State: "new", Waits: "its first step"},
	}
	if len(infos) != len(want) {
		t.Fatalf("%d tasks, want %d: %v", len(infos), len(want), infos)
	}
	for i, info := range infos {
		info.Since = time.Time{} // TestTasksSaySinceWhen checks it
		expect(t, fmt.Sprint("task ", i), info, want[i])
	}
}

func TestTasksSaySinceWhen(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var e aio.Event
			g.Go("waits", func(task *aio.Task) error {
				if err := task.Sleep(time.Minute); err != nil {
					return err
				}
				return e.Wait(task)
			})
			if err := task.Sleep(time.Hour); err != nil {
				return err
			}
			waits := task.Loop().Tasks()[1]
			expect(t, "waits for", waits.Waits, "an event")
			expect(t, "since", waits.Since.Sub(aiotest.Epoch), time.Minute)
			e.Set()
			return nil
		})
	})
}

// Tasks whose turns never end do not starve timers, descriptors and posted functions.
func TestBusyTasksStarveNobody(t *testing.T) {
	loads := []struct {
		name string
		task func(task *aio.Task) error
	}{
		{"yielding", func(task *aio.Task) error {
			for {
				if err := task.Yield(); err != nil {
					return err
				}
			}
		}},
		{"sleeping for no time", func(task *aio.Task) error {
			for {
				if err := task.Sleep(0); err != nil {
					return err
				}
			}
		}},
		{"playing ping-pong", func(task *aio.Task) error {
			there, back := aio.NewQueue[int](1), aio.NewQueue[int](1)
			pass := func(from, to *aio.Queue[int]) func(task *aio.Task) error {
				return func(task *aio.Task) error {
					for {
						if err := to.Put(task, 0); err != nil {
							return err
						}
						if _, err := from.Get(task); err != nil {
							return err
						}
					}
				}
			}
			return task.Group(func(g *aio.Group) error {
				g.Go("ping", pass(there, back))
				g.Go("pong", pass(back, there))
				return nil
			})
		}},
		{"calling back", func(task *aio.Task) error {
			stop := false
			var again func()
			again = func() {
				if !stop {
					task.Loop().CallSoon(again)
				}
			}
			again()
			err := idle(task)
			stop = true
			return err
		}},
	}
	for _, load := range loads {
		t.Run(load.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				r, w := pipe(t)
				put(t, w, "x")
				return task.Group(func(busy *aio.Group) error {
					for range 3 {
						busy.Go("busy", load.task)
					}
					err := task.Group(func(g *aio.Group) error {
						g.Go("timer", func(task *aio.Task) error { return task.Sleep(time.Millisecond) })
						g.Go("descriptor", func(task *aio.Task) error { return task.WaitReadable(r) })
						g.Go("posted", func(task *aio.Task) error {
							var e aio.Event
							h := task.Loop().Handle()
							defer h.Close()
							go func() { _ = h.Post(e.Set) }()
							return e.Wait(task)
						})
						return nil
					})
					busy.Cancel()
					return err
				})
			})
		})
	}
}

// An operation that need not wait still gives up the turn from time to time: a task may do 128 of
// them in a step.
func TestOperationsThatNeverWaitGiveUpTheTurn(t *testing.T) {
	const rounds, step = 1280, 128
	var (
		event  aio.Event
		lock   aio.Lock
		queue  aio.Queue[int]
		places = aio.NewSemaphore(1)
	)
	event.Set()
	operations := []struct {
		name string
		do   func(task *aio.Task, f *aio.Future[int]) error
		each int // waits in it
	}{
		{"Checkpoint", func(task *aio.Task, _ *aio.Future[int]) error { return task.Checkpoint() }, 1},
		{"Event.Wait", func(task *aio.Task, _ *aio.Future[int]) error { return event.Wait(task) }, 1},
		{"Lock", func(task *aio.Task, _ *aio.Future[int]) error {
			if err := lock.Lock(task); err != nil {
				return err
			}
			lock.Unlock(task)
			return nil
		}, 1},
		{"Semaphore.Acquire", func(task *aio.Task, _ *aio.Future[int]) error {
			if err := places.Acquire(task); err != nil {
				return err
			}
			places.Release()
			return nil
		}, 1},
		{"Queue", func(task *aio.Task, _ *aio.Future[int]) error {
			if err := queue.Put(task, 1); err != nil {
				return err
			}
			_, err := queue.Get(task)
			return err
		}, 2},
		{"Future.Await", func(task *aio.Task, f *aio.Future[int]) error { _, err := f.Await(task); return err }, 1},
	}
	for _, op := range operations {
		t.Run(op.name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				f := aio.NewFuture[int](task.Loop())
				expectIs(t, "Set", f.Set(1), nil)
				before := task.Loop().Stats().Turns
				for range rounds {
					if err := op.do(task, f); err != nil {
						return err
					}
				}
				turns := int(task.Loop().Stats().Turns - before)
				if want := rounds * op.each / step; turns < want-1 || turns > want {
					t.Errorf("%d operations took %d turns, want %d", rounds*op.each, turns, want)
				}
				return nil
			})
		})
	}
}

func TestDeadlockNamesWhoWaits(t *testing.T) {
	var err error
	cleaned := 0
	err = runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var e aio.Event
			var q aio.Queue[int]
			g.Go("fetcher", func(task *aio.Task) error {
				defer func() { cleaned++ }()
				_, err := q.Get(task)
				return err
			})
			g.Go("waiter", func(task *aio.Task) error {
				defer func() { cleaned++ }()
				return task.Shield(e.Wait)
			})
			return nil
		})
	})
	var d *aio.DeadlockError
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a DeadlockError", err)
	}
	expect(t, "error", err.Error(), `aio: deadlock: no timer, descriptor, offload or handle is left that could wake`+
		` task "main" (waits for its group), task "fetcher" (waits for an item of a queue), task "waiter" (waits for an event)`)
	expect(t, "tasks listed", len(d.Tasks), 3)
	expect(t, "tasks unwound", cleaned, 2)
}

func TestDeadlockOfMany(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var e aio.Event
			for range 1000 {
				g.Go("waits", e.Wait)
			}
			return nil
		})
	})
	if err == nil || !strings.HasSuffix(err.Error(), "and 991 more") || len(err.Error()) > 1000 {
		t.Errorf("got %v", err)
	}
}

// The error that main makes of a deadlock is reported together with the deadlock.
func TestDeadlockAndErrorOfCleanUp(t *testing.T) {
	own := errors.New("disk full")
	err := runErr(t, func(task *aio.Task) error {
		_ = new(aio.Event).Wait(task)
		return own
	})
	var d *aio.DeadlockError
	expect(t, "a DeadlockError", errors.As(err, &d), true)
	expectIs(t, "and the error of main", err, own)
}

func TestDeadlockWithASelector(t *testing.T) {
	for _, name := range selectors {
		t.Run(name, func(t *testing.T) {
			l := aio.NewLoop(aio.Options{Selector: name})
			err := l.Run(t.Context(), func(task *aio.Task) error {
				c, peer := connectPeer(t, task, tcp4) // open, but nobody waits for it
				defer c.Close()
				defer peer.Close()
				return new(aio.Event).Wait(task)
			})
			var d *aio.DeadlockError
			expect(t, "a DeadlockError", errors.As(err, &d), true)
		})
	}
}

func TestNoDeadlock(t *testing.T) {
	tests := []struct {
		name string
		wake func(task *aio.Task, wake func()) (release func(), err error)
	}{
		{"with a timer", func(task *aio.Task, wake func()) (func(), error) {
			return func() {}, ignoreCallback(task.Loop().CallLater(time.Millisecond, wake))
		}},
		{"with a callback", func(task *aio.Task, wake func()) (func(), error) {
			return func() {}, ignoreCallback(task.Loop().CallSoon(wake))
		}},
		{"with a watched descriptor", func(task *aio.Task, wake func()) (func(), error) {
			r, w := pipe(t)
			watch, err := task.Loop().OnReadable(r, wake)
			if err != nil {
				return nil, err
			}
			put(t, w, "x")
			return watch.Stop, nil
		}},
		{"with an open handle", func(task *aio.Task, wake func()) (func(), error) {
			h := task.Loop().Handle()
			go func() { _ = h.Post(wake) }()
			return h.Close, nil
		}},
		{"with a posted function of a closed handle", func(task *aio.Task, wake func()) (func(), error) {
			h := task.Loop().Handle()
			err := h.Post(wake)
			h.Close()
			return func() {}, err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				var e aio.Event
				release, err := tt.wake(task, e.Set)
				if err != nil {
					return err
				}
				defer release()
				return e.Wait(task)
			})
		})
	}
}

func ignoreCallback(*aio.Callback) error { return nil }

func TestMisusePanics(t *testing.T) {
	tests := []struct {
		name  string
		panic string
		do    func(t *testing.T, task, other *aio.Task, try func(fn func()))
	}{
		{"another task's handle", `task "main" waits with the handle of task "other"`,
			func(_ *testing.T, _, other *aio.Task, try func(func())) {
				try(func() { _ = other.Sleep(time.Second) })
			}},
		{"another task's handle, a wait that would not wait", `task "main" waits with the handle of task "other"`,
			func(_ *testing.T, _, other *aio.Task, try func(func())) {
				try(func() { _ = new(aio.Queue[int]).Put(other, 1) })
			}},
		{"another task's scope", `task "main" waits with the handle of task "other"`,
			func(_ *testing.T, _, other *aio.Task, try func(func())) {
				try(func() { _ = other.Group(func(*aio.Group) error { return nil }) })
			}},
		{"in a callback", `task "main", which is not running (it is parked)`,
			func(_ *testing.T, task, _ *aio.Task, try func(func())) {
				task.Loop().CallSoon(func() { try(func() { _ = task.Yield() }) })
				_ = task.Sleep(time.Second)
			}},
		{"inside OnLoop", `task "main" waits inside OnLoop`,
			func(_ *testing.T, task, _ *aio.Task, try func(func())) {
				task.OnLoop(func() { try(func() { _ = task.Yield() }) })
			}},
		{"OnLoop inside OnLoop", `task "main" waits inside OnLoop`,
			func(_ *testing.T, task, _ *aio.Task, try func(func())) {
				task.OnLoop(func() { try(func() { task.OnLoop(func() {}) }) })
			}},
		{"awaiting itself", `task "main" awaits itself`,
			func(_ *testing.T, task, _ *aio.Task, try func(func())) {
				try(func() { _ = task.Await(task) })
			}},
		{"a future of another loop", "a future is awaited on its own loop",
			func(_ *testing.T, task, _ *aio.Task, try func(func())) {
				try(func() { _, _ = aio.NewFuture[int](virtualLoop()).Await(task) })
			}},
		{"a task of another loop", "a future is awaited on its own loop",
			func(t *testing.T, task, other *aio.Task, try func(func())) {
				err := virtualLoop().Run(t.Context(), func(inner *aio.Task) error {
					try(func() { _ = other.Await(inner) })
					return inner.Yield()
				})
				expectIs(t, "Run of the other loop", err, nil)
			}},
		{"a task that has ended", `task "main" waits with the handle of task "other"`,
			func(_ *testing.T, task, other *aio.Task, try func(func())) {
				other.Cancel()
				_ = other.Await(task)
				try(func() { _ = other.Yield() })
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tried := 0
			run(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					other := g.Go("other", idle)
					settle(task)
					tt.do(t, task, other, func(fn func()) {
						tried++
						expectPanic(t, tt.panic, fn)
					})
					g.Cancel()
					return nil
				})
			})
			expect(t, "tries", tried, 1)
		})
	}
}

func TestMisuseOutsideTheLoop(t *testing.T) {
	var late *aio.Task
	run(t, func(task *aio.Task) error { late = task; return nil })
	expectPanic(t, "is not running (it is done)", func() { _ = late.Sleep(time.Second) })
}

// With Debug a wait checks its goroutine.
func TestMisuseOnAnotherGoroutine(t *testing.T) {
	const message = `task "main" waits on a goroutine that is not its own`
	t.Run("of one's own making", func(t *testing.T) {
		err := runWith(t, aio.Options{Debug: true}, func(task *aio.Task) error {
			done := make(chan struct{})
			go func() {
				defer close(done)
				expectPanic(t, message, func() { _ = task.Yield() })
			}()
			<-done
			return task.Yield()
		})
		expectIs(t, "Run", err, nil)
	})
	t.Run("of a loop within", func(t *testing.T) {
		err := runWith(t, aio.Options{Debug: true}, func(task *aio.Task) error {
			err := virtualLoop().Run(t.Context(), func(*aio.Task) error {
				expectPanic(t, message, func() { _ = task.Yield() })
				return nil
			})
			if err != nil {
				return err
			}
			return task.Yield()
		})
		expectIs(t, "Run", err, nil)
	})
}

// A misuse that nobody recovers is the error of the task that made it.
func TestMisuseIsTheErrorOfTheTask(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("careless", func(*aio.Task) error { return task.Sleep(time.Second) })
			return nil
		})
	})
	var p *aio.PanicError
	if !errors.As(err, &p) || !strings.Contains(fmt.Sprint(p.Value), `task "careless" waits with the handle of task "main"`) {
		t.Errorf("got %v", err)
	}
}

// A thousand tasks sleep for unordered times, and wake in order.
func TestSleepersWakeInOrder(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var last time.Duration
			woken := 0
			for i := range 1000 {
				d := time.Duration(i*7919%1000) * time.Second
				g.Go("sleeper", func(task *aio.Task) error {
					if err := task.Sleep(d); err != nil {
						return err
					}
					if now(task) != d || d < last {
						t.Errorf("woken at %v after %v, want %v", now(task), last, d)
					}
					last = d
					woken++
					return nil
				})
			}
			task.Loop().CallLater(1000*time.Second, func() { expect(t, "woken", woken, 1000) })
			return nil
		})
	})
}

// The steps of a task, as a trace shows them.
func TestTrace(t *testing.T) {
	var j journal
	err := runWith(t, aio.Options{Trace: func(e aio.TraceEvent) {
		j.add("%v %s %v %s", e.At.Sub(aiotest.Epoch), e.Task, e.Kind, e.What)
	}}, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("nap", func(task *aio.Task) error { return task.Sleep(time.Second) })
			return nil
		})
	})
	expectIs(t, "Run", err, nil)
	j.expect(t,
		"0s main start ",
		"0s nap start ",
		"0s main wait its group",
		"0s nap wait a time",
		"1s nap wake a time",
		"1s nap end ",
		"1s main wake its group",
		"1s main end ",
	)
}

// A loop is deterministic: the same program takes the same steps every time.
func TestSameStepsEveryTime(t *testing.T) {
	steps := func() []string {
		var j journal
		err := runWith(t, aio.Options{Trace: func(e aio.TraceEvent) {
			j.add("%v %s %v %s", e.At, e.Task, e.Kind, e.What)
		}}, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				q := aio.NewQueue[int](3)
				for i := range 20 {
					g.Go(fmt.Sprint("producer ", i), func(task *aio.Task) error {
						for n := range 10 {
							if err := task.Sleep(time.Duration(i*n%7) * time.Millisecond); err != nil {
								return err
							}
							if err := q.Put(task, n); err != nil {
								return err
							}
						}
						return nil
					})
				}
				for range 200 {
					err := task.Timeout(2*time.Millisecond, func(task *aio.Task) error { _, err := q.Get(task); return err })
					if err != nil && !errors.Is(err, context.DeadlineExceeded) {
						return err
					}
				}
				g.Cancel()
				return nil
			})
		})
		expectIs(t, "Run", err, nil)
		return j.lines
	}
	first := journal{steps()}
	if len(first.lines) < 500 {
		t.Errorf("the program takes only %d steps", len(first.lines))
	}
	first.expect(t, steps()...)
}

// The end of a task does not release its locks: a task that waits for one waits in vain, and the
// loop reports it.
func TestDeadlockOnALockOfATaskThatHasEnded(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var lock aio.Lock
			g.Go("forgets", lock.Lock)
			g.Go("waits", lock.Lock)
			return nil
		})
	})
	var d *aio.DeadlockError
	if !errors.As(err, &d) || !strings.Contains(err.Error(), `task "waits" (waits for a lock)`) {
		t.Errorf("got %v, want a DeadlockError that names the waiting tasks and their reasons", err)
	}
}

// TestPanicInTrace checks that a Trace that panics ends the loop, and never hangs it.
func TestPanicInTrace(t *testing.T) {
	for _, kind := range []aio.TraceKind{aio.TraceStart, aio.TraceWait, aio.TraceWake, aio.TraceEnd} {
		t.Run(kind.String(), func(t *testing.T) {
			var panicked *aio.PanicError
			err := runWith(t, aio.Options{Trace: func(e aio.TraceEvent) {
				if e.Kind == kind && e.Task == "child" {
					panic("trace")
				}
			}}, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("child", func(task *aio.Task) error { return task.Sleep(time.Second) })
					return nil
				})
			})
			if !errors.As(err, &panicked) || panicked.Value != "trace" {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestOnLoopAfterGoexit checks that the clean-up of a task that ends by a Goexit on the loop's
// stack runs to its end, though it uses that stack too.
func TestOnLoopAfterGoexit(t *testing.T) {
	var cleaned, after bool
	err := runErr(t, func(task *aio.Task) error {
		defer func() {
			task.OnLoop(func() { cleaned = true })
			after = true
		}()
		task.OnLoop(runtime.Goexit)
		return nil
	})
	if !errors.Is(err, aio.ErrGoexit) || !cleaned || !after {
		t.Errorf("error %v, cleaned up: %v, and to its end: %v", err, cleaned, after)
	}
}
