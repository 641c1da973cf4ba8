package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file until it is closed, for one writer or for any number of readers, and does not
// wait. The lock belongs to the descriptor, not to the process as with Pebble's, which it respects:
// a crawl and a look at its job may be in one process.
func lock(f *os.File, exclusive bool) error {
	l := unix.Flock_t{Type: unix.F_RDLCK}
	if exclusive {
		l.Type = unix.F_WRLCK
	}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l)
}
