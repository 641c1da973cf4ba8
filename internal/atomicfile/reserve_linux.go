package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// keepSize is FALLOC_FL_KEEP_SIZE of fallocate(2).
const keepSize = 1

// reserve takes room on the disk for so many bytes of a file, which keeps its length.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	err := syscall.Fallocate(int(f.Fd()), keepSize, 0, size)
	if errors.Is(err, errors.ErrUnsupported) { // by the file system
		return nil
	}
	return err
}
