package poll

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var selectors = []selectorKind{{"epoll", newEpoll}, {"poll", newPoll}}

// epoll is epoll(7), its descriptor itself registered with the poller of Go's runtime: an idle
// loop blocks no thread, and wakes as cheaply as a goroutine that reads a socket. By measurement,
// this beats a thread blocked in epoll_wait.
//
// Its traps, each with a test:
//   - with an expired deadline RawConn.Read returns without calling the function,
//     so Wait asks epoll itself after a time-out;
//   - Go watches the epoll descriptor edge-triggered, so the function returns true
//     whenever epoll_wait returned something, and blocks only on an empty result;
//   - the *os.File stays referenced, or its finaliser closes the descriptor.
type epoll struct {
	fd       int
	wakeFD   int // eventfd
	file     *os.File
	raw      syscall.RawConn
	deadline time.Time // set on file

	buf []unix.EpollEvent
	out []Event // the result of the current call
	n   int
	err error
	try func(uintptr) bool
}

func newEpoll() (Selector, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("aio: epoll_create: %w", err)
	}
	e := &epoll{fd: fd, wakeFD: -1}
	if err := e.init(); err != nil {
		e.Close()
		return nil, fmt.Errorf("aio: epoll: %w", err)
	}
	return e, nil
}

func (e *epoll) init() error {
	var err error
	// Otherwise os.NewFile keeps it out of Go's poller.
	if err = unix.SetNonblock(e.fd, true); err != nil {
		return err
	}
	e.file = os.NewFile(uintptr(e.fd), "epoll")
	if err = e.file.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	if e.raw, err = e.file.SyscallConn(); err != nil {
		return err
	}
	if e.wakeFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	e.try = func(uintptr) bool {
		e.n, e.err = e.Poll(e.out)
		return e.n > 0 || e.err != nil
	}
	return e.Add(e.wakeFD, wakeToken, Read|Edge)
}

func (e *epoll) Edge() bool { return true }

func (e *epoll) Add(fd int, token uint64, in Interest) error {
	return e.ctl(unix.EPOLL_CTL_ADD, fd, token, in)
}

func (e *epoll) Modify(fd int, token uint64, in Interest) error {
	return e.ctl(unix.EPOLL_CTL_MOD, fd, token, in)
}

func (e *epoll) Remove(fd int) error {
	return unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, fd, nil)
}

func (e *epoll) ctl(op, fd int, token uint64, in Interest) error {
	var ev unix.EpollEvent
	if in&Read != 0 {
		ev.Events |= unix.EPOLLIN | unix.EPOLLRDHUP
	}
	if in&Write != 0 {
		ev.Events |= unix.EPOLLOUT
	}
	if in&Edge != 0 {
		ev.Events |= unix.EPOLLET | unix.EPOLLPRI
	}
	ev.Fd, ev.Pad = int32(uint32(token)), int32(uint32(token>>32))
	return unix.EpollCtl(e.fd, op, fd, &ev)
}

func (e *epoll) Poll(events []Event) (int, error) {
	if len(e.buf) < len(events) {
		e.buf = make([]unix.EpollEvent, len(events))
	}
	// A raw call: with a time-out of 0 it does not block, so Go's scheduler need not know.
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(e.fd), uintptr(unsafe.Pointer(&e.buf[0])), uintptr(len(events)), 0, 0, 0)
	switch errno {
	case 0:
	case unix.EINTR:
		return 0, nil
	default:
		return 0, fmt.Errorf("aio: epoll_wait: %w", errno)
	}
	for i := range int(n) {
		ev := &e.buf[i]
		o := &events[i]
		*o = Event{Token: uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32}
		if ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			o.Ready |= Read
		}
		if ev.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			o.Ready |= Write
		}
		o.Hup = ev.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
		o.Urgent = ev.Events&unix.EPOLLPRI != 0
	}
	return int(n), nil
}

func (e *epoll) Wait(events []Event, until time.Time) (int, error) {
	if !until.Equal(e.deadline) {
		if err := e.file.SetReadDeadline(until); err != nil {
			return 0, fmt.Errorf("aio: epoll: %w", err)
		}
		e.deadline = until
	}
	e.out = events
	e.n, e.err = 0, nil
	err := e.raw.Read(e.try)
	e.out = nil
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return e.Poll(events)
	}
	if err != nil {
		return 0, fmt.Errorf("aio: epoll: %w", err)
	}
	return e.n, e.err
}

func (e *epoll) Wake() {
	one := uint64(1)
	for {
		// A raw call: it does not block, and one that Go's scheduler knows of may wake the
		// scheduler's monitor, which then looks around fifty times, every 20 µs.
		_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(e.wakeFD), uintptr(unsafe.Pointer(&one)), unsafe.Sizeof(one))
		if errno != unix.EINTR { // EAGAIN: the counter is full, so a wake-up is already pending
			return
		}
	}
}

func (e *epoll) Close() error {
	if e.wakeFD >= 0 {
		unix.Close(e.wakeFD)
	}
	if e.file != nil {
		return e.file.Close()
	}
	return unix.Close(e.fd)
}
