//go:build linux

package lab

import "context"

// Futures is the way of Python's asyncio, from first principles. Callbacks tear a program
// into pieces; coroutines hold it together. Three things bring the two together:
//
//   - a [Future] is a result that is not there yet, and knows whom to call when it is;
//   - a [Coroutine] yields the future that it can't go on without;
//   - a [Task] drives a coroutine: its Step resumes it and asks the future that comes out to
//     call Step again.
//
// So there are callbacks still, but only here and in the loop (futures_loop.go), which resolves
// futures when sockets are ready. The fetching itself (futures_fetch.go) reads as if each line
// waited, and so does the crawl (futures_crawl.go).
var Futures = Way{
	Name:  "futures",
	About: "one thread: coroutines await futures, which a loop on epoll resolves",
	Fetch: fetchFutures,
	Crawl: crawlFutures,
}

type none = struct{}

// An async is a coroutine that a task can drive: it yields what it waits for, is sent nothing,
// and finds the value that it waited for in the future.
type async[Result any] = Coroutine[none, awaitable, Result]

// An awaiter is the inside of an async: who holds one can wait.
type awaiter = Yielder[none, awaitable]

// An awaitable is a Future of any type.
type awaitable interface {
	whenDone(call func())
}

func newAsync[Result any](name string, body func(y *awaiter) (Result, error)) *async[Result] {
	return NewCoroutine(name, func(y *awaiter, _ none) (Result, error) { return body(y) })
}

// await has another coroutine do a part of the work, and waits for its result.
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

// NewFuture returns a future that somebody is to resolve.
func NewFuture[T any](l *Loop) *Future[T] { return &Future[T]{loop: l} }

// Resolve gives the future its result, once, and wakes all that wait for it. They run after
// the caller's step, not within it.
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

// Await suspends the coroutine that calls it until there is a result: it yields the future
// itself, down to the task. An error that comes while there is none was thrown in.
func (f *Future[T]) Await(y *awaiter) (T, error) {
	if !f.done {
		if _, err := y.Yield(f); err != nil {
			var none T
			return none, err
		}
	}
	return f.value, f.err
}

// Task drives a coroutine. It is a future too: of what the coroutine returns.
type Task[Result any] struct {
	Future[Result]
	coroutine *async[Result]
	awaits    awaitable // the only one whose call steps the task
}

// Go starts a task. Its first step is taken in the loop's next turn.
func Go[Result any](l *Loop, coroutine *async[Result]) *Task[Result] {
	t := &Task[Result]{Future: Future[Result]{loop: l}, coroutine: coroutine}
	l.soon(func() { t.Step(nil) })
	return t
}

// Step runs the coroutine up to the next thing that it waits for; with an error, that is
// thrown in where it waits.
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
		if t.awaits == next { // and not something else, after a cancellation
			t.Step(nil)
		}
	})
}

// Cancel throws [context.Canceled] into the task, where it waits. The defers of all its
// coroutines run, from the innermost out, and it is done when they have.
func (t *Task[Result]) Cancel() {
	t.loop.soon(func() { t.Step(context.Canceled) })
}

// gather waits for the end of all tasks. When one fails, or the caller is cancelled, it cancels
// the others, so that none is left running when it returns the first error.
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
