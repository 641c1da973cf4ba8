package aio

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// systemNetwork is the Network of the operating system.
type systemNetwork struct{}

func (systemNetwork) Lookup(t *Task, host string) ([]net.IP, error) {
	addrs, err := Offload(t, func(ctx context.Context) ([]net.IP, error) {
		return net.DefaultResolver.LookupIP(ctx, "ip", host)
	})
	return addrs, err
}

func (systemNetwork) Connect(t *Task, to net.Addr) (Conn, error) {
	if err := t.Checkpoint(); err != nil {
		return nil, err
	}
	fd, sa, err := openSocket(to)
	if err != nil {
		return nil, err
	}
	s, err := newSocket(t.loop, fd, to)
	if err != nil {
		return nil, err
	}
	if err := s.connect(t, sa); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) connect(t *Task, sa unix.Sockaddr) error {
	switch err := unix.Connect(s.fd, sa); err {
	case nil:
		return nil
	case unix.EINPROGRESS, unix.EINTR: // an interrupted connect continues
	default:
		return os.NewSyscallError("connect", err)
	}
	// A new socket is neither readable nor writable yet: the events report it.
	s.write.ready, s.read.ready = false, false
	for {
		if !s.write.ready {
			if err := s.write.wait(t, "a connection to be made"); err != nil {
				return err
			}
		}
		errno, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return os.NewSyscallError("getsockopt", err)
		}
		if errno != 0 {
			return os.NewSyscallError("connect", unix.Errno(errno))
		}
		if _, err := unix.Getpeername(s.fd); err == nil {
			return nil
		}
		s.write.ready = false // woken by an event of the unconnected socket
	}
}

func (systemNetwork) Listen(t *Task, on net.Addr) (Listener, error) {
	t.check()
	fd, sa, err := openSocket(on)
	if tcp, ok := on.(*net.TCPAddr); ok && len(tcp.IP) == 0 {
		if err != nil { // this machine has no IPv6
			fd, sa, err = openSocket(&net.TCPAddr{IP: net.IPv4zero, Port: tcp.Port})
		} else {
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	fail := func(call string, err error) (Listener, error) {
		unix.Close(fd)
		return nil, os.NewSyscallError(call, err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fail("setsockopt", err)
	}
	if err := unix.Bind(fd, sa); err != nil {
		return fail("bind", err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return fail("listen", err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return fail("getsockname", err)
	}
	ln := &listener{addr: fromSockaddr(bound), network: on.Network()}
	if u, ok := on.(*net.UnixAddr); ok {
		ln.unlink = u.Name
	}
	if err := t.loop.fds.add(&ln.descriptor, fd, true); err != nil {
		unix.Close(fd)
		ln.removePath()
		return nil, err
	}
	return ln, nil
}

// backlog is more than any kernel grants; each reduces it to its own limit.
const backlog = 4096

// openSocket makes a non-blocking socket of the family of addr: a datagram socket for a
// *net.UDPAddr, otherwise a stream socket.
func openSocket(addr net.Addr) (fd int, sa unix.Sockaddr, err error) {
	family, kind := unix.AF_UNIX, unix.SOCK_STREAM
	switch a := addr.(type) {
	case *net.TCPAddr:
		family, sa, err = toSockaddr(a)
	case *net.UDPAddr:
		kind = unix.SOCK_DGRAM
		family, sa, err = toSockaddr((*net.TCPAddr)(a))
	case *net.UnixAddr:
		sa = &unix.SockaddrUnix{Name: a.Name}
	default:
		err = fmt.Errorf("aio: network %q is not supported, expected tcp, udp or unix", addr.Network())
	}
	if err != nil {
		return -1, nil, err
	}
	if fd, err = sysSocket(family, kind); err != nil {
		return -1, nil, os.NewSyscallError("socket", err)
	}
	if addr.Network() == "tcp" {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	return fd, sa, nil
}
