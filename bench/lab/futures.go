//go:build linux

package lab

import "context"

// Futures is the way of Python's asyncio, from first principles. Callbacks tear a program into
// pieces; coroutines hold it together. Three things connect the two:
//
//   - a [Future] is a result that is not there yet, with the functions to call when it is;
//   - a [Coroutine] yields the future that it needs next;
//   - a [Task] drives a coroutine: its Step resumes it and has the future that comes out call Step
//     again.
//
// So callbacks remain, but only here and in the loop (futures_loop.go), which resolves futures when
// sockets are ready. The fetch (futures_fetch.go) and the crawl (futures_crawl.go) read as if each
// line blocked.
var Futures = Way{
	Name:  "futures",
	About: "one thread: coroutines await futures, which a loop on epoll resolves",
	Fetch: fetchFutures,
	Crawl: crawlFutures,
}

type none = struct{}

// async is a coroutine that a task can drive: it yields what it waits for, is sent nothing, and
// finds the value in the future.
type async[Result any] = Coroutine[none, awaitable, Result]

// awaiter is an async seen from inside: a function that has one can wait.
type awaiter = Yielder[none, awaitable]

// awaitable is a Future of any type.
type awaitable interface {
	whenDone(call func())
}

func newAsync[Result any](name string, body func(y *awaiter) (Result, error)) *async[Result] {
	return NewCoroutine(name, func(y *awaiter, _ none) (Result, error) { return body(y) })
}

// await runs another coroutine as a part of this one and returns its result.
func await[Result any](y *awaiter, sub *async[Result]) (Result, error) {
	return Delegate(y, sub, none{})
}

// Future is a result that is not there yet.
type Future[T any] struct {
	loop  *Loop
	done  bool
	value T
	err   error
	calls []func()
}

// NewFuture returns a future for someone to resolve.
func NewFuture[T any](l *Loop) *Future[T] { return &Future[T]{loop: l} }

// Resolve sets the result, once, and wakes all coroutines that wait for it. They run after the
// caller's step, not within it.
func (f *Future[T]) Resolve(value T, err error) {
	f.done, f.value, f.err = true, value, err
	for _, call := range f.calls {
		f.loop.soon(call)
	}
	f.calls = nil
}

func (f *Future[T]) whenDone(call func()) {
	if f.done {
		f.loop.soon(call)
		return
	}
	f.calls = append(f.calls, call)
}

// Await suspends the calling coroutine until there is a result: it yields the future itself, down
// to the task. An error before that was thrown in.
func (f *Future[T]) Await(y *awaiter) (T, error) {
	if !f.done {
		if _, err := y.Yield(f); err != nil {
			var none T
			return none, err
		}
	}
	return f.value, f.err
}

// Task drives a coroutine. It is also a future of the coroutine's result.
type Task[Result any] struct {
	Future[Result]
	coroutine *async[Result]
	awaits    awaitable // only its call steps the task
}

// Go starts a task, whose first step runs in the loop's next turn.
func Go[Result any](l *Loop, coroutine *async[Result]) *Task[Result] {
	t := &Task[Result]{Future: Future[Result]{loop: l}, coroutine: coroutine}
	l.soon(func() { t.Step(nil) })
	return t
}

// Step runs the coroutine up to its next wait. A non-nil error is thrown in where it waits.
func (t *Task[Result]) Step(thrown error) {
	if t.done {
		return
	}
	var next awaitable
	var yielded bool
	if thrown != nil {
		next, yielded = t.coroutine.Throw(thrown)
	} else {
		next, yielded = t.coroutine.Send(none{})
	}
	if !yielded {
		t.Resolve(t.coroutine.Result())
		return
	}
	t.awaits = next
	next.whenDone(func() {
		if t.awaits == next { // not after a cancellation, when it awaits something else
			t.Step(nil)
		}
	})
}

// Cancel throws [context.Canceled] into the task where it waits. The task is done when the defers
// of all its coroutines have run, from the innermost out.
func (t *Task[Result]) Cancel() {
	t.loop.soon(func() { t.Step(context.Canceled) })
}

// gather waits for all tasks. When one fails, or the caller is cancelled, it cancels the others, so
// that none is left running when it returns the first error.
func gather(y *awaiter, l *Loop, tasks []*Task[none]) error {
	var first error
	fail := func(err error) {
		if err != nil && first == nil {
			first = err
			for _, t := range tasks {
				t.Cancel()
			}
		}
	}
	left, over := len(tasks), NewFuture[none](l)
	for _, t := range tasks {
		t.whenDone(func() {
			fail(t.err)
			if left--; left == 0 {
				over.Resolve(none{}, nil)
			}
		})
	}
	for left > 0 {
		_, err := over.Await(y)
		fail(err)
	}
	return first
}
