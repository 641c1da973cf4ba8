//go:build unix && !linux

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file until it is closed, for one writer or for any number of readers, and does not
// wait.
func lock(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	return unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
}
