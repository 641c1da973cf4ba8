package store

import (
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// unfailing is the file system that Pebble sees: one whose writes do not fail. Shown a
// failure Pebble ends the process, panics with locks held or tries again for ever,
// according to which file it meets it in. So the first one becomes the store's failure, and the
// goroutine that met it stays where it is, as does every other that writes after it: a
// state that has failed is not touched again. Goroutines and memory of such a store are
// gone only with the process, which has no reason to live much longer.
type unfailing struct {
	FS
	failure *failure
}

func (fs unfailing) Unwrap() vfs.FS { return fs.FS }

// begin is called before an operation that changes the disk.
func (f *failure) begin() {
	if err := f.get(); err != nil {
		f.park(err)
	}
}

// end is called with the error of such an operation.
func (f *failure) end(err error) error {
	if err != nil {
		f.park(wrap(err))
	}
	return nil
}

func (fs unfailing) file(open func() (vfs.File, error)) (vfs.File, error) {
	fs.failure.begin()
	f, err := open()
	return unfailingFile{f, fs.failure}, fs.failure.end(err)
}

func (fs unfailing) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	fs.settle(name)
	return fs.file(func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

func (fs unfailing) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

func (fs unfailing) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.ReuseForWrite(old, name, c) })
}

// OpenDir is for syncing it.
func (fs unfailing) OpenDir(name string) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenDir(name) })
}

func (fs unfailing) Link(old, name string) error {
	fs.failure.begin()
	return fs.failure.end(fs.FS.Link(old, name))
}

func (fs unfailing) Rename(old, name string) error {
	fs.failure.begin()
	return fs.failure.end(fs.FS.Rename(old, name))
}

func (fs unfailing) MkdirAll(dir string, perm os.FileMode) error {
	fs.failure.begin()
	return fs.failure.end(fs.FS.MkdirAll(dir, perm))
}

// Remove may fail: what is obsolete takes room, and nothing else.
func (fs unfailing) Remove(name string) error {
	fs.failure.begin()
	fs.settle(name)
	return fs.FS.Remove(name)
}

func (fs unfailing) RemoveAll(name string) error {
	fs.failure.begin()
	return fs.FS.RemoveAll(name)
}

// settle makes the names in the folder of a marker durable before one is made or removed.
// A marker's name says which manifest counts. Pebble syncs the folder once, after it has made
// manifest and marker and has removed the old marker: a crash before that could leave a
// marker without its manifest, or no marker at all.
func (fs unfailing) settle(name string) {
	if strings.HasPrefix(fs.PathBase(name), "marker.") {
		fs.failure.begin()
		_ = fs.failure.end(syncDir(fs.FS, fs.PathDir(name)))
	}
}

// Lock does nothing: the store holds the lock, and lets go of it even if Pebble never
// returns.
func (unfailing) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

type unfailingFile struct {
	vfs.File
	failure *failure
}

func (f unfailingFile) Write(p []byte) (int, error) {
	f.failure.begin()
	n, err := f.File.Write(p)
	return n, f.failure.end(err)
}

func (f unfailingFile) WriteAt(p []byte, at int64) (int, error) {
	f.failure.begin()
	n, err := f.File.WriteAt(p, at)
	return n, f.failure.end(err)
}

func (f unfailingFile) Sync() error {
	f.failure.begin()
	return f.failure.end(f.File.Sync())
}

func (f unfailingFile) SyncData() error {
	f.failure.begin()
	return f.failure.end(f.File.SyncData())
}

func (f unfailingFile) SyncTo(length int64) (bool, error) {
	f.failure.begin()
	full, err := f.File.SyncTo(length)
	return full, f.failure.end(err)
}

func (f unfailingFile) Close() error { return f.failure.end(f.File.Close()) }
