// Package regular opens regular files only.
package regular

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Open opens a regular file to be read. It does not wait for the writer of a pipe, as a job from
// elsewhere may have one where a file is expected.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return checked(f, path)
}

// OpenIn opens a regular file in a folder. A symbolic link leads to nothing outside of the folder.
func OpenIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return checked(f, f.Name())
}

func checked(f *os.File, path string) (*os.File, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s: not a file", path), f.Close())
	}
	return f, nil
}
