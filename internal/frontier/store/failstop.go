package store

import (
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// failStopFS is the file system that Pebble sees: its writes never fail. On a write error Pebble,
// depending on the file, ends the process, panics with locks held, or retries forever. Instead,
// the first error becomes the store's failure, and the goroutine that met it blocks, as does every
// other that writes later: a failed state is not touched again. The goroutines and the memory of
// such a store live until the process ends.
type failStopFS struct {
	FS
	failure *failure
}

func (fs failStopFS) Unwrap() vfs.FS { return fs.FS }

// before is called before an operation that changes the disk. It blocks after a failure.
func (f *failure) before() {
	if err := f.get(); err != nil {
		f.block(err)
	}
}

// after is called with the error of such an operation. It blocks if there is one.
func (f *failure) after(err error) error {
	if err != nil {
		f.block(wrap(err))
	}
	return nil
}

func (fs failStopFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	fs.failure.before()
	f, err := open()
	return failStopFile{f, fs.failure}, fs.failure.after(err)
}

func (fs failStopFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	fs.syncMarker(name)
	return fs.file(func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

func (fs failStopFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

func (fs failStopFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.ReuseForWrite(old, name, c) })
}

// OpenDir opens a folder, to sync it.
func (fs failStopFS) OpenDir(name string) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenDir(name) })
}

func (fs failStopFS) Link(old, name string) error {
	fs.failure.before()
	return fs.failure.after(fs.FS.Link(old, name))
}

func (fs failStopFS) Rename(old, name string) error {
	fs.failure.before()
	return fs.failure.after(fs.FS.Rename(old, name))
}

func (fs failStopFS) MkdirAll(dir string, perm os.FileMode) error {
	fs.failure.before()
	return fs.failure.after(fs.FS.MkdirAll(dir, perm))
}

// Remove may fail: obsolete files only take space.
func (fs failStopFS) Remove(name string) error {
	fs.failure.before()
	fs.syncMarker(name)
	return fs.FS.Remove(name)
}

func (fs failStopFS) RemoveAll(name string) error {
	fs.failure.before()
	return fs.FS.RemoveAll(name)
}

// syncMarker syncs the folder of a marker before the marker is created or removed. A marker names
// the manifest in use. Pebble syncs the folder once, after it has created manifest and marker and
// removed the old marker: a crash before that could leave a marker without its manifest, or none.
func (fs failStopFS) syncMarker(name string) {
	if strings.HasPrefix(fs.PathBase(name), "marker.") {
		fs.failure.before()
		_ = fs.failure.after(syncDir(fs.FS, fs.PathDir(name)))
	}
}

// Lock does nothing: the store holds the lock, and releases it even if Pebble never returns.
func (failStopFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

type failStopFile struct {
	vfs.File
	failure *failure
}

func (f failStopFile) Write(p []byte) (int, error) {
	f.failure.before()
	n, err := f.File.Write(p)
	return n, f.failure.after(err)
}

func (f failStopFile) WriteAt(p []byte, at int64) (int, error) {
	f.failure.before()
	n, err := f.File.WriteAt(p, at)
	return n, f.failure.after(err)
}

func (f failStopFile) Sync() error {
	f.failure.before()
	return f.failure.after(f.File.Sync())
}

func (f failStopFile) SyncData() error {
	f.failure.before()
	return f.failure.after(f.File.SyncData())
}

func (f failStopFile) SyncTo(length int64) (bool, error) {
	f.failure.before()
	full, err := f.File.SyncTo(length)
	return full, f.failure.after(err)
}

func (f failStopFile) Close() error { return f.failure.after(f.File.Close()) }
