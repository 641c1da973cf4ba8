package engine

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/weburl"
)

// admission takes what leads to URLs, batches of outcomes and seeds, into the frontier, in the
// order in which it arrives: at once as long as the frontier knows every URL that was seen, and
// every host. When it does not, unknown fingerprints and hosts are looked up in the store first,
// off the loop, one look-up at a time; what arrives meanwhile waits, and is looked up together. So
// the more there is to do, the larger a look-up, and the cheaper each URL.
//
// What waits is bounded: outcomes by the number of workers, seeds by seedsAhead.
type admission struct {
	waiting []arrival
	asked   []arrival         // being looked up
	request *frontier.Request // of the store, for these; nil: nothing is unknown. Without a kind, they want what they find
	begin   aio.Event         // there is something to look up, or the crawl is over
}

// arrival is one of them.
type arrival struct {
	urls  iter.Seq[weburl.URL] // that take may add to the frontier
	hosts iter.Seq[weburl.URL] // the same; their hosts are needed though the URLs were seen: seeds, redirects of robots.txt
	take  func()
	find  *found // what take wants of the store, and nothing else; nil: nothing
}

// found is what the store has of a URL.
type found struct {
	url   weburl.URL
	entry store.Entry // zero: nothing
}

// empty reports whether nothing waits.
func (a *admission) empty() bool { return len(a.waiting) == 0 && len(a.asked) == 0 }

// none yields no URL.
func none(func(weburl.URL) bool) {}

// one yields a URL.
func one(u weburl.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) { yield(u) }
}

// admit calls take when the frontier is ready for these URLs, at once or later. The crawl does not
// end before, nor in take: the caller dispatches.
func (d *Coordinator) admit(urls, hosts iter.Seq[weburl.URL], take func()) {
	d.arrive(arrival{urls: urls, hosts: hosts, take: take})
}

// find calls take with what the store has of a URL. What is not committed yet, it does not have.
func (d *Coordinator) find(u weburl.URL, take func(store.Entry)) {
	wanted := &found{url: u}
	d.arrive(arrival{take: func() { take(wanted.entry) }, find: wanted})
}

func (d *Coordinator) arrive(w arrival) {
	a := &d.admission
	a.waiting = append(a.waiting, w)
	if len(a.asked) == 0 {
		d.admitWaiting()
	}
}

// admitWaiting takes in what waits, or has it looked up.
func (d *Coordinator) admitWaiting() {
	a := &d.admission
	for a.request == nil && len(a.asked) == 0 {
		d.runBetween()
		if len(a.waiting) == 0 {
			return
		}
		finds := func(w arrival) bool { return w.find != nil }
		if slices.ContainsFunc(a.waiting, finds) { // apart: in the frontier, no time may pass after Prepare
			for _, w := range a.waiting {
				if finds(w) {
					a.asked = append(a.asked, w)
				}
			}
			a.waiting = slices.DeleteFunc(a.waiting, finds)
			a.request = new(frontier.Request)
			a.begin.Set()
			return
		}
		a.asked, a.waiting = a.waiting, nil
		r, unknown := d.frontier.Prepare(
			a.all(func(w arrival) iter.Seq[weburl.URL] { return w.urls }), a.all(func(w arrival) iter.Seq[weburl.URL] { return w.hosts }))
		if unknown {
			a.request = &r
			a.begin.Set()
		} else {
			d.takeAsked()
		}
	}
}

// all yields what of yields for each arrival that is asked about.
func (a *admission) all(of func(arrival) iter.Seq[weburl.URL]) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for _, w := range a.asked {
			for u := range of(w) {
				if !yield(u) {
					return
				}
			}
		}
	}
}

// takeAsked admits arrivals whose URLs are all looked up.
func (d *Coordinator) takeAsked() {
	for _, w := range d.admission.asked {
		w.take()
	}
	d.admission.asked = nil
}

// lookUpAll is the task that looks up URLs and hosts in the store until the crawl is over. A failed
// look-up ends the crawl in good order, and later changes are not saved: arrivals count as seen.
func (d *Coordinator) lookUpAll(t *aio.Task) error {
	a, c := &d.admission, &d.committer
	for {
		if err := a.begin.Wait(t); err != nil || d.ending.over.IsSet() {
			return err
		}
		a.begin.Clear()
		var page frontier.Page
		r, err := *a.request, c.failure
		if err == nil {
			asked := a.asked
			page, err = aio.Offload(t, func(context.Context) (frontier.Page, error) { return lookUp(d.cfg.Job.Store, r, asked) })
			if errors.Is(err, aio.ErrCanceled) {
				return err
			}
		}
		if err != nil {
			if c.failure == nil {
				c.failure = err
			}
			d.fail(err)
			page = frontier.Page{Request: r, Seen: slices.Repeat([]bool{true}, len(r.Fingerprints))}
		}
		a.request = nil
		if r.Kind != 0 {
			d.frontier.Provide(d.clock.now(), page)
		}
		d.takeAsked()
		d.admitWaiting()
		d.Dispatch()
	}
}

// lookUp reads what arrivals need from the store.
func lookUp(s *store.Store, r frontier.Request, asked []arrival) (page frontier.Page, err error) {
	if r.Kind != 0 {
		return s.Read(r)
	}
	for _, w := range asked {
		if w.find.entry, _, err = s.Find(w.find.url); err != nil {
			break
		}
	}
	return page, err
}
