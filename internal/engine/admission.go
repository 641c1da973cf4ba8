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
// Owner: the coordinator's loop.
type admission struct {
	clock     *clock
	frontier  *frontier.Frontier
	committer *committer // has the store
	dispatch  func()

	waiting []arrival
	asked   []arrival // being looked up
	// The request to the store, for these; nil: nothing is unknown. Without a kind, they want
	// entries.
	request *frontier.Request
	begin   aio.Event // there is something to look up, or the crawl is over
	between []func()  // wait for the end of the batch that is being looked up
}

// arrival is one of them.
type arrival struct {
	urls iter.Seq[weburl.URL] // that take may add to the frontier; nil: none
	// Their hosts are needed though the URLs were seen: of seeds, and of redirects of robots.txt.
	hosts iter.Seq[weburl.URL]
	take  func()
	find  *found // the only request of take to the store; nil: none
}

// found is the entry of a URL in the store.
type found struct {
	url   weburl.URL
	entry store.Entry // zero: nothing
}

// empty reports whether nothing waits.
func (a *admission) empty() bool { return len(a.waiting) == 0 && len(a.asked) == 0 }

// betweenBatches calls fn when no batch is being looked up.
func (a *admission) betweenBatches(fn func()) {
	a.between = append(a.between, fn)
	a.admitWaiting()
}

// runBetween runs what has waited for the end of a batch.
func (a *admission) runBetween() {
	waiting := a.between
	a.between = nil
	for _, fn := range waiting {
		fn()
	}
}

// admit calls take when the frontier is ready for these URLs, at once or later. The crawl does not
// end before, nor in take: the caller dispatches.
func (a *admission) admit(urls, hosts iter.Seq[weburl.URL], take func()) {
	a.arrive(arrival{urls: urls, hosts: hosts, take: take})
}

// find calls take with what the store has of a URL. What is not committed yet, it does not have.
func (a *admission) find(u weburl.URL, take func(store.Entry)) {
	wanted := &found{url: u}
	a.arrive(arrival{take: func() { take(wanted.entry) }, find: wanted})
}

func (a *admission) arrive(w arrival) {
	a.waiting = append(a.waiting, w)
	if len(a.asked) == 0 {
		a.admitWaiting()
	}
}

// admitWaiting takes in what waits, or has it looked up.
func (a *admission) admitWaiting() {
	for a.request == nil && len(a.asked) == 0 {
		a.runBetween()
		if len(a.waiting) == 0 {
			return
		}
		finds := func(w arrival) bool { return w.find != nil }
		if slices.ContainsFunc(a.waiting, finds) {
			// They go apart: in the frontier, no time may pass after Prepare.
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
		r, unknown := a.frontier.Prepare(
			a.all(func(w *arrival) iter.Seq[weburl.URL] { return w.urls }),
			a.all(func(w *arrival) iter.Seq[weburl.URL] { return w.hosts }))
		if unknown {
			a.request = &r
			a.begin.Set()
		} else {
			a.takeAsked()
		}
	}
}

// all yields the URLs of a list of each arrival that is asked about.
func (a *admission) all(list func(*arrival) iter.Seq[weburl.URL]) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for i := range a.asked {
			urls := list(&a.asked[i])
			if urls == nil {
				continue
			}
			for u := range urls {
				if !yield(u) {
					return
				}
			}
		}
	}
}

// takeAsked admits arrivals whose URLs are all looked up.
func (a *admission) takeAsked() {
	for _, w := range a.asked {
		w.take()
	}
	a.asked = nil
}

// lookUpAll is the task that looks up URLs and hosts in the store until the crawl is over. A failed
// look-up ends the crawl in good order, and later changes are not saved: arrivals count as seen.
func (a *admission) lookUpAll(t *aio.Task) error {
	c := a.committer
	for {
		if err := a.begin.Wait(t); err != nil || c.ending.over.IsSet() {
			return err
		}
		a.begin.Clear()
		var page frontier.Page
		r, err := *a.request, c.failure
		if err == nil {
			asked := a.asked
			page, err = aio.Offload(t, func(context.Context) (frontier.Page, error) { return lookUp(a.committer.job.Store, r, asked) })
			if errors.Is(err, aio.ErrCanceled) {
				return err
			}
		}
		if err != nil {
			c.fail(err)
			page = frontier.Page{Request: r, Seen: slices.Repeat([]bool{true}, len(r.Fingerprints))}
		}
		a.request = nil
		if r.Kind != 0 {
			a.frontier.Provide(a.clock.now(), page)
		}
		a.takeAsked()
		a.admitWaiting()
		a.dispatch()
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
