package webtest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// refusingPort reserves a port on all addresses without listening: the kernel refuses connections.
func refusingPort() (port int, c io.Closer, err error) { return bound() }

// mutePort reserves a port on all addresses where connections do not complete: it fills the queue
// of a server that never accepts, and the kernel drops further connections.
func mutePort() (port int, c io.Closer, err error) {
	port, s, err := bound()
	if err != nil {
		return 0, nil, err
	}
	held := closers{s}
	if err := unix.Listen(int(s), 0); err != nil {
		return 0, nil, errors.Join(err, held.Close())
	}
	for range 16 { // one is enough on Linux; other systems allow a few more
		conn, err := net.DialTimeout("tcp4", "127.0.0.1:"+strconv.Itoa(port), 100*time.Millisecond)
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			return port, held, nil
		}
		if err != nil {
			return 0, nil, errors.Join(err, held.Close())
		}
		held = append(held, conn)
	}
	return 0, nil, errors.Join(fmt.Errorf("port %d still accepts connections, expected a full queue", port), held.Close())
}

// bound returns a socket bound to a free port on all addresses.
func bound() (port int, s socket, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, s, err
	}
	unix.CloseOnExec(fd)
	s = socket(fd)
	if err := unix.Bind(fd, new(unix.SockaddrInet4)); err != nil {
		return 0, s, errors.Join(err, s.Close())
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, s, errors.Join(err, s.Close())
	}
	return name.(*unix.SockaddrInet4).Port, s, nil
}

// socket is a descriptor.
type socket int

func (s socket) Close() error { return unix.Close(int(s)) }

type closers []io.Closer

func (cs closers) Close() (err error) {
	for _, c := range cs {
		err = errors.Join(err, c.Close())
	}
	return err
}
