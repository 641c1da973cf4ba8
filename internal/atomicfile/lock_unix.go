//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// lock locks a file until it is closed, or until its process ends. It does not wait.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// openUnfollowed opens a file that is neither a link nor makes anybody wait.
func openUnfollowed(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
