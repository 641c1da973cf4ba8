package store

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system of a store: state, outputs and files of WriteFile use nothing else. It is
// Pebble's, which has in-memory ones for tests, and can truncate a file.
type FS interface {
	vfs.FS

	// Truncate shortens the named file to size bytes.
	Truncate(name string, size int64) error
}

// Disk is the file system of the machine.
var Disk FS = disk{vfs.Default}

type disk struct{ vfs.FS }

func (disk) Truncate(name string, size int64) error { return os.Truncate(name, size) }

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
