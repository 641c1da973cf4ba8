package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weftcrawl/weft/internal/filename"
	"github.com/weftcrawl/weft/warc"
)

// ExtractOptions select the bodies that an [Extractor] writes. The zero value: those of resource
// records, and of responses with a status of 2xx, decoded.
type ExtractOptions struct {
	URL     string // records of this URL, in any spelling, whatever their status; empty: of all
	All     bool   // responses of every status
	Raw     bool   // keep the content coding, such as gzip
	MaxSize int64  // of all bodies together, in bytes; 0: see MaxExtracted

	Written func(name, url string)  // called for each file written; nil: nobody learns it
	Damage  func(*warc.DamageError) // takes what cannot be read or decoded, if not nil
}

// MaxExtracted bounds what is written unless ExtractOptions.MaxSize does, in bytes. Where the files
// have more than a MaxGrowth-th of it, MaxGrowth times their size is the bound: few archives reach
// it.
const (
	MaxExtracted = 256 << 20
	MaxGrowth    = 256
)

// TooMuchError is returned when bodies have more than this number of bytes in all.
type TooMuchError struct {
	Offset int64 // of the record
	Most   int64
}

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("offset %d: the bodies have more than %d bytes in all", e.Offset, e.Most)
}

// ReadError is an error of reading a file, not of writing one.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

func (e *ReadError) Unwrap() error { return e.Err }

// Extractor writes the bodies of WARC and ARC files to a folder, as files with the names of their
// URLs. It replaces no file and writes nothing outside the folder. One goroutine may use it.
type Extractor struct {
	ExtractOptions
	want          string // URL as it is compared
	into          *filename.Folder
	read, written int64 // bytes of files, and of bodies
}

// NewExtractor returns an Extractor that writes below root.
func NewExtractor(root *os.Root, o ExtractOptions) *Extractor {
	return &Extractor{ExtractOptions: o, want: canonical(o.URL), into: filename.NewFolder(root)}
}

// File writes the bodies of a file. Damage is handed on, and reading goes on behind it. Errors: a
// *ReadError, a *TooMuchError, those of writing.
func (x *Extractor) File(f *os.File) error {
	from := io.Reader(f)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		x.read += info.Size()
	} else {
		from = counted{f, &x.read}
	}
	in := warc.NewReader(from)
	for {
		r, err := in.Next()
		var d *warc.DamageError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &d):
			x.damaged(d)
			continue
		case err != nil:
			return &ReadError{err}
		}
		if err := x.record(r); err != nil {
			return err
		}
	}
}

func (x *Extractor) damaged(d *warc.DamageError) {
	if x.Damage != nil {
		x.Damage(d)
	}
}

// record writes the body of a record. One that cannot be decoded to its end is damage.
func (x *Extractor) record(r *warc.Record) error {
	body, mime, unknown := x.body(r)
	if body == nil {
		return nil
	}
	rationed := &rationed{Reader: body, of: x}
	name, damage, err := x.into.Write(r.URL(), mime, r.Date(), rationed)
	if err != nil {
		return err
	}
	if name != "" && x.Written != nil {
		x.Written(name, r.URL())
	}
	if rationed.over > 0 {
		return &TooMuchError{r.Offset, rationed.over}
	}
	if damage = errors.Join(unknown, damage); damage != nil {
		x.damaged(&warc.DamageError{Offset: r.Offset, Err: damage})
	}
	return nil
}

// body returns the body of a record that is wanted, else nil, and its media type. One in an unknown
// coding is as it was received.
func (x *Extractor) body(r *warc.Record) (body io.Reader, mime string, unknown error) {
	if x.URL != "" && canonical(r.URL()) != x.want {
		return nil, "", nil
	}
	mime = mediaType(r.Header.Get("Content-Type"))
	switch r.Type() {
	case warc.Resource, warc.Conversion:
		return r, mime, nil
	case warc.Response:
	default:
		return nil, "", nil
	}
	m := warc.MessageOf(r)
	if m == nil {
		return r, mime, nil
	}
	if status := m.Status(); !x.All && x.URL == "" && (status < 200 || status > 299) {
		return nil, "", nil
	}
	mime = mediaType(m.Header.Get("Content-Type"))
	if x.Raw {
		return m.Payload(), mime, nil
	}
	body, unknown = m.Body()
	return body, mime, unknown
}

// rationed is a body that ends with an error where the bodies of all files are too long.
type rationed struct {
	io.Reader
	of   *Extractor
	over int64 // the bound that was reached; 0: none
}

func (r *rationed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.of.written += int64(n)
	if most := cmp.Or(r.of.MaxSize, max(MaxExtracted, MaxGrowth*r.of.read)); r.of.written > most {
		r.over = most
		return 0, errTooMuch
	}
	return n, err
}

var errTooMuch = errors.New("the bodies are too long in all")

// counted is a reader with the number of bytes read from it.
type counted struct {
	io.Reader
	n *int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}
