package aio_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

func TestQueueLenAndFull(t *testing.T) {
	q := aio.NewQueue[string](2)
	expect(t, "new: length", q.Len(), 0)
	expect(t, "new: full", q.Full(), false)
	q.TryPut("a")
	expect(t, "one of two: full", q.Full(), false)
	q.TryPut("b")
	expect(t, "two of two: length", q.Len(), 2)
	expect(t, "two of two: full", q.Full(), true)
	q.TryGet()
	expect(t, "one taken: full", q.Full(), false)
}

func TestQueueUnbounded(t *testing.T) {
	for name, q := range map[string]*aio.Queue[int]{
		"zero value":   new(aio.Queue[int]),
		"zero size":    aio.NewQueue[int](0),
		"negative one": aio.NewQueue[int](-1),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 10_000 {
				if !q.TryPut(i) {
					t.Fatalf("item %d refused", i)
				}
			}
			expect(t, "full", q.Full(), false)
			for i := range 10_000 {
				if v, ok := q.TryGet(); !ok || v != i {
					t.Fatalf("item %d: got %d, %v", i, v, ok)
				}
			}
		})
	}
}

func TestQueueOrder(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var q aio.Queue[int]
		for _, v := range []int{1, 3, 2} {
			if err := q.Put(task, v); err != nil {
				return err
			}
		}
		for _, want := range []int{1, 3, 2} {
			v, err := q.Get(task)
			if err != nil {
				return err
			}
			expect(t, "item", v, want)
		}
		return nil
	})
}

func TestQueueTryOnTheEdges(t *testing.T) {
	q := aio.NewQueue[int](1)
	_, ok := q.TryGet()
	expect(t, "get from an empty queue", ok, false)
	expect(t, "put", q.TryPut(1), true)
	expect(t, "put into a full queue", q.TryPut(2), false)
	v, ok := q.TryGet()
	expect(t, "get", ok, true)
	expect(t, "item", v, 1)
	expect(t, "the refused item counts as work", q.Unfinished(), 1)
}

func TestQueueGetWaits(t *testing.T) {
	run(t, func(task *aio.Task) error {
		q := aio.NewQueue[int](1)
		task.Loop().CallLater(time.Second, func() { q.TryPut(1) })
		v, err := q.Get(task)
		expect(t, "item", v, 1)
		expect(t, "time", now(task), time.Second)
		return err
	})
}

func TestQueuePutWaits(t *testing.T) {
	run(t, func(task *aio.Task) error {
		q := aio.NewQueue[int](1)
		if err := q.Put(task, 1); err != nil {
			return err
		}
		expect(t, "time of a put that has a place", now(task), 0)
		task.Loop().CallLater(time.Second, func() { q.TryGet() })
		err := q.Put(task, 2)
		expect(t, "time", now(task), time.Second)
		expect(t, "length", q.Len(), 1)
		return err
	})
}

// Getters get their items in the order of their calls, and so do putters their places.
func TestQueueServesWaitersInOrder(t *testing.T) {
	t.Run("getters", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			return task.Group(func(g *aio.Group) error {
				for i := range 3 {
					g.Go(fmt.Sprint("getter ", i), func(task *aio.Task) error {
						v, err := q.Get(task)
						j.add("%s: %d", task.Name(), v)
						return err
					})
				}
				settle(task)
				for v := range 3 {
					q.TryPut(v)
				}
				return nil
			})
		})
		j.expect(t, "getter 0: 0", "getter 1: 1", "getter 2: 2")
	})
	t.Run("putters", func(t *testing.T) {
		var got []int
		run(t, func(task *aio.Task) error {
			q := aio.NewQueue[int](1)
			return task.Group(func(g *aio.Group) error {
				for v := range 5 {
					g.Go("putter", func(task *aio.Task) error { return q.Put(task, v) })
				}
				settle(task)
				for range 5 {
					v, err := q.Get(task)
					if err != nil {
						return err
					}
					got = append(got, v)
				}
				return nil
			})
		})
		if want := []int{0, 1, 2, 3, 4}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// However many tasks wait on both sides of a small queue, all get through.
func TestQueueManyPuttersAndGetters(t *testing.T) {
	for _, first := range []string{"putters", "getters"} {
		t.Run(first+" come first", func(t *testing.T) {
			const n = 50
			var got []int
			run(t, func(task *aio.Task) error {
				q := aio.NewQueue[int](1)
				return task.Group(func(g *aio.Group) error {
					putters := func() {
						for v := range n {
							g.Go("putter", func(task *aio.Task) error { return q.Put(task, v) })
						}
						settle(task)
					}
					getters := func() {
						for range n {
							g.Go("getter", func(task *aio.Task) error {
								v, err := q.Get(task)
								got = append(got, v)
								return err
							})
						}
						settle(task)
					}
					if first == "putters" {
						putters()
						getters()
					} else {
						getters()
						putters()
					}
					return nil
				})
			})
			for i, v := range got {
				if i != v {
					t.Fatalf("got %v", got)
				}
			}
			expect(t, "items", len(got), n)
		})
	}
}

func TestQueueWokenGetterKeepsItsItem(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var q aio.Queue[int]
		return task.Group(func(g *aio.Group) error {
			first := g.Go("first", func(task *aio.Task) error {
				v, err := q.Get(task)
				expect(t, "first: item", v, 1)
				expect(t, "first: error", err, nil)
				_, err = q.Get(task)
				expectIs(t, "first: the wait after", err, aio.ErrCanceled)
				return err
			})
			settle(task)
			q.TryPut(1)
			first.Cancel() // too late to take the item back
			q.TryPut(2)
			v, err := q.Get(task)
			expect(t, "item of the next", v, 2)
			return err
		})
	})
}

func TestQueueCancelledGetterLosesNothing(t *testing.T) {
	for _, cancelled := range []int{1, 10} {
		t.Run(fmt.Sprint(cancelled, " cancelled"), func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				var q aio.Queue[int]
				return task.Group(func(g *aio.Group) error {
					var victims []*aio.Task
					for range cancelled {
						victims = append(victims, g.Go("victim", func(task *aio.Task) error {
							_, err := q.Get(task)
							expectIs(t, "victim", err, aio.ErrCanceled)
							return err
						}))
					}
					g.Go("last in line", func(task *aio.Task) error {
						v, err := q.Get(task)
						expect(t, "item", v, 7)
						return err
					})
					settle(task)
					for _, v := range victims {
						v.Cancel()
					}
					q.TryPut(7) // in the same turn: the victims have yet to run
					settle(task)
					expect(t, "tasks left", g.Len(), 0)
					expect(t, "items left", q.Len(), 0)
					return nil
				})
			})
		})
	}
}

func TestQueueTimedOutWaitersLeaveNothingBehind(t *testing.T) {
	run(t, func(task *aio.Task) error {
		q := aio.NewQueue[int](1)
		get := func(task *aio.Task) error { _, err := q.Get(task); return err }
		put := func(task *aio.Task) error { return q.Put(task, 9) }
		for range 100 {
			expectIs(t, "get", task.Timeout(time.Second, get), aio.ErrTimeout)
		}
		expect(t, "put after 100 timed out gets", q.TryPut(1), true)
		for range 100 {
			expectIs(t, "put", task.Timeout(time.Second, put), aio.ErrTimeout)
		}
		v, ok := q.TryGet()
		expect(t, "item", v, 1)
		expect(t, "got", ok, true)
		_, ok = q.TryGet()
		expect(t, "an item of a timed out put was there", ok, false)
		expect(t, "unfinished", q.Unfinished(), 1)
		return nil
	})
}

func TestQueueCancelledPutterPutsNothing(t *testing.T) {
	run(t, func(task *aio.Task) error {
		q := aio.NewQueue[int](1)
		q.TryPut(1)
		return task.Group(func(g *aio.Group) error {
			victim := g.Go("victim", func(task *aio.Task) error { return q.Put(task, 2) })
			g.Go("next", func(task *aio.Task) error { return q.Put(task, 3) })
			settle(task)
			victim.Cancel()
			for _, want := range []int{1, 3} {
				v, err := q.Get(task)
				if err != nil {
					return err
				}
				expect(t, "item", v, want)
			}
			_, ok := q.TryGet()
			expect(t, "a third item", ok, false)
			return nil
		})
	})
}

func TestQueueWokenPutterKeepsItsPlace(t *testing.T) {
	run(t, func(task *aio.Task) error {
		q := aio.NewQueue[int](1)
		q.TryPut(1)
		return task.Group(func(g *aio.Group) error {
			putter := g.Go("putter", func(task *aio.Task) error {
				err := q.Put(task, 2)
				expect(t, "put", err, nil)
				return err
			})
			settle(task)
			q.TryGet()
			putter.Cancel()
			settle(task)
			v, ok := q.TryGet()
			expect(t, "item", v, 2)
			expect(t, "got", ok, true)
			return nil
		})
	})
}

// A task that comes while woken tasks have yet to run queues behind them.
func TestQueueNobodyBarges(t *testing.T) {
	t.Run("past a woken getter", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			return task.Group(func(g *aio.Group) error {
				g.Go("getter", func(task *aio.Task) error {
					v, err := q.Get(task)
					expect(t, "item of the one that waited", v, 1)
					return err
				})
				settle(task)
				q.TryPut(1)
				_, ok := q.TryGet()
				expect(t, "the getter's item was taken", ok, false)
				q.TryPut(2)
				v, ok := q.TryGet()
				expect(t, "got", ok, true)
				expect(t, "item of the one that came later", v, 2)
				return nil
			})
		})
	})
	t.Run("past a woken putter", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			q := aio.NewQueue[int](2)
			q.TryPut(1)
			q.TryPut(2)
			return task.Group(func(g *aio.Group) error {
				g.Go("putter", func(task *aio.Task) error { return q.Put(task, 3) })
				settle(task)
				q.TryGet()
				expect(t, "the putter's place was taken", q.TryPut(4), false)
				q.TryGet() // now there is a second place, but the putter has yet to run
				expect(t, "an item went in front of one that waited", q.TryPut(4), false)
				g.Go("later", func(task *aio.Task) error { return q.Put(task, 4) })
				settle(task)
				for _, want := range []int{3, 4} {
					v, ok := q.TryGet()
					expect(t, "got", ok, true)
					expect(t, "item", v, want)
				}
				return nil
			})
		})
	})
}

func TestQueueClose(t *testing.T) {
	t.Run("remaining items can be taken", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			q.TryPut(1)
			q.Close()
			q.Close()
			expect(t, "try put", q.TryPut(2), false)
			expectIs(t, "put", q.Put(task, 2), aio.ErrQueueClosed)
			v, err := q.Get(task)
			expect(t, "item", v, 1)
			expect(t, "error", err, nil)
			_, err = q.Get(task)
			expectIs(t, "get from the empty queue", err, aio.ErrQueueClosed)
			return nil
		})
	})
	t.Run("waiters learn of it", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			empty, full := aio.NewQueue[int](1), aio.NewQueue[int](1)
			full.TryPut(1)
			return task.Group(func(g *aio.Group) error {
				for range 2 {
					g.Go("getter", func(task *aio.Task) error {
						_, err := empty.Get(task)
						expectIs(t, "get", err, aio.ErrQueueClosed)
						return nil
					})
					g.Go("putter", func(task *aio.Task) error {
						expectIs(t, "put", full.Put(task, 2), aio.ErrQueueClosed)
						return nil
					})
				}
				settle(task)
				empty.Close()
				full.Close()
				settle(task)
				expect(t, "tasks left", g.Len(), 0)
				expect(t, "length of the full one", full.Len(), 1)
				return nil
			})
		})
	})
	t.Run("a woken getter still gets its item", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			return task.Group(func(g *aio.Group) error {
				g.Go("getter", func(task *aio.Task) error {
					v, err := q.Get(task)
					expect(t, "item", v, 1)
					return err
				})
				settle(task)
				q.TryPut(1)
				q.Close()
				return nil
			})
		})
	})
	t.Run("a woken putter is too late", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			q := aio.NewQueue[int](1)
			q.TryPut(1)
			return task.Group(func(g *aio.Group) error {
				g.Go("putter", func(task *aio.Task) error {
					expectIs(t, "put", q.Put(task, 2), aio.ErrQueueClosed)
					return nil
				})
				settle(task)
				q.TryGet()
				q.Close()
				settle(task)
				expect(t, "length", q.Len(), 0)
				expect(t, "unfinished", q.Unfinished(), 1)
				return nil
			})
		})
	})
}

func TestQueueTooManyTaskDone(t *testing.T) {
	var q aio.Queue[int]
	q.TryPut(1)
	q.TryGet()
	q.TaskDone()
	expectPanic(t, aio.ErrTooManyDone.Error(), q.TaskDone)

	err := runErr(t, func(task *aio.Task) error { q.TaskDone(); return nil })
	expectIs(t, "the error of the task that did it", err, aio.ErrTooManyDone)
}

func TestQueueJoin(t *testing.T) {
	t.Run("of an empty queue does not wait", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			return q.Join(task)
		})
	})
	t.Run("waits for every TaskDone", func(t *testing.T) {
		var j journal
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			return task.Group(func(g *aio.Group) error {
				for i := range 4 {
					q.TryPut(i)
				}
				for range 2 {
					g.Go("worker", func(task *aio.Task) error {
						for {
							v, err := q.Get(task)
							if err != nil {
								return err
							}
							if err := task.Sleep(time.Second); err != nil {
								return err
							}
							j.add("done with %d at %v", v, now(task))
							q.TaskDone()
						}
					})
				}
				for range 2 {
					g.Go("joiner", func(task *aio.Task) error {
						err := q.Join(task)
						j.add("joined")
						return err
					})
				}
				err := q.Join(task)
				j.add("joined at %v, unfinished %d", now(task), q.Unfinished())
				settle(task)
				g.Cancel()
				return err
			})
		})
		if n := len(j.lines); n > 3 {
			slices.Sort(j.lines[n-3:]) // the order of the joiners does not matter
		}
		j.expect(t, "done with 0 at 1s", "done with 1 at 1s", "done with 2 at 2s", "done with 3 at 2s",
			"joined", "joined", "joined at 2s, unfinished 0")
	})
	t.Run("goes on waiting if more work came before it ran", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			return task.Group(func(g *aio.Group) error {
				q.TryPut(1)
				joiner := g.Go("joiner", q.Join)
				settle(task)
				q.TaskDone()
				q.TryPut(2)
				settle(task)
				expect(t, "joined with work left", joiner.Done(), false)
				q.TaskDone()
				return joiner.Await(task)
			})
		})
	})
	t.Run("can be cancelled", func(t *testing.T) {
		run(t, func(task *aio.Task) error {
			var q aio.Queue[int]
			q.TryPut(1)
			expectIs(t, "join", task.Timeout(time.Second, q.Join), aio.ErrTimeout)
			expect(t, "unfinished", q.Unfinished(), 1)
			return nil
		})
	})
}

// A producer, two consumers, and a Join that ends when the work is done.
func TestQueueProducerAndConsumers(t *testing.T) {
	for name, max := range map[string]int{"unbounded": 0, "of two": 2, "of one": 1} {
		t.Run(name, func(t *testing.T) {
			var produced, consumed []int
			run(t, func(task *aio.Task) error {
				q := aio.NewQueue[int](max)
				return task.Group(func(g *aio.Group) error {
					for range 2 {
						g.Go("consumer", func(task *aio.Task) error {
							for {
								v, err := q.Get(task)
								if errors.Is(err, aio.ErrQueueClosed) {
									return nil
								} else if err != nil {
									return err
								}
								expect(t, "more than fits", max > 0 && q.Len() > max, false)
								consumed = append(consumed, v)
								if err := task.Sleep(100 * time.Millisecond); err != nil {
									return err
								}
								q.TaskDone()
							}
						})
					}
					for v := range 20 {
						if err := q.Put(task, v); err != nil {
							return err
						}
						produced = append(produced, v)
					}
					if err := q.Join(task); err != nil {
						return err
					}
					expect(t, "time of two working on 20 items", now(task), time.Second)
					q.Close()
					return nil
				})
			})
			if !slices.Equal(produced, consumed) {
				t.Errorf("consumed %v, produced %v", consumed, produced)
			}
		})
	}
}

// A queue belongs to one loop: other goroutines put through a Handle.
func TestQueueFedByAGoroutine(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var q aio.Queue[int]
		h := task.Loop().Handle()
		go func() {
			defer h.Close()
			for v := range 100 {
				_ = h.Post(func() { q.TryPut(v) })
			}
		}()
		for want := range 100 {
			v, err := q.Get(task)
			if err != nil {
				return err
			}
			expect(t, "item", v, want)
		}
		return nil
	})
}

// A task whose queue is never empty does not keep the loop.
func TestQueueGivesUpTheTurn(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var q aio.Queue[int]
		for v := range 10_000 {
			q.TryPut(v)
		}
		got, seen := 0, 0
		return task.Group(func(g *aio.Group) error {
			g.Go("greedy", func(task *aio.Task) error {
				for range 10_000 {
					if _, err := q.Get(task); err != nil {
						return err
					}
					got++
				}
				return nil
			})
			g.Go("other", func(task *aio.Task) error { seen = got; return nil })
			settle(task)
			if seen == 0 || seen > 1000 {
				t.Errorf("the other task ran after %d gets of the greedy one", seen)
			}
			return nil
		})
	})
}

// The whole contract of order and loss in one sentence: the k-th Get that succeeds, in the order
// of the calls, returns the argument of the k-th Put that succeeds, in the order of the calls.
// Random programs of puts, gets, tries, cancels and a Close, many of them in the same turn, check
// it.
func TestQueueAgainstModel(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				return queueProgram(t, task, rand.New(rand.NewPCG(seed, 0)))
			})
		})
	}
}

// queueCall is one Put or Get: err is meaningful once it has returned.
type queueCall struct {
	task     *aio.Task // nil for a try
	value    int
	err      error
	returned bool
}

func queueProgram(t *testing.T, task *aio.Task, rnd *rand.Rand) error {
	size := rnd.IntN(5)
	q := aio.NewQueue[int](size)
	var puts, gets []*queueCall // in the order of the calls
	closed := false
	next := 0

	check := func(quiet bool) {
		t.Helper()
		if size > 0 && q.Len() > size {
			t.Fatalf("%d items in a queue of %d", q.Len(), size)
		}
		putting, getting := 0, 0
		for _, c := range puts {
			if !c.returned {
				putting++
			}
		}
		for _, c := range gets {
			if !c.returned {
				getting++
			}
		}
		if !quiet {
			return
		}
		switch {
		case getting > 0 && (closed || q.Len() > 0):
			t.Fatalf("%d getters wait, %d items are there, closed: %v", getting, q.Len(), closed)
		case putting > 0 && (closed || !q.Full()):
			t.Fatalf("%d putters wait, full: %v, closed: %v", putting, q.Full(), closed)
		case size > 0 && q.Full() != (q.Len() == size):
			t.Fatalf("Full is %v with %d of %d items", q.Full(), q.Len(), size)
		}
	}

	quiesce := func() { // with a queue of one, one item passes every other turn
		for range 200 {
			_ = task.Yield()
		}
	}
	err := task.Group(func(g *aio.Group) error {
		for range 200 {
			switch op := rnd.IntN(100); {
			case op < 25: // the call happens in the task's first step
				next++
				c := &queueCall{value: next}
				c.task = g.Go("putter", func(task *aio.Task) error {
					puts = append(puts, c)
					c.err = q.Put(task, c.value)
					c.returned = true
					return nil
				})
			case op < 50:
				c := new(queueCall)
				c.task = g.Go("getter", func(task *aio.Task) error {
					gets = append(gets, c)
					c.value, c.err = q.Get(task)
					c.returned = true
					return nil
				})
			case op < 60:
				next++
				c := &queueCall{value: next, returned: true}
				if !q.TryPut(c.value) {
					c.err = aio.ErrQueueClosed // or full: it did not succeed
				}
				puts = append(puts, c)
			case op < 70:
				c := &queueCall{returned: true}
				var ok bool
				if c.value, ok = q.TryGet(); !ok {
					c.err = aio.ErrQueueClosed
				}
				gets = append(gets, c)
			case op < 80 && len(puts)+len(gets) > 0:
				all := slices.Concat(puts, gets)
				if c := all[rnd.IntN(len(all))]; c.task != nil {
					c.task.Cancel()
				}
			case op < 95:
				_ = task.Yield()
			case op < 96 && rnd.IntN(4) == 0:
				q.Close()
				closed = true
			default:
				quiesce()
				check(true)
			}
			check(false)
		}
		quiesce()
		check(true)
		for { // the remaining items
			v, ok := q.TryGet()
			if !ok {
				break
			}
			gets = append(gets, &queueCall{value: v, returned: true})
			settle(task) // lets a putter in
		}
		q.Close()
		return nil
	})

	var in, out []int
	for _, c := range puts {
		if c.err == nil {
			in = append(in, c.value)
		}
	}
	for _, c := range gets {
		if c.err == nil {
			out = append(out, c.value)
		}
	}
	if !slices.Equal(in, out) {
		t.Errorf("put %v\ngot %v", in, out)
	}
	expect(t, "unfinished", q.Unfinished(), len(in))
	return err
}
