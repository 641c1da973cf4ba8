package weft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// job is the folder of a crawl.
type job struct {
	dir   string
	pages *os.File
	size  int64  // of pages: whole lines, all of them written
	lines []byte // of the batch under way
	err   error  // the first: nothing is written after it
}

// newJob makes the folder, which must not exist.
func newJob(dir string) (*job, error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("job folder %s %w", dir, ErrJobExists)
		}
		return nil, fmt.Errorf("job folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "pages.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		os.Remove(dir)
		return nil, fmt.Errorf("job folder: %w", err)
	}
	return &job{dir: dir, pages: f}, nil
}

// write puts a line into the batch that flush appends to pages.jsonl.
func (j *job) write(line []byte) { j.lines = append(j.lines, line...) }

// flush writes the batch. When that fails, the file is cut to the lines that were
// whole before, and the error is that of all further calls.
func (j *job) flush() error {
	if j.err != nil || len(j.lines) == 0 {
		return j.err
	}
	n, err := j.pages.Write(j.lines)
	if err != nil {
		j.err = fmt.Errorf("job folder: %w", err)
		_ = j.pages.Truncate(j.size) // at worst the last line stays torn; the error is told already
		return j.err
	}
	j.size += int64(n)
	j.lines = j.lines[:0]
	return nil
}

// close ends it; an error that flush has returned is not told again.
func (j *job) close() error {
	if err := j.pages.Close(); err != nil && j.err == nil {
		return fmt.Errorf("job folder: %w", err)
	}
	return nil
}
