//go:build linux

package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Futures is the way of Python's asyncio, from first principles. Callbacks tear a program
// into pieces; coroutines hold it together. Three things bring the two together:
//
//   - a [Future] is a result that is not there yet, and knows whom to call when it is;
//   - a [Coroutine] yields the future that it can't go on without;
//   - a [Task] drives a coroutine: its Step resumes it and asks the future that comes out to
//     call Step again.
//
// So there are callbacks still, but in this file only. The fetching itself, in
// futures_fetch.go, reads as if each line waited; so does the crawl in futures_crawl.go.
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

// Loop calls what is due, then asks the kernel which sockets are ready.
type Loop struct {
	due     []func()
	epoll   int                   // descriptor of epoll(7): whom to watch, kept by the kernel
	waiting map[int]*Future[none] // by descriptor watched
	events  [128]unix.EpollEvent  // what the kernel answers
	wake    int                   // descriptor of eventfd(2): how another thread ends our sleep
}

// NewLoop returns a loop, to be closed.
func NewLoop() (*Loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("lab: epoll_create: %w", err)
	}
	l := &Loop{epoll: epoll, waiting: make(map[int]*Future[none])}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("lab: eventfd: %w", err)
	}
	return l, nil
}

// Close gives the loop's descriptors back.
func (l *Loop) Close() {
	unix.Close(l.wake)
	unix.Close(l.epoll)
}

func (l *Loop) soon(call func()) { l.due = append(l.due, call) }

// Run runs a coroutine as the loop's first task until it returns, and cancels it when ctx is
// done. It has to await the tasks that it starts. A panic in any task comes out of Run.
func (l *Loop) Run(ctx context.Context, first *async[none]) error {
	main := Go(l, first)
	wake := NewFuture[none](l)
	wake.whenDone(main.Cancel)
	l.waiting[l.wake] = wake
	if err := l.control(unix.EPOLL_CTL_ADD, l.wake, unix.EPOLLIN|unix.EPOLLONESHOT); err != nil {
		return err
	}
	woken := make(chan none)
	stop := context.AfterFunc(ctx, func() { // on another thread
		_, _ = unix.Write(l.wake, binary.NativeEndian.AppendUint64(nil, 1))
		close(woken)
	})
	defer func() {
		if !stop() {
			<-woken // or it would write to a descriptor that is closed by then
		}
	}()
	for {
		due := l.due
		l.due = nil // what is called now may ask for more: that is for the next turn
		for _, call := range due {
			call()
		}
		if main.done {
			return main.err
		}
		if err := l.poll(); err != nil {
			return err
		}
	}
}

// poll resolves the futures of descriptors that are ready. It sleeps until there is one,
// unless something else is due.
func (l *Loop) poll() error {
	timeout := -1
	if len(l.due) > 0 {
		timeout = 0
	}
	n, err := unix.EpollWait(l.epoll, l.events[:], timeout)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("lab: epoll_wait: %w", err)
	}
	for _, e := range l.events[:max(n, 0)] {
		f := l.waiting[int(e.Fd)]
		delete(l.waiting, int(e.Fd))
		f.Resolve(none{}, nil)
	}
	return nil
}

// ready waits until a descriptor can be read (EPOLLIN) or written (EPOLLOUT), or has failed,
// which the call that is tried next will tell. One coroutine at a time waits for a descriptor.
func (l *Loop) ready(y *awaiter, fd int, events uint32) error {
	if err := l.control(unix.EPOLL_CTL_ADD, fd, events); err != nil {
		return err
	}
	f := NewFuture[none](l)
	l.waiting[fd] = f
	defer func() { // when it is ready, and when this task is cancelled
		delete(l.waiting, fd)
		_ = l.control(unix.EPOLL_CTL_DEL, fd, 0)
	}()
	_, err := f.Await(y)
	return err
}

func (l *Loop) control(op, fd int, events uint32) error {
	if err := unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("lab: epoll_ctl: %w", err)
	}
	return nil
}
