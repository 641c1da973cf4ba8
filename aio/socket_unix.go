//go:build unix && !linux

package aio

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Writing to a peer that has gone raises SIGPIPE; Go's runtime drops that signal for descriptors
// other than 1 and 2.

func sysRead(fd int, p []byte) (int, error)  { return unix.Read(fd, p) }
func sysWrite(fd int, p []byte) (int, error) { return unix.Write(fd, p) }

func sysSocket(family, kind int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := unix.Socket(family, kind, 0)
	return prepare(fd, err)
}

func sysAccept(fd int) (int, unix.Sockaddr, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	nfd, sa, err := unix.Accept(fd)
	nfd, err = prepare(nfd, err)
	return nfd, sa, err
}

func prepare(fd int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sinceReceived is known on Linux only.
func sinceReceived(int) (time.Duration, bool) { return 0, false }
