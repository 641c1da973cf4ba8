package frontier

import (
	"iter"

	"github.com/weftcrawl/weft/weburl"
)

// lookup is the URLs that are to be added next.
type lookup struct {
	unanswered bool // a Lookup is not answered
	prints     []fingerprint
	urls       []weburl.URL // the same
	seeds      int          // from here on
}

// lookUp takes the URLs that are added next, some as seeds, and requests what memory does
// not tell of them.
func (r *residency) lookUp(now moment, urls, seeds iter.Seq[weburl.URL]) (req Request, ok bool) {
	if r.batch.unanswered {
		panic("frontier: Prepare: the page of the batch before was not provided")
	}
	r.makeRoom(now)
	r.agenda.seen.reset()
	n := 0
	for range urls {
		n++
	}
	for range seeds {
		n++
	}
	n *= 1 + r.cfg.MaxRedirects // what these redirect to may come nearer
	if r.cfg.Beyond {
		n *= 2
	}
	exact := r.agenda.seen.exact(n)
	if exact && r.evicted == 0 {
		return Request{}, false
	}
	b := &r.batch
	if cap(b.prints) > usualBatch {
		*b = lookup{}
	}
	b.prints, b.urls = b.prints[:0], b.urls[:0]
	for u := range urls {
		r.chain(b, u)
	}
	b.seeds = len(b.prints)
	for u := range seeds {
		r.chain(b, u)
	}
	r.agenda.seen.table.Touch(b.prints)
	req.Kind = Lookup
	if !exact {
		r.agenda.seen.look(b.prints)
		req.Fingerprints = r.agenda.seen.asked
	}
	if r.evicted > 0 {
		req.Names = r.missing(r.newHostnames)
	}
	b.unanswered = len(req.Fingerprints)+len(req.Names) > 0
	return req, b.unanswered
}

// chain adds a URL to a batch, and the redirects that adding it may follow.
func (r *residency) chain(b *lookup, u weburl.URL) {
	r.chainOf(b, URL{URL: u})
	if r.cfg.Beyond {
		r.chainOf(b, URL{URL: u, Role: RoleExternal})
	}
}

func (r *residency) chainOf(b *lookup, u URL) {
	for range r.cfg.MaxRedirects + 1 {
		if r.ownership.foreign(u.URL.Hostname()) {
			break
		}
		fp := u.Fingerprint()
		b.prints, b.urls = append(b.prints, fp), append(b.urls, u.URL)
		h := r.agenda.redirects.hops[fp]
		if h == nil || h.target == nil {
			break
		}
		u = *h.target
	}
}

// newHostnames yields the host names of the batch, except those of URLs that were seen and are no
// seeds: their origins are not needed.
func (r *residency) newHostnames(yield func(string) bool) {
	for i, u := range r.batch.urls {
		if (i >= r.batch.seeds || !r.agenda.seen.surely(r.batch.prints[i])) && !yield(u.Hostname()) {
			return
		}
	}
}

// answer takes in what the store has of these URLs.
func (r *residency) answer(now moment, p Page) {
	if !r.batch.unanswered {
		panic("frontier: Provide: nobody has requested a lookup")
	}
	for _, s := range p.Origins {
		if r.origin(s.Name) == nil && !r.ownership.foreign(Hostname(s.Name)) {
			// Else it was revived meanwhile.
			r.comeBack(now, s.OriginState, s.Rules)
		}
	}
	r.agenda.seen.settle(p.Seen)
	r.batch.unanswered = false
}
