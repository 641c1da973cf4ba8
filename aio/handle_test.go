package aio_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// selectors are the selectors of this system that all tests of real descriptors use.
var selectors = []string{"epoll", "poll"}

// onSelectors runs main on a real loop once for each selector. An error of the loop fails the
// test. The bound is a last resort, for a lost wake-up.
func onSelectors(t *testing.T, main func(t *testing.T, task *aio.Task) error) {
	t.Helper()
	for _, name := range selectors {
		t.Run(name, func(t *testing.T) {
			hung := errors.New("the test hangs")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, hung)
			defer cancel()
			l := aio.NewLoop(aio.Options{Selector: name, SlowTurn: -1, Report: func(r aio.Report) { t.Error(r) }})
			err := l.Run(ctx, func(task *aio.Task) error { return main(t, task) })
			if err != nil && !t.Failed() {
				t.Fatalf("the loop returned: %v", err)
			}
		})
	}
}

func TestPostKeepsOrder(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		h := task.Loop().Handle()
		defer h.Close()
		for i := range 3 {
			expectIs(t, "Post", h.Post(func() { j.add("posted %d", i) }), nil)
		}
		j.add("main goes on first")
		settle(task)
		return nil
	})
	j.expect(t, "main goes on first", "posted 0", "posted 1", "posted 2")
}

func TestPostBeforeRun(t *testing.T) {
	l := virtualLoop()
	h := l.Handle()
	var j journal
	expectIs(t, "Post", h.Post(func() { j.add("posted") }), nil)
	err := l.Run(t.Context(), func(task *aio.Task) error {
		defer h.Close()
		j.add("main")
		return task.Sleep(time.Second)
	})
	expectIs(t, "Run", err, nil)
	j.expect(t, "main", "posted")
}

func TestPostOfPostedRunsInALaterTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		l := task.Loop()
		h := l.Handle()
		defer h.Close()
		var first, second uint64
		_ = h.Post(func() {
			first = l.Stats().Turns
			_ = h.Post(func() { second = l.Stats().Turns })
		})
		settle(task)
		expect(t, "turns between", second-first, 1)
		return nil
	})
}

// A function that posts itself again and again leaves the others their turns.
func TestPostDoesNotStarveTasks(t *testing.T) {
	run(t, func(task *aio.Task) error {
		h := task.Loop().Handle()
		defer h.Close()
		posted := 0
		var again func()
		again = func() { posted++; _ = h.Post(again) }
		again()
		for range 1000 {
			if err := task.Yield(); err != nil {
				return err
			}
		}
		if posted < 900 || posted > 1100 {
			t.Errorf("in 1000 turns of a task a function that posts itself ran %d times", posted)
		}
		return nil
	})
}

func TestPostManyAtOnce(t *testing.T) {
	const n = 100_000
	run(t, func(task *aio.Task) error {
		h := task.Loop().Handle()
		defer h.Close()
		next := 0
		for i := range n {
			_ = h.Post(func() {
				if i != next {
					t.Fatalf("number %d ran as number %d", i, next)
				}
				next++
			})
		}
		settle(task)
		expect(t, "functions that ran", next, n)
		return nil
	})
}

func TestPostAfterClose(t *testing.T) {
	run(t, func(task *aio.Task) error {
		h := task.Loop().Handle()
		ran := false
		expectIs(t, "Post", h.Post(func() { ran = true }), nil)
		h.Close()
		h.Close()
		expectIs(t, "Post after Close", h.Post(func() { t.Error("ran though the handle was closed") }), aio.ErrClosed)
		settle(task)
		expect(t, "what was posted before Close ran", ran, true)
		return nil
	})
}

func TestPostAfterTheEnd(t *testing.T) {
	var h *aio.Handle
	run(t, func(task *aio.Task) error { h = task.Loop().Handle(); return nil })
	expectIs(t, "Post", h.Post(func() { t.Error("ran on a loop that has ended") }), aio.ErrLoopClosed)
	h.Close()
	expectIs(t, "Post after Close", h.Post(func() {}), aio.ErrClosed)
}

func TestPostAfterMainFailed(t *testing.T) {
	var h *aio.Handle
	own := errors.New("main failed")
	ran := false
	err := runErr(t, func(task *aio.Task) error {
		h = task.Loop().Handle()
		_ = h.Post(func() { ran = true })
		return own
	})
	expectIs(t, "Run", err, own)
	expect(t, "what was posted before the end ran", ran, true)
	expectIs(t, "Post", h.Post(func() {}), aio.ErrLoopClosed)
}

// A Post while the last functions run is refused, not dropped.
func TestPostInTheLastTurn(t *testing.T) {
	err := errors.New("not called")
	run(t, func(task *aio.Task) error {
		h := task.Loop().Handle()
		_ = h.Post(func() { err = h.Post(func() { t.Error("ran after the end") }) })
		return nil
	})
	expectIs(t, "Post in the last turn", err, aio.ErrLoopClosed)
}

func TestOpenHandleIsNoDeadlock(t *testing.T) {
	run(t, func(task *aio.Task) error {
		h := task.Loop().Handle()
		defer h.Close()
		var e aio.Event
		go func() { _ = h.Post(e.Set) }()
		return e.Wait(task)
	})
}

func TestLastHandleClosedIsADeadlock(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		first, second := task.Loop().Handle(), task.Loop().Handle()
		go func() { first.Close(); first.Close(); second.Close() }()
		return new(aio.Event).Wait(task)
	})
	var d *aio.DeadlockError
	if !errors.As(err, &d) {
		t.Errorf("got %v, want a DeadlockError", err)
	}
}

// Each poster waits for its function to have run before it posts the next: the loop falls asleep
// again and again, and one lost wake-up stops the test.
func TestPostNeverLosesAWakeUp(t *testing.T) {
	loads := []struct {
		name string
		task func(task *aio.Task) error
	}{
		{"idle", idle},
		{"busy", func(task *aio.Task) error {
			for {
				if err := task.Yield(); err != nil {
					return err
				}
			}
		}},
		{"dozing", func(task *aio.Task) error {
			for {
				if err := task.Sleep(50 * time.Microsecond); err != nil {
					return err
				}
			}
		}},
	}
	const posters, posts = 4, 300
	for _, load := range loads {
		t.Run(load.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("load", load.task)
					var done aio.Queue[int]
					for p := range posters {
						h := task.Loop().Handle()
						go func() {
							defer h.Close()
							ran := make(chan struct{}, 1)
							for range posts {
								if err := h.Post(func() { ran <- struct{}{} }); err != nil {
									t.Errorf("Post: %v", err)
									return
								}
								<-ran
							}
							_ = h.Post(func() { done.TryPut(p) })
						}()
					}
					for range posters {
						if _, err := done.Get(task); err != nil {
							return err
						}
					}
					g.Cancel()
					return nil
				})
			})
		})
	}
}

func TestPostersKeepTheirOwnOrder(t *testing.T) {
	const posters, posts = 4, 2000
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		var got [posters][]int
		n := 0
		var all aio.Event
		for p := range posters {
			h := task.Loop().Handle()
			go func() {
				defer h.Close()
				for i := range posts {
					_ = h.Post(func() {
						got[p] = append(got[p], i)
						if n++; n == posters*posts {
							all.Set()
						}
					})
				}
			}()
		}
		if err := all.Wait(task); err != nil {
			return err
		}
		for p := range got {
			if !slices.IsSorted(got[p]) {
				t.Errorf("the functions of poster %d ran out of order", p)
			}
		}
		return nil
	})
}

// The loop ends while others post. Everything that Post accepted runs, and nothing else.
func TestEverythingPostedRuns(t *testing.T) {
	for _, name := range selectors {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				l := aio.NewLoop(aio.Options{Selector: name})
				h := l.Handle()
				var taken atomic.Int64
				ran := int64(0)
				var posters sync.WaitGroup
				begun := make(chan struct{}, 3)
				for range 3 {
					posters.Go(func() {
						for i := 0; ; i++ {
							if err := h.Post(func() { ran++ }); err != nil {
								expectIs(t, "Post", err, aio.ErrLoopClosed)
								return
							}
							taken.Add(1)
							if i == 0 {
								begun <- struct{}{}
							}
							runtime.Gosched()
						}
					})
				}
				err := l.Run(t.Context(), func(task *aio.Task) error {
					for range 3 {
						<-begun
					}
					return task.Sleep(100 * time.Microsecond)
				})
				posters.Wait()
				expectIs(t, "Run", err, nil)
				if ran != taken.Load() {
					t.Fatalf("%d functions were taken, %d ran", taken.Load(), ran)
				}
			}
		})
	}
}

// A Post comes in the last moment before the loop falls asleep: after it has checked for work, and
// before anybody could know that it needs a wake-up.
func TestPostWhileTheLoopFallsAsleep(t *testing.T) {
	clock := &interruptedClock{Clock: aiotest.NewClock()}
	err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("timer", func(task *aio.Task) error { return task.Sleep(time.Hour) })
			if err := task.Yield(); err != nil {
				return err
			}
			var e aio.Event
			h := task.Loop().Handle()
			defer h.Close()
			clock.interrupt = func() { expectIs(t, "Post", h.Post(e.Set), nil) }
			err := e.Wait(task)
			expect(t, "time when the posted function ran", now(task), 0)
			g.Cancel()
			return err
		})
	})
	expectIs(t, "Run", err, nil)
}

// interruptedClock calls interrupt once, when the loop reads the time, which it does between
// checking for work and falling asleep.
type interruptedClock struct {
	*aiotest.Clock
	interrupt func()
}

func (c *interruptedClock) Now() time.Time {
	if fn := c.interrupt; fn != nil {
		c.interrupt = nil
		fn()
	}
	return c.Clock.Now()
}

// A wake-up writes to a descriptor of the selector. While a Post is about to write, the loop must
// not close that descriptor and let its number go to another file.
func TestLoopEndsAfterTheLastWakeUp(t *testing.T) {
	clock := &handoverClock{woken: make(chan struct{}, 1)}
	l := aio.NewLoop(aio.Options{Clock: clock})
	h := l.Handle()
	posted := make(chan struct{})
	err := l.Run(t.Context(), func(task *aio.Task) error {
		var e aio.Event
		go func() {
			defer close(posted)
			for !clock.asleep.Load() {
				runtime.Gosched()
			}
			_ = h.Post(e.Set)
		}()
		return e.Wait(task)
	})
	<-posted
	expectIs(t, "Run", err, nil)
	expect(t, "closed during Wake", clock.closedDuringWake.Load(), false)
}

// handoverClock is the system's clock with a sleeper whose Wake is slow to return.
type handoverClock struct {
	woken            chan struct{}
	asleep, waking   atomic.Bool
	closedDuringWake atomic.Bool
}

func (c *handoverClock) Now() time.Time      { return time.Now() }
func (c *handoverClock) Wall() time.Time     { return time.Now() }
func (c *handoverClock) Attach() aio.Sleeper { return c }

func (c *handoverClock) Sleep(time.Time) {
	c.asleep.Store(true)
	<-c.woken
}

func (c *handoverClock) Wake() {
	c.waking.Store(true)
	c.woken <- struct{}{}
	for range 1000 { // long enough for a loop that does not wait for us to end
		runtime.Gosched()
	}
	c.waking.Store(false)
}

func (c *handoverClock) Hold()    {}
func (c *handoverClock) Release() {}
func (c *handoverClock) Close()   { c.closedDuringWake.Store(c.waking.Load()) }

func ExampleHandle() {
	_ = aio.Run(context.Background(), func(task *aio.Task) error {
		answer := aio.NewFuture[int](task.Loop())
		h := task.Loop().Handle()
		go func() { // anything that is not on the loop
			defer h.Close()
			_ = h.Post(func() { _ = answer.Set(42) })
		}()
		n, err := answer.Await(task)
		fmt.Println(n, err)
		return nil
	})
	// Output: 42 <nil>
}
