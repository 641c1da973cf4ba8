package aio_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

var (
	errA = errors.New("error a")
	errB = errors.New("error b")
)

// failAfter is a task that fails at d.
func failAfter(d time.Duration, err error) func(task *aio.Task) error {
	return func(task *aio.Task) error {
		if e := task.Sleep(d); e != nil {
			return e
		}
		return err
	}
}

func sleep(d time.Duration) func(task *aio.Task) error {
	return func(task *aio.Task) error { return task.Sleep(d) }
}

func TestGroupWaitsForItsTasks(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var first, second *aio.Future[int]
		err := task.Group(func(g *aio.Group) error {
			first = aio.Go(g, "first", func(task *aio.Task) (int, error) { return 42, task.Sleep(time.Second) })
			if err := task.Sleep(500 * time.Millisecond); err != nil {
				return err
			}
			second = aio.Go(g, "second", func(task *aio.Task) (int, error) { return 11, task.Sleep(2 * time.Second) })
			expect(t, "length", g.Len(), 2)
			return nil
		})
		expect(t, "time", now(task), 2500*time.Millisecond)
		a, _ := first.Result()
		b, _ := second.Result()
		expect(t, "values", a+b, 53)
		return err
	})
}

func TestGroupOfNothing(t *testing.T) {
	run(t, func(task *aio.Task) error {
		expect(t, "nil", task.Group(func(*aio.Group) error { return nil }), nil)
		expect(t, "error", task.Group(func(*aio.Group) error { return errA }), errA)
		expect(t, "cancelled by itself", task.Group(func(g *aio.Group) error { g.Cancel(); return nil }), nil)
		return nil
	})
}

func TestGroupForgetsTasksThatEnded(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for i := range 10 {
				g.Go("job", sleep(3*time.Second))
				if err := task.Sleep(time.Second); err != nil {
					return err
				}
				if i == 5 {
					expect(t, "length", g.Len() <= 3, true)
				}
			}
			if err := task.Sleep(time.Minute); err != nil {
				return err
			}
			expect(t, "length at the end", g.Len(), 0)
			return nil
		})
	})
}

func TestGroupFirstErrorCancelsTheRest(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var sleeper *aio.Task
		err := task.Group(func(g *aio.Group) error {
			g.Go("bad", failAfter(time.Second, errA))
			sleeper = g.Go("sleeper", func(task *aio.Task) error {
				err := task.Sleep(time.Hour)
				j.add("sleeper: %v", err)
				return err
			})
			err := task.Sleep(time.Hour)
			j.add("body: %v", err)
			return err
		})
		expect(t, "time", now(task), time.Second)
		expect(t, "error", err.Error(), "bad: error a")
		expectIs(t, "error", err, errA)
		expectIs(t, "error of the cancelled one", sleeper.Err(), aio.ErrCanceled)
		expect(t, "cancellation among the errors", errors.Is(err, aio.ErrCanceled), false)
		expect(t, "the task around it is cancelled", task.Sleep(time.Second), nil)
		return nil
	})
	if len(j.lines) == 2 && j.lines[0] > j.lines[1] {
		j.lines[0], j.lines[1] = j.lines[1], j.lines[0]
	}
	j.expect(t, "body: canceled", "sleeper: canceled")
}

func TestGroupErrorOfTheBody(t *testing.T) {
	for name, wait := range map[string]time.Duration{"after a wait": time.Second, "at once": 0} {
		t.Run(name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				var children []*aio.Task
				err := task.Group(func(g *aio.Group) error {
					for range 3 {
						children = append(children, g.Go("child", sleep(time.Hour)))
					}
					if wait > 0 {
						_ = task.Sleep(wait)
					}
					return errA
				})
				expect(t, "error", err, errA)
				expect(t, "time", now(task), wait)
				for _, c := range children {
					expectIs(t, "child", c.Err(), aio.ErrCanceled)
				}
				return nil
			})
		})
	}
}

func TestGroupErrorsAreJoined(t *testing.T) {
	t.Run("of tasks", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("a", func(*aio.Task) error { return errA })
				g.Go("b", failAfter(0, errB)) // cancelled before its turn came: no error of its own
				g.Go("c", func(task *aio.Task) error {
					_ = task.Sleep(time.Hour)
					return errB // its clean-up failed
				})
				return nil
			})
			expectIs(t, "error", err, errA)
			expect(t, "text", err.Error(), "a: error a")
			return nil
		})
	})
	t.Run("of a task and of the clean-up of another", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("cleaner", func(task *aio.Task) error {
					_ = task.Sleep(time.Hour)
					return errB
				})
				g.Go("bad", failAfter(time.Second, errA))
				return nil
			})
			expectIs(t, "first", err, errA)
			expectIs(t, "second", err, errB)
			expect(t, "text", err.Error(), "bad: error a\ncleaner: error b")
			return nil
		})
	})
	t.Run("of a task and of the body", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("bad", failAfter(time.Second, errA))
				_ = task.Sleep(time.Hour)
				return errB
			})
			expectIs(t, "first", err, errA)
			expectIs(t, "second", err, errB)
			return nil
		})
	})
	t.Run("at most eight", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				for i := range 12 {
					g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
						_ = task.Sleep(time.Second)
						return errA
					})
				}
				return nil
			})
			expect(t, "errors", strings.Count(err.Error(), "error a"), 8)
			expect(t, "first", strings.HasPrefix(err.Error(), "task 0: "), true)
			return nil
		})
	})
}

// Cancelling one task is not an error of its group.
func TestGroupOneTaskCancelled(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			victim := g.Go("victim", sleep(time.Hour))
			other := aio.Go(g, "other", func(task *aio.Task) (int, error) { return 11, task.Sleep(time.Second) })
			settle(task)
			victim.Cancel()
			late := aio.Go(g, "late", func(task *aio.Task) (int, error) { return 12, task.Sleep(time.Second) })
			values, err := aio.Gather(task, other, late)
			expect(t, "values", fmt.Sprint(values), "[11 12]")
			expectIs(t, "victim", victim.Err(), aio.ErrCanceled)
			return err
		})
	})
}

// A task that returns ErrCanceled though nobody cancelled it has failed.
func TestGroupCancellationOutOfTheBlue(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		err := task.Group(func(g *aio.Group) error {
			g.Go("waiter", func(task *aio.Task) error { _, err := f.Await(task); return err })
			g.Go("sibling", sleep(time.Hour))
			settle(task)
			f.Cancel()
			return nil
		})
		expectIs(t, "error", err, aio.ErrCanceled)
		expect(t, "text", err.Error(), "waiter: canceled")
		expect(t, "time", now(task), 0)
		return nil
	})
}

// cancelRunner runs body in a task, cancels the task at d, and returns its error.
func cancelRunner(task *aio.Task, d time.Duration, body func(task *aio.Task) error) (err error) {
	_ = task.Group(func(g *aio.Group) error {
		runner := g.Go("runner", func(task *aio.Task) error {
			err = body(task)
			return nil
		})
		if e := task.Sleep(d); e != nil {
			return e
		}
		runner.Cancel()
		return nil
	})
	return err
}

func TestGroupCancelledFromOutside(t *testing.T) {
	t.Run("tasks and body", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			cancelled := 0
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					wait := func(task *aio.Task) error {
						err := task.Sleep(time.Hour)
						if errors.Is(err, aio.ErrCanceled) {
							cancelled++
						}
						return err
					}
					for range 5 {
						g.Go("child", wait)
					}
					return wait(task)
				})
			})
			expectIs(t, "error", err, aio.ErrCanceled)
			expect(t, "cancelled", cancelled, 6)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("body has returned", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("child", sleep(time.Hour))
					g.Go("child", sleep(2*time.Hour))
					return nil
				})
			})
			expect(t, "error", err, aio.ErrCanceled)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("without tasks", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(*aio.Group) error { return task.Sleep(time.Hour) })
			})
			expect(t, "error", err, aio.ErrCanceled)
			return nil
		})
	})
	t.Run("body turns it into an error", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(*aio.Group) error {
					_ = task.Sleep(time.Hour)
					return errA
				})
			})
			expect(t, "error", err, errA)
			return nil
		})
	})
	t.Run("all was done already", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("last words", func(task *aio.Task) error {
						_ = task.Sleep(time.Hour)
						return nil // cancelled, and it had no more to do
					})
					return nil
				})
			})
			expect(t, "error", err, nil)
			return nil
		})
	})
	t.Run("a task's clean-up waits and fails", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("child", func(task *aio.Task) error {
						_ = task.Sleep(time.Hour)
						return task.Shield(failAfter(time.Second, errA))
					})
					return task.Sleep(time.Hour)
				})
			})
			expectIs(t, "error", err, errA)
			expect(t, "time", now(task), 2*time.Second)
			return nil
		})
	})
	t.Run("a crash that was due later never comes", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := cancelRunner(task, time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("crash soon", failAfter(3*time.Second, errA))
					err := task.Sleep(time.Hour)
					_ = task.Shield(sleep(5 * time.Second))
					return err
				})
			})
			expect(t, "error", err, aio.ErrCanceled)
			expect(t, "time", now(task), 6*time.Second)
			return nil
		})
	})
}

func TestGroupNested(t *testing.T) {
	inner := func(task *aio.Task, name string, fn func(task *aio.Task) error) error {
		return task.Group(func(g *aio.Group) error {
			g.Go(name, fn)
			return nil
		})
	}
	t.Run("cancelled from outside", func(t *testing.T) {
		for name, also := range map[string]func(g *aio.Group){
			"alone":          func(*aio.Group) {},
			"with a sibling": func(g *aio.Group) { g.Go("sibling", sleep(time.Hour)) },
		} {
			t.Run(name, func(t *testing.T) {
				run(t, func(task *aio.Task) error {
					err := cancelRunner(task, time.Second, func(task *aio.Task) error {
						return task.Group(func(g *aio.Group) error {
							also(g)
							return inner(task, "child", failAfter(2*time.Second, errA))
						})
					})
					expect(t, "error", err, aio.ErrCanceled)
					expect(t, "time", now(task), time.Second)
					return nil
				})
			})
		}
	})
	t.Run("a task of the outer one fails", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("outer", failAfter(time.Second, errA))
				err := inner(task, "inner", failAfter(10*time.Second, errB))
				expectIs(t, "what the inner group returns", err, aio.ErrCanceled)
				return err
			})
			expect(t, "text", err.Error(), "outer: error a")
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("a task of the inner one fails", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("outer", failAfter(10*time.Second, errA))
				return inner(task, "inner", failAfter(time.Second, errB))
			})
			expect(t, "text", err.Error(), "inner: error b")
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("the inner one fails and is caught", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				other := g.Go("other", sleep(10*time.Second))
				err := inner(task, "inner", failAfter(time.Second, errB))
				expectIs(t, "inner", err, errB)
				expect(t, "the outer group goes on", other.Await(task), nil)
				expect(t, "time", now(task), 10*time.Second)
				return nil
			})
		})
	})
	t.Run("the names are the chain of callers", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := inner(task, "crawl", func(task *aio.Task) error {
				return inner(task, "host example.org", func(task *aio.Task) error {
					return inner(task, "fetch", func(*aio.Task) error { return io.ErrUnexpectedEOF })
				})
			})
			expectIs(t, "error", err, io.ErrUnexpectedEOF)
			expect(t, "text", err.Error(), "crawl: host example.org: fetch: unexpected EOF")
			return nil
		})
	})
	t.Run("a thousand deep", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var down func(depth int) func(task *aio.Task) error
			down = func(depth int) func(task *aio.Task) error {
				if depth == 0 {
					return sleep(time.Hour)
				}
				return func(task *aio.Task) error { return inner(task, "deeper", down(depth-1)) }
			}
			err := cancelRunner(task, time.Second, down(1000))
			expectIs(t, "error", err, aio.ErrCanceled)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
}

func TestGroupCancel(t *testing.T) {
	t.Run("by the body", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var waiters []*aio.Task
			first := -1
			err := task.Group(func(g *aio.Group) error {
				done := aio.Go(g, "done", func(*aio.Task) (int, error) { return 2, nil })
				never := aio.Go(g, "never", func(task *aio.Task) (int, error) { return 3, task.Sleep(time.Hour) })
				waiters = append(waiters, g.Go("waiter", sleep(time.Hour)), g.Go("waiter", sleep(time.Hour)))
				var err error
				first, err = aio.First(task, never, done)
				g.Cancel()
				g.Cancel()
				return err
			})
			expect(t, "error", err, nil)
			expect(t, "first", first, 1)
			for _, w := range waiters {
				expectIs(t, "waiter", w.Err(), aio.ErrCanceled)
			}
			expect(t, "time", now(task), 0)
			expect(t, "the task can wait again", task.Sleep(time.Second), nil)
			return nil
		})
	})
	t.Run("by a task", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("canceller", func(task *aio.Task) error {
					err := task.Sleep(time.Second)
					g.Cancel()
					return err
				})
				g.Go("sibling", sleep(time.Hour))
				err := task.Sleep(time.Hour)
				expectIs(t, "body", err, aio.ErrCanceled)
				return err
			})
			expect(t, "error", err, nil)
			expect(t, "time", now(task), time.Second)
			return nil
		})
	})
	t.Run("an error in the clean-up is returned", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("child", func(task *aio.Task) error {
					_ = task.Sleep(time.Hour)
					return errA
				})
				settle(task)
				g.Cancel()
				return nil
			})
			expectIs(t, "error", err, errA)
			return nil
		})
	})
	t.Run("a task started afterwards never runs", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Cancel()
				g.Go("late", func(*aio.Task) error {
					t.Error("the body ran")
					return nil
				})
				return nil
			})
		})
	})
	t.Run("after an error nothing begins", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Group(func(g *aio.Group) error {
				g.Go("bad", failAfter(time.Second, errA))
				_ = task.Sleep(time.Hour)
				g.Go("late", func(*aio.Task) error {
					t.Error("the body ran")
					return nil
				})
				return nil
			})
			expectIs(t, "error", err, errA)
			return nil
		})
	})
}

func TestGroupInATimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var children []*aio.Task
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				for range 3 {
					children = append(children, g.Go("child", sleep(time.Hour)))
				}
				return nil
			})
		})
		expectIs(t, "error", err, aio.ErrTimeout)
		expect(t, "time", now(task), time.Second)
		for _, c := range children {
			expectIs(t, "child", c.Err(), aio.ErrCanceled)
		}
		return nil
	})
}

func TestGroupGo(t *testing.T) {
	t.Run("by a child", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			started := 0
			err := task.Group(func(g *aio.Group) error {
				g.Go("root", func(task *aio.Task) error {
					if err := task.Sleep(time.Second); err != nil {
						return err
					}
					for _, s := range []time.Duration{1, 2} {
						started++
						g.Go("grandchild", sleep(s*time.Second))
					}
					return nil
				})
				return nil
			})
			expect(t, "started", started, 2)
			expect(t, "time", now(task), 3*time.Second)
			return err
		})
	})
	t.Run("by the last child, while the group waits for it", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				var chain func(n int) func(task *aio.Task) error
				chain = func(n int) func(task *aio.Task) error {
					return func(task *aio.Task) error {
						j.add("%d, %d running", n, g.Len())
						if n > 0 {
							g.Go("next", chain(n-1))
						}
						return nil
					}
				}
				g.Go("first", chain(2))
				return nil
			})
		})
		j.expect(t, "2, 1 running", "1, 1 running", "0, 1 running")
	})
	t.Run("by children that multiply until one fails", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			hydras := 0
			err := task.Group(func(g *aio.Group) error {
				var hydra func(task *aio.Task) error
				hydra = func(task *aio.Task) error {
					hydras++
					if err := task.Sleep(time.Second); err != nil {
						return err
					}
					g.Go("hydra", hydra)
					g.Go("hydra", hydra)
					return nil
				}
				g.Go("hydra", hydra)
				g.Go("hercules", func(task *aio.Task) error {
					for hydras < 10 {
						if err := task.Sleep(1500 * time.Millisecond); err != nil {
							return err
						}
					}
					return errA
				})
				return nil
			})
			expect(t, "text", err.Error(), "hercules: error a")
			expect(t, "enough hydras", hydras >= 10, true)
			return nil
		})
	})
	t.Run("by a callback", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			ran := false
			err := task.Group(func(g *aio.Group) error {
				task.Loop().CallLater(time.Second, func() {
					g.Go("child", func(*aio.Task) error { ran = true; return nil })
				})
				return task.Sleep(2 * time.Second)
			})
			expect(t, "ran", ran, true)
			return err
		})
	})
	t.Run("after the end", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var old *aio.Group
			_ = task.Group(func(g *aio.Group) error {
				old = g
				return nil
			})
			expectPanic(t, `"late" started in a group that has ended`, func() {
				old.Go("late", func(*aio.Task) error { return nil })
			})
			return nil
		})
	})
	t.Run("without a function", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				expectPanic(t, `"nothing" started without a function`, func() { g.Go("nothing", nil) })
				expect(t, "length", g.Len(), 0)
				return nil
			})
		})
	})
}

// Another goroutine starts a task on the loop, and gets the result over a channel.
func TestGroupGoFromAGoroutine(t *testing.T) {
	type result struct {
		sum int
		err error
	}
	// add starts fn in g, on the loop, for a caller elsewhere.
	add := func(h *aio.Handle, g *aio.Group, fn func(task *aio.Task) error) (<-chan result, error) {
		results := make(chan result, 1)
		err := h.Post(func() {
			f := aio.Go(g, "add", func(task *aio.Task) (int, error) { return 1 + 2, fn(task) })
			f.OnDone(func() {
				sum, err := f.Result()
				results <- result{sum, err}
			})
		})
		return results, err
	}
	for name, c := range map[string]struct {
		fn  func(task *aio.Task) error
		err error
	}{
		"result":      {sleep(time.Second), nil},
		"error":       {failAfter(time.Second, errA), errA},
		"cancelled":   {func(task *aio.Task) error { task.Cancel(); return task.Yield() }, aio.ErrCanceled},
		"timed out":   {func(task *aio.Task) error { return task.Timeout(0, sleep(time.Second)) }, aio.ErrTimeout},
		"it panicked": {func(*aio.Task) error { panic(errB) }, errB},
	} {
		t.Run(name, func(t *testing.T) {
			_ = runErr(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					h := task.Loop().Handle()
					over := aio.NewFuture[int](task.Loop())
					go func() {
						defer h.Close()
						results, err := add(h, g, c.fn)
						if err != nil {
							t.Error(err)
							return
						}
						r := <-results
						expectIs(t, "error", r.err, c.err)
						if c.err == nil {
							expect(t, "sum", r.sum, 3)
						}
						_ = h.Post(func() { _ = over.Set(0) })
					}()
					return task.Shield(func(task *aio.Task) error { // for tasks that fail the group
						_, err := over.Await(task)
						return err
					})
				})
			})
		})
	}
}

// A panic in the body continues only when the tasks have ended.
func TestGroupPanicInTheBody(t *testing.T) {
	var j journal
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("child", func(task *aio.Task) error {
				err := task.Sleep(time.Hour)
				_ = task.Shield(sleep(time.Second))
				j.add("child: %v at %v", err, now(task))
				return errB
			})
			settle(task)
			defer j.add("body")
			panic(errA)
		})
	})
	j.expect(t, "body", "child: canceled at 1s")
	expectIs(t, "error", err, errA)
	var p *aio.PanicError
	expect(t, "is a panic", errors.As(err, &p), true)
}

// TestGroupKeepsCleanUpError checks that the cancellation of a task does not hide the error of its
// clean-up.
func TestGroupKeepsCleanUpError(t *testing.T) {
	broken := errors.New("disk full")
	for name, fail := range map[string]func(err error) error{
		"joined":  func(err error) error { return errors.Join(err, broken) },
		"wrapped": func(err error) error { return fmt.Errorf("%w: %w", err, broken) },
		"panic":   func(err error) error { panic(fmt.Errorf("%w: %w", err, broken)) },
	} {
		t.Run(name, func(t *testing.T) {
			err := runErr(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("writer", func(task *aio.Task) error { return fail(task.Sleep(time.Hour)) })
					if err := task.Yield(); err != nil {
						return err
					}
					g.Cancel()
					return nil
				})
			})
			if !errors.Is(err, broken) {
				t.Errorf("error %v, expected %v in it", err, broken)
			}
		})
	}
}
