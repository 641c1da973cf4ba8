//go:build linux

package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Loop calls the functions that are due, then asks the kernel which sockets are ready.
type Loop struct {
	due     []func()
	epoll   int                   // descriptor of epoll(7), the kernel's list of watched descriptors
	waiting map[int]*Future[none] // by descriptor watched
	events  [128]unix.EpollEvent  // from the kernel
	wake    int                   // descriptor of eventfd(2), by which another thread ends our sleep
}

// NewLoop returns a loop; the caller closes it.
func NewLoop() (*Loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("lab: epoll_create: %w", err)
	}
	l := &Loop{epoll: epoll, waiting: make(map[int]*Future[none])}
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("lab: eventfd: %w", err)
	}
	return l, nil
}

// Close closes the loop's descriptors.
func (l *Loop) Close() {
	unix.Close(l.wake)
	unix.Close(l.epoll)
}

func (l *Loop) soon(call func()) { l.due = append(l.due, call) }

// Run runs a coroutine as the loop's first task until it returns, and cancels it when ctx is done.
// The coroutine must await the tasks that it starts. A panic in any task comes out of Run.
func (l *Loop) Run(ctx context.Context, first *async[none]) error {
	main := Go(l, first)
	wake := NewFuture[none](l)
	wake.whenDone(main.Cancel)
	l.waiting[l.wake] = wake
	if err := l.control(unix.EPOLL_CTL_ADD, l.wake, unix.EPOLLIN|unix.EPOLLONESHOT); err != nil {
		return err
	}
	woken := make(chan none)
	stop := context.AfterFunc(ctx, func() { // on another thread
		_, _ = unix.Write(l.wake, binary.NativeEndian.AppendUint64(nil, 1))
		close(woken)
	})
	defer func() {
		if !stop() {
			<-woken // otherwise it might write to a closed descriptor
		}
	}()
	for {
		due := l.due
		l.due = nil // functions that become due now run in the next turn
		for _, call := range due {
			call()
		}
		if main.done {
			return main.err
		}
		if err := l.poll(); err != nil {
			return err
		}
	}
}

// poll resolves the futures of ready descriptors. It sleeps until one is ready, unless a function
// is due.
func (l *Loop) poll() error {
	timeout := -1
	if len(l.due) > 0 {
		timeout = 0
	}
	n, err := unix.EpollWait(l.epoll, l.events[:], timeout)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("lab: epoll_wait: %w", err)
	}
	for _, e := range l.events[:max(n, 0)] {
		f := l.waiting[int(e.Fd)]
		delete(l.waiting, int(e.Fd))
		f.Resolve(none{}, nil)
	}
	return nil
}

// ready waits until a descriptor is readable (EPOLLIN) or writable (EPOLLOUT), or has failed, which
// the next call on it reports. One coroutine at a time may wait for a descriptor.
func (l *Loop) ready(y *awaiter, fd int, events uint32) error {
	if err := l.control(unix.EPOLL_CTL_ADD, fd, events); err != nil {
		return err
	}
	f := NewFuture[none](l)
	l.waiting[fd] = f
	defer func() { // ready, or this task is cancelled
		delete(l.waiting, fd)
		_ = l.control(unix.EPOLL_CTL_DEL, fd, 0)
	}()
	_, err := f.Await(y)
	return err
}

func (l *Loop) control(op, fd int, events uint32) error {
	if err := unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("lab: epoll_ctl: %w", err)
	}
	return nil
}
