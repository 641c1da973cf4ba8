package store

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// room makes writes wait while the disk has no room for them, so that a full disk is a
// pause and no failure. Outputs, Pebble's log, its flushes and compactions all wait
// here, and whoever waits for them waits too.
//
// A sync that reports a full disk is an error like any other: what the kernel could
// not write it may have forgotten, and a second sync would not say so.
type room struct {
	every     time.Duration   // between two attempts
	tell      func(error)     // of Options.Waiting
	abandoned <-chan struct{} // closed when nobody is to wait any longer

	mu struct {
		sync.Mutex
		waiting int
	}
}

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// try returns what op does, as soon as there is room for it.
func (r *room) try(op func() error) error {
	err := op()
	if !full(err) {
		return err
	}
	r.count(+1, err)
	defer r.count(-1, nil)
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for full(err) {
		select {
		case <-r.abandoned:
			return err
		case <-tick.C:
			err = op()
		}
	}
	return err
}

// count counts the writes that wait, and tells of the first and of the last.
func (r *room) count(n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.mu.waiting
	r.mu.waiting += n
	if r.tell != nil && (before == 0 || r.mu.waiting == 0) {
		r.tell(err)
	}
}

// roomFS is a file system whose writes wait for room.
type roomFS struct {
	FS
	room *room
}

func (fs roomFS) Unwrap() vfs.FS { return fs.FS }

func (fs roomFS) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

func (fs roomFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

func (fs roomFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.ReuseForWrite(old, name, c) })
}

func (fs roomFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := fs.room.try(func() (err error) {
		f, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return roomFile{f, fs.room}, nil
}

func (fs roomFS) Link(old, name string) error {
	return fs.room.try(func() error { return fs.FS.Link(old, name) })
}

func (fs roomFS) Rename(old, name string) error {
	return fs.room.try(func() error { return fs.FS.Rename(old, name) })
}

func (fs roomFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.room.try(func() error { return fs.FS.MkdirAll(dir, perm) })
}

type roomFile struct {
	vfs.File
	room *room
}

func (f roomFile) Write(p []byte) (n int, err error) {
	err = f.room.try(func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

func (f roomFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.room.try(func() error {
		m, err := f.File.WriteAt(p[n:], at+int64(n))
		n += m
		return err
	})
	return n, err
}

// Preallocate does nothing. Pebble wants the 18 MB that its log may have at most as soon as
// it begins one: a small job would be that large, and in a folder in memory each page of it
// costs as much as one that is used. A log that is synced once in 50 ms gains nothing by it.
func (roomFile) Preallocate(int64, int64) error { return nil }
