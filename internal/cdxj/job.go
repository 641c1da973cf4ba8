package cdxj

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/internal/regular"
)

// OpenSuffix ends the name of a WARC file in the archive of a job until it is complete.
const OpenSuffix = ".open"

// The indexes in the archive of a job.
const (
	CapturesFile = "captures.cdxj" // in the order of writing
	IndexFile    = "index.cdxj"    // sorted
)

// All stands for the length of captures.cdxj up to its last whole line.
const All = -1

// Sorted returns the name of a file with the lines of captures.cdxj, sorted: that of index.cdxj,
// which is brought up to date; or, where the archive cannot be written to, of a temporary file,
// until close is called. See Update.
func Sorted(archive string, committed int64) (name string, close func(), err error) {
	err = Update(archive, committed)
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return filepath.Join(archive, IndexFile), func() {}, err
	}
	dir, err := os.MkdirTemp("", "weft-index-*")
	if err != nil {
		return "", nil, err
	}
	name = filepath.Join(dir, IndexFile)
	if err := update(archive, committed, name); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return name, func() { os.RemoveAll(dir) }, nil
}

// Update makes index.cdxj from captures.cdxj, if it is not up to date, in the archive folder of a
// job. Of captures.cdxj, the committed bytes count; what is behind them does not exist.
func Update(archive string, committed int64) error {
	return update(archive, committed, filepath.Join(archive, IndexFile))
}

// update makes the index under a name.
func update(archive string, committed int64, index string) error {
	if info, err := os.Lstat(archive); err == nil && !info.IsDir() {
		// A link would have the index of another job written.
		return &fs.PathError{Op: "open", Path: archive, Err: errors.New("no folder, expected one that Weft has made")}
	}
	source := filepath.Join(archive, CapturesFile)
	f, err := regular.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if committed == All {
		committed = info.Size()
	}
	if info.Size() < committed {
		return fmt.Errorf("%s has %d bytes, expected %d", source, info.Size(), committed)
	}
	// No two captures have the same line, so both files have the same length.
	made, err := os.Stat(index)
	if err == nil && made.Size() == committed && !made.ModTime().Before(info.ModTime()) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s := extsort.New(filepath.Dir(index))
	defer s.Close()
	if err := s.AddAll(io.LimitReader(f, committed)); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return atomicfile.Replace(index, 0o666, func(w io.Writer) error {
		_, err := s.WriteTo(w)
		return err
	})
}
