package store

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// spaceWaiter makes writes wait for space on a full disk, and files to be opened for a descriptor,
// so that a shortage is a pause and not a failure. Outputs, Pebble's log, flushes, compactions and
// reads all wait here.
//
// A sync that reports a full disk is an error like any other: the kernel may have dropped the data
// that it could not write, and a second sync would not report it.
type spaceWaiter struct {
	every     time.Duration   // between attempts
	abandoned <-chan struct{} // closed to end all waiting

	mu struct {
		sync.Mutex
		waiting int
		notify  func(error) // Options.Waiting; may be nil
	}
}

func newSpaceWaiter(every time.Duration, notify func(error), abandoned <-chan struct{}) *spaceWaiter {
	w := &spaceWaiter{every: every, abandoned: abandoned}
	w.mu.notify = notify
	return w
}

// forget drops notify, which holds the crawl: the goroutines of a store that has failed hold the
// waiter until the process ends.
func (w *spaceWaiter) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.notify = nil
}

// full reports whether an error says that the disk is full, or NoDescriptor.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || NoDescriptor(err)
}

// NoDescriptor reports whether an error says that the process or the machine has no file
// descriptor left.
func NoDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// try repeats op until there is space for it, and returns its error.
func (w *spaceWaiter) try(op func() error) error {
	err := op()
	if !full(err) {
		return err
	}
	w.count(+1, err)
	defer w.count(-1, nil)
	pause := w.every
	if NoDescriptor(err) { // this process may close one in a moment
		pause /= 64
	}
	for full(err) {
		next := time.NewTimer(pause)
		select {
		case <-w.abandoned:
			next.Stop()
			return err
		case <-next.C:
			err = op()
		}
		pause = min(2*pause, w.every)
	}
	return err
}

// count counts waiting writes, and reports the first and the end of the last.
func (w *spaceWaiter) count(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.mu.waiting
	w.mu.waiting += n
	if w.mu.notify != nil && (before == 0 || w.mu.waiting == 0) {
		w.mu.notify(err)
	}
}

// PatientWriter passes on what is written to another writer, and waits while that has no space.
type PatientWriter struct {
	w      io.Writer
	waiter *spaceWaiter
	end    func()
}

// NewPatientWriter returns a PatientWriter that calls waiting as a store does: see Options.
func NewPatientWriter(w io.Writer, waiting func(error)) *PatientWriter {
	abandoned := make(chan struct{})
	return &PatientWriter{w, newSpaceWaiter(time.Second, waiting, abandoned), sync.OnceFunc(func() { close(abandoned) })}
}

// Abandon ends all waiting, now and later.
func (p *PatientWriter) Abandon() { p.end() }

// AbandonWith calls Abandon when a context ends, unless stop is called before.
func (p *PatientWriter) AbandonWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, p.end)
}

func (p *PatientWriter) Write(b []byte) (n int, err error) {
	return p.waiter.write(b, p.w.Write)
}

// write repeats the write of p, or of what is left of it.
func (w *spaceWaiter) write(p []byte, write func([]byte) (int, error)) (n int, err error) {
	err = w.try(func() error {
		m, err := write(p[n:])
		n += m
		return err
	})
	return n, err
}

// diskFullFS is a file system whose writes wait for space.
type diskFullFS struct {
	FS
	waiter *spaceWaiter
}

func (fs diskFullFS) Unwrap() vfs.FS { return fs.FS }

func (fs diskFullFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.Open(name, opts...) })
}

func (fs diskFullFS) OpenDir(name string) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenDir(name) })
}

func (fs diskFullFS) List(dir string) (names []string, err error) {
	err = fs.waiter.try(func() (err error) {
		names, err = fs.FS.List(dir)
		return err
	})
	return names, err
}

func (fs diskFullFS) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

func (fs diskFullFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

func (fs diskFullFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.ReuseForWrite(old, name, c) })
}

func (fs diskFullFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := fs.waiter.try(func() (err error) {
		f, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return diskFullFile{f, fs.waiter}, nil
}

func (fs diskFullFS) Link(old, name string) error {
	return fs.waiter.try(func() error { return fs.FS.Link(old, name) })
}

func (fs diskFullFS) Rename(old, name string) error {
	return fs.waiter.try(func() error { return fs.FS.Rename(old, name) })
}

func (fs diskFullFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.waiter.try(func() error { return fs.FS.MkdirAll(dir, perm) })
}

type diskFullFile struct {
	vfs.File
	waiter *spaceWaiter
}

func (f diskFullFile) Write(p []byte) (int, error) { return f.waiter.write(p, f.File.Write) }

func (f diskFullFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.waiter.try(func() error {
		m, err := f.File.WriteAt(p[n:], at+int64(n))
		n += m
		return err
	})
	return n, err
}

// Preallocate does nothing. Pebble preallocates the maximum of its log, 18 MB, when it creates one:
// a small job would be that large, and in an in-memory folder each page of it costs as much as a
// used one. A log that is synced every 50 ms gains nothing from it.
func (diskFullFile) Preallocate(int64, int64) error { return nil }
