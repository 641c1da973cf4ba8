package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/warc"
)

// sought is a URL whose records somebody wants.
type sought struct {
	url       string // as given
	canonical string // "": it has no such form
	key       string // of an index
}

func seek(url string) sought { return sought{url, canonical(url), warc.SURT(url)} }

// canonical returns the form by which spellings of a URL are compared, or "".
func canonical(url string) string {
	known, err := weft.ReadKnownSeed(url)
	if err != nil {
		return ""
	}
	return known.URL.Canonical().String()
}

// is reports whether a URL is the one that is sought, in any spelling.
func (s sought) is(url string) bool {
	return url == s.url || s.canonical != "" && canonical(url) == s.canonical
}

// like reports whether a URL usually leads to the same page: with http for https, without www.
func (s sought) like(url string) bool { return warc.SURT(url) == s.key }

// findRecord returns the record at an offset, or the first response of a URL. Where there is none,
// one of a URL like it will do that is no redirect, as that mostly leads to the URL.
func findRecord(file *os.File, which string) (*warc.Record, error) {
	if at, err := strconv.ParseInt(which, 10, 64); err == nil {
		return recordAt(file, at, 0)
	}
	of := seek(which)
	like := false // there is one like it
	var offset int64
	var number, nth int // of the record in its member
	for in := warc.NewReader(file); ; {
		r, err := in.Next()
		var d *warc.DamageError
		switch {
		case err == io.EOF && like:
			return recordAt(file, offset, nth)
		case err == io.EOF:
			return nil, fmt.Errorf("no response of %.200s", which)
		case errors.As(err, &d):
			continue
		case err != nil:
			return nil, reason(err)
		}
		if number++; !r.Shared {
			number = 0
		}
		switch {
		case r.Type() != warc.Response && r.Type() != warc.Resource:
		case of.is(r.URL()):
			return r, nil
		case !like && of.like(r.URL()):
			if m := warc.MessageOf(r); m == nil || m.Status()/100 != 3 {
				like, offset, nth = true, r.Offset, number
			}
		}
	}
}

// recordAt returns the record at an offset, or of those in a member, the one with a number.
func recordAt(file *os.File, at int64, number int) (r *warc.Record, err error) {
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return nil, reason(err)
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
