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

// refusingPort holds a port of all addresses at which nobody listens: connections are refused.
func refusingPort() (port int, c io.Closer, err error) { return bound() }

// mutePort holds a port of all addresses that does not answer to connections: the kernel drops
// what would be one more than may wait for a server that accepts none.
func mutePort() (port int, c io.Closer, err error) {
	port, s, err := bound()
	if err != nil {
		return 0, nil, err
	}
	held := closers{s}
	if err := unix.Listen(int(s), 0); err != nil {
		return 0, nil, errors.Join(err, held.Close())
	}
	for range 16 { // one on Linux; others take a few more than were asked for
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
	return 0, nil, errors.Join(fmt.Errorf("port %d still answers, expected it to be full", port), held.Close())
}

// bound is a socket that is bound to a free port of all addresses.
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
