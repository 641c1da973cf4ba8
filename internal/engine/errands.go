package engine

import (
	"slices"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// errands take the requests of pages that are being rendered to the frontier, which says when each
// is made, and back.
// Owner: the coordinator's loop.
type errands struct {
	clock     *clock
	frontier  *frontier.Frontier
	loops     *loops
	slots     *slots
	reach     *reach
	admission *admission
	ending    *ending
}

// add has an errand leased.
func (e *errands) add(u frontier.URL) {
	if e.ending.draining {
		errandOf(u).Refuse(fetch.ErrDrained)
		return
	}
	if reason := e.reach.bounds.Forbids(u.URL); reason != "" {
		errandOf(u).Forbid("excluded: " + reason)
		return
	}
	e.admission.admit(nil, slices.Values([]weburl.URL{u.URL}), func() { e.frontier.Errands().Add(e.clock.now(), u) })
}

// dropped takes in that an errand is not needed any more.
func (e *errands) dropped(u frontier.URL) {
	e.frontier.Errands().Drop(&u)
}

// responded takes in that the page of a lease is being rendered: its worker counts as idle, and its
// host may be requested again.
func (e *errands) responded(loop int, l fetch.Lease, a frontier.Result) {
	e.loops.ended(loop, 1)
	e.slots.end(l.Ticket)
	e.frontier.Errands().Responded(e.clock.now(), l.URL, a)
}

// refused tells pages which of their requests are not made.
func (e *errands) refused() {
	for _, r := range e.frontier.Errands().Refused() {
		errandOf(r.URL).Refused(r.Kind, r.Reason)
	}
}

func errandOf(u frontier.URL) *fetch.Errand { return u.Errand.For.(*fetch.Errand) }
