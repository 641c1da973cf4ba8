package store

import (
	"errors"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// output is an append-only file. Anything beyond committed never happened.
type output struct {
	path      string
	file      vfs.File // nil in a read-only store
	committed int64    // bytes, according to the state
	size      int64    // bytes, written and synced
}

// Committed returns the committed length of an output, in bytes; 0 if the job has none of that
// name. An output of the series has it among those that Series returns.
func (s *Store) Committed(output string) (int64, error) {
	n, err := s.table.number(textKey(keyOutput, output))
	return int64(n), err
}

// openOutput creates the file, or cuts it to its committed length.
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
	if err := o.file.Sync(); err != nil { // the cut has to survive a crash
		return nil, wrap(errors.Join(err, o.file.Close()))
	}
	return o, nil
}

// fileSize returns the size of a file, 0 if it does not exist.
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

// append writes and syncs lines. They count once the batch is committed.
func (o *output) append(all lines) error {
	for _, block := range all {
		n, err := o.file.WriteAt(block, o.size)
		if err != nil {
			return err
		}
		o.size += int64(n)
	}
	return o.file.SyncData()
}

func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
