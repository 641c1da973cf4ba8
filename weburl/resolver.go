package weburl

import "unsafe"

// A Resolver resolves the links of a page, and then of the next: all that
// [URL.Resolve] does, faster, and mostly without an allocation. The zero value is ready,
// and its base is the zero URL.
//
// The URLs that it returns stay valid for ever. Their text lies in blocks of 8 KiB, each
// of which lives as long as one URL in it does; see [URL.Clone].
//
// It must not be copied, and is used by one goroutine or task at a time.
type Resolver struct {
	base     place
	encoding string
	block    []byte // hrefs, one after the other; what is there is never changed
}

const (
	blockSize  = 8 << 10
	maxInBlock = blockSize / 8 // longer ones get memory of their own
)

// Reset makes base the page that links are on, in UTF-8.
func (r *Resolver) Reset(base URL) { r.base, r.encoding = placeOf(base), "" }

// ResetIn is Reset for a page that was in the encoding of that name or label (WHATWG, as in
// "shift_jis") before it became UTF-8: in queries of its http and https links, and of the
// other special ones but ws and wss, characters beyond ASCII are encoded in it. The
// empty name, and one that does not exist, is UTF-8.
// See https://url.spec.whatwg.org/#query-state.
func (r *Resolver) ResetIn(base URL, encoding string) { r.base, r.encoding = placeOf(base), encoding }

// Base returns the page that links are on.
func (r *Resolver) Base() URL { return r.base.URL }

// Resolve reads ref, which is UTF-8, as a link on the page. It does not keep ref. Its
// error is an *Error.
//
//go:noinline
func (r *Resolver) Resolve(ref []byte) (u URL, err error) {
	err = resolve(r, &u, ref)
	return u, err
}

// ResolveString is Resolve for a string.
func (r *Resolver) ResolveString(ref string) (u URL, err error) {
	err = resolve(r, &u, ref)
	return u, err
}

func resolve[T string | []byte](r *Resolver, u *URL, ref T) (err error) {
	if n := len(r.base.href) + len(ref) + len("/"); cap(r.block)-len(r.block) < n && n <= maxInBlock {
		r.block = make([]byte, 0, blockSize)
	}
	href, ok := appendPlain(r.block[len(r.block):], u, &r.base, ref)
	switch {
	case !ok:
		*u, err = parse(string(ref), r.base.URL, r.encoding)
	case len(href) > cap(r.block)-len(r.block): // it has got memory of its own
		u.href = string(href)
	default:
		// Nothing writes to what is within the length of block.
		r.block = r.block[:len(r.block)+len(href)]
		u.href = unsafe.String(unsafe.SliceData(href), len(href))
	}
	return err
}
