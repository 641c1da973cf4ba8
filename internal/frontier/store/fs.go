package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system of a store: state, outputs and files of WriteFile use nothing else. It is
// Pebble's, which has in-memory ones for tests, can truncate a file, and lock one for readers.
type FS interface {
	vfs.FS

	// Truncate shortens the named file to size bytes.
	Truncate(name string, size int64) error

	// LockShared locks the named file as Lock does, but for any number of readers at once.
	LockShared(name string) (io.Closer, error)
}

// Disk is the file system of the machine. It opens files only: the folder of a job may come from
// elsewhere, and have a link to a device, or to a file of this machine, where the state has a file;
// whoever opens a pipe waits.
var Disk FS = disk{vfs.Default}

type disk struct{ vfs.FS }

// errNoFile is returned for what is neither a file nor a folder.
var errNoFile = errors.New("no regular file, expected one that Weft has made")

// mostText bounds, in bytes, what is read as a whole: a file with holes of any size takes no room.
const mostText = 1 << 20

// errTooLong is returned for such a file beyond the bound.
var errTooLong = fmt.Errorf("longer than %d bytes, expected a file that Weft has made", mostText)

// bounded returns an error for a file that is longer than any of its kind that was made here.
func bounded(name string) error {
	base := filepath.Base(name)
	if !strings.HasPrefix(base, "OPTIONS-") && base != clearingFile {
		return nil
	}
	if info, err := os.Lstat(name); err == nil && info.Size() > mostText {
		return &fs.PathError{Op: "open", Path: name, Err: errTooLong}
	}
	return nil // or the operation itself fails
}

// regular returns an error for the name of a link, a pipe, a socket or a device.
func regular(name string) error {
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	return nil // or the operation itself fails
}

func (d disk) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := errors.Join(regular(name), bounded(name)); err != nil {
		return nil, err
	}
	return d.FS.Open(name, opts...)
}

func (d disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := regular(name); err != nil {
		return nil, err
	}
	return d.FS.OpenReadWrite(name, c, opts...)
}

func (d disk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := regular(old); err != nil {
		return nil, err
	}
	return d.FS.ReuseForWrite(old, name, c)
}

func (disk) Truncate(name string, size int64) error {
	if err := regular(name); err != nil {
		return err
	}
	return os.Truncate(name, size)
}

// MkdirAll makes no folder where a link leads: what the store makes and removes is in the job.
func (d disk) MkdirAll(dir string, perm os.FileMode) error {
	if err := ownFolder(dir); err != nil {
		return err
	}
	return d.FS.MkdirAll(dir, perm)
}

// Lock makes the file if need be. It is that of a state, whose folder is no link either: all that
// is in it belongs to the store.
func (disk) Lock(name string) (io.Closer, error) {
	if err := ownFile(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock(f, true); err != nil {
		f.Close()
		return nil, lockError(name, err)
	}
	return f, nil
}

// LockShared needs no permission to write. Where there is no file, and none can be made, or the
// disk knows no locks, no crawl can have the job.
func (disk) LockShared(name string) (io.Closer, error) {
	if err := ownFile(name); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(name, os.O_RDONLY|os.O_CREATE, 0o666)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return io.NopCloser(nil), nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f, false); isHeld(err) {
		f.Close()
		return nil, lockError(name, err)
	}
	return f, nil
}

// ownFile returns an error unless a lock file, if it is there, and its folder are what they seem.
func ownFile(name string) error {
	if err := ownFolder(filepath.Dir(name)); err != nil {
		return err
	}
	return regular(name)
}

// ownFolder returns an error for a link, even one to a folder, and for what else is no folder.
func ownFolder(dir string) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("no folder, expected one that Weft has made")}
	}
	return nil
}

// isHeld reports whether an error of lock says that another has the lock.
func isHeld(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES)
}

// lockError returns an error of lock: an [fs.PathError], unless another has the lock.
func lockError(name string, err error) error {
	if isHeld(err) {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	return &fs.PathError{Op: "lock", Path: name, Err: err}
}

// syncDir makes the entries of a folder durable.
func syncDir(fs FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}

// impatientFS is the file system of a store that is only read: it does not wait for a descriptor.
type impatientFS struct{ FS }

func (i impatientFS) Unwrap() vfs.FS { return i.FS }

// writeFile creates a file, durably.
func writeFile(fs FS, path string, data []byte) error {
	f, err := fs.Create(path, "weft-file")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
