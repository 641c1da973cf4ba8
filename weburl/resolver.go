package weburl

import "unsafe"

// Resolver resolves the links of page after page: like [URL.Resolve], but faster, and mostly
// without an allocation. The zero value is ready, and its base is the zero URL.
//
// The URLs that it returns stay valid for ever. Their text lies in blocks of 2 KiB, each of which
// lives as long as any URL in it; see [URL.Clone].
//
// A Resolver must not be copied. One goroutine or task at a time may use it.
type Resolver struct {
	base     basePage
	encoding string
	block    []byte // consecutive hrefs, never changed once written

	followed *[followedLinks]followed // or nil
	where    uint64                   // number of changes of directory or encoding
}

const (
	blockSize  = 2 << 10
	maxInBlock = blockSize / 8 // longer ones get memory of their own
)

// Reset makes base the page of the following links, in UTF-8.
func (r *Resolver) Reset(base URL) { r.ResetIn(base, "") }

// ResetIn is Reset for a page that was in an encoding with that name or label (WHATWG, such as
// "shift_jis") before it became UTF-8: it encodes non-ASCII characters in the queries of http,
// https and other special links, except ws and wss. An empty or unknown name means UTF-8. See
// https://url.spec.whatwg.org/#query-state.
func (r *Resolver) ResetIn(base URL, encoding string) {
	page := basePageOf(base)
	if page.directory != r.base.directory || encoding != r.encoding {
		r.where++
	}
	r.base, r.encoding = page, encoding
}

// Base returns the current page.
func (r *Resolver) Base() URL { return r.base.URL }

// Resolve parses ref, which is UTF-8, as a link on the page. It does not keep ref. Its error is an
// *Error.
//
//go:noinline
func (r *Resolver) Resolve(ref []byte) (u URL, err error) {
	_, err = resolve(r, &u, ref)
	return u, err
}

// ResolveString is Resolve for a string.
func (r *Resolver) ResolveString(ref string) (u URL, err error) {
	_, err = resolve(r, &u, ref)
	return u, err
}

// resolve sets u to what ref leads to, and reports whether that was plain.
func resolve[T string | []byte](r *Resolver, u *URL, ref T) (plain bool, err error) {
	if n := len(r.base.href) + len(ref) + len("/"); cap(r.block)-len(r.block) < n && n <= maxInBlock {
		r.block = make([]byte, 0, blockSize)
	}
	href, plain := appendPlain(r.block[len(r.block):], u, &r.base, ref)
	switch {
	case !plain:
		*u, err = parse(string(ref), r.base.URL, r.encoding)
	case len(href) > cap(r.block)-len(r.block): // it has memory of its own
		u.href = string(href)
	default:
		// Nothing writes within the length of block.
		r.block = r.block[:len(r.block)+len(href)]
		u.href = unsafe.String(unsafe.SliceData(href), len(href))
	}
	return plain, err
}
