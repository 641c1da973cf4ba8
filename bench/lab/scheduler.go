//go:build linux

package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Scheduler is the other road to coroutines: an operating system in miniature. It has neither
// callbacks nor futures. A task runs until it asks the kernel for something by yielding a system
// call; that suspends it, and the kernel decides when it runs again. A real kernel treats processes
// the same way, except that here no task is ever interrupted.
//
// This file is the kernel; scheduler_calls.go has its system calls. scheduler_socket.go builds
// sockets and an echo server on them, scheduler_fetch.go and scheduler_crawl.go the fetch and the
// crawl.
var Scheduler = Way{
	Name:  "syscalls",
	About: "one thread: tasks yield system calls to a scheduler with epoll",
	Fetch: fetchSyscalls,
	Crawl: crawlSyscalls,
}

// program is a coroutine that the kernel can run. It yields a [SystemCall], or another program,
// which the kernel runs like a called function; either way it is sent the result.
type program = Coroutine[any, any, any]

// caller is a program seen from inside.
type caller = Yielder[any, any]

func newProgram(name string, body func(y *caller) (any, error)) *program {
	return NewCoroutine(name, func(y *caller, _ any) (any, error) { return body(y) })
}

// ask yields a system call or a program, and returns its result.
func ask[Result any](y *caller, what any) (Result, error) {
	got, err := y.Yield(what)
	result, _ := got.(Result) // the zero value if there is none
	return result, err
}

// kernel runs tasks. One goroutine owns it; neither the kernel nor its tasks lock anything.
type kernel struct {
	ready   []*kernelTask // in the order in which they run
	newborn *kernelTask   // runs before those
	tasks   map[int]*kernelTask
	lastTid int
	waiters map[int][]*kernelTask // for the end of a task, by its tid
	epoll   int                   // descriptor of epoll(7)
	io      map[int]*kernelTask   // waiting tasks, by descriptor
}

// kernelTask is a task while it is suspended.
type kernelTask struct {
	tid   int
	stack []*program // each waits for the next one, which it called
	in    any        // to send to the last of them when the task runs again
	err   error      // or to throw
	fd    int        // the descriptor waited for, or -1
}

// run resumes a task up to its next system call; nil: the task has ended, with the error.
//
// It is a trampoline: a program that calls another does not resume it but yields it, and run
// resumes it. So however deep the calls are, a result reaches the innermost in one switch. (With
// Delegate it passes through all of them.)
func (t *kernelTask) run() (SystemCall, error) {
	for {
		top := t.stack[len(t.stack)-1]
		var out any
		var yielded bool
		if t.err != nil {
			out, yielded = top.Throw(t.err)
		} else {
			out, yielded = top.Send(t.in)
		}
		if !yielded { // it has returned to its caller
			t.stack = t.stack[:len(t.stack)-1]
			t.in, t.err = top.Result()
			if len(t.stack) == 0 {
				return nil, t.err
			}
			continue
		}
		switch out := out.(type) {
		case SystemCall:
			return out, nil
		case *program:
			t.stack = append(t.stack, out)
			t.in, t.err = nil, nil
		default:
			t.in, t.err = nil, fmt.Errorf("lab: a task yielded %T, expected a system call or a program", out)
		}
	}
}

// runKernel runs a program as the first task. When that ends, or ctx is done, it kills all other
// tasks. An error of any task ends everything. If all tasks wait for each other, nothing happens
// until ctx is done.
func runKernel(ctx context.Context, first *program) (err error) {
	if ctx.Err() != nil {
		return nil
	}
	k := &kernel{
		tasks:   make(map[int]*kernelTask),
		waiters: make(map[int][]*kernelTask),
		io:      make(map[int]*kernelTask),
	}
	if k.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("lab: epoll_create: %w", err)
	}
	defer unix.Close(k.epoll)

	// When ctx is done, another thread writes to an eventfd(2) that one of the tasks waits for.
	alarm, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fmt.Errorf("lab: eventfd: %w", err)
	}
	defer unix.Close(alarm)
	written := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_, _ = unix.Write(alarm, binary.NativeEndian.AppendUint64(nil, 1))
		close(written)
	})
	defer func() {
		if !stop() {
			<-written // otherwise it might write to a closed descriptor
		}
	}()

	main := k.start(first)
	k.ready = append(k.ready, main, k.start(k.pollIO()), k.start(watch(alarm, main.tid)))
	return k.run(main)
}

// watch kills a task when a descriptor becomes readable.
func watch(fd, tid int) *program {
	return newProgram("watch", func(y *caller) (any, error) {
		if _, err := y.Yield(ReadWait(fd)); err != nil {
			return nil, err
		}
		return y.Yield(KillTask(tid))
	})
}

// run is the main loop: the next task runs up to its system call, which decides how it continues.
func (k *kernel) run(main *kernelTask) (err error) {
	defer func() {
		for _, t := range k.tasks {
			err = errors.Join(err, k.kill(t))
		}
	}()
	for k.tasks[main.tid] != nil {
		t := k.newborn
		if t == nil {
			t, k.ready = k.ready[0], k.ready[1:] // never empty: pollIO is always ready
		}
		k.newborn = nil
		if k.tasks[t.tid] == nil {
			continue // it was killed
		}
		call, err := t.run()
		if err != nil {
			return err
		}
		if call == nil {
			k.end(t)
			continue
		}
		call(k, t)
	}
	return nil
}

// start makes a task; the caller queues it.
func (k *kernel) start(p *program) *kernelTask {
	k.lastTid++
	t := &kernelTask{tid: k.lastTid, stack: []*program{p}, fd: -1}
	k.tasks[t.tid] = t
	return t
}

// resume makes a waiting task ready.
func (k *kernel) resume(t *kernelTask, in any, err error) {
	if k.tasks[t.tid] != nil { // not killed meanwhile
		t.in, t.err = in, err
		k.ready = append(k.ready, t)
	}
}

// end removes a task and wakes the tasks that wait for its end.
func (k *kernel) end(t *kernelTask) {
	delete(k.tasks, t.tid)
	for _, w := range k.waiters[t.tid] {
		k.resume(w, true, nil)
	}
	delete(k.waiters, t.tid)
}

// kill closes the programs of a task, from the innermost out, so that all defers run.
func (k *kernel) kill(t *kernelTask) (err error) {
	k.stopWaiting(t)
	for len(t.stack) > 0 {
		err = errors.Join(err, t.stack[len(t.stack)-1].Close())
		t.stack = t.stack[:len(t.stack)-1]
	}
	k.end(t)
	return err
}

// pollIO is the task that asks the real kernel which descriptors are ready. It runs once per round
// of the ready queue, and sleeps only when no other task is ready.
func (k *kernel) pollIO() *program {
	events := make([]unix.EpollEvent, 128)
	return newProgram("poll I/O", func(y *caller) (any, error) {
		for {
			timeout := 0
			if len(k.ready) == 0 {
				timeout = -1
			}
			n, err := unix.EpollWait(k.epoll, events, timeout)
			if err != nil && !errors.Is(err, unix.EINTR) {
				return nil, fmt.Errorf("lab: epoll_wait: %w", err)
			}
			for _, e := range events[:max(n, 0)] {
				t := k.io[int(e.Fd)]
				k.stopWaiting(t)
				k.resume(t, nil, nil)
			}
			if _, err := y.Yield(Pass()); err != nil {
				return nil, err
			}
		}
	})
}

// waitFor suspends a task until a descriptor is ready for events.
func (k *kernel) waitFor(t *kernelTask, fd int, events uint32) {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if err := unix.EpollCtl(k.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		k.resume(t, nil, fmt.Errorf("lab: epoll_ctl: %w", err)) // EEXIST: another task waits for it
		return
	}
	k.io[fd], t.fd = t, fd
}

func (k *kernel) stopWaiting(t *kernelTask) {
	if t.fd >= 0 {
		_ = unix.EpollCtl(k.epoll, unix.EPOLL_CTL_DEL, t.fd, nil)
		delete(k.io, t.fd)
		t.fd = -1
	}
}
