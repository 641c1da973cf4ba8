//go:build unix

package mirror

import (
	"os"
	"syscall"
)

// lock locks a file for this process, if no other has locked it.
func lock(f *os.File) bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }

// sync waits until all that was written is on the disk.
func sync() { syscall.Sync() }
