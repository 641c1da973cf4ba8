package aio

import (
	"context"
)

// Offload runs fn on a goroutine of its own and suspends t until fn has returned: for blocking
// work such as name resolution, files and libraries. The context is t.Context(): when t is
// cancelled fn should return soon, and Offload waits for it, since nothing outlives its task. If t
// was cancelled and fn returned an error, Offload returns ErrCanceled.
//
// A panic in fn is returned as *PanicError, a Goexit as ErrGoexit.
func Offload[T any](t *Task, fn func(ctx context.Context) (T, error)) (T, error) {
	var value T
	err := ErrGoexit
	if e := t.Checkpoint(); e != nil {
		return value, e
	}
	l, ctx := t.loop, t.Context()
	l.offloads++
	if l.sleeper != nil {
		l.sleeper.Hold()
	}
	var lot Lot
	done := false
	go func() {
		defer func() {
			if r := recover(); r != nil {
				err = panicked(r)
			}
			// The loop cannot have ended: it waits for t.
			_ = l.inbox.post(func() {
				done = true
				l.offloads--
				lot.Unpark(nil)
			})
			if l.sleeper != nil {
				l.sleeper.Release() // after the post: the clock must not jump in between
			}
		}()
		value, err = fn(ctx)
	}()
	for !done {
		lot.parkDeaf(t, "an offloaded function")
	}
	if err != nil && t.stopped() != nil {
		return value, t.refuse(ErrCanceled)
	}
	return value, err
}
