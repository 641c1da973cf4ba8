package weft

import (
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
)

// desk owns the frontier and the outputs: outcomes come in, leases go out.
// Owner: its loop, which alone may wait for the disk. A fetcher has never more
// leases than workers, so what is under way between the loops is bounded.
type desk struct {
	cfg      *config
	loop     *aio.Loop
	frontier *frontier.Frontier
	fetchers []*fetcher
	free     []int // by fetcher: workers without a lease
	job      *job
	later    *aio.Callback // dispatch, when the next host is due
	draining bool
	failure  error
	over     aio.Event
	summary  Summary
}

// start gives the desk and its fetchers their loops. It runs before the loops do.
func (d *desk) start(loop *aio.Loop, fetchers []*aio.Loop) {
	d.loop = loop
	d.summary.Started = loop.Now()
	n := len(fetchers)
	for i, l := range fetchers {
		f := &fetcher{
			id: i, cfg: d.cfg, loop: l, inbox: l.Handle(), desk: d, outbox: loop.Handle(),
			workers: (d.cfg.Concurrency + n - 1 - i) / n, // the first ones take what does not divide
		}
		d.fetchers = append(d.fetchers, f)
		d.free = append(d.free, f.workers)
	}
}

// run is the desk's task: it begins the crawl, waits for its end and sends the
// workers home.
func (d *desk) run(t *aio.Task) error {
	for _, u := range d.cfg.seeds {
		d.frontier.Add(frontier.URL{URL: u})
	}
	d.dispatch()
	err := d.over.Wait(t)
	for _, f := range d.fetchers {
		_ = f.inbox.Post(f.leases.Close) // a fetcher that has ended has nothing to close
		f.inbox.Close()
	}
	return errors.Join(err, d.failure)
}

// end is called when all loops have ended.
func (d *desk) end() Summary {
	s := d.frontier.Stats()
	d.summary.Elapsed = d.loop.Now().Sub(d.summary.Started)
	d.summary.Pending = s.Pending + s.Leased
	d.summary.Interrupted = d.summary.Pending > 0
	return d.summary
}

// receive takes in what a fetcher's workers have done in one of its turns.
func (d *desk) receive(f *fetcher, batch []outcome) {
	d.free[f.id] += len(batch)
	for i := range batch {
		out := &batch[i]
		for _, u := range out.links {
			d.frontier.Add(u)
		}
		if out.target != nil && !d.frontier.Redirect(out.url, *out.target) {
			out.record.ErrorKind, out.record.Error = "redirects", fmt.Sprintf("more than %d redirects", d.cfg.MaxRedirects)
			out.line = out.record.line()
		}
		d.job.write(out.line)
	}
	failed := d.job.flush()
	now := d.loop.Now()
	for i := range batch {
		out := &batch[i]
		switch {
		case out.later:
			d.frontier.Postpone(now, out.url, now.Add(time.Second))
		case out.retry:
			d.frontier.Retry(now, out.url, now.Add(backOff(out.url.Tries)))
		case failed != nil: // what has no record is not done
			d.frontier.Postpone(now, out.url, now)
		default:
			d.frontier.Done(now, out.url)
			d.summary.count(out.record)
		}
	}
	if failed != nil {
		d.fail(failed)
	}
	d.dispatch()
}

// backOff is the wait before the next try, after a number of tries.
func backOff(tries int) time.Duration { return time.Second << min(tries, 6) }

// dispatch hands leases to workers that have none, to the fetcher with the most of
// them first, and ends the crawl when there is nothing left to do.
func (d *desk) dispatch() {
	if d.over.IsSet() {
		return
	}
	if d.frontier.Over() || d.draining && d.frontier.Stats().Leased == 0 {
		d.over.Set()
		return
	}
	if d.draining {
		return
	}
	free := 0
	for _, n := range d.free {
		free += n
	}
	now := d.loop.Now()
	leases := d.frontier.Lease(now, free)
	share := make([][]frontier.URL, len(d.fetchers))
	for _, u := range leases {
		most := 0
		for i, n := range d.free {
			if n > d.free[most] {
				most = i
			}
		}
		d.free[most]--
		share[most] = append(share[most], u)
	}
	for i, urls := range share {
		if len(urls) == 0 {
			continue
		}
		f := d.fetchers[i]
		_ = f.inbox.Post(func() { // a fetcher ends before the desk only by an error, which ends all
			for _, u := range urls {
				f.leases.TryPut(u)
			}
		})
	}
	d.wakeLater(free > len(leases))
}

// wakeLater sees to it that dispatch is called when the next host is due, if there
// are workers to be had.
func (d *desk) wakeLater(free bool) {
	if d.later != nil {
		d.later.Cancel()
		d.later = nil
	}
	if at, ok := d.frontier.Next(); ok && free {
		d.later = d.loop.CallAt(at, d.dispatch)
	}
}

// drain lets no more URLs out: what is under way is finished, then the crawl ends.
func (d *desk) drain() {
	d.draining = true
	d.dispatch()
}

// fail ends the crawl because its outputs cannot be written.
func (d *desk) fail(err error) {
	if d.failure == nil {
		d.failure = err
		d.drain()
	}
}
