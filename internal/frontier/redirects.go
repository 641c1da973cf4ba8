package frontier

// redirects remembers URLs that were reached over redirects and by no link yet, so that what a
// crawl finds does not depend on the order in which responses come: a shorter way to such a URL
// may turn up, and make the target of its own redirect near enough.
type redirects struct {
	hops   map[fingerprint]*hops
	middle []fingerprint // of URLs that redirected themselves, the first one in front: see maxMiddles
	bytes  int           // of their targets
	full   bool          // some may be missing: beyond maxReached, or of a partition's log
}

// hops is kept for a URL that redirects led to until a link leads to it, or it ends without a
// redirect of its own.
type hops struct {
	fewest int  // of all ways to it that were found
	target *URL // of its own redirect, once it has answered with one
}

// maxMiddles bounds the hops with a target, the middles of chains of redirects, and maxTargets the
// memory of their targets in bytes. The Web may have a million of them; the price of forgetting one
// is that a shorter way to it is missed.
const (
	maxMiddles = 16_384
	maxTargets = 4 << 20
)

// maxReached bounds the hops of all URLs, middles or pending. The price of not keeping those of a
// URL is that a shorter way to it is missed: its own Hops count.
const maxReached = 4 * maxMiddles

func newRedirects(cfg *Config) redirects {
	return redirects{hops: make(map[fingerprint]*hops), full: cfg.Partition != nil}
}

// reached records that a new URL was reached over a number of redirects. It returns nil if there is
// no room.
func (r *redirects) reached(fp fingerprint, n int) *hops {
	if len(r.hops) >= maxReached {
		r.full = true
		return nil
	}
	h := &hops{fewest: n}
	r.hops[fp] = h
	return h
}

// shortened records another way to a URL. It returns the URL's hops if that way is shorter than all
// before; forgotten reports that a link leads there, so the hops are no longer kept.
func (r *redirects) shortened(fp fingerprint, n int) (h *hops, forgotten bool) {
	h = r.hops[fp]
	if h == nil || n >= h.fewest {
		return nil, false
	}
	h.fewest = n
	if n == 0 && (h.target != nil || !r.full) { // else nothing kept would mean that nothing is known
		r.forget(fp, h)
	}
	return h, n == 0
}

// forget drops what is kept of a URL.
func (r *redirects) forget(fp fingerprint, h *hops) {
	delete(r.hops, fp)
	if h.target != nil {
		r.bytes -= h.target.cost()
	}
}

// redirected sets the target of h. To make room it may forget other URLs, which it returns.
func (r *redirects) redirected(fp fingerprint, h *hops, target *URL) (forgotten []fingerprint) {
	if h.target == nil {
		r.middle = append(r.middle, fp)
	} else {
		r.bytes -= h.target.cost()
	}
	h.target = target
	r.bytes += target.cost()
	for len(r.middle) > maxMiddles || r.bytes > maxTargets {
		oldest := r.middle[0]
		r.middle = r.middle[1:]
		if m := r.hops[oldest]; m != nil && m.target != nil {
			r.forget(oldest, m)
			forgotten = append(forgotten, oldest)
		}
	}
	return forgotten
}

// ended records that a URL is not fetched again. It reports whether something was kept of it and is
// not any more: what redirected itself may still get nearer.
func (r *redirects) ended(u *URL) (fp fingerprint, forgotten bool) {
	if u.Hops == 0 {
		return fp, false
	}
	fp = u.Fingerprint()
	if h := r.hops[fp]; h == nil || h.target != nil {
		return fp, false
	}
	delete(r.hops, fp)
	return fp, true
}
