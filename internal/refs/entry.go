package refs

import (
	"encoding/binary"
	"errors"

	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// File is the name of the file in the folder of a job.
const File = "referrers.bin"

// maxKeys bounds the keys of an entry.
const maxKeys = 100_000

// Key stands for a URL, as a target of links.
type Key uint64

// KeyOf returns the key of a URL.
func KeyOf(u weburl.URL) Key { return Key(binary.BigEndian.Uint64(keyBytes(u.Fingerprint()))) }

func keyBytes(fingerprint [16]byte) []byte { return fingerprint[:keySize] }

const keySize = 8

// Kind is the way from a page to its targets.
type Kind = record.Referral

// Kinds.
const (
	Links    = record.ByLink
	Redirect = record.ByRedirect
	Sitemap  = record.BySitemap
)

// Targets are the keys of the URLs that a page leads to, one after the other. A key may be in it
// twice.
type Targets []byte

// Add adds the URL with a fingerprint.
func (t *Targets) Add(fingerprint [16]byte) {
	if len(*t) < maxKeys*keySize {
		*t = append(*t, keyBytes(fingerprint)...)
	}
}

// Len returns the number of keys.
func (t Targets) Len() int { return len(t) / keySize }

// Flags of an entry.
const (
	flagAgain = 1 << iota
	flagRedirect
	flagSitemap
	flagsEnd
)

// Append appends the entry of a page. Again says that it may have an entry already, which this one
// replaces.
func Append(b []byte, page string, kind Kind, again bool, targets Targets) []byte {
	flags := byte(0)
	if again {
		flags |= flagAgain
	}
	switch kind {
	case Redirect:
		flags |= flagRedirect
	case Sitemap:
		flags |= flagSitemap
	}
	b = append(b, flags)
	b = binary.AppendUvarint(b, uint64(len(page)))
	b = append(b, page...)
	b = binary.AppendUvarint(b, uint64(targets.Len()))
	return append(b, targets...)
}

// entry is a page and its targets, in the memory of its block.
type entry struct {
	page    []byte
	kind    Kind
	again   bool
	targets Targets
}

var errEntry = errors.New("malformed entry")

// next cuts the first entry from b.
func next(b []byte) (e entry, rest []byte, err error) {
	if len(b) == 0 || b[0] >= flagsEnd {
		return e, nil, errEntry
	}
	switch {
	case b[0]&flagRedirect != 0:
		e.kind = Redirect
	case b[0]&flagSitemap != 0:
		e.kind = Sitemap
	}
	e.again = b[0]&flagAgain != 0
	if e.page, rest, err = field(b[1:], 1); err == nil {
		e.targets, rest, err = field(rest, keySize)
	}
	return e, rest, err
}

// field cuts from b a number and as many elements.
func field(b []byte, size int) (value, rest []byte, err error) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64((len(b)-n)/size) {
		return nil, nil, errEntry
	}
	end := n + int(count)*size
	return b[n:end], b[end:], nil
}
