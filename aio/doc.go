// Package aio is an event loop with coroutines: the idea of Python's asyncio, with the structure
// of trio, in Go.
//
// A [Loop] resumes the tasks whose wait is over, calls the callbacks that are due, then asks the
// poll selector which sockets are ready. A [Task] is a coroutine that the loop drives. A function
// that may be suspended takes a *Task; a function without one is never suspended. Between two such
// calls nothing else runs on the loop, so data that a loop owns needs no locks.
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
//   - turn: one round of the loop. It runs what was ready when it began, then
//     collects outside events. The clock stands still during a turn.
//   - step: the work of a task between two suspensions.
//   - wait: a call that takes a *Task and may suspend it.
//   - park, wake: the operations that every wait is made of; see [Lot].
//   - cancel scope: a region of a task's code that can be cancelled by itself.
//
// # Lifecycle
//
// [Loop.Run] starts a first task; others are started in a [Group], which waits for all of its
// tasks. So tasks form a tree: errors go up, cancellation goes down, and nothing is left running
// when Run returns. A loop runs once.
//
// # Cancellation
//
// Cancellation is level-triggered: once a cancel scope is cancelled ([Task.Cancel],
// [Group.Cancel], a [Task.Timeout] that ran out, the context of Run), the current and every further
// wait in it returns [ErrCanceled], except inside [Task.Shield]. A function that gets ErrCanceled
// cleans up and returns it. A result that arrived before the cancellation is not lost: the wait
// returns it.
//
// # Concurrency
//
// Everything here belongs to one loop and is used only by code that runs on it: tasks, callbacks
// and posted functions. The exceptions are [Handle], the one door into a loop from other
// goroutines, the context that [Task.Context] returns, and [Loop.Run] itself. Several loops in a
// process share nothing.
//
// A wait takes the handle of the running task: with another task's handle it panics, and so it
// does in a callback, outside the loop or inside [Task.OnLoop]. Without Options.Debug, a call from
// another goroutine at the very moment when the task runs cannot be told from one of its own. A
// task must not call runtime.LockOSThread.
//
// # Limits
//
// A task costs about 3 KiB while its stack stays small, and 450 bytes while it waits without one
// ([Lot.Then]). A connection that waits holds no buffer
// ([Reader]). Queues are bounded on request; posted functions are not: the poster must bound them.
package aio
