package archive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/warc"
)

// follow gives a revisit the body of its original.
func (a *Archive) follow(r *Record) error {
	original, err := a.original(r)
	if err != nil {
		return err
	}
	r.open = append(r.open, original.Close)
	r.Size = original.Size
	m := original.Message
	switch {
	case r.Message == nil && m == nil:
		r.Record = original.Record
		return nil
	case r.Message == nil || r.Message.Status() == 304 && m != nil:
		r.Message = m
		return nil
	}
	// The payload is that of the original; how it was transferred may have differed.
	r.Message.Header = without(r.Message.Header, "Transfer-Encoding")
	if m == nil {
		r.Message.Rest = original.Record
		return nil
	}
	r.Message.Rest = m.Payload()
	if own := digestOf(r.Record); own != "" && own == digestOf(original.Record) {
		return nil // the same bytes, whose coding another server's original need not name
	}
	r.Message.Header = without(r.Message.Header, "Content-Encoding")
	for _, f := range m.Header {
		if strings.EqualFold(f.Name, "Content-Encoding") {
			r.Message.Header = append(r.Message.Header, f)
		}
	}
	return nil
}

func without(h warc.Header, names ...string) warc.Header {
	return slices.DeleteFunc(slices.Clone(h), func(f warc.Field) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(f.Name, name) })
	})
}

// mostOriginals is the most captures that are opened for the original of a revisit.
const mostOriginals = 20

// original opens what a revisit refers to. The digest of its payload says what that is (ISO 28500,
// section 6.7.2), at any URL; the URL and the date that it may name say which of several. Where
// digests cannot be compared, as after a 304, it is the capture of the URL nearest to the date.
func (a *Archive) original(r *Record) (*Record, error) {
	h := r.Record.Header
	url := cmp.Or(strings.Trim(h.Get("WARC-Refers-To-Target-URI"), "<>"), r.Record.URL())
	at, dated := warc.ParseDate(h.Get("WARC-Refers-To-Date"))
	if !dated {
		at = r.Record.Date()
	}
	at = at.Truncate(time.Second)
	digest, id := digestOf(r.Record), h.Get("WARC-Refers-To")
	if r.Record.IsNotModified() {
		digest = "" // many tools digest the empty body of the 304
	}
	exact := func(c Capture) bool { return dated && c.Date.Equal(at) }
	same, unknown, err := a.originals(url, digest, exact)
	if err == nil && len(same) == 0 && digest != "" {
		same, err = a.digested(digest)
	}
	if err != nil {
		return nil, err
	}
	for _, some := range [][]Capture{same, unknown} {
		slices.SortStableFunc(some, func(a, b Capture) int { return cmp.Compare(a.Date.Sub(at).Abs(), b.Date.Sub(at).Abs()) })
	}
	var damage error
	for i, c := range append(same, unknown...) {
		if i == mostOriginals {
			break
		}
		original, err := c.read()
		if err != nil {
			damage = cmp.Or(damage, fmt.Errorf("its original: %w", c.where(err)))
			continue
		}
		known := digest != "" && digest == digestOf(original.Record) || exact(c)
		if original.Record.Type() != warc.Revisit && (known || id == "" || id == original.Record.ID()) {
			return original, nil
		}
		original.Close()
	}
	return nil, cmp.Or(damage, fmt.Errorf("the original of this revisit, %.200s, is not in the archive", url))
}

// originals returns the captures of a URL, in any spelling, that have a digest, and those of which
// that is not known; whose date is named exactly may have been digested in another form.
func (a *Archive) originals(url, digest string, exact func(Capture) bool) (same, unknown []Capture, err error) {
	held := 0
	for c, err := range a.prefixed(warc.SURT(url) + " ") {
		if err != nil {
			return nil, nil, err
		}
		if !c.original() {
			continue
		}
		switch own := digestKey(c.Digest); {
		case own != "" && own == digest:
			same = append(same, c)
		case own == "" || algorithm(own) != algorithm(digest) || exact(c):
			unknown = append(unknown, c)
		default:
			continue
		}
		if held += c.size(); len(same)+len(unknown) == mostCaptures || held > mostHeld {
			break
		}
	}
	return same, unknown, nil
}
