package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/warc"
)

// MaxBody bounds a body that is read, in bytes: of a longer one the beginning counts.
const MaxBody = 64 << 20

// Bodies finds the bodies of a job, in its archive or in its folder of bodies.
type Bodies struct {
	dir     string
	archive *archive.Archive // or nil
	heads   archive.Heads    // of the former
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

// Read returns the body that a record describes, as far as it was received. Its error is ErrNoBody
// if the job has none.
func (b *Bodies) Read(r *record.Record) ([]byte, error) {
	body, _, err := b.Received(r)
	return body, err
}

// Received is Read, and says whether the body is whole.
func (b *Bodies) Received(r *record.Record) (body []byte, whole bool, err error) {
	all, err := b.Response(r)
	return all.Body, all.Whole, err
}

// A Response is a response as a job has kept it.
type Response struct {
	Header warc.Header // nil without an archive
	Body   []byte      // as far as it was received
	Whole  bool        // that is all of it
}

// Response returns the response that a record describes, with the error of Read. The body of a page
// that was rendered is its rendered document, with a byte order mark of UTF-8.
func (b *Bodies) Response(r *record.Record) (all Response, err error) {
	if all, err = b.received(r); err != nil || r.Rendered == nil || r.Rendered.SHA256 == "" {
		return all, err
	}
	if html, err := b.rendered(r); err == nil {
		all.Body, all.Whole = html, len(html) < MaxBody
	}
	return all, nil
}

// Header returns the header fields of the response that a record describes, without its body: those
// that the server sent then, also with a body that is the same as before. Its error is ErrNoBody if
// the job has no archive, or not that response.
func (b *Bodies) Header(r *record.Record) (warc.Header, error) {
	if b.archive == nil || r.WARCFile == "" {
		return nil, ErrNoBody
	}
	return b.heads.Read(b.archive.At(r.URL, r.WARCFile, r.WARCOffset))
}

// byteOrderMark makes a text UTF-8 whatever a header or a <meta> says of what was received.
const byteOrderMark = "\xef\xbb\xbf"

// rendered returns the rendered document of a page.
func (b *Bodies) rendered(r *record.Record) (html []byte, err error) {
	var from io.Reader
	if b.archive != nil {
		capture, err := b.archive.Read(b.archive.At(r.URL, r.Rendered.WARCFile, r.Rendered.WARCOffset))
		if err != nil {
			return nil, err
		}
		defer capture.Close()
		if from, err = capture.Body(); err != nil {
			return nil, err
		}
	} else {
		f, err := archive.OpenBody(b.dir, r.Rendered.SHA256)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	return io.ReadAll(io.LimitReader(io.MultiReader(strings.NewReader(byteOrderMark), from), MaxBody))
}

// received returns the response as it was received.
func (b *Bodies) received(r *record.Record) (all Response, err error) {
	if b.archive != nil {
		return b.fromArchive(r)
	}
	if !b.folder {
		return all, ErrNoBody
	}
	f, err := archive.OpenBody(b.dir, r.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return all, ErrNoBody
	}
	if err != nil {
		return all, err
	}
	defer f.Close()
	all.Body, err = io.ReadAll(io.LimitReader(f, MaxBody))
	all.Whole = len(all.Body) < MaxBody
	return all, err
}

func (b *Bodies) fromArchive(r *record.Record) (all Response, err error) {
	capture, err := b.capture(r)
	if err != nil {
		return all, err
	}
	defer capture.Close()
	if capture.Message != nil {
		all.Header = capture.Message.Header
	}
	decoded, err := capture.Body()
	if err != nil {
		return all, fmt.Errorf("%s: %w", r.URL, err)
	}
	all.Body, err = io.ReadAll(io.LimitReader(decoded, MaxBody))
	if len(all.Body) > 0 { // what was received counts
		all.Whole = err == nil && len(all.Body) < MaxBody && capture.Record.Header.Get("WARC-Truncated") == ""
		return all, nil
	}
	all.Body = nil
	return all, err
}

// capture opens the capture of a record: where the record says, or else the last one of the URL.
func (b *Bodies) capture(r *record.Record) (*archive.Record, error) {
	if r.WARCFile != "" {
		if capture, err := b.archive.Read(b.archive.At(r.URL, r.WARCFile, r.WARCOffset)); err == nil {
			return capture, nil
		}
	}
	if r.Method == "POST" { // it is found by its place alone
		return nil, ErrNoBody
	}
	captures, err := b.archive.Captures(r.URL)
	if err != nil {
		return nil, err
	}
	if len(captures) == 0 {
		return nil, ErrNoBody
	}
	return b.archive.Read(captures[len(captures)-1])
}

// Close lets go of the archive.
func (b *Bodies) Close() error {
	if b.archive == nil {
		return nil
	}
	return errors.Join(b.heads.Close(), b.archive.Close())
}
