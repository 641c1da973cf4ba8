package weburl

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unsafe"
)

// A followed is a link that was resolved lately, without its fragment.
type followed struct {
	ref   string // as written, up to the fragment
	url   URL
	where uint64 // the directory for which that holds: see Resolver.where
}

// followedLinks is the number of these that a Resolver remembers, a power of two. They take 72
// bytes each.
const followedLinks = 256

// ResolvePage is Resolve for a link that is followed: the URL has no fragment. A page has many
// links to some others, and the pages of a site have many in common. What such a link leads to is
// found again instead of resolved, and its text is the same string.
func (r *Resolver) ResolvePage(ref []byte) (u URL, err error) {
	if !r.base.onWeb {
		u, err = r.Resolve(ref)
		u.href = u.href[:u.fragmentAt]
		return u, err
	}
	if i := bytes.IndexByte(ref, '#'); i == 0 || i > 0 && ref[i-1] > ' ' && len(ref) <= maxInBlock {
		// Else a blank is trimmed.
		ref = ref[:i]
	}
	if len(ref) == 0 {
		u = r.base.URL
		u.href = u.href[:u.fragmentAt]
		return u, nil
	}
	slot := r.slot(ref)
	if slot.ref == string(ref) && slot.where == r.where {
		return slot.url, nil
	}
	plain, err := resolve(r, &u, ref)
	u.href = u.href[:u.fragmentAt]
	if plain && ref[0] != '?' && len(ref) <= maxInBlock {
		// It depends on the directory of the page alone.
		*slot = followed{r.keep(ref, u.href), u, r.where}
	}
	return u, err
}

// keep returns ref as a string, which most often is the end of href.
func (r *Resolver) keep(ref []byte, href string) string {
	if strings.HasSuffix(href, string(ref)) {
		return href[len(href)-len(ref):]
	}
	return string(ref)
}

// slot returns the only place where a link may be remembered.
func (r *Resolver) slot(ref []byte) *followed {
	if r.followed == nil {
		r.followed = new([followedLinks]followed)
	}
	var first, last uint64
	if n := len(ref); n >= 8 {
		first, last = binary.LittleEndian.Uint64(ref), binary.LittleEndian.Uint64(ref[n-8:])
	} else {
		for _, c := range ref {
			first = first<<8 | uint64(c)
		}
	}
	hi, lo := bits.Mul64(first^0x9e3779b97f4a7c15, last^uint64(len(ref))^0xd1b54a32d192ed03)
	return &r.followed[(hi^lo)>>16%followedLinks]
}

// Places is a few of the URLs to which a page leads. A URL is found by the place of its text, which
// is the same if ResolvePage has found it again: that takes a fraction of a hash of the text. What
// is there was added; what was added may be forgotten.
type Places struct {
	texts [followedLinks / 2]string
	any   bool
}

// Has reports whether u is there.
func (p *Places) Has(u URL) bool { return *p.place(u) == u.href && u.href != "" }

// Add adds u.
func (p *Places) Add(u URL) { *p.place(u), p.any = u.href, true }

// Clear removes all.
func (p *Places) Clear() {
	if p.any {
		*p = Places{}
	}
}

func (p *Places) place(u URL) *string {
	at := uint64(uintptr(unsafe.Pointer(unsafe.StringData(u.href))))
	return &p.texts[at*0x9e3779b97f4a7c15>>32%uint64(len(p.texts))]
}
