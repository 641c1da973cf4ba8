package links

import "github.com/weftcrawl/weft/weburl"

// Each link costs as much as the base is long. The part of the base beyond longBase is paid from
// maxExcess, or a page of a megabyte could become gigabytes of links. In bytes.
const (
	longBase  = 4 << 10
	maxExcess = 64 << 20
)

// A resolver has the base of a page, the frames in it included, and counts what it costs.
type resolver struct {
	urls    weburl.Resolver
	charset string // for queries
	excess  int    // bytes of the base beyond longBase
	spent   int    // bytes of maxExcess
}

// begin begins a page.
func (r *resolver) begin(base weburl.URL, charset string) {
	r.charset, r.spent = charset, 0
	r.setBase(base)
}

// setBase resolves links against base from here on.
func (r *resolver) setBase(base weburl.URL) {
	r.excess = max(0, len(base.String())-longBase)
	r.urls.ResetIn(base, r.charset)
}

// setCharset takes queries to be in another encoding from here on.
func (r *resolver) setCharset(charset string) {
	r.charset = charset
	r.urls.ResetIn(r.urls.Base(), charset)
}

// pay pays for a link, and reports whether there was enough left.
func (r *resolver) pay() bool {
	r.spent += r.excess
	return !r.isSpent()
}

// isSpent reports whether there was too little left for a link.
func (r *resolver) isSpent() bool { return r.spent > maxExcess }
