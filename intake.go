package weft

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// intake is what leads to URLs and has come to the desk: batches of outcomes, seeds. It is
// taken in in the order in which it came, at once as long as the frontier knows all that
// was seen, and all hosts. When it does not, what is in doubt is looked up in the store first, off
// the loop, one look-up at a time; what comes meanwhile waits, and is looked up together. So
// the more there is to do, the larger a look-up, and the cheaper for each URL.
//
// What waits is bounded: outcomes by the number of workers, seeds by seedsAhead.
type intake struct {
	waiting []arrival
	asked   []arrival         // of these is looked up
	request *frontier.Request // by this; nil: nothing is
	begin   aio.Event         // a look-up is to be made, or the crawl is over
}

// arrival is one of them.
type arrival struct {
	urls  iter.Seq[weburl.URL] // that take may add to the frontier
	needs iter.Seq[weburl.URL] // the same; their hosts are needed even if they were seen: seeds, where a robots.txt is
	take  func()
}

// doubtful reports whether anything is in doubt.
func (in *intake) doubtful() bool { return in.request != nil }

// empty reports whether nothing waits.
func (in *intake) empty() bool { return len(in.waiting) == 0 && len(in.asked) == 0 }

// arrive calls take when the frontier is ready for these URLs, at once or later. The crawl
// does not end before, nor in take: its caller dispatches.
func (d *desk) arrive(urls, needs iter.Seq[weburl.URL], take func()) {
	in := &d.intake
	in.waiting = append(in.waiting, arrival{urls, needs, take})
	if len(in.asked) == 0 {
		d.sift()
	}
}

// none yields no URL.
func none(func(weburl.URL) bool) {}

// sift takes in what waits, or has it looked up.
func (d *desk) sift() {
	in := &d.intake
	for len(in.waiting) > 0 && !in.doubtful() {
		in.asked, in.waiting = in.waiting, nil
		r, ok := d.frontier.Prepare(
			in.all(func(a arrival) iter.Seq[weburl.URL] { return a.urls }), in.all(func(a arrival) iter.Seq[weburl.URL] { return a.needs }))
		if ok {
			in.request = &r
		} else {
			d.takeIn()
		}
	}
	if in.doubtful() {
		in.begin.Set()
	}
}

// all yields what of each arrival that is asked about yields.
func (in *intake) all(of func(arrival) iter.Seq[weburl.URL]) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for _, a := range in.asked {
			for u := range of(a) {
				if !yield(u) {
					return
				}
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
		var page frontier.Page
		r, err := *in.request, d.ledger.failure
		if err == nil {
			page, err = aio.Offload(t, func(context.Context) (frontier.Page, error) { return d.job.store.Read(r) })
			if errors.Is(err, aio.ErrCanceled) {
				return err
			}
		}
		if err != nil {
			if d.ledger.failure == nil {
				d.ledger.failure = err
			}
			d.fail(err)
			page = frontier.Page{Request: r, Seen: slices.Repeat([]bool{true}, len(r.Fingerprints))}
		}
		in.request = nil
		d.frontier.Provide(d.loop.Now(), page)
		d.takeIn()
		d.sift()
		d.dispatch()
	}
}
