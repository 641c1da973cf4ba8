package aio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

var (
	// ErrCanceled is returned by the current and every further wait of a task
	// whose scope was cancelled. It matches context.Canceled under errors.Is.
	ErrCanceled error = canceled{}

	// ErrTimeout matches every [TimeoutError] under errors.Is; so do context.DeadlineExceeded and
	// os.ErrDeadlineExceeded.
	ErrTimeout error = timedOut{}

	// ErrClosed is returned by operations on a connection, listener, watch or handle that is
	// closed, possibly by another task during the call.
	ErrClosed = errors.New("aio: closed")

	// ErrLoopClosed is returned by Handle.Post when the loop has ended, and by
	// Loop.Run when the loop has already run: a loop runs once.
	ErrLoopClosed = errors.New("aio: loop closed")

	// ErrAlreadySet is returned when a future that has a result gets another.
	ErrAlreadySet = errors.New("aio: future already has a result")

	// ErrNotDone is returned by Future.Result before there is a result.
	ErrNotDone = errors.New("aio: no result yet")

	// ErrQueueClosed is returned by Put on a closed queue, and by Get once the queue is also
	// empty.
	ErrQueueClosed = errors.New("aio: queue closed")

	// ErrTooManyDone is the value Queue.TaskDone panics with when it is called more often than
	// items were put. In a task it becomes that task's error.
	ErrTooManyDone = errors.New("aio: TaskDone called more often than items were put")

	// ErrBusy is returned when a second task waits for the same direction of one descriptor: it
	// would take the first one's bytes.
	ErrBusy = errors.New("aio: another task already waits for this direction of the descriptor")

	// ErrGoexit is the result of a task that ended by runtime.Goexit, as
	// testing.T.FailNow does.
	ErrGoexit = errors.New("aio: task called runtime.Goexit")

	// ErrNoDescriptors is returned when a descriptor is to be watched on a loop with a virtual
	// clock: the kernel's time does not jump.
	ErrNoDescriptors = errors.New("aio: a loop on a virtual clock watches no descriptors, use the in-memory network")

	// ErrLimit is returned by Reader when a unit is longer than the given limit.
	ErrLimit = errors.New("aio: longer than the limit")
)

type canceled struct{}

func (canceled) Error() string        { return "canceled" }
func (canceled) Is(target error) bool { return target == context.Canceled }

type timedOut struct{}

func (timedOut) Error() string   { return "timed out" }
func (timedOut) Timeout() bool   { return true }
func (timedOut) Temporary() bool { return true }
func (timedOut) Is(target error) bool {
	_, same := target.(timedOut)
	return same || target == context.DeadlineExceeded || target == os.ErrDeadlineExceeded
}

// TimeoutError is returned by Task.Timeout when the time ran out before the function was done. It
// matches ErrTimeout and never ErrCanceled: a time-out does not cancel its caller.
type TimeoutError struct {
	timedOut
	After  time.Duration // from the call to the deadline
	During error         // the interrupted function's error: the chain of callers
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("timed out after %v: %v", e.After, e.During)
}

// deadlineError is the error of a read or write when the deadline of its connection has passed. It
// matches ErrTimeout.
type deadlineError struct{ timedOut }

func (*deadlineError) Error() string { return "deadline exceeded" }

// TaskError is the error a task ended with, and the task's name. Through nested groups the names
// form the chain of callers, outermost first.
type TaskError struct {
	Task string
	Err  error
}

func (e *TaskError) Error() string { return e.Task + ": " + e.Err.Error() }
func (e *TaskError) Unwrap() error { return e.Err }

// PanicError is the result of a task, or of a loop's callback, that panicked.
type PanicError struct {
	Value any
	Stack []byte // of the panicking goroutine, as debug.Stack prints it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value of the panic if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// DeadlockError is returned by Loop.Run when tasks wait and nothing is left that could wake one of
// them.
type DeadlockError struct {
	Tasks []TaskInfo // the waiting tasks
}

func (e *DeadlockError) Error() string {
	var b strings.Builder
	b.WriteString("aio: deadlock: no timer, descriptor, offload or handle is left that could wake")
	for i, t := range e.Tasks {
		if i == 10 {
			fmt.Fprintf(&b, " and %d more", len(e.Tasks)-i)
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " task %q (waits for %s)", t.Name, t.Waits)
	}
	return b.String()
}

// panicked makes an error of a recovered panic, on the stack where it happened. A panic that was
// passed on from another stack keeps its original trace.
func panicked(r any) *PanicError {
	if p, ok := r.(*PanicError); ok {
		return p
	}
	return &PanicError{Value: r, Stack: debug.Stack()}
}
