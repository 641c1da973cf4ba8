//go:build linux

package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Scheduler is the other road to coroutines: an operating system in miniature. It knows
// neither callback nor future. A task runs until it asks the kernel for something, by a system
// call that it yields; that suspends it, and the kernel says when it runs again. It
// is what a real kernel does with processes, but that none is ever interrupted.
//
// The kernel is in this file and its system calls are in scheduler_calls.go. Sockets and an echo
// server are made of these in scheduler_socket.go; what fetches, and crawls, is in
// scheduler_fetch.go and scheduler_crawl.go.
var Scheduler = Way{
	Name:  "syscalls",
	About: "one thread: tasks yield system calls to a scheduler with epoll",
	Fetch: fetchSyscalls,
	Crawl: crawlSyscalls,
}

// A program is a coroutine that the kernel can run. It yields a [SystemCall], and is sent the
// answer; or another program, which is called as a function is, and is sent its result.
type program = Coroutine[any, any, any]

// A caller is the inside of a program.
type caller = Yielder[any, any]

func newProgram(name string, body func(y *caller) (any, error)) *program {
	return NewCoroutine(name, func(y *caller, _ any) (any, error) { return body(y) })
}

// ask yields a system call or a program, and returns the answer or the result.
func ask[Answer any](y *caller, what any) (Answer, error) {
	got, err := y.Yield(what)
	answer, _ := got.(Answer) // the zero value if there is none
	return answer, err
}

// kernel runs tasks. It belongs to one goroutine; neither it nor the tasks lock anything.
type kernel struct {
	ready   []*kernelTask // in the order in which they run
	newborn *kernelTask   // runs before those
	tasks   map[int]*kernelTask
	lastTid int
	waiters map[int][]*kernelTask // for the end of a task, by its tid
	epoll   int                   // descriptor of epoll(7)
	io      map[int]*kernelTask   // who waits for a descriptor, by that
}

// kernelTask is what is kept of a task while it is suspended.
type kernelTask struct {
	tid   int
	stack []*program // each waits for the next one, which it called
	in    any        // what the last of them is sent when the task runs again
	err   error      // or is thrown
	fd    int        // the descriptor waited for, or -1
}

// run goes on with a task up to its next system call; nil: it has ended, with that error.
//
// It is a trampoline: a program that calls another does not resume it, but yields it, and it is
// resumed from here. So however deep the calls are, an answer reaches the innermost by one
// switch. (With Delegate it passes through all of them.)
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
		if !yielded { // it has returned: to the one that called it
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

// runKernel runs a program as the first task, and when that has ended, or ctx is done, kills all
// that are left. An error that any task ends with ends everything. If all wait for each other,
// nothing happens until ctx is done.
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

	// When ctx is done, another thread writes to an eventfd(2), which a task of ours waits for.
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
			<-written // or it would write to a descriptor that is closed by then
		}
	}()

	main := k.start(first)
	k.ready = append(k.ready, main, k.start(k.pollIO()), k.start(watch(alarm, main.tid)))
	return k.run(main)
}

// watch kills a task when a descriptor is readable.
func watch(fd, tid int) *program {
	return newProgram("watch", func(y *caller) (any, error) {
		if _, err := y.Yield(ReadWait(fd)); err != nil {
			return nil, err
		}
		return y.Yield(KillTask(tid))
	})
}

// run is the main loop: the next task runs up to its system call, which decides what becomes of it.
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

// start makes a task, which is still to be put where it will run.
func (k *kernel) start(p *program) *kernelTask {
	k.lastTid++
	t := &kernelTask{tid: k.lastTid, stack: []*program{p}, fd: -1}
	k.tasks[t.tid] = t
	return t
}

// resume makes a task that waits ready again.
func (k *kernel) resume(t *kernelTask, in any, err error) {
	if k.tasks[t.tid] != nil { // it was not killed meanwhile
		t.in, t.err = in, err
		k.ready = append(k.ready, t)
	}
}

// end forgets a task, and wakes those that wait for its end.
func (k *kernel) end(t *kernelTask) {
	delete(k.tasks, t.tid)
	for _, w := range k.waiters[t.tid] {
		k.resume(w, true, nil)
	}
	delete(k.waiters, t.tid)
}

// kill closes what a task has suspended, from the innermost out, so that all defers run.
func (k *kernel) kill(t *kernelTask) (err error) {
	k.stopWaiting(t)
	for len(t.stack) > 0 {
		err = errors.Join(err, t.stack[len(t.stack)-1].Close())
		t.stack = t.stack[:len(t.stack)-1]
	}
	k.end(t)
	return err
}

// pollIO is the task that asks the real kernel which descriptors are ready. It runs once
// in each round of the ready queue, and sleeps there only when nobody else has anything to do.
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

// waitFor suspends a task until a descriptor is ready for what events says.
func (k *kernel) waitFor(t *kernelTask, fd int, events uint32) {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if err := unix.EpollCtl(k.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		k.resume(t, nil, fmt.Errorf("lab: epoll_ctl: %w", err)) // EEXIST: another waits for it
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
