package results

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

// MaxBody bounds a body that is read, in bytes: of a longer one the beginning counts.
const MaxBody = 64 << 20

// Bodies finds the bodies of a job, in its archive or in its folder of bodies.
type Bodies struct {
	dir     string
	archive *archive.Archive // or nil
	folder  bool             // there is a folder of bodies
}

// ErrNoBody is returned for a record whose body the job has not kept.
var ErrNoBody = errors.New("no body, expected a job of weft crawl --warc or --bodies")

// OpenBodies opens the bodies of a job, if it has any. Close them.
func OpenBodies(dir string) (*Bodies, error) {
	b := &Bodies{dir: dir}
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

// Any reports whether the job has bodies at all.
func (b *Bodies) Any() bool { return b.folder || b.archive != nil }

// Read returns the body that a record describes. Its error is ErrNoBody if the job has none.
func (b *Bodies) Read(r *record.Record) ([]byte, error) {
	if b.archive != nil {
		return b.fromArchive(r)
	}
	if !b.folder {
		return nil, ErrNoBody
	}
	f, err := archive.OpenBody(b.dir, r.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoBody
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBody))
}

func (b *Bodies) fromArchive(r *record.Record) ([]byte, error) {
	captures, err := b.archive.Captures(r.URL)
	if err != nil {
		return nil, err
	}
	if len(captures) == 0 {
		return nil, ErrNoBody
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
	text, err := io.ReadAll(io.LimitReader(body, MaxBody))
	if len(text) > 0 {
		return text, nil // what was received counts
	}
	return nil, err
}

// Close lets go of the archive.
func (b *Bodies) Close() error {
	if b.archive == nil {
		return nil
	}
	return b.archive.Close()
}
