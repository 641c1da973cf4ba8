package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
)

// noDescriptors is a file system that opens nothing while refuse is positive, which each attempt
// counts down.
type noDescriptors struct {
	store.FS
	refuse atomic.Int32
}

func (fs *noDescriptors) left() error {
	if fs.refuse.Add(-1) >= 0 {
		return syscall.EMFILE
	}
	return nil
}

func (fs *noDescriptors) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := fs.left(); err != nil {
		return nil, err
	}
	return fs.FS.Open(name, opts...)
}

func (fs *noDescriptors) OpenDir(name string) (vfs.File, error) {
	if err := fs.left(); err != nil {
		return nil, err
	}
	return fs.FS.OpenDir(name)
}

func (fs *noDescriptors) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.left(); err != nil {
		return nil, err
	}
	return fs.FS.Create(name, c)
}

func (fs *noDescriptors) List(dir string) ([]string, error) {
	if err := fs.left(); err != nil {
		return nil, err
	}
	return fs.FS.List(dir)
}

// TestNoDescriptors checks that opening a job, commits and reads wait while the process has no
// descriptor left, and report it.
func TestNoDescriptors(t *testing.T) {
	disk := storetest.New()
	// Reports may come from a goroutine of the first store when the second opens.
	var mu sync.Mutex
	var reports []error
	o := store.Options{FS: disk, Retry: time.Millisecond, Buffer: 64 << 10, Waiting: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, err)
	}}
	fs := &noDescriptors{FS: disk}
	o.FS = fs
	fs.refuse.Store(5)
	s := open(t, o)
	mu.Lock()
	if len(reports) < 2 || !errors.Is(reports[0], syscall.EMFILE) || reports[len(reports)-1] != nil {
		t.Errorf("reported %v, want EMFILE and nil", reports)
	}
	mu.Unlock()
	line := make([]byte, 20<<10)
	for i := range 20 { // which fills buffers, so that tables are written and read
		fs.refuse.Store(2)
		g := pages(s, "a\n")
		g.Set(string(rune('a'+i)), line)
		if err := s.Commit(g); err != nil {
			t.Fatal(err)
		}
	}
	fs.refuse.Store(5)
	shut(t, s)
	fs.refuse.Store(5)
	shut(t, open(t, o))
}
