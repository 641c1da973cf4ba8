package weft

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"

	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/weburl"
)

// Duplicates says which pages are recognised as those that another URL has led to.
type Duplicates string

// What is recognised.
const (
	DuplicatesOff  Duplicates = "off"  // nothing
	DuplicatesSame Duplicates = "same" // pages with the same body
	DuplicatesNear Duplicates = "near" // and with nearly the same text: see package text. It is read of every page
)

// ParseDuplicates reads a name of these; the empty one is DuplicatesSame.
func ParseDuplicates(name string) (Duplicates, error) {
	switch d := Duplicates(name); d {
	case "":
		return DuplicatesSame, nil
	case DuplicatesOff, DuplicatesSame, DuplicatesNear:
		return d, nil
	}
	return "", fmt.Errorf("duplicates %.64q, expected off, same or near", name)
}

const (
	// maxFirsts is how many pages a crawl remembers at most, to tell their duplicates, and
	// costOfFirst what each takes. Of more, the oldest are forgotten.
	maxFirsts   = 1 << 17
	costOfFirst = 200

	// minDuplicate is the size of the smallest body that can be a duplicate, in bytes. What
	// is smaller says nothing, or only "OK".
	minDuplicate = 64
)

// judge compares an answer with the pages before it, if its status is 200. Prune says that it is a page, of
// which links are not followed if it is a duplicate: what a sitemap tells of always is.
func (f *fetcher) judge(out *outcome, prune bool) {
	r := out.record
	if r.Status != http.StatusOK || f.cfg.Duplicates == DuplicatesOff || r.BodyBytes < minDuplicate {
		return
	}
	p := duplicates.Page{Content: binary.BigEndian.Uint64(out.content[:]), URL: r.URL}
	if f.cfg.Duplicates == DuplicatesNear {
		r.TextHash, r.Simhash = hexadecimal(out.text.Hash), hexadecimal(out.text.Simhash)
		p.Simhash = out.text.Simhash
	}
	v := f.desk.firsts.Judge(p)
	if first := cmp.Or(v.Same, v.Near); first == r.URL {
		v.Same, v.Near = "", "" // it was fetched before
	}
	r.DuplicateOf, r.NearDuplicateOf = v.Same, v.Near
	r.Pruned = prune && f.cfg.PruneDuplicates && sameSite(out.url.URL, cmp.Or(v.Same, v.Near))
	out.first = v
}

// sameSite reports whether u is on the registrable domain of another URL, if that is one. No
// page is pruned for one elsewhere: whoever copies a site could keep a crawl from it.
func sameSite(u weburl.URL, other string) bool {
	if other == "" {
		return false
	}
	v, err := weburl.Parse(other)
	return err == nil && siteOf(u) == siteOf(v)
}

// siteOf is the registrable domain, or the host if that is an address or a public suffix.
func siteOf(u weburl.URL) string {
	return cmp.Or(weburl.RegistrableDomain(u.Hostname()), u.Hostname())
}

// hexadecimal is 16 digits, as numbers of 64 bits are too long for many readers of JSON;
// of 0 none.
func hexadecimal(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", n)
}

// duplicate says of what the page is one, or nothing.
func (r *Record) duplicate() string {
	said := ""
	switch {
	case r.DuplicateOf != "":
		said = "the same as " + r.DuplicateOf
	case r.NearDuplicateOf != "":
		said = "nearly the same as " + r.NearDuplicateOf
	default:
		return ""
	}
	if r.Pruned {
		said = "its links are not followed, as it is " + said
	}
	return said
}

// noteFirst saves a page that others may be duplicates of, and drops those that are
// forgotten.
func (d *desk) noteFirst(v duplicates.Verdict) {
	if v.Seq == 0 || d.job == nil {
		return
	}
	g := d.ledger.open.state
	g.Set(firstName(v.Seq), encodeFirst(v.Taken))
	for ; d.forgot < v.Left; d.forgot++ {
		g.Delete(firstName(d.forgot + 1))
	}
}

// recallFirsts brings back what the job has seen.
func (d *desk) recallFirsts(s *store.Store) error {
	if d.cfg.Duplicates == DuplicatesOff {
		return nil
	}
	d.forgot = 0
	for n, err := range s.Notes(noteFirst) {
		if err != nil {
			return err
		}
		seq, err := strconv.ParseUint(n.Name[len(noteFirst):], 16, 64)
		if err != nil || seq == 0 || len(n.Value) < firstHead {
			return fmt.Errorf("%w: note %.64q", store.ErrDamaged, n.Name)
		}
		if d.forgot == 0 {
			d.forgot = seq - 1
		}
		d.firsts.Restore(seq, decodeFirst(n.Value))
	}
	return nil
}

// firstName is the name of a page's note: in the order of bytes as they were seen.
func firstName(seq uint64) string { return fmt.Sprintf("%s%016x", noteFirst, seq) }

const firstHead = 16 // bytes before the URL

func encodeFirst(p duplicates.Page) []byte {
	b := make([]byte, 0, firstHead+len(p.URL))
	b = binary.BigEndian.AppendUint64(b, p.Content)
	b = binary.BigEndian.AppendUint64(b, p.Simhash)
	return append(b, p.URL...)
}

func decodeFirst(b []byte) duplicates.Page {
	return duplicates.Page{Content: binary.BigEndian.Uint64(b), Simhash: binary.BigEndian.Uint64(b[8:]), URL: string(b[firstHead:])}
}
