package weft

import (
	"context"
	"errors"
	"iter"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/weburl"
)

// intake is what leads to URLs and has come to the desk: batches of outcomes, seeds. It is
// taken in in the order in which it came, at once as long as the frontier knows all that
// was seen. When it does not, what is in doubt is looked up in the store first, off the
// loop, one look-up at a time; what comes meanwhile waits, and is looked up together. So
// the more there is to do, the larger a look-up, and the cheaper for each URL.
//
// What waits is bounded: outcomes by the number of workers, seeds by seedsAhead.
type intake struct {
	waiting []arrival
	asked   []arrival  // of these is looked up
	doubts  [][16]byte // this; empty: nothing
	begin   aio.Event  // a look-up is to be made, or the crawl is over
}

// arrival is one of them.
type arrival struct {
	urls iter.Seq[weburl.URL] // that take may add to the frontier
	take func()
}

// empty reports whether nothing waits.
func (in *intake) empty() bool { return len(in.waiting) == 0 && len(in.asked) == 0 }

// arrive calls take when the frontier is ready for these URLs, at once or later. The crawl
// does not end before, nor in take: its caller dispatches.
func (d *desk) arrive(urls iter.Seq[weburl.URL], take func()) {
	in := &d.intake
	in.waiting = append(in.waiting, arrival{urls, take})
	if len(in.asked) == 0 {
		d.sift()
	}
}

// sift takes in what waits, or has it looked up.
func (d *desk) sift() {
	in := &d.intake
	for len(in.waiting) > 0 && len(in.doubts) == 0 {
		in.asked, in.waiting = in.waiting, nil
		in.doubts = d.frontier.Doubts(in.urls)
		if len(in.doubts) == 0 {
			d.takeIn()
		}
	}
	if len(in.doubts) > 0 {
		in.begin.Set()
	}
}

// urls yields those that are asked about.
func (in *intake) urls(yield func(weburl.URL) bool) {
	for _, a := range in.asked {
		for u := range a.urls {
			if !yield(u) {
				return
			}
		}
	}
}

// takeIn takes in what nothing is in doubt of any more.
func (d *desk) takeIn() {
	for _, a := range d.intake.asked {
		a.take()
	}
	d.intake.asked = nil
}

// lookUp is the task that looks up what is in doubt, until the crawl is over. If that fails
// the crawl ends in good order, and nothing that follows is saved: what comes in counts
// as seen.
func (d *desk) lookUp(t *aio.Task) error {
	in := &d.intake
	for {
		if err := in.begin.Wait(t); err != nil || d.over.IsSet() {
			return err
		}
		in.begin.Clear()
		var seen []bool
		err := d.ledger.failure
		if err == nil {
			seen, err = aio.Offload(t, func(context.Context) ([]bool, error) { return d.job.store.Known(in.doubts) })
			if errors.Is(err, aio.ErrCanceled) {
				return err
			}
		}
		if err != nil {
			if d.ledger.failure == nil {
				d.ledger.failure = err
			}
			d.fail(err)
			seen = make([]bool, len(in.doubts))
			for i := range seen {
				seen[i] = true
			}
		}
		in.doubts = nil
		d.frontier.Settle(seen)
		d.takeIn()
		d.sift()
		d.dispatch()
	}
}
