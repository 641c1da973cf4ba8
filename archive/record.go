package archive

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weftcrawl/weft/warc"
)

// Record is the record of a capture, open to be read.
type Record struct {
	Capture
	Record *warc.Record // as it is in the file

	// Message is the response, or nil if the record holds something else than HTTP. That of a
	// revisit has the body of the original; after a 304, its head too.
	Message *warc.Message

	// Size is the length of the body with its codings, that of the original of a revisit, in bytes.
	Size int64

	open []func() error // to close
}

// Body returns the content without transfer and content coding. If the content coding is not known,
// it returns an error with the content as it is.
func (r *Record) Body() (io.Reader, error) {
	if r.Message == nil {
		return r.Record, nil
	}
	return r.Message.Body()
}

// Close closes the files that hold the record.
func (r *Record) Close() error {
	var errs []error
	for _, close := range r.open {
		errs = append(errs, close())
	}
	return errors.Join(errs...)
}

// ReadRaw opens the record of a capture as it is: it has no Message, and a revisit no body. It has
// to be closed.
func (a *Archive) ReadRaw(c Capture) (*Record, error) {
	r, err := c.raw()
	if err != nil {
		return nil, c.where(err)
	}
	return r, nil
}

// where says which record an error is about. The offset of damage counts from there.
func (c Capture) where(err error) error {
	var d *warc.DamageError
	if errors.As(err, &d) {
		err = d.Err
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s: offset %d: %w", c.source.nameOf(c.Filename), c.Offset, err)
}

// read opens the record, and reads the head of its message.
func (c Capture) read() (*Record, error) {
	r, err := c.raw()
	if err == nil && isHTTP(r.Record) {
		r.Message, err = warc.ReadMessage(r.Record)
		if r.Record.Type() == warc.Revisit {
			err = nil // its block may be empty
		}
		if err != nil {
			r.Close()
			return nil, err
		}
	}
	if err == nil {
		if r.Size = r.Record.Length; r.Message != nil {
			r.Size -= int64(r.Message.Head)
		}
	}
	return r, err
}

// raw opens the record as it is in the file.
func (c Capture) raw() (*Record, error) {
	m, err := c.source.members.open(c.Filename)
	if err != nil {
		return nil, err
	}
	r := &Record{Capture: c, open: []func() error{m.close}}
	if err := r.begin(m); err != nil {
		m.close()
		return nil, err
	}
	return r, nil
}

func (r *Record) begin(m *member) (err error) {
	if r.Offset < 0 || r.Offset >= m.size {
		return fmt.Errorf("the file has only %d bytes", m.size)
	}
	if r.Record, err = warc.NewReader(io.NewSectionReader(m, r.Offset, m.size-r.Offset)).Next(); err != nil {
		return err
	}
	if !r.is(r.Record) {
		return fmt.Errorf("no capture of %.200s there", r.URL)
	}
	r.Record.Offset = r.Offset
	return nil
}

// is reports whether a record is that of the capture.
func (c Capture) is(r *warc.Record) bool {
	switch r.Type() {
	case warc.Response, warc.Revisit, warc.Resource, warc.Conversion:
		return (r.URL() == c.URL || warc.SURT(r.URL()) == warc.SURT(c.URL)) && (c.Date.IsZero() || r.Date().Truncate(time.Second).Equal(c.Date))
	}
	return false
}

// ErrNotRendered is returned by Rendered if there is no such document.
var ErrNotRendered = errors.New("no rendered document of the capture")

// furtherRecords is the number of records behind that of a response among which its rendered
// document is looked for: the request is one of them.
const furtherRecords = 3

// Rendered opens the rendered document of a capture: the record of type conversion that refers to
// it, and stands behind it in its file, where a crawl writes it. It has to be closed.
func (a *Archive) Rendered(c Capture) (*Record, error) {
	m, err := c.source.members.open(c.Filename)
	if err != nil {
		return nil, c.where(err)
	}
	r := &Record{Capture: c, open: []func() error{m.close}}
	if err := r.rendered(m); err != nil {
		m.close()
		return nil, c.where(err)
	}
	return r, nil
}

func (r *Record) rendered(m *member) error {
	if r.Offset < 0 || r.Offset >= m.size {
		return ErrNotRendered
	}
	records := warc.NewReader(io.NewSectionReader(m, r.Offset, m.size-r.Offset))
	response, err := records.Next()
	if err != nil {
		return err
	}
	id := response.Header.Get("WARC-Record-ID")
	for range furtherRecords {
		next, err := records.Next()
		if err != nil {
			return ErrNotRendered
		}
		if next.Type() == warc.Conversion && next.Header.Get("WARC-Refers-To") == id && next.URL() == r.URL {
			r.Record, r.Size = next, next.Length
			return nil
		}
	}
	return ErrNotRendered
}
