// Package storetest provides an in-memory file system for crash tests: it fails, fills up and
// crashes where a test wants it to.
package storetest

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

// Op is an operation that changes the disk or makes a change durable.
type Op string

const (
	Create   Op = "create"
	Link     Op = "link"
	Mkdir    Op = "mkdir"
	Open     Op = "open" // for writing
	Remove   Op = "remove"
	Rename   Op = "rename"
	Sync     Op = "sync" // of a file or folder
	Truncate Op = "truncate"
	Write    Op = "write"
)

// FS is a disk. A crash may lose unsynced bytes and directory entries.
type FS struct {
	vfs.FS
	mem *vfs.MemFS
	mu  struct {
		sync.Mutex
		before func(op Op, path string) error
	}
}

var _ store.FS = (*FS)(nil)

// New returns an empty disk.
func New() *FS { return wrap(vfs.NewCrashableMem()) }

func wrap(mem *vfs.MemFS) *FS { return &FS{FS: mem, mem: mem} }

// Before calls fn before each operation, one call at a time. If fn returns an error, the operation
// returns it and does nothing, except that a Partial write writes a part. fn may call Crash and no
// other operation. A nil fn removes the hook.
func (fs *FS) Before(fn func(op Op, path string) error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.mu.before = fn
}

// Partial is the error of a write that writes a part.
type Partial struct {
	N   int // bytes written
	Err error
}

func (e *Partial) Error() string { return e.Err.Error() }
func (e *Partial) Unwrap() error { return e.Err }

// Crash returns the disk as a crash of the machine would leave it now: synced data, and a
// percentage of the rest, picked by rng, which may be nil if percent is 0.
func (fs *FS) Crash(percent int, rng *rand.Rand) *FS {
	return wrap(fs.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}))
}

// ReadFile returns the content of a file.
func (fs *FS) ReadFile(path string) ([]byte, error) {
	f, err := fs.mem.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// WriteFile creates a file without syncing it.
func (fs *FS) WriteFile(path string, data []byte) error {
	f, err := fs.mem.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(nil), data...))
	return errors.Join(err, f.Close())
}

func (fs *FS) before(op Op, path string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.mu.before == nil {
		return nil
	}
	return fs.mu.before(op, path)
}

// LockShared locks for a single reader.
func (fs *FS) LockShared(name string) (io.Closer, error) { return fs.Lock(name) }

// Unwrap returns nil: nothing may bypass this file system.
func (fs *FS) Unwrap() vfs.FS { return nil }

func (fs *FS) open(op Op, path string, open func() (vfs.File, error)) (vfs.File, error) {
	if err := fs.before(op, path); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return &file{f, fs, path}, nil
}

func (fs *FS) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.open(Create, path, func() (vfs.File, error) { return fs.mem.Create(path, c) })
}

func (fs *FS) OpenReadWrite(path string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.open(Open, path, func() (vfs.File, error) { return fs.mem.OpenReadWrite(path, c, opts...) })
}

func (fs *FS) ReuseForWrite(old, path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.open(Rename, path, func() (vfs.File, error) { return fs.mem.ReuseForWrite(old, path, c) })
}

func (fs *FS) OpenDir(path string) (vfs.File, error) {
	f, err := fs.mem.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return &file{f, fs, path}, nil
}

func (fs *FS) Link(old, path string) error {
	if err := fs.before(Link, path); err != nil {
		return err
	}
	return fs.mem.Link(old, path)
}

func (fs *FS) Remove(path string) error {
	if err := fs.before(Remove, path); err != nil {
		return err
	}
	return fs.mem.Remove(path)
}

func (fs *FS) RemoveAll(path string) error {
	if err := fs.before(Remove, path); err != nil {
		return err
	}
	return fs.mem.RemoveAll(path)
}

func (fs *FS) Rename(old, path string) error {
	if err := fs.before(Rename, path); err != nil {
		return err
	}
	return fs.mem.Rename(old, path)
}

func (fs *FS) MkdirAll(path string, perm os.FileMode) error {
	if err := fs.before(Mkdir, path); err != nil {
		return err
	}
	return fs.mem.MkdirAll(path, perm)
}

// Truncate replaces a file by a shorter one. As on a real disk, a crash does not take what was
// synced before of what is left.
func (fs *FS) Truncate(path string, size int64) error {
	if err := fs.before(Truncate, path); err != nil {
		return err
	}
	data, err := fs.ReadFile(path)
	if err != nil {
		return err
	}
	data = data[:min(size, int64(len(data)))]
	synced, err := fs.Crash(0, nil).ReadFile(path)
	if err != nil { // nothing of it
		return fs.WriteFile(path, data)
	}
	f, err := fs.mem.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	durable := min(len(synced), len(data))
	_, err = f.Write(slices.Clone(data[:durable]))
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		_, err = f.Write(slices.Clone(data[durable:]))
	}
	return errors.Join(err, f.Close())
}

type file struct {
	vfs.File
	fs   *FS
	path string
}

func (f *file) Write(p []byte) (int, error) {
	return f.write(p, f.File.Write)
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, at) })
}

func (f *file) write(p []byte, write func([]byte) (int, error)) (int, error) {
	err := f.fs.before(Write, f.path)
	var partial *Partial
	switch {
	case errors.As(err, &partial):
		n, _ := write(p[:min(partial.N, len(p))])
		return n, partial.Err
	case err != nil:
		return 0, err
	}
	return write(p)
}

func (f *file) Sync() error {
	if err := f.fs.before(Sync, f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *file) SyncData() error { return f.Sync() }
