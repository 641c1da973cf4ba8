package frontier

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// Prepare takes the batch of URLs that are given to Add, Redirect, Robots.Redirected and View.Seen
// next, up to the next call. A URL that may be given as a seed, whatever its From, is among seeds.
// If ok is true, the frontier cannot tell by itself which of them were seen, or what is known of
// their origins: the request is read and its page provided before any of them is added. Meanwhile
// the frontier may be used in any other way, though no lease may end in a redirect.
//
// Without SeenBytes and HostBytes, and as long as everything fits in memory, there is no request.
func (f *Frontier) Prepare(urls, seeds iter.Seq[weburl.URL]) (r Request, ok bool) {
	return f.residency.lookUp(f.clock.now, urls, seeds)
}

// Reads returns what else the frontier needs from the store: the queues of origins whose turn has
// come, or soon will, and dormant origins. It is called after each Lease. All of these are read
// after a commit: see Request.AfterCommit.
func (f *Frontier) Reads() []Request {
	var requests []Request
	refills := f.agenda.requestRefills(f.politeness.usable)
	if r, ok := f.residency.requestDormant(f.clock.now); ok {
		requests = append(requests, r)
	}
	if r, ok := f.agenda.requestNearer(); ok {
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
	f.clock.advance(now)
	r := &p.Request
	if f.journal.to != nil && r.seal > f.journal.seals {
		panic(fmt.Sprintf("frontier: Provide: a page for %+v that was read before NoteOrigins", *r))
	}
	switch r.Kind {
	case Lookup:
		f.residency.answer(f.clock.now, p)
	case Refill:
		f.residency.refill(f.clock.now, r.Origin, p.URLs, p.More)
	case Revive:
		f.residency.revive(f.clock.now, p.Origins, p.Last)
	case Find:
		f.residency.moveFound(f.clock.now, p)
	default:
		panic("frontier: Provide: a page without a request")
	}
}
