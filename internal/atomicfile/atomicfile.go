// Package atomicfile writes files as a whole: a reader finds the old contents or the new ones.
//
// A file is written beside its place under a name that no other has, synced, and renamed. It is
// locked meanwhile. A file that nobody locks was left by a process that was killed: whoever writes
// to the folder next removes it.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Replace makes a new file of what write writes, and puts it in the place of whatever has its path,
// a link or a pipe included. It has the mode perm, less the umask. If Replace fails, nothing
// changes.
//
// The writer is buffered. Its method Name returns the name that the file has until it is whole, and
// Chown gives the file to a user and a group. Replace returns an error of write as it is, and any
// other as an [fs.PathError] of the path.
func Replace(path string, perm fs.FileMode, write func(io.Writer) error) error {
	return replace(path, path, perm, write)
}

// replace writes to a target that path leads to.
func replace(path, target string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := create(filepath.Dir(target), perm)
	if err != nil {
		return named(path, err)
	}
	defer discard(f)
	if err := fill(f, path, write); err != nil {
		return err
	}
	return named(path, errors.Join(f.Sync(), place(f, target)))
}

// Write does as Replace to a path that a person has named: a symbolic link stays a link, a pipe or
// a device takes what comes, and an old file keeps its mode.
//
// Where the folder takes no new file, as in a container that mounts a single one, Write copies the
// whole into the old file, after it has taken room for it.
func Write(path string, perm fs.FileMode, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err := linked(path)
		if err != nil {
			return named(path, err)
		}
		return replace(path, target, perm, write)
	}
	if err == nil && !info.Mode().IsRegular() {
		return writeInto(path, write)
	}
	if err != nil {
		return named(path, err)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return named(path, err)
	}
	f, err := create(filepath.Dir(target), 0o600)
	beside := err == nil
	if refused(err) {
		f, err = create(os.TempDir(), 0o600)
	}
	if err != nil {
		return named(path, err)
	}
	defer discard(f)
	if err := fill(f, path, write); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(info.Mode().Perm()), f.Sync()); err != nil {
		return named(path, err)
	}
	if beside {
		if err := place(f, target); !refused(err) {
			return named(path, err)
		}
	}
	return named(path, overwrite(target, f))
}

// linked returns where a link leads that leads to no file.
func linked(path string) (string, error) {
	for range 40 { // as many as Linux follows
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return "", err
		}
		to, err := os.Readlink(path)
		switch {
		case err != nil:
			return filepath.Join(dir, filepath.Base(path)), nil
		case filepath.IsAbs(to):
			path = to
		default:
			path = filepath.Join(dir, to)
		}
	}
	return "", syscall.ELOOP
}

// refused reports whether a folder takes no new file, or has another file system's in its place.
func refused(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY)
}

const (
	prefix = ".weft-"
	suffix = ".part"
	random = 8 // bytes, in hexadecimal between the two
)

// create makes a file under a name of its own, and locks it.
func create(dir string, perm fs.FileMode) (*os.File, error) {
	removeStale(dir)
	for {
		var name [random]byte
		rand.Read(name[:])
		path := filepath.Join(dir, prefix+hex.EncodeToString(name[:])+suffix)
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return nil, err
		}
		// Another process may have found it before it was locked.
		locked := !errors.Is(lock(f), syscall.EWOULDBLOCK)
		if there, err := os.Lstat(path); err == nil && locked {
			if made, err := f.Stat(); err == nil && os.SameFile(made, there) {
				return f, nil
			}
		}
		f.Close()
	}
}

// removeStale removes what killed processes have left in a folder.
func removeStale(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !isOurs(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := openUnfollowed(path)
		if err != nil {
			continue
		}
		if lock(f) == nil {
			os.Remove(path)
		}
		f.Close()
	}
}

// isOurs reports whether a name is of the form that create makes.
func isOurs(name string) bool {
	middle, begins := strings.CutPrefix(name, prefix)
	middle, ends := strings.CutSuffix(middle, suffix)
	raw, err := hex.DecodeString(middle)
	return begins && ends && err == nil && len(raw) == random
}

// fill writes to a file that will have the path.
func fill(f *os.File, path string, write func(io.Writer) error) error {
	out := part{bufio.NewWriterSize(writer{f, path}, 64<<10), f}
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// part is a file that is being written.
type part struct {
	*bufio.Writer
	file *os.File
}

func (p part) Name() string { return p.file.Name() }

func (p part) Chown(uid, gid int) error { return p.file.Chown(uid, gid) }

// writer writes to a file. Its errors have the path that the file is to have.
type writer struct {
	file *os.File
	path string
}

func (w writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	return n, named(w.path, err)
}

// named returns an error as one of a path.
func named(path string, err error) error {
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &of):
		err = of.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// place gives a file its name.
func place(f *os.File, path string) error {
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// discard closes a file, and removes it unless it has its name.
func discard(f *os.File) {
	os.Remove(f.Name())
	f.Close() // unlocked only now: nobody takes it for one that was left
}

// overwrite copies a file into an old one. Before it touches that, it takes the room.
func overwrite(path string, from *os.File) (err error) {
	to, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	size, err := from.Seek(0, io.SeekEnd)
	if err == nil {
		err = reserve(to, size)
	}
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, io.NewSectionReader(from, 0, size)); err != nil {
		return err
	}
	return errors.Join(to.Truncate(size), to.Sync())
}

// writeInto writes to a pipe or a device.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // of a pipe, this waits for a reader
	if err != nil {
		return named(path, err)
	}
	if err := fill(f, path, write); err != nil {
		f.Close()
		return err
	}
	return named(path, f.Close())
}

// syncFolder makes a rename outlive a power failure, on a file system that can.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return nil // one that may be written and not read
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
