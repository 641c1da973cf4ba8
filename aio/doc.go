// Package aio is an event loop with coroutines: the idea of Python's asyncio, with
// the structure of trio, in Go.
//
// A [Loop] resumes the tasks whose wait is over, calls the callbacks that are due,
// then asks the selector which sockets are ready. A [Task] is a coroutine that it
// drives. A function that can be suspended takes a *Task; a function that takes
// none is not suspended. So between two such calls nothing else runs on the loop,
// and what a loop owns needs no locks.
//
//	err := aio.Run(ctx, func(t *aio.Task) error {
//		c, err := aio.Dial(t, "tcp", "127.0.0.1:7")
//		if err != nil {
//			return err
//		}
//		defer c.Close()
//		_, err = c.Write(t, []byte("hello"))
//		return err
//	})
//
// # Vocabulary
//
//   - turn: one round of the loop. It runs what was ready when it began, then asks
//     for what happened outside. The clock stands still in it.
//   - step: what a task does between two suspensions.
//   - wait: a call that takes a *Task and suspends it, or may.
//   - park, wake: what every wait is made of; see [Lot].
//   - scope: a region of a task's code that can be cancelled by itself.
//
// # Lifecycle
//
// [Loop.Run] starts a first task; others are started in a [Group], which waits for
// all of its tasks. So tasks form a tree, errors go up in it and cancellation goes
// down, and when Run returns nothing is left running. A loop runs once.
//
// # Cancellation
//
// It is level-triggered: once a scope is cancelled ([Task.Cancel], [Group.Cancel],
// a [Task.Timeout] that ran out, the context of Run), the current and every further
// wait in it returns [ErrCanceled], except inside [Task.Shield]. A function that
// gets it returns it, after its clean-up. A result that came before the
// cancellation is not lost: the wait returns it.
//
// # Concurrency
//
// Everything here belongs to one loop and is used only by code that runs on it:
// tasks, callbacks and posted functions. The exceptions are [Handle], the one door
// into a loop from other goroutines, the context that [Task.Context] returns, and
// [Loop.Run] itself. Several loops in a process share nothing.
//
// A wait is made with the handle of the task that runs: with another task's it
// panics, and so it does in a callback, outside the loop or inside [Task.OnLoop].
// A call from another goroutine at the very moment when the task runs cannot be told
// from one of its own, but for Options.Debug. A task must not call
// runtime.LockOSThread.
//
// # Limits
//
// A task costs about 3 KiB while its stack stays small. A connection that waits
// holds no buffer ([Reader]). Queues are bounded where asked; posted functions are
// not: whoever posts must bound them.
package aio
