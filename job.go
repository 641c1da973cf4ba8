package weft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// job is the folder of a crawl. The nil job is none: what is written to it is gone.
// Owner: the desk; keepBody may be called from any goroutine.
type job struct {
	dir   string
	pages *lines
	links *lines // nil unless they are kept
}

// newJob makes the folder, which must not exist. Its error is an *OptionError.
func newJob(dir string, links, bodies bool) (j *job, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		why := ErrJobExists
		if !errors.Is(err, fs.ErrExist) {
			why = fmt.Errorf("%w, expected a new folder, in one that exists and can be written to", errors.Unwrap(err)) // of a PathError
		}
		return nil, &OptionError{"Job", dir, why}
	}
	j = &job{dir: dir}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
			err = &OptionError{"Job", dir, err}
		}
	}()
	if j.pages, err = newLines(filepath.Join(dir, "pages.jsonl")); err != nil {
		return nil, err
	}
	if links {
		if j.links, err = newLines(filepath.Join(dir, "links.jsonl")); err != nil {
			return nil, err
		}
	}
	if bodies {
		if err := os.Mkdir(j.bodies(), 0o777); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (j *job) bodies() string { return filepath.Join(j.dir, "bodies") }

// flush writes what was added to its files.
func (j *job) flush() error {
	if j == nil {
		return nil
	}
	return errors.Join(j.links.flush(), j.pages.flush())
}

// close ends it; an error that flush has returned is not told again.
func (j *job) close() error {
	if j == nil {
		return nil
	}
	return errors.Join(j.links.close(), j.pages.close())
}

// keepBody keeps a body in bodies/HH/HASH, whole or not at all. A body that is there
// already is the same one.
func (j *job) keepBody(hash string, body []byte) error {
	dir := filepath.Join(j.bodies(), hash[:2])
	path := filepath.Join(dir, hash)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("job folder: %w", err)
	}
	f, err := os.CreateTemp(dir, hash+".*.part")
	if err != nil {
		return fmt.Errorf("job folder: %w", err)
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("job folder: %w", err)
	}
	return nil
}

// lines is a file of lines that is appended to. The nil lines is none.
type lines struct {
	file  *os.File
	size  int64  // whole lines, all of them written
	batch []byte // not written yet
	err   error  // the first: nothing is written after it
}

func newLines(path string) (*lines, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &lines{file: f}, nil
}

// add puts whole lines into the batch that flush writes.
func (l *lines) add(b []byte) {
	if l != nil {
		l.batch = append(l.batch, b...)
	}
}

// flush writes the batch. When that fails, the file is cut to the lines that were
// whole before, and the error is that of all further calls.
func (l *lines) flush() error {
	if l == nil || l.err != nil || len(l.batch) == 0 {
		return l.failure()
	}
	n, err := l.file.Write(l.batch)
	if err != nil {
		l.err = fmt.Errorf("job folder: %w", err)
		_ = l.file.Truncate(l.size) // at worst the last line stays torn; the error is told already
		return l.err
	}
	l.size += int64(n)
	l.batch = l.batch[:0]
	return nil
}

func (l *lines) failure() error {
	if l == nil {
		return nil
	}
	return l.err
}

func (l *lines) close() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); err != nil && l.err == nil {
		return fmt.Errorf("job folder: %w", err)
	}
	return nil
}
