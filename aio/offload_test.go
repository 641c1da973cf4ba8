package aio_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestOffloadReturnsWhatTheFunctionReturned(t *testing.T) {
	own := errors.New("own error")
	tests := []struct {
		name string
		fn   func(context.Context) (int, error)
		want int
		err  error
	}{
		{"a value", func(context.Context) (int, error) { return 7, nil }, 7, nil},
		{"an error", func(context.Context) (int, error) { return 0, own }, 0, own},
		{"both", func(context.Context) (int, error) { return 7, own }, 7, own},
		{"a Goexit", func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, 0, aio.ErrGoexit},
		{"a panic with an error", func(context.Context) (int, error) { panic(own) }, 0, own},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				n, err := aio.Offload(task, tt.fn)
				expect(t, "value", n, tt.want)
				expectIs(t, "error", err, tt.err)
				return nil
			})
		})
	}
}

func TestOffloadPanicKeepsItsStack(t *testing.T) {
	run(t, func(task *aio.Task) error {
		_, err := aio.Offload(task, panicsElsewhere)
		var p *aio.PanicError
		if !errors.As(err, &p) {
			t.Fatalf("got %v, want a PanicError", err)
		}
		if !strings.Contains(string(p.Stack), "panicsElsewhere") {
			t.Errorf("the stack does not show where the panic was:\n%s", p.Stack)
		}
		return nil
	})
}

func panicsElsewhere(context.Context) (int, error) { panic("boom") }

func TestOffloadLeavesTheLoopToOthers(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		release := make(chan struct{})
		return task.Group(func(g *aio.Group) error {
			g.Go("release", func(task *aio.Task) error {
				for range 100 { // meanwhile the function blocks
					if err := task.Yield(); err != nil {
						return err
					}
				}
				close(release)
				return nil
			})
			_, err := aio.Offload(task, func(context.Context) (int, error) { <-release; return 0, nil })
			return err
		})
	})
}

func TestOffloadManyAtOnce(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		const n = 100
		var arrived atomic.Int32
		all := make(chan struct{})
		sum := 0
		err := task.Group(func(g *aio.Group) error {
			for i := range n {
				g.Go("worker", func(task *aio.Task) error {
					v, err := aio.Offload(task, func(context.Context) (int, error) {
						if arrived.Add(1) == n {
							close(all)
						}
						<-all // each needs all the others to be running
						return i, nil
					})
					sum += v
					return err
				})
			}
			return nil
		})
		expect(t, "sum", sum, n*(n-1)/2)
		return err
	})
}

// Virtual time stands still while a function runs elsewhere.
func TestOffloadHoldsVirtualTime(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("timer", func(task *aio.Task) error { return task.Sleep(time.Hour) })
			_, err := aio.Offload(task, func(context.Context) (int, error) {
				for range 1000 {
					runtime.Gosched()
				}
				return 0, nil
			})
			expect(t, "time when it returned", now(task), 0)
			return err
		})
	})
}

func TestOffloadCanceled(t *testing.T) {
	t.Run("before: the function never runs", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Cancel()
				_, err := aio.Offload(task, func(context.Context) (int, error) {
					t.Error("the function ran")
					return 0, nil
				})
				expectIs(t, "Offload", err, aio.ErrCanceled)
				return err
			})
		})
	})
	t.Run("during: the function learns it, and is waited for", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			returned := false
			return task.Group(func(g *aio.Group) error {
				task.Loop().CallSoon(g.Cancel)
				_, err := aio.Offload(task, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					for range 1000 {
						runtime.Gosched()
					}
					returned = true
					return 0, ctx.Err()
				})
				expectIs(t, "Offload", err, aio.ErrCanceled)
				expect(t, "the function has returned", returned, true)
				return err
			})
		})
	})
	t.Run("during: a result is not lost", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				task.Loop().CallSoon(g.Cancel)
				n, err := aio.Offload(task, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 7, nil
				})
				expect(t, "value", n, 7)
				expectIs(t, "Offload", err, nil)
				expectIs(t, "the next wait", task.Yield(), aio.ErrCanceled)
				return nil
			})
		})
	})
}

func TestOffloadTimeout(t *testing.T) {
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		return task.Timeout(time.Millisecond, func(task *aio.Task) error {
			_, err := aio.Offload(task, func(ctx context.Context) (int, error) {
				if _, ok := ctx.Deadline(); !ok {
					t.Error("the context does not know the deadline")
				}
				<-ctx.Done()
				expectIs(t, "the function's context", ctx.Err(), context.DeadlineExceeded)
				return 0, ctx.Err()
			})
			return err
		})
	})
	expectIs(t, "Run", err, os.ErrDeadlineExceeded)
	expectIs(t, "Run", err, aio.ErrTimeout)
}

// A callback that panics ends the loop; a function that runs elsewhere has its context cancelled
// and is waited for.
func TestOffloadOnALoopThatBreaks(t *testing.T) {
	returned := false
	err := runErr(t, func(task *aio.Task) error {
		task.Loop().CallSoon(func() { panic("boom") })
		_, err := aio.Offload(task, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			returned = true
			return 0, ctx.Err()
		})
		return err
	})
	var p *aio.PanicError
	expect(t, "Run returned the panic", errors.As(err, &p), true)
	expect(t, "the function has returned", returned, true)
}

// Two loops on one clock: an Offload of one holds the time of both.
func TestOffloadHoldsVirtualTimeOfAllLoops(t *testing.T) {
	clock := aiotest.NewClock()
	var other atomic.Bool
	ended := make(chan error, 1)
	started := make(chan struct{})
	err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
		_, err := aio.Offload(task, func(context.Context) (int, error) {
			go func() {
				ended <- aio.NewLoop(aio.Options{Clock: clock}).Run(t.Context(), func(task *aio.Task) error {
					close(started)
					err := task.Sleep(time.Hour)
					other.Store(true)
					return err
				})
			}()
			<-started
			for range 1000 {
				runtime.Gosched()
			}
			expect(t, "the other loop's hour is over", other.Load(), false)
			return 0, nil
		})
		return err
	})
	expectIs(t, "Run", err, nil)
	expectIs(t, "Run of the other loop", <-ended, nil)
	expect(t, "the other loop's hour is over", other.Load(), true)
}
