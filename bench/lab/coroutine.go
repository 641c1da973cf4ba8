package lab

import (
	"errors"
	"fmt"
	"iter"
)

// Coroutine is a function that can be suspended at any point: it yields a value, keeps all its
// variables, and continues when a value is sent in. It is Python's generator in full, built on
// [iter.Pull], which is half of one: there values come out and nothing goes in.
//
// Send, Throw and Close resume it by a direct switch from the caller's stack to the coroutine's: no
// scheduler, no channel, no lock. The caller waits meanwhile, so a coroutine and its caller never
// run at the same time.
//
// A coroutine that starts and never ends keeps its stack (at least 2 KB) for ever: the garbage
// collector cannot know that nobody will resume it. Whoever starts one runs it to its end, or calls
// Close.
type Coroutine[In, Out, Result any] struct {
	name  string
	body  func(y *Yielder[In, Out], first In) (Result, error)
	state state
	next  func() (Out, bool) // of iter.Pull: runs the body up to its next yield
	y     Yielder[In, Out]

	result Result
	err    error
}

type state string

const (
	fresh     state = "has not started"
	suspended state = "is suspended"
	running   state = "runs" // or waits for a coroutine that it resumed
	finished  state = "has finished"
)

// ErrClosed is the error that Close throws; the coroutine runs its defers and returns it.
var ErrClosed = errors.New("closed")

var errNoResult = errors.New("no result: not finished, or ended by a panic")

// NewCoroutine turns a function into a coroutine. The function starts at the first Send and gets
// its value as an argument, as there is no Yield yet to return it. Errors carry the name.
func NewCoroutine[In, Out, Result any](name string, body func(y *Yielder[In, Out], first In) (Result, error)) *Coroutine[In, Out, Result] {
	c := &Coroutine[In, Out, Result]{name: name, body: body, state: fresh}
	c.err = c.frame(errNoResult)
	return c
}

// frame prefixes an error with the coroutine's name. Each coroutine on the error's way up does so:
// at the top it names them all, like the trace of an exception.
func (c *Coroutine[In, Out, Result]) frame(err error) error {
	return fmt.Errorf("%s: %w", c.name, err)
}

// Send resumes the coroutine: its Yield returns the value. Send returns the next value that the
// coroutine yields; or false when it finishes instead, with its Result.
//
// Resuming a finished coroutine, or one from within itself, is a bug like a send on a closed
// channel, and panics. A panic of the coroutine comes out of Send, too, and finishes it.
func (c *Coroutine[In, Out, Result]) Send(in In) (Out, bool) {
	return c.resume(in, nil)
}

// Throw resumes the coroutine with an error: its Yield returns the error, and the coroutine may
// handle it and continue. A coroutine that has not started finishes with it and never runs.
func (c *Coroutine[In, Out, Result]) Throw(err error) (Out, bool) {
	if c.state == fresh {
		c.state, c.err = finished, c.frame(err)
		var none Out
		return none, false
	}
	var none In
	return c.resume(none, err)
}

// Close ends the coroutine by throwing ErrClosed, and returns when its defers have run. If the
// coroutine ends with another error, Close returns that. A coroutine that yields once more stays
// suspended there, and Close returns an error.
func (c *Coroutine[In, Out, Result]) Close() error {
	if c.state == finished {
		return nil
	}
	if _, yielded := c.Throw(ErrClosed); yielded {
		return c.frame(errors.New("yielded while being closed, expected it to end"))
	}
	if errors.Is(c.err, ErrClosed) {
		return nil
	}
	return c.err
}

// Result returns what the coroutine returned, an error prefixed with its name; or an error if the
// coroutine has not returned.
func (c *Coroutine[In, Out, Result]) Result() (Result, error) { return c.result, c.err }

// resume switches to the coroutine until it yields or ends.
func (c *Coroutine[In, Out, Result]) resume(in In, err error) (Out, bool) {
	switch c.state {
	case running, finished:
		panic(fmt.Sprintf("lab: coroutine %s is resumed, but %s", c.name, c.state))
	case fresh:
		// run iterates over the values that the body yields. Pull gives it a stack of its own,
		// on which it stands still between two calls of next. (Pull's second result stops the
		// iteration; Close does so with an error that the body sees.)
		c.next, _ = iter.Pull(c.run)
	}
	c.y.in, c.y.err = in, err
	c.state = running
	after := finished // by a return, or by a panic that next passes on
	defer func() { c.state = after }()
	out, yielded := c.next()
	if yielded {
		after = suspended
	}
	return out, yielded
}

// run is the coroutine on its own stack.
func (c *Coroutine[In, Out, Result]) run(yield func(Out) bool) {
	c.y.yield = yield
	result, err := c.body(&c.y, c.y.in)
	if err != nil {
		err = c.frame(err)
	}
	c.result, c.err = result, err
}

// Yielder is a coroutine seen from inside. Only its function may use it, and functions that this
// one calls; every other coroutine has its own.
type Yielder[In, Out any] struct {
	yield func(Out) bool
	in    In
	err   error
}

// Yield suspends the coroutine: the pending Send or Throw returns out. When the coroutine is
// resumed, Yield returns the value sent in, or the error thrown in.
func (y *Yielder[In, Out]) Yield(out Out) (In, error) {
	y.yield(out)
	return y.in, y.err
}

// Delegate runs another coroutine as a part of this one ("yield from"), as if its code stood here:
// the values it yields go out, what is sent or thrown in reaches it, Close reaches it first, and
// its result or error comes back.
//
// It may delegate in turn, to any depth. Each value then passes through all coroutines in between,
// at two switches each; [Scheduler] shows the alternative, a stack of suspended coroutines that
// resumes only the innermost.
func Delegate[In, Out, Result any](y *Yielder[In, Out], sub *Coroutine[In, Out, Result], first In) (Result, error) {
	out, yielded := sub.Send(first)
	for yielded {
		in, err := y.Yield(out)
		if err != nil {
			out, yielded = sub.Throw(err)
		} else {
			out, yielded = sub.Send(in)
		}
	}
	return sub.Result()
}
