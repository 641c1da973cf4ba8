package lab

import (
	"errors"
	"fmt"
	"iter"
)

// Coroutine is a function that can be suspended in its midst: it hands out a value, sleeps
// with all its variables where it stands, and goes on when a value is sent in. It is the
// generator of Python in full, on [iter.Pull], which gives only half of it: there values go
// out and nothing comes in.
//
// Send, Throw and Close resume it, by a direct switch from the caller's stack to the
// coroutine's: no scheduler, no channel, no lock. The caller waits meanwhile, so a coroutine
// and the one that resumes it never run at the same time.
//
// One that was begun and never ended keeps its stack (2 KB at least) for ever: the collector
// can't know that nobody will resume it. Whoever begins one ends it, or calls Close.
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
	fresh     state = "has not begun"
	suspended state = "is suspended"
	running   state = "runs" // or waits for another that it resumed
	finished  state = "has finished"
)

// ErrClosed is what Close throws: the coroutine lets its defers run and returns it.
var ErrClosed = errors.New("closed")

var errNoResult = errors.New("there is no result: not finished, or ended by a panic")

// NewCoroutine makes a coroutine of a function. Nothing of it runs before the first Send, whose value
// the function gets as its argument, as no Yield is there to return it. The name is
// what errors call it.
func NewCoroutine[In, Out, Result any](name string, body func(y *Yielder[In, Out], first In) (Result, error)) *Coroutine[In, Out, Result] {
	c := &Coroutine[In, Out, Result]{name: name, body: body, state: fresh}
	c.err = c.frame(errNoResult)
	return c
}

// frame puts the coroutine's name in front of an error. Each that an error passes on its way
// up does so: at the top the error names them all, as the trace of an exception does.
func (c *Coroutine[In, Out, Result]) frame(err error) error {
	return fmt.Errorf("%s: %w", c.name, err)
}

// Send resumes the coroutine: its Yield returns the value. It returns what the coroutine
// yields next; or false when it finishes instead, and Result says how.
//
// To resume one that has finished, or one from within itself, is a mistake of the
// program, as is a send on a closed channel, and panics. A panic of the coroutine comes out
// here, too, and finishes it.
func (c *Coroutine[In, Out, Result]) Send(in In) (Out, bool) {
	return c.resume(in, nil)
}

// Throw resumes the coroutine with an error: its Yield returns that, and the coroutine may
// handle it and go on. One that has not begun finishes with it, and nothing of it runs.
func (c *Coroutine[In, Out, Result]) Throw(err error) (Out, bool) {
	if c.state == fresh {
		c.state, c.err = finished, c.frame(err)
		var none Out
		return none, false
	}
	var none In
	return c.resume(none, err)
}

// Close ends the coroutine by throwing ErrClosed, and returns when its defers have run. It
// returns the error that the coroutine ends with if that is another. It is also an error when
// the coroutine yields once more: then it is still suspended there.
func (c *Coroutine[In, Out, Result]) Close() error {
	if c.state == finished {
		return nil
	}
	if _, yielded := c.Throw(ErrClosed); yielded {
		return c.frame(errors.New("yielded while it was closed, expected it to end"))
	}
	if errors.Is(c.err, ErrClosed) {
		return nil
	}
	return c.err
}

// Result returns what the coroutine returned, its name in front of an error; or an error
// if it has not.
func (c *Coroutine[In, Out, Result]) Result() (Result, error) { return c.result, c.err }

// resume switches to the coroutine until it yields or ends.
func (c *Coroutine[In, Out, Result]) resume(in In, err error) (Out, bool) {
	switch c.state {
	case running, finished:
		panic(fmt.Sprintf("lab: coroutine %s is resumed, but %s", c.name, c.state))
	case fresh:
		// run is an iterator over what the body yields. Pull gives it a stack of its own, on
		// which it stands still between two calls of next. (The second function that it
		// returns stops the iteration; Close does that in a way that tells the body why.)
		c.next, _ = iter.Pull(c.run)
	}
	c.y.in, c.y.err = in, err
	c.state = running
	after := finished // by a panic, which next passes on, or by a return
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

// Yielder is the inside of a coroutine: what its function holds on to. Only that function
// uses it, and functions that it calls as usual; another coroutine has its own.
type Yielder[In, Out any] struct {
	yield func(Out) bool
	in    In
	err   error
}

// Yield suspends the coroutine: its Send, or Throw, returns out. When it is resumed, Yield
// returns what was sent in, or the error that was thrown.
func (y *Yielder[In, Out]) Yield(out Out) (In, error) {
	y.yield(out)
	return y.in, y.err
}

// Delegate has another coroutine do a part of the work ("yield from"): to whoever resumes
// this one it is as if its function stood here. What it yields goes out, what is sent
// or thrown in goes to it, Close reaches it first, and its result or error comes back.
//
// It may delegate in turn, to any depth. Then each value passes through all that wait on
// its way, which costs two switches for each of them; [Scheduler] shows the other way, where one
// list of the suspended lets a value reach the innermost at once.
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
