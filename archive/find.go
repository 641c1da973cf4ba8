package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/weftcrawl/weft/warc"
)

// ErrNoRecord is returned when a file has no response of a URL.
var ErrNoRecord = errors.New("no response of the URL")

// ReadAt returns the record at an offset of a WARC or ARC file.
func ReadAt(file io.ReadSeeker, offset int64) (*warc.Record, error) {
	return readAt(file, offset, 0)
}

// Find returns the first response or resource of a URL in a WARC or ARC file, in any spelling.
// Where there is none, one with the same key will do that is no redirect, as for Captures. The file
// is read from its beginning, and damage is passed over. No index is needed and none is made: for
// more than one URL, open the file as an Archive.
func Find(file io.ReadSeeker, url string) (*warc.Record, error) {
	want, key := canonical(url), warc.SURT(url)
	like := false // there is one with the key
	var offset int64
	var number, nth int // of the record in its member
	for in := warc.NewReader(file); ; {
		r, err := in.Next()
		var d *warc.DamageError
		switch {
		case err == io.EOF && like:
			return readAt(file, offset, nth)
		case err == io.EOF:
			return nil, ErrNoRecord
		case errors.As(err, &d):
			continue
		case err != nil:
			return nil, err
		}
		if number++; !r.Shared {
			number = 0
		}
		switch {
		case r.Type() != warc.Response && r.Type() != warc.Resource:
		case canonical(r.URL()) == want:
			return r, nil
		case !like && warc.SURT(r.URL()) == key:
			if m := warc.MessageOf(r); m == nil || m.Status()/100 != 3 {
				like, offset, nth = true, r.Offset, number
			}
		}
	}
}

// readAt returns the record at an offset, or of those in a member, the one with a number.
func readAt(file io.ReadSeeker, at int64, number int) (r *warc.Record, err error) {
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return nil, err
	}
	for in := warc.NewReader(file); number >= 0 && err == nil; number-- {
		r, err = in.Next()
	}
	if err == io.EOF {
		err = errors.New("the file ends before")
	}
	var d *warc.DamageError
	if errors.As(err, &d) {
		err = d.Err
	}
	if err != nil {
		return nil, fmt.Errorf("offset %d: %w", at, err)
	}
	return r, nil
}
