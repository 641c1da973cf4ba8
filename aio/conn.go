package aio

import (
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a stream between two ends: a socket, or a pipe of the in-memory network. It belongs to
// its loop. One task may read while another writes; a second reader gets ErrBusy. The Conn that
// DialUDP returns carries datagrams instead.
type Conn interface {
	// Read reads what has arrived, at most len(p) bytes, and waits while nothing has. It returns
	// io.EOF once the peer will send no more.
	Read(t *Task, p []byte) (int, error)
	// WaitReadable waits until Read has something to return, so that the caller needs a buffer
	// only when there are bytes to put into it.
	WaitReadable(t *Task) error
	// WhenReadable is WaitReadable for a task that waits without a stack: see Lot.Then.
	WhenReadable(t *Task, until time.Time, next func(t *Task) error) error
	// Ready reports whether Read would return bytes, the end or an error without waiting, as far
	// as the loop knows: it does not ask the system again.
	Ready() bool
	// Write writes all of p, waiting while the peer or the network is slower than t.
	Write(t *Task, p []byte) (int, error)
	// Send writes what the peer takes of p without a wait. If that is not all, the loop calls later
	// once, unless it is nil, when the peer takes more or an error is there for the next Send; not
	// after Close. Deadlines do not apply. Until then a second Send gets ErrBusy.
	Send(p []byte, later func()) (int, error)
	// CloseWrite sends the end of the stream; reading stays possible.
	CloseWrite() error
	// Close ends both directions; waiting tasks get ErrClosed. A second Close does nothing.
	Close() error

	// Deadlines are on the loop's clock; the zero time means none. A new deadline also applies to
	// waits in progress. The error of a wait that hits one matches ErrTimeout.
	SetDeadline(at time.Time) error
	SetReadDeadline(at time.Time) error
	SetWriteDeadline(at time.Time) error

	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

// Listener accepts connections.
type Listener interface {
	// Accept waits for the next connection.
	Accept(t *Task) (Conn, error)
	// Close closes the listener; a task that waits in Accept gets ErrClosed.
	Close() error
	Addr() net.Addr
}

// Network is the destination of Dial and Listen: the system's sockets, or a synthetic network in
// tests.
type Network interface {
	// Lookup returns the addresses of a host name, most preferred first.
	Lookup(t *Task, host string) ([]net.IP, error)
	// Connect opens a connection to a *net.TCPAddr or *net.UnixAddr, or a datagram socket to a
	// *net.UDPAddr.
	Connect(t *Task, to net.Addr) (Conn, error)
	// Listen opens a listener on a *net.TCPAddr or *net.UnixAddr.
	Listen(t *Task, on net.Addr) (Listener, error)
}

// socket is a Conn of the operating system.
type socket struct {
	descriptor
	local, remote net.Addr
}

func newSocket(l *Loop, fd int, remote net.Addr) (*socket, error) {
	s := &socket{remote: remote}
	if err := l.fds.add(&s.descriptor, fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	s.mayHoldMore = s.network() != "tcp"
	return s, nil
}

func (s *socket) Read(t *Task, p []byte) (int, error) {
	if err := t.Checkpoint(); err != nil {
		return 0, s.opError("read", err)
	}
	if err := s.read.over(); err != nil {
		return 0, s.opError("read", err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if s.read.ready {
			n, err := sysRead(s.fd, p)
			switch {
			case err == nil && n == 0 && s.network() != "udp": // on UDP, n == 0 is an empty datagram
				return 0, io.EOF
			case err == nil:
				// A short read has emptied the socket, and whatever comes next raises a new event.
				// Where that is in doubt, the next read finds out: when the end or an error may
				// have come in the same event; on TCP with urgent data, before which a read stops;
				// on Unix sockets, where a read also stops after a message that carried
				// descriptors; on datagram sockets, where it stops after each datagram.
				s.read.ready = n == len(p) || s.mayHoldMore
				return n, nil
			case err == unix.EINTR:
				continue
			case err != unix.EAGAIN:
				return 0, s.opError("read", os.NewSyscallError("read", err))
			}
			s.read.ready = false
		}
		if err := s.read.wait(t, "bytes to read"); err != nil {
			return 0, s.opError("read", err)
		}
	}
}

func (s *socket) WaitReadable(t *Task) error {
	if err := t.Checkpoint(); err != nil {
		return s.opError("read", err)
	}
	if err := s.read.over(); err != nil {
		return s.opError("read", err)
	}
	for !s.read.ready {
		if err := s.read.wait(t, "bytes to read"); err != nil {
			return s.opError("read", err)
		}
	}
	return nil
}

func (s *socket) WhenReadable(t *Task, until time.Time, next func(t *Task) error) error {
	return s.read.lot.then(t, &s.read, "bytes to read", until, next)
}

func (s *socket) Ready() bool {
	for s.read.ready && !s.descriptor.closed {
		// The flag may be left over from bytes that were read since.
		var b [1]byte
		_, _, err := unix.Recvfrom(s.fd, b[:], unix.MSG_PEEK)
		switch err {
		case unix.EINTR:
		case unix.EAGAIN:
			s.read.ready = false
		default:
			return true
		}
	}
	return s.descriptor.closed
}

func (s *socket) Write(t *Task, p []byte) (int, error) {
	if err := t.Checkpoint(); err != nil {
		return 0, s.opError("write", err)
	}
	if err := s.write.over(); err != nil {
		return 0, s.opError("write", err)
	}
	for done := 0; ; {
		n, err := s.put(p[done:])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
		if err := s.write.wait(t, "the peer to take bytes"); err != nil {
			return done, s.opError("write", err)
		}
	}
}

// put writes what the peer takes now.
func (s *socket) put(p []byte) (done int, err error) {
	for done < len(p) && s.write.ready {
		n, err := sysWrite(s.fd, p[done:])
		switch err {
		case nil:
			done += n
		case unix.EINTR:
		case unix.EAGAIN:
			s.write.ready = false
		default:
			return done, s.opError("write", os.NewSyscallError("write", err))
		}
	}
	return done, nil
}

func (s *socket) Send(p []byte, later func()) (int, error) {
	switch {
	case s.closed:
		return 0, s.opError("write", ErrClosed)
	case s.write.busy():
		return 0, s.opError("write", ErrBusy)
	}
	n, err := s.put(p)
	if err == nil && n < len(p) && later != nil {
		err = s.write.once(later)
	}
	return n, err
}

func (s *socket) CloseWrite() error {
	if s.closed {
		return s.opError("close", ErrClosed)
	}
	if err := unix.Shutdown(s.fd, unix.SHUT_WR); err != nil {
		return s.opError("close", os.NewSyscallError("shutdown", err))
	}
	return nil
}

func (s *socket) Close() error {
	if s.closed {
		return nil
	}
	s.loop.fds.remove(&s.descriptor)
	if err := unix.Close(s.fd); err != nil {
		return s.opError("close", os.NewSyscallError("close", err))
	}
	return nil
}

// Abort closes c, and the system forgets what it has not brought to the peer. After Close, it goes
// on trying for minutes.
func Abort(c Conn) error {
	if s, ok := c.(*socket); ok && !s.closed {
		// To linger for no time resets the connection.
		_ = unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	return c.Close()
}

func (s *socket) SetDeadline(at time.Time) error {
	_ = s.SetReadDeadline(at)
	return s.SetWriteDeadline(at)
}

func (s *socket) SetReadDeadline(at time.Time) error  { return s.setDeadline(&s.read, at) }
func (s *socket) SetWriteDeadline(at time.Time) error { return s.setDeadline(&s.write, at) }

func (s *socket) setDeadline(dir *direction, at time.Time) error {
	if s.closed {
		return s.opError("set", ErrClosed)
	}
	when := int64(0)
	if !at.IsZero() {
		when = max(1, s.loop.time.since(at))
	}
	dir.setDeadline(when)
	return nil
}

// opError wraps err with the operation and the connection, as package net does.
func (s *socket) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: s.network(), Source: s.local, Addr: s.remote, Err: err}
}

// listener is a Listener of the operating system.
type listener struct {
	descriptor
	addr    net.Addr
	network string
	unlink  string // path of a Unix socket
}

func (ln *listener) Addr() net.Addr { return ln.addr }

// Accept retries errors that concern only a connection that is already gone. It returns errors
// such as EMFILE to the caller, who can wait for free descriptors.
func (ln *listener) Accept(t *Task) (Conn, error) {
	if err := t.Checkpoint(); err != nil {
		return nil, ln.opError("accept", err)
	}
	if ln.closed {
		return nil, ln.opError("accept", ErrClosed)
	}
	for {
		if ln.read.ready {
			fd, sa, err := sysAccept(ln.fd)
			switch err {
			case nil:
				if ln.network == "tcp" {
					_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
				}
				c, err := newSocket(ln.loop, fd, fromSockaddr(sa))
				if err != nil {
					return nil, ln.opError("accept", err)
				}
				return c, nil
			case unix.EINTR, unix.ECONNABORTED:
				continue
			case unix.EAGAIN:
				ln.read.ready = false
			default:
				return nil, ln.opError("accept", os.NewSyscallError("accept", err))
			}
		}
		if err := ln.read.wait(t, "a connection"); err != nil {
			return nil, ln.opError("accept", err)
		}
	}
}

func (ln *listener) Close() error {
	if ln.closed {
		return nil
	}
	ln.loop.fds.remove(&ln.descriptor)
	ln.removePath()
	return unix.Close(ln.fd)
}

func (ln *listener) removePath() {
	if ln.unlink != "" {
		_ = os.Remove(ln.unlink) // somebody else may have removed it: it is gone either way
	}
}

func (ln *listener) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: ln.network, Addr: ln.addr, Err: err}
}

// network returns "tcp", "udp" or "unix".
func (s *socket) network() string { return s.remote.Network() }

// LocalAddr asks the kernel on its first call: most connections never need it.
func (s *socket) LocalAddr() net.Addr {
	if s.local == nil && !s.closed {
		if sa, err := unix.Getsockname(s.fd); err == nil {
			s.local = fromSockaddr(sa)
			if tcp, ok := s.local.(*net.TCPAddr); ok && s.network() == "udp" {
				s.local = (*net.UDPAddr)(tcp)
			}
		}
	}
	return s.local
}

func (s *socket) RemoteAddr() net.Addr { return s.remote }
