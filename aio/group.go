package aio

import (
	"context"
	"errors"
	"fmt"
)

// Group is a set of tasks that end together: Task.Group waits for all of them, the first error
// cancels the rest, and no task outlives the group.
type Group struct {
	task    *Task // the owner of the group
	scope   scope
	running int
	closed  bool
	gaveUp  bool // a task returned ErrCanceled
	errs    []error
	lot     Lot // the owner, waiting for the tasks
}

// groupErrors is the most errors that a group keeps: after the first one the rest is cancelled, and
// later failures are mostly consequences.
const groupErrors = 8

// Group runs fn and waits until fn has returned and all tasks started in the group have ended. The
// first error, of fn or of a task, cancels the others.
//
// It returns that error, joined with later ones (at most 8, without mere cancellations);
// ErrCanceled if t was cancelled meanwhile and some task gave up for it; nil if all went well or
// Cancel ended the group.
func (t *Task) Group(fn func(g *Group) error) error {
	t.check()
	g := &Group{task: t}
	t.open(&g.scope)
	returned := false
	defer func() {
		if !returned { // a panic or Goexit in fn: the tasks end before it continues
			g.scope.cancel()
			g.join()
		}
	}()
	err := fn(g)
	g.note(err, g.scope.canceled)
	g.join()
	returned = true
	return g.result()
}

// Go starts fn as a task of the group. Any code on the loop may call it while the group is open,
// its own tasks included; afterwards it panics. The task's first step is in the next turn.
func (g *Group) Go(name string, fn func(t *Task) error) *Task {
	if g.closed {
		panic(fmt.Sprintf("aio: task %q started in a group that has ended", name))
	}
	if fn == nil {
		panic(fmt.Sprintf("aio: task %q started without a function", name))
	}
	g.running++
	return g.task.loop.newTask(name, g, fn)
}

// newTask makes a task ready for its first step, in a group, or nil: the first of a loop.
func (l *Loop) newTask(name string, g *Group, main func(t *Task) error) *Task {
	t := &Task{name: name, group: g, main: main}
	t.status.state = taskReady // nothing may wake it
	t.future = future{loop: l, task: t}
	t.sleep.owner = t
	t.own.task, t.scope = t, &t.own
	if g != nil {
		t.own.attach(&g.scope)
	}
	l.tasks.add(t)
	t.status.suspend(taskNew, "its first step", l.time.now)
	l.ready.push(t)
	l.trace(TraceStart, t, "")
	return t
}

// Cancel cancels all tasks of the group and the waits of its body. Task.Group then
// returns nil, unless there was an error.
func (g *Group) Cancel() { g.scope.cancel() }

// Len returns the number of tasks that have not ended.
func (g *Group) Len() int { return g.running }

func (g *Group) join() {
	for g.running > 0 {
		g.lot.parkDeaf(g.task, "its group")
	}
	g.closed = true
	g.task.close(&g.scope)
}

// ended is called by each task when it has ended.
func (g *Group) ended(t *Task, err error) {
	g.running--
	g.note(err, t.own.canceled)
	if g.running == 0 {
		g.lot.Unpark(nil)
	}
}

// note keeps err, unless it only reports a cancellation.
func (g *Group) note(err error, canceled bool) {
	if err == nil || canceled && onlyCanceled(err) {
		g.gaveUp = g.gaveUp || err != nil
		return
	}
	if len(g.errs) < groupErrors {
		g.errs = append(g.errs, err)
	}
	g.scope.cancel()
}

// onlyCanceled reports whether err consists of nothing but cancellations. A joined clean-up error
// or a panic is more than that.
func onlyCanceled(err error) bool {
	switch e := err.(type) {
	case canceled:
		return true
	case *PanicError:
		return false
	case interface{ Unwrap() error }:
		return onlyCanceled(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			if !onlyCanceled(err) {
				return false
			}
		}
		return true
	}
	return err == context.Canceled // from t.Context(): the same cancellation
}

func (g *Group) result() error {
	switch len(g.errs) {
	case 0:
		if g.gaveUp && g.scope.parent.canceled {
			return ErrCanceled
		}
		return nil
	case 1:
		return g.errs[0]
	}
	return errors.Join(g.errs...)
}
