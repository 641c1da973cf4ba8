//go:build unix

package natsserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// lockStore makes a store, unless it is there, and takes it until the file is closed.
func lockStore(dir string) (*os.File, error) {
	if dir == "" {
		return nil, errors.New("no store, expected a folder")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store %.128q: %w, expected a folder that can be written", dir, bare(err))
	}
	lock, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store %.128q: %w, expected a folder that can be written", dir, bare(err))
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close() // nothing was written
		return nil, fmt.Errorf("store %.128q: another server has it", dir)
	}
	return lock, nil
}

// bare is an error of the file system without its path.
func bare(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
