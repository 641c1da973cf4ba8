package warc

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
)

// Checker checks archives: whether each record can be read from its offset, has the fields that it
// must have and the block that its digests say, and whether what revisits refer to is there. Files
// that belong together are given to one Checker. It remembers 8 bytes or so of each response, and
// 300 of a revisit whose original it has not seen.
type Checker struct {
	Records    int // read so far
	CodedSums  int // payload digests of the body with its transfer coding: a common mistake, and no fault
	seed       maphash.Seed
	ids        map[uint64]bool // of records, by their hash; true: a whole response
	captures   map[uint64]bool // URL and date of whole responses
	unresolved []reference     // revisits whose original did not come yet
}

// Fault is something wrong in a file.
type Fault struct {
	File   string
	Offset int64 // of the record or member, in bytes
	Err    error
}

func (f Fault) Error() string { return fmt.Sprintf("%s: offset %d: %v", f.File, f.Offset, f.Err) }

// reference is a revisit record.
type reference struct {
	file    string
	offset  int64
	about   string // of the original: the start of its URL, and its date
	id, url uint64 // of the original, as keys of ids and captures; 0: not named
}

// NewChecker returns a checker that has seen no file.
func NewChecker() *Checker {
	return &Checker{seed: maphash.MakeSeed(), ids: map[uint64]bool{}, captures: map[uint64]bool{}}
}

// File checks a file. The error is that of reading it.
func (c *Checker) File(name string, from io.Reader, report func(Fault)) error {
	r := NewReader(from)
	for {
		record, err := r.Next()
		var damage *DamageError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &damage):
			report(Fault{name, damage.Offset, damage.Err})
			continue
		case err != nil:
			return err
		}
		c.Records++
		for _, err := range c.check(name, record) {
			report(Fault{name, record.Offset, err})
		}
	}
}

// End reports the revisits whose original is in no file.
func (c *Checker) End(report func(Fault)) {
	for _, r := range c.unresolved {
		if !c.known(r) {
			report(Fault{r.file, r.offset, fmt.Errorf("revisit of %s: no whole response of it is here", r.about)})
		}
	}
}

func (c *Checker) check(file string, r *Record) (faults []error) {
	_, payload, err := Verify(r)
	if errors.Is(err, io.ErrUnexpectedEOF) && r.block.(*block).left > 0 {
		return nil // Next reports it
	}
	if payload == MatchCoded {
		c.CodedSums++
	}
	if err != nil {
		faults = append(faults, err)
	}
	if strings.HasPrefix(r.Version, "ARC/") {
		return faults
	}
	if r.Shared {
		faults = append(faults, errors.New("record shares a gzip member with others, expected a member of its own"))
	}
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
		if r.Header.Get(name) == "" {
			faults = append(faults, fmt.Errorf("no %s", name))
		}
	}
	if r.Header.Get("WARC-Date") != "" && r.Date().IsZero() {
		faults = append(faults, fmt.Errorf("WARC-Date %.40q, expected a date such as 2026-11-22T12:00:00Z", r.Header.Get("WARC-Date")))
	}
	return append(faults, c.remember(file, r)...)
}

// remember takes in which record this is, and what it refers to.
func (c *Checker) remember(file string, r *Record) (faults []error) {
	id := c.hash(r.ID())
	whole := r.Type() == Response && r.Header.Get("WARC-Truncated") == ""
	if _, twice := c.ids[id]; twice && r.ID() != "" {
		faults = append(faults, fmt.Errorf("WARC-Record-ID %.80s for the second time", r.ID()))
	}
	c.ids[id] = whole
	if whole {
		c.captures[c.hash(r.URL(), r.Header.Get("WARC-Date"))] = true
	}
	if r.Type() != Revisit {
		return faults
	}
	h := r.Header
	url, date := bare(h.Get("WARC-Refers-To-Target-URI")), h.Get("WARC-Refers-To-Date")
	to := reference{file: file, offset: r.Offset, about: fmt.Sprintf("%.200s, captured %.40s", url, date)}
	if original := h.Get("WARC-Refers-To"); original != "" {
		to.id = c.hash(original)
	}
	if url != "" {
		to.url = c.hash(url, date)
	}
	switch {
	case h.Get("WARC-Profile") == "":
		faults = append(faults, errors.New("revisit without WARC-Profile"))
	case to.id == 0 && to.url == 0:
		faults = append(faults, errors.New("revisit that refers to nothing"))
	case !c.known(to):
		c.unresolved = append(c.unresolved, to)
	}
	return faults
}

func (c *Checker) known(r reference) bool {
	return r.id != 0 && c.ids[r.id] || r.url != 0 && c.captures[r.url]
}

func (c *Checker) hash(parts ...string) uint64 {
	return maphash.String(c.seed, strings.Join(parts, "\x00"))
}
