package warc

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"
)

// Checker checks archives: whether each record can be read from its offset, has the fields that it
// must have and the block that its digests say, and whether what revisits refer to is there. Files
// that belong together are given to one Checker. It remembers some 100 bytes of each response, and
// 300 of a revisit whose original it has not seen.
type Checker struct {
	Records    int // read so far
	CodedSums  int // of bodies with their transfer coding: a common mistake, and no fault
	seed       maphash.Seed
	ids        map[uint64]bool // of records, by their hash; true: a whole response
	originals  map[uint64]bool // by what revisits may name a whole response
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
	file   string
	offset int64
	about  string   // of the original: the start of its URL, and its date
	id     uint64   // of the original, as a key of ids; 0: not named
	keys   []uint64 // of originals: it is enough that one is there
}

// NewChecker returns a checker that has seen no file.
func NewChecker() *Checker {
	return &Checker{seed: maphash.MakeSeed(), ids: map[uint64]bool{}, originals: map[uint64]bool{}}
}

// File checks a file. The error is that of reading it.
func (c *Checker) File(name string, from io.Reader, report func(Fault)) error {
	r := NewReader(from)
	first, packed := true, false // packed: the last record
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
		switch c.Records++; {
		case first:
		case packed && !record.Packed:
			report(Fault{name, record.Offset, errors.New("plain record behind a gzip member, expected a member")})
		case !packed && record.Packed:
			report(Fault{name, record.Offset, errors.New("gzip member behind a plain record, expected a plain record")})
		}
		first, packed = false, record.Packed
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
	faults = append(faults, fieldFaults(r)...)
	return append(faults, c.remember(file, r)...)
}

// unrepeated are the fields that a record has once (ISO 28500, section 5.1).
var unrepeated = []string{
	"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length", "Content-Type", "WARC-Target-URI", "WARC-Payload-Digest",
	"WARC-Block-Digest", "WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Profile", "WARC-Truncated",
}

// fieldFaults returns what is wrong with the fields of a record.
func fieldFaults(r *Record) (faults []error) {
	must := []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"}
	switch r.Type() {
	case Response, Request, Resource, Revisit, Conversion, Continuation:
		must = append(must, "WARC-Target-URI")
	}
	if r.Type() == Revisit {
		must = append(must, "WARC-Profile")
	}
	for _, name := range must {
		if r.Header.Get(name) == "" {
			faults = append(faults, fmt.Errorf("no %s", name))
		}
	}
	for _, name := range unrepeated {
		if n := len(r.Header.all(name)); n > 1 {
			faults = append(faults, fmt.Errorf("%d fields %s, expected one", n, name))
		}
	}
	for _, name := range []string{"WARC-Date", "WARC-Refers-To-Date"} {
		date := r.Header.Get(name)
		if _, ok := ParseDate(date); date != "" && (!ok || strings.Contains(date, "T") && !strings.HasSuffix(date, "Z")) {
			faults = append(faults, fmt.Errorf("%s %.40q, expected a date in UTC such as 2026-11-22T12:00:00Z", name, date))
		}
	}
	return faults
}

// remember takes in which record this is, and what it refers to.
func (c *Checker) remember(file string, r *Record) (faults []error) {
	h := r.Header
	id := c.hash(r.ID())
	whole := (r.Type() == Response || r.Type() == Resource) && h.Get("WARC-Truncated") == ""
	if _, twice := c.ids[id]; twice && r.ID() != "" {
		faults = append(faults, fmt.Errorf("WARC-Record-ID %.80s for the second time", r.ID()))
	}
	c.ids[id] = whole
	if whole {
		c.originals[c.hash("date", SURT(r.URL()), dateKey(h.Get("WARC-Date")))] = true
		c.originals[c.hash("url", SURT(r.URL()), string(digestOf(r).Algorithm))] = true
		c.originals[c.hash("digest", digestOf(r).String())] = true
	}
	if r.Type() != Revisit {
		return faults
	}
	url, date := cmp.Or(bare(h.Get("WARC-Refers-To-Target-URI")), r.URL()), h.Get("WARC-Refers-To-Date")
	to := reference{file: file, offset: r.Offset, about: fmt.Sprintf("%.200s", url)}
	if date != "" {
		to.about += fmt.Sprintf(", captured %.40s", date)
		to.keys = append(to.keys, c.hash("date", SURT(url), dateKey(date)))
	}
	digest := digestOf(r)
	if r.IsNotModified() {
		digest = Digest{} // many tools digest the empty body of the 304
	}
	if digest.Sum != nil {
		to.keys = append(to.keys, c.hash("digest", digest.String()))
	}
	if original := h.Get("WARC-Refers-To"); original != "" {
		to.id = c.hash(original)
	} else { // it is a capture of the URL whose digest is not known to be another
		for _, a := range []Algorithm{"", SHA1, SHA256, "sha512", "md5"} {
			if a == "" || a != digest.Algorithm {
				to.keys = append(to.keys, c.hash("url", SURT(url), string(a)))
			}
		}
	}
	if !c.known(to) {
		c.unresolved = append(c.unresolved, to)
	}
	return faults
}

// digestOf returns the digest of a record's payload; without a sum if there is none.
func digestOf(r *Record) Digest {
	d, _ := ParseDigest(r.Header.Get("WARC-Payload-Digest"))
	return d
}

// dateKey returns the second of a date: digits behind it differ between the records of some tools.
func dateKey(date string) string {
	at, _ := ParseDate(date)
	return at.Format(time.DateTime)
}

func (c *Checker) known(r reference) bool {
	return r.id != 0 && c.ids[r.id] || slices.ContainsFunc(r.keys, func(key uint64) bool { return c.originals[key] })
}

func (c *Checker) hash(parts ...string) uint64 {
	return maphash.String(c.seed, strings.Join(parts, "\x00"))
}
