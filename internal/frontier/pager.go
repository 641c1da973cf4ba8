package frontier

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// RequestKind is what a Request asks the store for.
type RequestKind uint8

const (
	// Lookup asks which of the Fingerprints were seen, and for all http and https origins with
	// these Names.
	Lookup RequestKind = iota + 1

	// Refill requests the first N pending URLs of Origin after a key, in order.
	Refill

	// Revive requests origins with pending URLs, or with retries if Tried is true. The store goes
	// through them by origin, from the first after Cursor, up to N different names; the page has
	// all origins with one of these names.
	Revive

	// Find requests those of the URLs that are pending, and all origins of their names.
	Find
)

// Request is something that the frontier needs from the store. The caller reads it and gives the
// page to Provide, exactly once.
type Request struct {
	Kind RequestKind

	Fingerprints [][16]byte // of a Lookup, ascending
	Names        []string   // of a Lookup, ascending

	Origin string   // of a Refill
	After  QueueKey // of a Refill

	Cursor string // of a Revive: an origin; empty: from the first on
	Tried  bool   // of a Revive

	URLs []weburl.URL // of a Find

	N int // of a Refill and a Revive, ≥ 1

	seal uint32 // the call of NoteOrigins whose batch has to be committed before; 0: any
}

// AfterCommit reports whether the request may only be read after everything that was recorded
// before it was made is committed. Others may be read at any time.
func (r Request) AfterCommit() bool { return r.Kind != Lookup }

// Page is what the store has for a request. It may be as old as the request allows; whatever has
// changed since, the frontier takes into account.
type Page struct {
	Request Request

	Seen []bool // of a Lookup: for each fingerprint whether the store has it

	Origins []StoredOrigin // of a Lookup, a Revive and a Find

	URLs []URL // of a Refill; fewer than N will do, but one at least if there are more; of a Find
	More bool  // of a Refill: others come after these

	Last string // of a Revive: the origin that was looked at last; empty: there is none after it
}

// lookup is the batch of URLs that is to be added next.
type lookup struct {
	open   bool // a Lookup is not answered
	prints []fingerprint
	urls   []weburl.URL // the same
	seeds  int          // from here on
}

// Prepare takes the batch of URLs that are given to Add, Redirect, RobotsAt and View.Seen next, up
// to the next call. A URL that may be given as a seed, whatever its From, is among seeds. If ok is
// true, the frontier cannot tell by itself which of them were seen, or what is known of their
// origins: the request is read and its page provided before any of them is added. Meanwhile the
// frontier may be used in any other way, though no lease may end in a redirect.
//
// Without SeenBytes and HostBytes, and as long as everything fits in memory, there is no request.
func (f *Frontier) Prepare(urls, seeds iter.Seq[weburl.URL]) (r Request, ok bool) {
	if f.lookup.open {
		panic("frontier: Prepare: the page of the batch before was not provided")
	}
	f.makeRoom()
	f.seen.reset()
	n := 0
	for range urls {
		n++
	}
	for range seeds {
		n++
	}
	n *= 1 + f.cfg.MaxRedirects // what these redirect to may come nearer
	if f.cfg.Beyond {
		n *= 2
	}
	exact := f.seen.exact(n)
	if exact && f.residency.evicted == 0 {
		return Request{}, false
	}
	b := &f.lookup
	if cap(b.prints) > usualBatch {
		*b = lookup{}
	}
	b.prints, b.urls = b.prints[:0], b.urls[:0]
	for u := range urls {
		f.chain(b, u)
	}
	b.seeds = len(b.prints)
	for u := range seeds {
		f.chain(b, u)
	}
	f.seen.table.Touch(b.prints)
	r.Kind = Lookup
	if !exact {
		f.seen.look(b.prints)
		r.Fingerprints = f.seen.asked
	}
	if f.residency.evicted > 0 {
		r.Names = f.residency.missing(f.newHostnames)
	}
	b.open = len(r.Fingerprints)+len(r.Names) > 0
	return r, b.open
}

// chain adds a URL to a batch, and the redirects that adding it may follow.
func (f *Frontier) chain(b *lookup, u weburl.URL) {
	f.chainOf(b, URL{URL: u})
	if f.cfg.Beyond {
		f.chainOf(b, URL{URL: u, Role: RoleExternal})
	}
}

func (f *Frontier) chainOf(b *lookup, u URL) {
	for range f.cfg.MaxRedirects + 1 {
		if f.partitions.foreign(u.URL.Hostname()) {
			break
		}
		fp := u.Fingerprint()
		b.prints, b.urls = append(b.prints, fp), append(b.urls, u.URL)
		h := f.redirects.hops[fp]
		if h == nil || h.target == nil {
			break
		}
		u = *h.target
	}
}

// newHostnames yields the host names of the batch, except those of URLs that were seen and are no
// seeds: their origins are not needed.
func (f *Frontier) newHostnames(yield func(string) bool) {
	for i, u := range f.lookup.urls {
		if (i >= f.lookup.seeds || !f.seen.surely(f.lookup.prints[i])) && !yield(u.Hostname()) {
			return
		}
	}
}

// Reads returns what else the frontier needs from the store: the queues of origins whose turn has
// come, or soon will, and dormant origins. It is called after each Lease. All of these are read
// after a commit: see Request.AfterCommit.
func (f *Frontier) Reads() []Request {
	var requests []Request
	refills := f.requestRefills()
	if r, ok := f.requestDormant(); ok {
		requests = append(requests, r)
	}
	if r, ok := f.requestNearer(); ok {
		requests = append(requests, r)
	}
	requests = slices.Concat(requests, refills)
	for i := range requests {
		requests[i].seal = f.journal.next()
	}
	return requests
}

// Provide takes in the page for a request that Prepare or Reads has returned.
func (f *Frontier) Provide(now time.Time, p Page) {
	f.clock.tell(now)
	r := &p.Request
	if f.journal.to != nil && r.seal > f.journal.seals {
		panic(fmt.Sprintf("frontier: Provide: a page for %+v that was read before NoteOrigins", *r))
	}
	switch r.Kind {
	case Lookup:
		f.provideLookup(p)
	case Refill:
		f.refill(r.Origin, p.URLs, p.More)
	case Revive:
		f.revive(p.Origins, p.Last)
	case Find:
		f.provideNearer(p)
	default:
		panic("frontier: Provide: a page without a request")
	}
}

// provideLookup takes in what is known of a batch of URLs.
func (f *Frontier) provideLookup(p Page) {
	if !f.lookup.open {
		panic("frontier: Provide: nobody has requested a lookup")
	}
	for _, s := range p.Origins {
		if f.residency.origin(s.Name) == nil && !f.partitions.foreign(Hostname(s.Name)) { // else it was revived meanwhile
			f.comeBack(s.OriginState, s.Rules)
		}
	}
	f.seen.settle(p.Seen)
	f.lookup.open = false
}
