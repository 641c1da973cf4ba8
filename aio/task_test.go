package aio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestTaskResult(t *testing.T) {
	run(t, func(task *aio.Task) error {
		expect(t, "name of the first", task.Name(), "main")
		return task.Group(func(g *aio.Group) error {
			began := false
			child := g.Go("child", func(child *aio.Task) error {
				began = true
				expect(t, "loop", child.Loop(), task.Loop())
				return nil
			})
			expect(t, "name", child.Name(), "child")
			expect(t, "ran inside Go", began, false)
			expect(t, "done before it ran", child.Done(), false)
			err := child.Await(task)
			expect(t, "done", child.Done(), true)
			expect(t, "error", child.Err(), nil)
			expect(t, "await of what has ended", child.Await(task), nil)
			return err
		})
	})
}

func TestTaskValues(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			outer := aio.Go(g, "outer", func(task *aio.Task) (sum int, err error) {
				err = task.Group(func(g *aio.Group) error {
					a := aio.Go(g, "a", func(*aio.Task) (int, error) { return 42, nil })
					b := aio.Go(g, "b", func(*aio.Task) (int, error) { return 1000, nil })
					values, err := aio.Gather(task, a, b)
					if err == nil {
						sum = values[0] + values[1]
					}
					return err
				})
				return sum, err
			})
			v, err := outer.Await(task)
			expect(t, "sum", v, 1042)
			return err
		})
	})
}

func TestTaskErrorKeepsTheChain(t *testing.T) {
	run(t, func(task *aio.Task) error {
		err := task.Group(func(g *aio.Group) error {
			g.Go("reader", func(*aio.Task) error { return fmt.Errorf("page 7: %w", io.ErrUnexpectedEOF) })
			return nil
		})
		expectIs(t, "error", err, io.ErrUnexpectedEOF)
		expect(t, "text", err.Error(), "reader: page 7: unexpected EOF")
		var te *aio.TaskError
		if !errors.As(err, &te) || te.Task != "reader" {
			t.Errorf("%#v is not the error of task reader", err)
		}
		return nil
	})
}

// A task that awaits another gets its error; so does its group.
func TestTaskAwaitReturnsTheError(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			bad := g.Go("bad", func(*aio.Task) error { return io.EOF })
			good := g.Go("good", func(task *aio.Task) error { return task.Sleep(time.Hour) })
			expect(t, "error of one that has not ended", good.Err(), nil)
			return task.Shield(func(task *aio.Task) error { // the group is cancelled by then
				err := bad.Await(task)
				expectIs(t, "await", err, io.EOF)
				expect(t, "error", bad.Err(), err)
				expectIs(t, "the other", good.Await(task), aio.ErrCanceled)
				return nil
			})
		})
	})
	expectIs(t, "group", err, io.EOF)
}

func TestTaskAwaitsItself(t *testing.T) {
	run(t, func(task *aio.Task) error {
		expectPanic(t, "awaits itself", func() { _ = task.Await(task) })
		return nil
	})
}

// Two tasks that await each other are a deadlock like any other.
func TestTaskAwaitCycle(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			var a, b *aio.Task
			a = g.Go("a", func(task *aio.Task) error { return b.Await(task) })
			b = g.Go("b", func(task *aio.Task) error { return a.Await(task) })
			return nil
		})
	})
	var deadlock *aio.DeadlockError
	if !errors.As(err, &deadlock) {
		t.Fatalf("got %v, want a DeadlockError", err)
	}
	expect(t, "tasks", len(deadlock.Tasks), 3)
}

// A wait takes the handle of the task it runs in: another task's is refused.
func TestTaskForeignHandle(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("other", func(*aio.Task) error {
				expectPanic(t, `"other" waits with the handle of task "main"`, func() { _ = task.Yield() })
				return nil
			})
			task.Loop().CallSoon(func() {
				expectPanic(t, "which is not running", func() { _ = task.Yield() })
			})
			return nil
		})
	})
}

// Time

func TestTaskSleep(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for _, s := range []int{3, 1, 2} {
				g.Go("sleeper", func(task *aio.Task) error {
					err := task.Sleep(time.Duration(s) * time.Second)
					j.add("%v", now(task))
					return err
				})
			}
			g.Go("sleeper until", func(task *aio.Task) error {
				err := task.SleepUntil(aiotest.Epoch.Add(2500 * time.Millisecond))
				j.add("%v", now(task))
				return err
			})
			return nil
		})
	})
	j.expect(t, "1s", "2s", "2.5s", "3s")
}

func TestTaskSleepOfNothingGivesUpTheTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		for _, d := range []time.Duration{0, -time.Second} {
			called := false
			task.Loop().CallSoon(func() { called = true })
			if err := task.Sleep(d); err != nil {
				return err
			}
			expect(t, "others ran", called, true)
		}
		err := task.SleepUntil(aiotest.Epoch.Add(-time.Hour))
		expect(t, "time", now(task), 0)
		return err
	})
}

// The remainder of an interrupted sleep does not end a later wait.
func TestTaskSleepBrokenOff(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var e aio.Event
		expectIs(t, "sleep", task.Timeout(time.Second, func(task *aio.Task) error { return task.Sleep(10 * time.Second) }), aio.ErrTimeout)
		expectIs(t, "wait", task.Timeout(time.Minute, e.Wait), aio.ErrTimeout)
		expect(t, "time", now(task), 61*time.Second)
		return nil
	})
}

func TestTaskYieldAlternates(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for _, name := range []string{"a", "b"} {
				g.Go(name, func(task *aio.Task) error {
					for i := range 3 {
						j.add("%s%d", task.Name(), i)
						if err := task.Yield(); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return nil
		})
	})
	j.expect(t, "a0", "b0", "a1", "b1", "a2", "b2")
}

// Cancel

func TestTaskCancelBeforeItsFirstStep(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(*aio.Task) error {
				t.Error("the body ran")
				return nil
			})
			expect(t, "cancel", child.Cancel(), true)
			expect(t, "cancel again", child.Cancel(), false)
			expect(t, "done in the same turn", child.Done(), false)
			expectIs(t, "error", child.Await(task), aio.ErrCanceled)
			return nil
		})
	})
}

func TestTaskCancelWhileItWaits(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error { return task.Sleep(10 * time.Second) })
			if err := task.Sleep(time.Second); err != nil {
				return err
			}
			expect(t, "cancel", child.Cancel(), true)
			err := child.Await(task)
			expectIs(t, "error", err, aio.ErrCanceled)
			expectIs(t, "error, as libraries see it", err, context.Canceled)
			expect(t, "time", now(task), time.Second)
			expect(t, "cancel of what has ended", child.Cancel(), false)
			return nil
		})
	})
}

// The current wait and every further one: a cancellation does not go away when it is noticed.
func TestTaskCancelIsLevelTriggered(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error {
				for range 5 {
					expectIs(t, "sleep", task.Sleep(time.Hour), aio.ErrCanceled)
				}
				return nil
			})
			settle(task)
			child.Cancel()
			err := child.Await(task)
			expect(t, "a task that swallows its cancel has its own result", err, nil)
			expect(t, "time", now(task), 0)
			return nil
		})
	})
}

func TestTaskCancelItself(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error {
				expect(t, "cancel", task.Cancel(), true)
				return task.Sleep(time.Hour) // the cancellation takes effect here
			})
			expectIs(t, "error", child.Await(task), aio.ErrCanceled)
			atEnd := aio.Go(g, "at its end", func(task *aio.Task) (int, error) {
				task.Cancel()
				return 12, nil
			})
			v, err := atEnd.Await(task)
			expect(t, "value of a task that did not wait again", v, 12)
			return err
		})
	})
}

func TestTaskCancelledWaitGivesUpTheTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			others := 0
			g.Go("stubborn", func(task *aio.Task) error {
				task.Cancel()
				for range 10 {
					_ = task.Yield()
				}
				if others < 9 {
					t.Errorf("others ran %d times during 10 cancelled waits", others)
				}
				return nil
			})
			g.Go("other", func(task *aio.Task) error {
				for range 10 {
					others++
					_ = task.Yield()
				}
				return nil
			})
			return nil
		})
	})
}

func TestTaskErrorWhileCancelled(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error {
				_ = task.Sleep(time.Hour)
				return io.ErrShortWrite // from the clean-up
			})
			settle(task)
			child.Cancel()
			return nil
		})
	})
	expectIs(t, "error", err, io.ErrShortWrite)
}

// A cancelled future is an error like any other for the tasks that wait for it.
func TestTaskWaitsForACancelledFuture(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error {
				_, err := f.Await(task)
				expectIs(t, "await", err, aio.ErrCanceled)
				expect(t, "the task itself is not cancelled", task.Sleep(time.Second), nil)
				return nil
			})
			settle(task)
			f.Cancel()
			expect(t, "result", child.Await(task), nil)
			return nil
		})
	})
}

func TestTaskCancelAndFutureInOneTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		f := aio.NewFuture[int](task.Loop())
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error { _, err := f.Await(task); return err })
			settle(task)
			f.Cancel()
			child.Cancel()
			expectIs(t, "result", child.Await(task), aio.ErrCanceled)
			return nil
		})
	})
}

func TestTaskCancelWhileItAwaitsAnother(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			inner := g.Go("inner", func(task *aio.Task) error { return task.Sleep(time.Second) })
			outer := g.Go("outer", inner.Await)
			settle(task)
			outer.Cancel()
			expectIs(t, "outer", outer.Await(task), aio.ErrCanceled)
			expect(t, "inner was cancelled with it", inner.Done(), false)
			err := inner.Await(task)
			expect(t, "time", now(task), time.Second)
			return err
		})
	})
}

func TestTaskIgnoringItsCancelIsReported(t *testing.T) {
	for name, ignore := range map[string]func(task *aio.Task) error{
		"sleep":      func(task *aio.Task) error { return task.Sleep(time.Second) },
		"checkpoint": (*aio.Task).Checkpoint,
		"queue":      func(task *aio.Task) error { return new(aio.Queue[int]).Put(task, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			var reports []aio.Report
			opt := aio.Options{Report: func(r aio.Report) { reports = append(reports, r) }}
			err := runWith(t, opt, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("stubborn", func(task *aio.Task) error {
						task.Cancel()
						for i := range 3000 {
							expectIs(t, "wait", ignore(task), aio.ErrCanceled)
							switch {
							case i < 999 && len(reports) > 0:
								t.Fatalf("reported after %d waits", i+1)
							case i >= 999 && len(reports) != 1:
								t.Fatalf("%d reports after %d waits", len(reports), i+1)
							}
						}
						return nil
					})
					return nil
				})
			})
			expect(t, "error", err, nil)
			for _, r := range reports {
				expect(t, "kind", r.Kind, aio.ReportIgnoresCancel)
				expect(t, "task", r.Task, "stubborn")
			}
		})
	}
}

// A loop that has to end gets rid of a task that refuses to: by Goexit, in the end.
func TestTaskIgnoringTheEndOfItsLoop(t *testing.T) {
	for name, ignore := range map[string]func(task *aio.Task, e *aio.Event){
		"waits":             func(task *aio.Task, e *aio.Event) { _ = e.Wait(task) },
		"waits with limits": func(task *aio.Task, e *aio.Event) { _ = task.Timeout(time.Hour, e.Wait) },
	} {
		t.Run(name, func(t *testing.T) {
			err := runErr(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("stubborn", func(task *aio.Task) error {
						return task.Shield(func(task *aio.Task) error {
							var e aio.Event
							_ = e.Wait(task) // for an event that will not come
							for {
								ignore(task, &e)
							}
						})
					})
					return nil
				})
			})
			var deadlock *aio.DeadlockError
			expect(t, "deadlock reported", errors.As(err, &deadlock), true)
			expectIs(t, "the end of the task", err, aio.ErrGoexit)
		})
	}
}

// A task that timed out a thousand times in a row was not asked to end.
func TestTaskTimingOutIsNotIgnoringItsCancel(t *testing.T) {
	for name, d := range map[string]time.Duration{"waiting": time.Second, "polling": 0} {
		t.Run(name, func(t *testing.T) {
			opt := aio.Options{Report: func(r aio.Report) { t.Error("reported:", r) }}
			err := runWith(t, opt, func(task *aio.Task) error {
				var e aio.Event
				for range 3000 {
					expectIs(t, "wait", task.Timeout(d, e.Wait), aio.ErrTimeout)
				}
				return nil
			})
			expect(t, "error", err, nil)
		})
	}
}

// Shield

func TestShield(t *testing.T) {
	t.Run("passes the result on", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			expect(t, "nil", task.Shield(func(*aio.Task) error { return nil }), nil)
			expect(t, "error", task.Shield(func(*aio.Task) error { return io.EOF }), io.EOF)
			return nil
		})
	})
	t.Run("holds a cancel off, which takes effect afterwards", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				child := g.Go("child", func(task *aio.Task) error {
					err := task.Shield(func(task *aio.Task) error { return task.Sleep(time.Second) })
					expect(t, "inside", err, nil)
					expect(t, "time", now(task), time.Second)
					return task.Sleep(time.Hour)
				})
				settle(task)
				expect(t, "cancel", child.Cancel(), true)
				settle(task)
				expect(t, "done at once", child.Done(), false)
				expectIs(t, "error", child.Await(task), aio.ErrCanceled)
				expect(t, "time", now(task), time.Second)
				return nil
			})
		})
	})
	t.Run("clean-up of a task that is cancelled already", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				child := g.Go("child", func(task *aio.Task) error {
					err := task.Sleep(time.Hour)
					cleanup := task.Shield(func(task *aio.Task) error { return task.Sleep(time.Second) })
					expect(t, "clean-up", cleanup, nil)
					return err
				})
				settle(task)
				child.Cancel()
				expectIs(t, "error", child.Await(task), aio.ErrCanceled)
				expect(t, "time", now(task), time.Second)
				return nil
			})
		})
	})
	t.Run("a shield in a shield", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Go("child", func(task *aio.Task) error {
					task.Cancel()
					err := task.Shield(func(task *aio.Task) error {
						inner := task.Shield(func(task *aio.Task) error {
							expect(t, "innermost wait", task.Sleep(time.Second), nil)
							return aio.ErrCanceled // made up: it cancels nothing
						})
						expectIs(t, "inner", inner, aio.ErrCanceled)
						return task.Sleep(time.Second)
					})
					expect(t, "outer", err, nil)
					err = task.Yield()
					expectIs(t, "after both", err, aio.ErrCanceled)
					return err
				})
				return nil
			})
		})
	})
	t.Run("deadlines inside work, those outside do not", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				err := task.Shield(func(task *aio.Task) error {
					err := task.Timeout(5*time.Second, func(task *aio.Task) error { return task.Sleep(time.Hour) })
					expectIs(t, "inside", err, aio.ErrTimeout)
					return nil
				})
				expect(t, "time", now(task), 5*time.Second)
				expect(t, "shield", err, nil)
				return task.Yield()
			})
			expectIs(t, "outside", err, aio.ErrTimeout)
			return nil
		})
	})
	t.Run("a group inside is shielded with it", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				child := g.Go("child", func(task *aio.Task) error {
					err := task.Shield(func(task *aio.Task) error {
						return task.Group(func(g *aio.Group) error {
							g.Go("grandchild", func(task *aio.Task) error { return task.Sleep(time.Second) })
							return nil
						})
					})
					expect(t, "group", err, nil)
					expect(t, "time", now(task), time.Second)
					return nil
				})
				settle(task)
				child.Cancel()
				return nil
			})
		})
	})
	t.Run("a wait that another does for one", func(t *testing.T) {
		// The main use of asyncio.shield needs no shield here: a cancelled wait does not affect
		// what it waited for.
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				work := aio.Go(g, "work", func(task *aio.Task) (int, error) { return 1, task.Sleep(time.Minute) })
				err := task.Timeout(time.Second, func(task *aio.Task) error { _, err := work.Await(task); return err })
				expectIs(t, "first try", err, aio.ErrTimeout)
				v, err := work.Await(task)
				expect(t, "second try", v, 1)
				return err
			})
		})
	})
}

// Panic and Goexit

func TestTaskPanic(t *testing.T) {
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			sibling := g.Go("sibling", func(task *aio.Task) error { return task.Sleep(time.Hour) })
			g.Go("careless", func(task *aio.Task) error {
				defer func() { expect(t, "sibling was cancelled before the stack was unwound", sibling.Done(), false) }()
				panic(io.ErrNoProgress)
			})
			return nil
		})
	})
	expectIs(t, "the value of the panic", err, io.ErrNoProgress)
	var p *aio.PanicError
	if !errors.As(err, &p) {
		t.Fatalf("got %v, want a PanicError", err)
	}
	expect(t, "value", p.Value, any(io.ErrNoProgress))
	if !strings.Contains(string(p.Stack), "TestTaskPanic") {
		t.Errorf("the stack does not say where the panic was:\n%s", p.Stack)
	}
}

func TestTaskGoexit(t *testing.T) {
	var j journal
	err := runErr(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			g.Go("exits", func(task *aio.Task) error {
				defer j.add("deferred")
				if err := task.Yield(); err != nil {
					return err
				}
				runtime.Goexit()
				return nil
			})
			g.Go("sibling", func(task *aio.Task) error {
				err := task.Sleep(time.Hour)
				j.add("sibling: %v", err)
				return err
			})
			return nil
		})
	})
	expectIs(t, "error", err, aio.ErrGoexit)
	j.expect(t, "deferred", "sibling: canceled")
}

// Whatever ends a body early, its open scopes are closed and the tasks it started have ended
// before the code around it continues.
func TestTaskBodyEndsEarly(t *testing.T) {
	ends := map[string]func(){
		"panic":  func() { panic("enough") },
		"goexit": runtime.Goexit,
	}
	bodies := map[string]func(task *aio.Task, j *journal, end func()) error{
		"timeout": func(task *aio.Task, j *journal, end func()) error {
			return task.Timeout(time.Second, func(task *aio.Task) error { end(); return nil })
		},
		"expired timeout": func(task *aio.Task, j *journal, end func()) error {
			return task.Timeout(time.Second, func(task *aio.Task) error {
				_ = task.Sleep(time.Hour)
				end()
				return nil
			})
		},
		"shield": func(task *aio.Task, j *journal, end func()) error {
			return task.Shield(func(task *aio.Task) error { end(); return nil })
		},
		"group": func(task *aio.Task, j *journal, end func()) error {
			return task.Group(func(g *aio.Group) error {
				g.Go("child", func(task *aio.Task) error {
					err := task.Sleep(time.Hour)
					_ = task.Shield(func(task *aio.Task) error { return task.Sleep(time.Second) })
					j.add("child: %v", err)
					return err
				})
				settle(task)
				end()
				return nil
			})
		},
		"all of them": func(task *aio.Task, j *journal, end func()) error {
			return task.Timeout(time.Hour, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("child", func(task *aio.Task) error {
						err := task.Sleep(time.Hour)
						j.add("child: %v", err)
						return err
					})
					settle(task)
					return task.Shield(func(task *aio.Task) error {
						return task.Timeout(time.Minute, func(task *aio.Task) error { end(); return nil })
					})
				})
			})
		},
	}
	for how, end := range ends {
		for where, body := range bodies {
			t.Run(how+" in a "+where, func(t *testing.T) {
				var j journal
				err := runErr(t, func(task *aio.Task) error {
					defer func() {
						expect(t, "waits work again", task.Sleep(time.Second), nil)
						task.Cancel()
						expectIs(t, "and are cancelled with the task", task.Yield(), aio.ErrCanceled)
						j.add("after")
						_ = recover() // a nil from Goexit
					}()
					return body(task, &j, end)
				})
				want := []string{"after"}
				if where == "group" || where == "all of them" {
					want = []string{"child: canceled", "after"}
				}
				j.expect(t, want...)
				if how == "goexit" {
					expectIs(t, "error", err, aio.ErrGoexit)
				} else {
					expect(t, "error", err, nil)
				}
			})
		}
	}
}

// The context of a task, for libraries

func TestContextIsDoneOnCancel(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			child := g.Go("child", func(task *aio.Task) error {
				ctx := task.Context()
				expect(t, "error", ctx.Err(), nil)
				expect(t, "same context when asked again", task.Context(), ctx)
				_, limited := ctx.Deadline()
				expect(t, "has a deadline", limited, false)
				err := task.Sleep(time.Hour)
				expect(t, "error after the cancel", ctx.Err(), context.Canceled)
				<-ctx.Done()
				expect(t, "error of a later context", task.Context().Err(), context.Canceled)
				return err
			})
			settle(task)
			child.Cancel()
			return nil
		})
	})
}

func TestContextOfATimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		outer := task.Context()
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			ctx := task.Context()
			at, limited := ctx.Deadline()
			expect(t, "has a deadline", limited, true)
			expect(t, "deadline", at, aiotest.Epoch.Add(time.Second))
			err := task.Sleep(time.Hour)
			<-ctx.Done()
			expect(t, "error", ctx.Err(), context.DeadlineExceeded)
			expect(t, "cause", context.Cause(ctx), error(context.DeadlineExceeded))
			return err
		})
		expectIs(t, "timeout", err, aio.ErrTimeout)
		expect(t, "the outer context", outer.Err(), nil)
		return nil
	})
}

// Inner scopes see the deadline of outer ones: the nearest in force counts.
func TestContextDeadlineInForce(t *testing.T) {
	run(t, func(task *aio.Task) error {
		deadline := func(task *aio.Task) time.Duration {
			at, ok := task.Context().Deadline()
			if !ok {
				return -1
			}
			return at.Sub(aiotest.Epoch)
		}
		return task.Timeout(time.Minute, func(task *aio.Task) error {
			return task.Timeout(time.Hour, func(task *aio.Task) error {
				expect(t, "the outer one is nearer", deadline(task), time.Minute)
				return task.Timeout(time.Second, func(task *aio.Task) error {
					expect(t, "the inner one is nearer", deadline(task), time.Second)
					return task.Group(func(g *aio.Group) error {
						g.Go("child", func(task *aio.Task) error {
							expect(t, "in a task of a group", deadline(task), time.Second)
							return nil
						})
						return task.Shield(func(task *aio.Task) error {
							expect(t, "behind a shield", deadline(task), -1)
							return nil
						})
					})
				})
			})
		})
	})
}

func TestContextEndsWithItsScope(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var ended []context.Context
		note := func(task *aio.Task) error {
			ended = append(ended, task.Context())
			return nil
		}
		main := task.Context()
		_ = task.Timeout(time.Second, note)
		_ = task.Shield(note)
		err := task.Group(func(g *aio.Group) error {
			g.Go("child", note)
			return note(task)
		})
		expect(t, "contexts", len(ended), 4)
		for _, ctx := range ended {
			<-ctx.Done()
			expect(t, "error", ctx.Err(), context.Canceled)
		}
		expect(t, "context of the task", main.Err(), nil)
		return err
	})
}

func TestContextBehindAShield(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(context.Background())
	err := aio.NewLoop(aio.Options{Clock: aiotest.NewClock()}).Run(ctx, func(task *aio.Task) error {
		defer task.Loop().Handle().Close() // the cancellation comes from outside: wait for it
		cancel(why)
		err := new(aio.Event).Wait(task)
		_ = task.Shield(func(task *aio.Task) error {
			ctx := task.Context()
			expect(t, "error", ctx.Err(), nil)
			expect(t, "cause while not done", context.Cause(ctx), nil)
			return nil
		})
		expect(t, "error outside", task.Context().Err(), context.Canceled)
		return err
	})
	expect(t, "error of the loop", err, why)
}

// The context gives the reason its scope ended: a later deadline, or one beyond a shield, is not
// the reason.
func TestContextSaysWhy(t *testing.T) {
	t.Run("cancelled before the deadline", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				child := g.Go("child", func(task *aio.Task) error {
					return task.Timeout(time.Second, func(task *aio.Task) error {
						err := task.Sleep(time.Hour)
						_ = task.Shield(sleep(time.Minute))
						expect(t, "error", task.Context().Err(), context.Canceled)
						return err
					})
				})
				settle(task)
				child.Cancel()
				return nil
			})
		})
	})
	t.Run("cancelled behind a shield", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				err := task.Sleep(time.Hour)
				return errors.Join(err, task.Shield(func(task *aio.Task) error {
					return task.Group(func(g *aio.Group) error {
						g.Cancel()
						expect(t, "error", task.Context().Err(), context.Canceled)
						return nil
					})
				}))
			})
			expectIs(t, "timeout", err, aio.ErrTimeout)
			return nil
		})
	})
	t.Run("timed out in a task of a group", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			err := task.Timeout(time.Second, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("child", func(task *aio.Task) error {
						early := task.Context()
						err := task.Sleep(time.Hour)
						expect(t, "error", early.Err(), context.DeadlineExceeded)
						expect(t, "error of a late context", task.Context().Err(), context.DeadlineExceeded)
						return err
					})
					return nil
				})
			})
			expectIs(t, "timeout", err, aio.ErrTimeout)
			return nil
		})
	})
}

func TestContextValues(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "value")
	err := aio.NewLoop(aio.Options{Clock: aiotest.NewClock()}).Run(ctx, func(task *aio.Task) error {
		return task.Timeout(time.Second, func(task *aio.Task) error {
			expect(t, "value", task.Context().Value(key{}), any("value"))
			expect(t, "no value", task.Context().Value("other"), nil)
			return nil
		})
	})
	expect(t, "error", err, nil)
}

func TestContextAfterFunc(t *testing.T) {
	run(t, func(task *aio.Task) error {
		called, stopped := make(chan error, 1), make(chan error, 1)
		var ctx context.Context
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			ctx = task.Context()
			context.AfterFunc(ctx, func() { called <- ctx.Err() })
			stop := context.AfterFunc(ctx, func() { stopped <- ctx.Err() })
			expect(t, "stop", stop(), true)
			expect(t, "stop again", stop(), false)
			return task.Sleep(time.Hour)
		})
		expectIs(t, "timeout", err, aio.ErrTimeout)
		expect(t, "error seen by the function", <-called, context.DeadlineExceeded)
		expect(t, "calls of the stopped one", len(stopped), 0)
		late := make(chan error)
		stop := context.AfterFunc(ctx, func() { late <- ctx.Err() })
		expect(t, "error seen by one that came late", <-late, context.DeadlineExceeded)
		expect(t, "stop of what has run", stop(), false)
		// Package context checks whether it is done first, but need not be in time.
		direct := ctx.(interface{ AfterFunc(func()) func() bool })
		stop = direct.AfterFunc(func() { late <- ctx.Err() })
		expect(t, "error seen by a late direct AfterFunc", <-late, context.DeadlineExceeded)
		expect(t, "stop of what has run", stop(), false)
		return nil
	})
}

// Contexts derived from a task's context end with it, without a goroutine each.
func TestContextDerived(t *testing.T) {
	type key struct{}
	run(t, func(task *aio.Task) error {
		var all []context.Context
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			before := runtime.NumGoroutine()
			for range 100 {
				ctx, cancel := context.WithCancel(task.Context())
				defer cancel()
				ctx, cancel = context.WithTimeout(context.WithValue(ctx, key{}, 1), time.Hour)
				defer cancel()
				all = append(all, ctx)
			}
			if more := runtime.NumGoroutine() - before; more > 10 {
				t.Errorf("200 contexts brought %d goroutines", more)
			}
			err := task.Sleep(time.Hour)
			for _, ctx := range all { // before the defers cancel them
				<-ctx.Done()
				expect(t, "error", ctx.Err(), context.DeadlineExceeded)
			}
			return err
		})
		expectIs(t, "timeout", err, aio.ErrTimeout)

		ctx, cancel := context.WithCancel(task.Context())
		cancel()
		expect(t, "error of the derived one", ctx.Err(), context.Canceled)
		expect(t, "error of the task's own", task.Context().Err(), nil)
		return nil
	})
}

// Any goroutine may use the context, while the loop ends it.
func TestContextFromOtherGoroutines(t *testing.T) {
	run(t, func(task *aio.Task) error {
		const n = 20
		results := make(chan error, n)
		err := task.Timeout(time.Second, func(task *aio.Task) error {
			ctx := task.Context()
			for range n {
				go func() {
					_, _ = ctx.Deadline()
					_ = ctx.Err()
					<-ctx.Done()
					results <- ctx.Err()
				}()
			}
			return task.Sleep(time.Hour)
		})
		expectIs(t, "timeout", err, aio.ErrTimeout)
		for range n {
			expect(t, "error", <-results, context.DeadlineExceeded)
		}
		return nil
	})
}
