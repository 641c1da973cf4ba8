package cdxj

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weftcrawl/weft/warc"
)

// Scan calls use for each capture of a WARC or ARC file, in the order of the file, and damage for
// what cannot be read. The lines name the file as given. See is called for each capture first, if
// it is not nil, with the record and its HTTP message, or nil; both end with the call.
//
// A record that shares a gzip member with others cannot be read from an offset: it is damage, of
// which the first in a file is reported.
func Scan(name string, from io.Reader, see func(*warc.Record, *warc.Message) error, use func(*warc.Index) error, damage func(*warc.DamageError)) error {
	counted := &counter{Reader: from}
	var in *warc.Reader
	if s, ok := from.(io.Seeker); ok {
		in = warc.NewReader(seekable{counted, s})
	} else {
		in = warc.NewReader(counted)
	}
	var last *warc.Index // its end is not known yet
	var p pairs
	shared := false
	for {
		r, err := in.Next()
		var d *warc.DamageError
		end := int64(0)
		switch {
		case err == io.EOF:
			end = counted.at
		case errors.As(err, &d):
			damage(d)
			if end = d.Offset; last != nil && last.Offset == end { // its member does not match its checksum
				last = nil
			}
		case err != nil:
			return err
		default:
			end = r.Offset
		}
		if err == nil && !r.Shared {
			p.next(last, r)
		}
		if last != nil && end > last.Offset {
			last.Length = end - last.Offset
			if err := use(last); err != nil {
				return err
			}
			last = nil
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			continue
		case r.Shared:
			if !shared {
				shared = true
				damage(&warc.DamageError{Offset: r.Offset, Err: errShared})
			}
			continue
		}
		if last, err = capture(name, r, see); errors.As(err, &d) {
			damage(d)
		} else if err != nil {
			return err
		}
		p.take(last, r)
	}
}

var errShared = errors.New("record shares a gzip member with others, expected a member of its own")

// capture returns the line of a record, or nil if there is none: other records are no captures, and
// a block that is not whole is reported by the next read.
func capture(name string, r *warc.Record, see func(*warc.Record, *warc.Message) error) (*warc.Index, error) {
	switch r.Type() {
	case warc.Response, warc.Revisit, warc.Resource:
	default:
		return nil, nil
	}
	if n := len(r.URL()); n > maxURL {
		return nil, &warc.DamageError{Offset: r.Offset, Err: fmt.Errorf("URL of %d bytes, expected at most %d", n, maxURL)}
	}
	x := &warc.Index{
		Key: warc.SURT(r.URL()), Date: r.Date(), URL: r.URL(), MIME: mediaType(r.Header.Get("Content-Type")),
		Filename: name, Offset: r.Offset,
	}
	if digest := r.Header.Get("WARC-Payload-Digest"); len(digest) <= maxWord {
		x.Digest = digest
	}
	var m *warc.Message
	if x.MIME == "application/http" {
		m, _ = warc.ReadMessage(r) // a response without a head is one without a status
		if x.MIME = ""; m != nil {
			x.Status, x.MIME = m.Status(), mediaType(m.Header.Get("Content-Type"))
		}
	}
	if r.Type() == warc.Revisit {
		x.MIME = "warc/revisit"
	}
	if see != nil {
		if err := see(r, m); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, nil
	}
	return x, nil
}

// The most that an index holds of a capture, in bytes: a line stays shorter than maxLine.
const (
	maxURL  = 64 << 10
	maxWord = 1 << 10 // digest, media type
)

// mediaType returns a Content-Type without its parameters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s[:min(len(s), maxWord)]))
}

// counter counts the bytes read: at is the place of the next one in the file.
type counter struct {
	io.Reader
	at int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.at += int64(n)
	return n, err
}

// seekable is a counter of a file in which the reader goes back after damage.
type seekable struct {
	*counter
	s io.Seeker
}

func (s seekable) Seek(offset int64, whence int) (int64, error) {
	at, err := s.s.Seek(offset, whence)
	if err == nil {
		s.at = at
	}
	return at, err
}
