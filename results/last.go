package results

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"

	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/record"
)

// Pages is the name of the file of records.
const Pages = "pages.jsonl"

// Last yields the last record of each URL of a job, in the order of pages.jsonl: those of a visit,
// or of all visits if it is 0. Each holds until the next. An error ends it; temp is a folder for
// what does not fit into memory, "" that for temporary files.
func Last(ctx context.Context, dir string, visit int, temp string) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		old, _, err := Superseded(ctx, dir, visit, temp)
		if err != nil {
			yield(nil, err)
			return
		}
		for r, err := range Each[record.Record](ctx, dir, Pages, old) {
			if err == nil && visit != 0 && max(r.Visit, 1) != visit {
				continue
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// LastOf returns the last record of a URL, which is spelt as in the records: of a visit, or of all
// visits if it is 0; nil: there is none. A line that cannot be read is of no URL.
func LastOf(ctx context.Context, dir, url string, visit int) (last *record.Record, err error) {
	for l, err := range Lines(ctx, dir, Pages, nil) {
		if err != nil {
			return nil, err
		}
		of, at, err := l.URL()
		if err != nil || string(of) != url || visit != 0 && int(at) != visit {
			continue
		}
		r := new(record.Record)
		if l.Into(r) == nil {
			last = r
		}
	}
	return last, nil
}

// Superseded returns the lines of pages.jsonl that others of the same URLs replace, later ones or
// those of a later visit: of a visit, or of all visits if it is 0. It also tells whether there are
// several. If a visit both crawls a URL and checks a link to it, such as the action of a form, the
// crawl counts.
func Superseded(ctx context.Context, dir string, visit int, temp string) (old Set, visits bool, err error) {
	// Lines sort by URL, then by visit, whether it was crawled, and number.
	sorter := extsort.New(temp)
	defer sorter.Close()
	var entry [16 + 4 + 1 + 8]byte
	for l, err := range Lines(ctx, dir, Pages, nil) {
		if err != nil {
			return nil, false, err
		}
		url, at, err := l.URL()
		if err != nil {
			return nil, false, err
		}
		visits = visits || at > 1
		if visit != 0 && int(at) != visit {
			continue
		}
		sum := sha256.Sum256(url)
		copy(entry[:16], sum[:])
		binary.BigEndian.PutUint32(entry[16:], at)
		entry[20] = 1
		if bytes.Contains(l.text, external) {
			entry[20] = 0
		}
		binary.BigEndian.PutUint64(entry[21:], l.N)
		if err := sorter.Add(entry[:]); err != nil {
			return nil, false, err
		}
	}
	var last [len(entry)]byte
	first := true
	return old, visits, sorter.Each(func(line []byte) error {
		if !first && [16]byte(line) == [16]byte(last[:]) {
			old.Add(binary.BigEndian.Uint64(last[21:]))
		}
		first = false
		copy(last[:], line)
		return nil
	})
}

// external is the mark in the line of a link that was only checked. A quotation mark in a string is
// escaped.
var external = []byte(`"role":"` + string(record.RoleExternal) + `"`)

// Set is a set of lines; nil is empty.
type Set []uint64

// Add adds a line.
func (s *Set) Add(line uint64) {
	for uint64(len(*s)) <= line/64 {
		*s = append(*s, 0)
	}
	(*s)[line/64] |= 1 << (line % 64)
}
