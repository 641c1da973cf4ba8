package archive

import (
	"errors"
	"io"

	"github.com/weftcrawl/weft/warc"
)

// Heads reads the heads of messages, one after another, without their bodies: it keeps its buffers
// and the file of the last one. It belongs to one goroutine. Close it.
type Heads struct {
	reader *warc.Reader
	file   *member // of the last one
	of     *source
	name   string
}

// ErrNoHead is returned for a capture of something else than HTTP.
var ErrNoHead = errors.New("no head of an HTTP message")

// Read returns the header fields of a capture, as they came: those of a revisit are its own.
func (h *Heads) Read(c Capture) (warc.Header, error) {
	if err := h.open(c); err != nil {
		return nil, c.where(err)
	}
	if c.Offset < 0 || c.Offset >= h.file.size {
		return nil, c.where(io.ErrUnexpectedEOF)
	}
	from := io.NewSectionReader(h.file, c.Offset, h.file.size-c.Offset)
	if h.reader == nil {
		h.reader = warc.NewReader(from)
	} else {
		h.reader.Reset(from)
	}
	r, err := h.reader.Next()
	if err != nil {
		return nil, c.where(err)
	}
	if !c.is(r) {
		return nil, c.where(errors.New("no capture of the URL there"))
	}
	m := warc.MessageOf(r)
	if m == nil {
		return nil, c.where(ErrNoHead)
	}
	return m.Header, nil
}

// open opens the file of a capture, unless it is that of the last one.
func (h *Heads) open(c Capture) error {
	if h.file != nil && h.of == c.source && h.name == c.Filename {
		return nil
	}
	if err := h.Close(); err != nil {
		return err
	}
	file, err := c.source.members.open(c.Filename)
	if err == nil {
		h.file, h.of, h.name = file, c.source, c.Filename
	}
	return err
}

// Close closes the file.
func (h *Heads) Close() error {
	if h.file == nil {
		return nil
	}
	file := h.file
	h.file = nil
	return file.close()
}
