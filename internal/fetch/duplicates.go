package fetch

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/http"

	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/weburl"
)

// minDuplicate is the smallest body that can be a duplicate, in bytes. Smaller ones say nothing, or
// only "OK".
const minDuplicate = 64

// originals are the pages that later ones may duplicate.
type originals struct {
	cfg   *Config
	index *duplicates.Index // shared by all loops
}

// judge compares a response with the pages before it, if its status is 200. With prune, the links
// of a duplicate are not followed; entries of a sitemap always are.
func (o originals) judge(out *Outcome, prune bool) {
	r := out.Record
	if r.Status != http.StatusOK || !o.cfg.Duplicates || r.BodyBytes < minDuplicate {
		return
	}
	p := duplicates.Page{Content: binary.BigEndian.Uint64(out.content[:]), URL: r.URL}
	if o.cfg.Near {
		r.TextHash, r.Simhash = hexadecimal(out.text.Hash), hexadecimal(out.text.Simhash)
		p.Simhash = out.text.Simhash
	}
	v := o.index.Judge(p)
	if first := cmp.Or(v.Same, v.Near); first == r.URL {
		v.Same, v.Near = "", "" // it was fetched before
	}
	r.DuplicateOf, r.NearDuplicateOf = v.Same, v.Near
	r.Pruned = prune && o.cfg.Prune && sameSite(out.URL.URL, cmp.Or(v.Same, v.Near))
	out.Duplicate = v
}

// sameSite reports whether another URL is on the registrable domain of u. Only duplicates of the
// same domain are pruned: otherwise a copy of a site could keep a crawl from the original.
func sameSite(u weburl.URL, other string) bool {
	if other == "" {
		return false
	}
	v, err := weburl.Parse(other)
	return err == nil && weburl.SameSite(u, v)
}

// hexadecimal returns 16 digits, as many readers of JSON cut numbers of 64 bits; "" for 0.
func hexadecimal(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", n)
}
