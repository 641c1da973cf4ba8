//go:build linux

package lab

import (
	"context"
	"errors"
	"testing"

	"github.com/weftcrawl/weft/aio/aiotest"
)

// runLoop runs a loop's first task.
func runLoop(t *testing.T, body func(y *awaiter, l *Loop) error) error {
	t.Helper()
	aiotest.CheckLeaks(t)
	l, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Run(t.Context(), newAsync("main", func(y *awaiter) (none, error) { return none{}, body(y, l) }))
}

// pass gives up the turn.
func pass(y *awaiter, l *Loop) error {
	f := NewFuture[none](l)
	l.soon(func() { f.Resolve(none{}, nil) })
	_, err := f.Await(y)
	return err
}

func TestFutureWakesAllThatAwaitIt(t *testing.T) {
	var j journal
	err := runLoop(t, func(y *awaiter, l *Loop) error {
		word := NewFuture[string](l)
		waiter := func(y *awaiter) (none, error) {
			for range 2 { // the second time there is a result
				got, err := word.Await(y)
				j.note("%s %v", got, err)
			}
			return none{}, nil
		}
		a, b := Go(l, newAsync("a", waiter)), Go(l, newAsync("b", waiter))
		if err := pass(y, l); err != nil {
			return err
		}
		j.note("both wait")
		word.Resolve("hello", errOops)
		j.note("resolved")
		return gather(y, l, []*Task[none]{a, b})
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, "both wait", "resolved", "hello oops", "hello oops", "hello oops", "hello oops")
}

// A task is a future of its coroutine's result, and its error names all coroutines that it passed.
func TestTaskIsAwaited(t *testing.T) {
	err := runLoop(t, func(y *awaiter, l *Loop) error {
		seven := Go(l, newAsync("seven", func(y *awaiter) (int, error) { return 7, pass(y, l) }))
		if got, err := seven.Await(y); got != 7 || err != nil {
			t.Errorf("awaited, the task gave %d, %v", got, err)
		}
		failing := Go(l, newAsync("task", func(y *awaiter) (int, error) {
			return await(y, newAsync("inner", func(y *awaiter) (int, error) { return 0, errOops }))
		}))
		_, err := failing.Await(y)
		return err
	})
	if err == nil || err.Error() != "main: task: inner: oops" {
		t.Errorf("the error is %v", err)
	}
}

// A task that catches its cancellation continues, and its earlier wait does not wake it.
func TestCancelIsThrownIn(t *testing.T) {
	var j journal
	err := runLoop(t, func(y *awaiter, l *Loop) error {
		before, after := NewFuture[string](l), NewFuture[string](l)
		task := Go(l, newAsync("task", func(y *awaiter) (none, error) {
			_, err := before.Await(y)
			j.note("before: %v", err)
			word, err := after.Await(y)
			j.note("after: %s %v", word, err)
			return none{}, err
		}))
		_ = pass(y, l)
		task.Cancel()
		_ = pass(y, l)
		before.Resolve("too late", nil)
		_ = pass(y, l)
		after.Resolve("in time", nil)
		_, err := task.Await(y)
		task.Cancel() // no effect: it has ended
		return errors.Join(err, pass(y, l))
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, "before: context canceled", "after: in time <nil>")
}

// The first error cancels the other tasks, and returns when all have cleaned up.
func TestGather(t *testing.T) {
	var j journal
	err := runLoop(t, func(y *awaiter, l *Loop) error {
		never := NewFuture[none](l)
		waiting := Go(l, newAsync("waiting", func(y *awaiter) (none, error) {
			defer j.note("cleaned up")
			_, err := never.Await(y)
			j.note("%v", err)
			return none{}, pass(y, l)
		}))
		failing := Go(l, newAsync("failing", func(y *awaiter) (none, error) {
			_ = pass(y, l)
			return none{}, errOops
		}))
		err := gather(y, l, []*Task[none]{waiting, failing})
		j.note("%v", err)
		return gather(y, l, nil)
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, context.Canceled.Error(), "cleaned up", "failing: oops")
}
