package store

import (
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// anchoredFS is the file system of one job. The files that are open go where their folder goes, if
// somebody renames it; a new one would be made under the old name. So once it is anchored, nothing
// is made, renamed or removed unless the folder of that name is still the job's.
type anchoredFS struct {
	FS
	dir  string
	home *folderID // nil until anchor, which is called before anything else uses it
}

// folderID tells a folder from others of its machine.
type folderID struct{ device, inode uint64 }

// anchor notes which folder is the job's. Those of file systems in memory are not renamed.
func (a *anchoredFS) anchor() error {
	info, err := a.FS.Stat(a.dir)
	if err != nil {
		return err
	}
	if id, known := identify(info); known {
		a.home = &id
	}
	return nil
}

// check returns an error if the folder is no longer the job's.
func (a *anchoredFS) check() error {
	if a.home == nil {
		return nil
	}
	info, err := a.FS.Stat(a.dir)
	if err == nil {
		if id, _ := identify(info); id == *a.home {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", a.dir, ErrMoved)
}

func (a *anchoredFS) Unwrap() vfs.FS { return a.FS }

func (a *anchoredFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return a.FS.Create(name, c)
}

func (a *anchoredFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return a.FS.OpenReadWrite(name, c, opts...)
}

func (a *anchoredFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return a.FS.ReuseForWrite(old, name, c)
}

func (a *anchoredFS) MkdirAll(dir string, perm os.FileMode) error {
	if err := a.check(); err != nil {
		return err
	}
	return a.FS.MkdirAll(dir, perm)
}

func (a *anchoredFS) Link(old, name string) error {
	if err := a.check(); err != nil {
		return err
	}
	return a.FS.Link(old, name)
}

func (a *anchoredFS) Rename(old, name string) error {
	if err := a.check(); err != nil {
		return err
	}
	return a.FS.Rename(old, name)
}

func (a *anchoredFS) Remove(name string) error {
	if err := a.check(); err != nil {
		return err
	}
	return a.FS.Remove(name)
}

func (a *anchoredFS) RemoveAll(name string) error {
	if err := a.check(); err != nil {
		return err
	}
	return a.FS.RemoveAll(name)
}
