package aio

import (
	"fmt"
	"iter"
	"slices"
)

// future is the part of a Future that does not depend on its type.
type future struct {
	loop      *Loop
	done      bool
	err       error
	task      *Task // the task whose result this is; nil for a future set by hand
	waiters   Lot
	callbacks []*Callback
}

// Future is a result that is not there yet. It gets exactly one result: a value, an error or a
// cancellation. It belongs to its loop.
type Future[T any] struct {
	*future
	value T
}

// NewFuture returns a future that gets its result from Set or Fail.
func NewFuture[T any](l *Loop) *Future[T] {
	return &Future[T]{future: &future{loop: l}}
}

// Go starts fn as a task of g and returns the future of its result. Cancelling the future cancels
// the task.
func Go[T any](g *Group, name string, fn func(t *Task) (T, error)) *Future[T] {
	f := new(Future[T])
	t := g.Go(name, func(t *Task) (err error) {
		f.value, err = fn(t)
		return err
	})
	f.future = &t.future
	return f
}

// Set sets the value of f. It returns ErrAlreadySet if f has a result or belongs to a task.
// Waiters become ready: callbacks and tasks run in the next turn.
func (f *Future[T]) Set(v T) error {
	if f.done || f.task != nil {
		return ErrAlreadySet
	}
	f.value = v
	f.complete(nil)
	return nil
}

// Fail sets an error as the result of f. It returns ErrAlreadySet if f has a result or belongs to
// a task.
func (f *Future[T]) Fail(err error) error {
	if err == nil {
		panic("aio: Future.Fail with a nil error")
	}
	if f.done || f.task != nil {
		return ErrAlreadySet
	}
	f.complete(err)
	return nil
}

// Result returns the value or the error; ErrNotDone if there is neither.
func (f *Future[T]) Result() (T, error) {
	if !f.done {
		var zero T
		return zero, ErrNotDone
	}
	return f.value, f.err
}

// Await suspends t until there is a result and returns it. Cancelling t ends the wait and does not
// affect f.
func (f *Future[T]) Await(t *Task) (T, error) {
	if err := f.await(t); err != nil {
		var zero T
		if f.done {
			return f.value, err
		}
		return zero, err
	}
	return f.value, nil
}

// Done reports whether there is a result.
func (f *future) Done() bool { return f.done }

// Err returns the error of the result; nil while there is none.
func (f *future) Err() error { return f.err }

// Cancel makes ErrCanceled the result, or cancels the task whose result this is. It reports
// whether there was anything left to cancel.
func (f *future) Cancel() bool {
	switch {
	case f.done:
		return false
	case f.task != nil:
		return f.task.Cancel()
	}
	f.complete(ErrCanceled)
	return true
}

// OnDone schedules fn for a turn after the result comes, for the next turn if it is there already.
// Callbacks run in the order in which they were added. Cancelling the returned callback removes
// it.
func (f *future) OnDone(fn func()) *Callback {
	c := &Callback{loop: f.loop, fn: fn}
	if f.done {
		f.loop.ready.push(c)
		return c
	}
	// On a long-lived future, cancelled callbacks would pile up.
	if len(f.callbacks) == cap(f.callbacks) {
		f.callbacks = slices.DeleteFunc(f.callbacks, func(c *Callback) bool { return c.fn == nil })
		f.callbacks = slices.Grow(f.callbacks, max(1, len(f.callbacks)))
	}
	f.callbacks = append(f.callbacks, c)
	return c
}

func (f *future) complete(err error) {
	f.done, f.err = true, err
	for _, c := range f.callbacks {
		f.loop.ready.push(c)
	}
	f.callbacks = nil
	f.waiters.UnparkAll(nil)
}

func (f *future) await(t *Task) error {
	if f.loop != t.loop {
		panic("aio: a future is awaited on its own loop: use Handle.Post to reach another")
	}
	if err := t.Checkpoint(); err != nil {
		return err
	}
	if !f.done {
		what := "a future"
		if f.task != nil {
			what = f.task.name
		}
		if err := f.waiters.Park(t, what); err != nil {
			return err
		}
	}
	return f.err
}

// Await suspends by until t has ended and returns t's error. Cancelling by ends the wait and does
// not affect t.
func (t *Task) Await(by *Task) error {
	if t == by {
		panic(fmt.Sprintf("aio: task %q awaits itself", t.name))
	}
	return t.await(by)
}

// Gather waits for all futures and returns their values in order, or the first error as soon as
// one fails. It cancels nothing: tasks belong to their groups.
func Gather[T any](t *Task, fs ...*Future[T]) ([]T, error) {
	for _, err := range AsCompleted(t, fs...) {
		if err != nil {
			return nil, err
		}
	}
	values := make([]T, len(fs))
	for i, f := range fs {
		values[i] = f.value
	}
	return values, nil
}

// First waits until one of the futures has a result and returns its index; the lowest, if several
// have.
func First[T any](t *Task, fs ...*Future[T]) (int, error) {
	if len(fs) == 0 {
		panic("aio: First of no futures")
	}
	for f, err := range AsCompleted(t, fs...) {
		if f == nil {
			return -1, err
		}
		break
	}
	for i, f := range fs {
		if f.done {
			return i, nil
		}
	}
	panic("unreachable")
}

// AsCompleted yields each future and its error as the results come, starting with those already
// there. When t is cancelled it yields (nil, ErrCanceled) and ends.
func AsCompleted[T any](t *Task, fs ...*Future[T]) iter.Seq2[*Future[T], error] {
	return func(yield func(*Future[T], error) bool) {
		var lot Lot
		var done []*Future[T]
		pending := make([]*Callback, 0, len(fs))
		defer func() {
			for _, c := range pending {
				c.Cancel()
			}
		}()
		for _, f := range fs {
			if f.loop != t.loop {
				panic("aio: a future is awaited on its own loop: use Handle.Post to reach another")
			}
			pending = append(pending, f.OnDone(func() {
				done = append(done, f)
				lot.Unpark(nil)
			}))
		}
		for range fs {
			if err := t.Checkpoint(); err != nil {
				yield(nil, err)
				return
			}
			for len(done) == 0 {
				if err := lot.Park(t, "the first of several futures"); err != nil {
					yield(nil, err)
					return
				}
			}
			f := done[0]
			done = done[1:]
			if !yield(f, f.err) {
				return
			}
		}
	}
}
