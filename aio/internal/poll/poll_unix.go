//go:build unix

package poll

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollSelector is poll(2): level-triggered, with a cost proportional to the number of descriptors.
// It cannot be nested in Go's poller, so Wait blocks its thread; Go's scheduler gives the
// processor away meanwhile.
type pollSelector struct {
	fds    []unix.PollFd
	tokens []uint64    // parallel to fds
	index  map[int]int // descriptor → index in fds
	wake   [2]int      // pipe
	first  int         // index in fds of the first to report
}

func newPoll() (Selector, error) {
	wake, err := wakePipe()
	if err != nil {
		return nil, fmt.Errorf("aio: pipe: %w", err)
	}
	p := &pollSelector{index: make(map[int]int), wake: wake}
	return p, p.Add(wake[0], wakeToken, Read)
}

// wakePipe returns the two ends of a non-blocking pipe that no child process inherits, even one
// that starts at this moment.
func wakePipe() (p [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = unix.Pipe(p[:]); err != nil {
		return p, err
	}
	for _, fd := range p {
		unix.CloseOnExec(fd)
		if err = unix.SetNonblock(fd, true); err != nil {
			unix.Close(p[0])
			unix.Close(p[1])
			return p, err
		}
	}
	return p, nil
}

func (p *pollSelector) Edge() bool { return false }

func (p *pollSelector) Add(fd int, token uint64, in Interest) error {
	if _, ok := p.index[fd]; ok {
		return unix.EEXIST
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err // poll would report it only during a wait
	}
	if kind := st.Mode & unix.S_IFMT; kind == unix.S_IFREG || kind == unix.S_IFDIR {
		// poll calls files always ready; epoll, which rejects them, is right: they block.
		return unix.EPERM
	}
	p.index[fd] = len(p.fds)
	p.fds = append(p.fds, unix.PollFd{Fd: int32(fd)})
	p.tokens = append(p.tokens, token)
	return p.Modify(fd, token, in)
}

func (p *pollSelector) Modify(fd int, token uint64, in Interest) error {
	i, ok := p.index[fd]
	if !ok {
		return unix.ENOENT
	}
	var ev int16
	if in&Read != 0 {
		ev |= unix.POLLIN
	}
	if in&Write != 0 {
		ev |= unix.POLLOUT
	}
	p.fds[i].Events, p.tokens[i] = ev, token
	// poll(2) reports hang-ups regardless of interest: a negative number excludes a descriptor
	// that nobody waits for, or Wait would spin.
	p.fds[i].Fd = int32(fd)
	if ev == 0 {
		p.fds[i].Fd = int32(-fd - 1)
	}
	return nil
}

func (p *pollSelector) Remove(fd int) error {
	i, ok := p.index[fd]
	if !ok {
		return unix.ENOENT
	}
	last := len(p.fds) - 1
	p.fds[i], p.tokens[i] = p.fds[last], p.tokens[last]
	moved := int(p.fds[i].Fd)
	if moved < 0 {
		moved = -moved - 1
	}
	p.index[moved] = i
	delete(p.index, fd)
	p.fds, p.tokens = p.fds[:last], p.tokens[:last]
	return nil
}

func (p *pollSelector) Poll(events []Event) (int, error) { return p.poll(events, 0) }

func (p *pollSelector) Wait(events []Event, until time.Time) (int, error) {
	return p.poll(events, timeoutMillis(until))
}

func (p *pollSelector) poll(events []Event, millis int) (int, error) {
	n, err := unix.Poll(p.fds, millis)
	if err == unix.EINTR || n == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("aio: poll: %w", err)
	}
	found := 0
	for k := range p.fds {
		i := (p.first + k) % len(p.fds)
		re := p.fds[i].Revents
		if re == 0 {
			continue
		}
		if found == len(events) {
			p.first = i // the rest is still ready next time, and then comes first
			break
		}
		if p.tokens[i] == wakeToken {
			var drain [64]byte
			for {
				if n, _ := unix.Read(p.wake[0], drain[:]); n < len(drain) {
					break
				}
			}
		}
		ev := Event{Token: p.tokens[i]}
		bad := re&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
		if re&unix.POLLIN != 0 || bad {
			ev.Ready |= Read
		}
		if re&unix.POLLOUT != 0 || bad {
			ev.Ready |= Write
		}
		ev.Hup = bad
		events[found] = ev
		found++
	}
	return found, nil
}

func (p *pollSelector) Wake() {
	one := []byte{1}
	for {
		// EAGAIN: the pipe is full of wake-ups.
		if _, err := unix.Write(p.wake[1], one); err != unix.EINTR {
			return
		}
	}
}

func (p *pollSelector) Close() error {
	unix.Close(p.wake[1])
	return unix.Close(p.wake[0])
}
