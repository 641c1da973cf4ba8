//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package poll

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

var selectors = []selectorKind{{"kqueue", newKqueue}, {"poll", newPoll}}

// kqueue is kqueue(2). It compiles and passes vet; it has never been run.
type kqueue struct {
	fd     int
	tokens map[int]uint64
	has    map[int]Interest // filters that the kernel holds
	wake   [2]int           // pipe
	buf    []unix.Kevent_t
}

func newKqueue() (Selector, error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("aio: kqueue: %w", err)
	}
	unix.CloseOnExec(fd)
	k := &kqueue{fd: fd, tokens: make(map[int]uint64), has: make(map[int]Interest)}
	if k.wake, err = wakePipe(); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("aio: pipe: %w", err)
	}
	return k, k.Add(k.wake[0], wakeToken, Read)
}

func (k *kqueue) Edge() bool { return true }

func (k *kqueue) Add(fd int, token uint64, in Interest) error {
	if _, ok := k.tokens[fd]; ok {
		return unix.EEXIST
	}
	return k.Modify(fd, token, in)
}

func (k *kqueue) Modify(fd int, token uint64, in Interest) error {
	k.tokens[fd] = token
	flags := unix.EV_ADD
	if in&Edge != 0 {
		flags |= unix.EV_CLEAR
	}
	var changes []unix.Kevent_t
	for _, d := range [...]struct {
		in     Interest
		filter int
	}{{Read, unix.EVFILT_READ}, {Write, unix.EVFILT_WRITE}} {
		var ev unix.Kevent_t
		switch {
		case in&d.in != 0:
			unix.SetKevent(&ev, fd, d.filter, flags)
		case k.has[fd]&d.in != 0:
			unix.SetKevent(&ev, fd, d.filter, unix.EV_DELETE)
		default:
			continue
		}
		changes = append(changes, ev)
	}
	k.has[fd] = in & (Read | Write)
	if len(changes) == 0 {
		return nil
	}
	_, err := unix.Kevent(k.fd, changes, nil, nil)
	return err
}

func (k *kqueue) Remove(fd int) error {
	token, ok := k.tokens[fd]
	if !ok {
		return unix.ENOENT
	}
	err := k.Modify(fd, token, 0)
	delete(k.tokens, fd)
	delete(k.has, fd)
	return err
}

func (k *kqueue) Poll(events []Event) (int, error) {
	return k.wait(events, &unix.Timespec{})
}

func (k *kqueue) Wait(events []Event, until time.Time) (int, error) {
	if until.IsZero() {
		return k.wait(events, nil)
	}
	left := unix.NsecToTimespec(max(0, int64(time.Until(until))))
	return k.wait(events, &left)
}

func (k *kqueue) wait(events []Event, timeout *unix.Timespec) (int, error) {
	if len(k.buf) < len(events) {
		k.buf = make([]unix.Kevent_t, len(events))
	}
	n, err := unix.Kevent(k.fd, nil, k.buf[:len(events)], timeout)
	if err == unix.EINTR {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("aio: kevent: %w", err)
	}
	for i := range n {
		ev := &k.buf[i]
		fd := int(ev.Ident)
		out := Event{Token: k.tokens[fd], Hup: ev.Flags&(unix.EV_EOF|unix.EV_ERROR) != 0}
		if int(ev.Filter) == unix.EVFILT_WRITE {
			out.Ready = Write
		} else {
			out.Ready = Read
		}
		if ev.Flags&unix.EV_ERROR != 0 {
			out.Ready = Read | Write
		}
		if out.Token == wakeToken {
			var drain [64]byte
			for {
				if n, _ := unix.Read(fd, drain[:]); n < len(drain) {
					break
				}
			}
		}
		events[i] = out
	}
	return n, nil
}

func (k *kqueue) Wake() {
	one := []byte{1}
	for {
		// EAGAIN: the pipe is full of wake-ups.
		if _, err := unix.Write(k.wake[1], one); err != unix.EINTR {
			return
		}
	}
}

func (k *kqueue) Close() error {
	unix.Close(k.wake[0])
	unix.Close(k.wake[1])
	return unix.Close(k.fd)
}
