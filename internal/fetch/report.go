package fetch

import (
	"errors"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/frontier"
)

// reports are the way from a loop to the coordinator.
// Owner: the loop.
type reports struct {
	id     int // of the loop
	report Report
	loop   *aio.Loop
	inbox  *aio.Handle // of the loop, held by the coordinator
	outbox *aio.Handle // of the coordinator's loop
	ended  []*Outcome  // the outcomes of this turn, on their way to the coordinator
}

// send adds an outcome to those that go to the coordinator at the end of this turn.
func (r *reports) send(out *Outcome) {
	r.ended = append(r.ended, out)
	if len(r.ended) > 1 {
		return
	}
	r.loop.CallSoon(func() {
		ended := r.ended
		r.ended = nil
		// The coordinator's loop ends after this one, or by an error that has cancelled it: then
		// nobody needs them.
		_ = r.outbox.Post(func() { r.report.Outcomes(r.id, ended) })
	})
}

// responded reports that the page of a lease is being rendered.
func (r *reports) responded(l Lease, a frontier.Result) {
	_ = r.outbox.Post(func() { r.report.Responded(r.id, l, a) })
}

// networkOpened reports a network that this loop opened, before the outcome with the links to it.
func (r *reports) networkOpened(n guard.Network) {
	_ = r.outbox.Post(func() { r.report.Network(n) })
}

// post runs fn on the loop; one that has ended needs nothing any more.
func (r *reports) post(fn func()) { _ = r.inbox.Post(fn) }

// sendLinks sends the links that an outcome has so far to the coordinator, and waits until they are
// admitted: so a sitemap takes the memory of a part.
func (r *reports) sendLinks(t *aio.Task, out *Outcome) error {
	var admitted aio.Event
	links := out.Links
	out.Links = nil
	ended := r.outbox.Post(func() {
		r.report.Links(links, func(added, tooMany int) {
			r.post(func() {
				out.Added(added, tooMany)
				admitted.Set()
			})
		})
	})
	return errors.Join(ended, admitted.Wait(t))
}
