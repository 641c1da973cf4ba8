//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// asyncSocket is the descriptor of a non-blocking socket. Each method that may wait is a program:
// it tries, and on EAGAIN, "not now", it waits until it may try again.
type asyncSocket int

// listenSocket returns a socket that listens on an address and port.
func listenSocket(address string) (asyncSocket, error) {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return 0, err
	}
	family, port, ip := unix.AF_INET6, int(addr.Port()), addr.Addr()
	var sockaddr unix.Sockaddr = &unix.SockaddrInet6{Port: port, Addr: ip.As16()}
	if ip.Is4() {
		family, sockaddr = unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: ip.As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("lab: socket: %w", err)
	}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.Bind(fd, sockaddr),
		unix.Listen(fd, 4096), // connections that may wait for accept(2)
	)
	if err != nil {
		unix.Close(fd)
		return 0, fmt.Errorf("lab: listen on %s: %w", address, err)
	}
	return asyncSocket(fd), nil
}

// address returns the address and port on which the socket listens.
func (s asyncSocket) address() string {
	sockaddr, _ := unix.Getsockname(int(s))
	switch a := sockaddr.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
	case *unix.SockaddrInet6:
		return net.JoinHostPort(netip.AddrFrom16(a.Addr).String(), strconv.Itoa(a.Port))
	}
	return ""
}

// dialSocket returns a connected socket.
func dialSocket(to address) *program {
	return newProgram("dial", func(y *caller) (any, error) {
		if to.err != nil {
			return nil, to.err
		}
		fd, err := unix.Socket(to.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		s := asyncSocket(fd)
		// connect(2) only starts here. When the socket is writable it has finished, and
		// SO_ERROR holds the outcome.
		err = unix.Connect(fd, to.sockaddr)
		if errors.Is(err, unix.EINPROGRESS) {
			if _, err = y.Yield(WriteWait(fd)); err == nil {
				var code int
				if code, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); code != 0 {
					err = unix.Errno(code)
				}
			}
		}
		if err != nil {
			s.close()
			return nil, err
		}
		return s, nil
	})
}

// accept returns the next connection, an asyncSocket.
func (s asyncSocket) accept() *program {
	return newProgram("accept", func(y *caller) (any, error) {
		for {
			fd, _, err := unix.Accept4(int(s), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			switch {
			case err == nil:
				return asyncSocket(fd), nil
			case errors.Is(err, unix.EAGAIN):
				if _, err := y.Yield(ReadWait(int(s))); err != nil {
					return nil, err
				}
			case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ECONNABORTED): // closed before accept
				return nil, err
			}
		}
	})
}

// recv returns the bytes that have arrived, in buf; none at the end. Tasks may share buf: its
// contents are valid until the caller's next system call.
func (s asyncSocket) recv(buf []byte) *program {
	return newProgram("recv", func(y *caller) (any, error) {
		for {
			n, err := unix.Read(int(s), buf)
			switch {
			case err == nil:
				return buf[:n], nil
			case errors.Is(err, unix.EAGAIN):
				if _, err := y.Yield(ReadWait(int(s))); err != nil {
					return nil, err
				}
			case !errors.Is(err, unix.EINTR):
				return nil, err
			}
		}
	})
}

// send sends all of data. If a part has to wait, send copies it, so that the caller may reuse data.
func (s asyncSocket) send(data []byte) *program {
	return newProgram("send", func(y *caller) (any, error) {
		copied := false
		for len(data) > 0 {
			n, err := unix.Write(int(s), data)
			switch {
			case err == nil:
				data = data[n:]
			case errors.Is(err, unix.EAGAIN):
				if !copied {
					data, copied = bytes.Clone(data), true
				}
				if _, err := y.Yield(WriteWait(int(s))); err != nil {
					return nil, err
				}
			case !errors.Is(err, unix.EINTR):
				return nil, err
			}
		}
		return nil, nil
	})
}

// close is not a program: close(2) of a socket never waits. So a defer may call it when a task is
// killed and may not yield any more.
func (s asyncSocket) close() { unix.Close(int(s)) }

// Echo serves clients until ctx is done, each by a task, and sends back what they send. The address
// is an IP address and port, such as 127.0.0.1:0; ready gets the one that it listens on.
func Echo(ctx context.Context, address string, ready func(address string)) error {
	buf := make([]byte, 16<<10) // shared: a waiting client needs none
	serve := func(client asyncSocket) *program {
		return newProgram("client", func(y *caller) (any, error) {
			defer client.close()
			for {
				data, err := ask[[]byte](y, client.recv(buf))
				if err != nil || len(data) == 0 {
					return nil, nil // however it left, the server stays
				}
				if _, err := y.Yield(client.send(data)); err != nil {
					return nil, nil
				}
			}
		})
	}
	return runKernel(ctx, newProgram("server", func(y *caller) (any, error) {
		server, err := listenSocket(address)
		if err != nil {
			return nil, err
		}
		defer server.close()
		ready(server.address())
		for {
			client, err := ask[asyncSocket](y, server.accept())
			if err != nil {
				return nil, err
			}
			if _, err := y.Yield(NewTask(serve(client))); err != nil {
				return nil, err
			}
		}
	}))
}
