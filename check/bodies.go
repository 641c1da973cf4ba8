package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/record"
)

// maxBody bounds a body that is read, in bytes: of a longer one the beginning counts.
const maxBody = 64 << 20

// bodies finds the bodies of a job, in its archive or in its folder of bodies.
type bodies struct {
	dir     string
	archive *archive.Archive // or nil
	folder  bool             // there is a folder of bodies
}

func openBodies(dir string) (*bodies, error) {
	b := &bodies{dir: dir}
	if info, err := os.Stat(filepath.Join(dir, "bodies")); err == nil {
		b.folder = info.IsDir()
	}
	if _, err := os.Stat(filepath.Join(dir, "archive")); errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	var err error
	b.archive, err = archive.Open(dir)
	return b, err
}

// any reports whether the job has bodies at all.
func (b *bodies) any() bool { return b.folder || b.archive != nil }

// read returns the body that a record describes. Its error is errNoBody if the job has none.
func (b *bodies) read(r *record.Record) ([]byte, error) {
	if b.archive != nil {
		return b.fromArchive(r)
	}
	if !b.folder {
		return nil, errNoBody
	}
	f, err := archive.OpenBody(b.dir, r.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoBody
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBody))
}

func (b *bodies) fromArchive(r *record.Record) ([]byte, error) {
	captures, err := b.archive.Captures(r.URL)
	if err != nil {
		return nil, err
	}
	if len(captures) == 0 {
		return nil, errNoBody
	}
	c := captures[len(captures)-1]
	for _, other := range captures {
		if r.WARCFile != "" && other.Filename == r.WARCFile && other.Offset == r.WARCOffset {
			c = other
		}
	}
	capture, err := b.archive.Read(c)
	if err != nil {
		return nil, err
	}
	defer capture.Close()
	body, err := capture.Body()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, err)
	}
	text, err := io.ReadAll(io.LimitReader(body, maxBody))
	if len(text) > 0 {
		return text, nil // what was received counts
	}
	return nil, err
}

func (b *bodies) close() error {
	if b.archive == nil {
		return nil
	}
	return b.archive.Close()
}
