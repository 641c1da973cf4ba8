package store

import (
	"errors"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// output is a file that is only ever appended to. What it holds beyond committed never
// happened.
type output struct {
	path      string
	file      vfs.File // nil of a store that is read only
	committed int64    // bytes, as the state says
	size      int64    // bytes, written and synced
}

// openOutput makes the file, or cuts it to what was committed.
func openOutput(fs FS, path string, committed int64, readOnly bool) (*output, error) {
	o := &output{path: path, committed: committed, size: committed}
	size, err := fileSize(fs, path)
	if err != nil {
		return nil, wrap(err)
	}
	if size < committed {
		return nil, &ShortError{Name: path, Size: size, Want: committed}
	}
	if readOnly {
		return o, nil
	}
	if size > committed {
		if err := fs.Truncate(path, committed); err != nil {
			return nil, wrap(err)
		}
	}
	if o.file, err = fs.OpenReadWrite(path, "weft-output"); err != nil {
		return nil, wrap(err)
	}
	if err := o.file.Sync(); err != nil { // a cut too is to be there after a crash
		return nil, wrap(errors.Join(err, o.file.Close()))
	}
	return o, nil
}

// fileSize returns how long a file is; one that is not there is empty.
func fileSize(fsys FS, path string) (int64, error) {
	info, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// append makes lines durable, if uncommitted.
func (o *output) append(lines []byte) error {
	n, err := o.file.WriteAt(lines, o.size)
	if err != nil {
		return err
	}
	o.size += int64(n)
	return o.file.SyncData()
}

func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
