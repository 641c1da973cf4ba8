package weft

import (
	"bufio"
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
	buf   *bufio.Writer
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
		return nil, fmt.Errorf("job folder: %w", err)
	}
	return &job{dir: dir, pages: f, buf: bufio.NewWriterSize(f, 64<<10)}, nil
}

// write appends a line to pages.jsonl.
func (j *job) write(line []byte) error {
	_, err := j.buf.Write(line)
	return err
}

func (j *job) close() error {
	return errors.Join(j.buf.Flush(), j.pages.Close())
}
