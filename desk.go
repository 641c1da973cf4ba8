package weft

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// desk owns the frontier and the outputs: outcomes come in, leases go out.
// Owner: its loop, which alone may wait for the disk. A fetcher has never more
// leases than workers, so what is under way between the loops is bounded.
type desk struct {
	cfg      *config
	loop     *aio.Loop
	frontier *frontier.Frontier
	bounds   bounds // each fetcher has a copy
	fetchers []*fetcher
	free     []int         // by fetcher: workers without a lease
	job      *job          // nil: nothing is kept
	output   *stream       // nil: none
	later    *aio.Callback // dispatch, when the next host is due
	tooLong  *aio.Callback // stop, after MaxTime
	seeding  bool          // SeedSeq has more
	room     []func()      // for each seed that has come while enough was pending: it may be let go
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
			id: i, cfg: d.cfg, loop: l, inbox: l.Handle(), desk: d, outbox: loop.Handle(), bounds: newBounds(d.cfg),
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
		d.begin(u)
	}
	if d.cfg.MaxTime > 0 {
		d.tooLong = d.loop.CallLater(d.cfg.MaxTime, func() { d.stop("max-time") })
		defer d.tooLong.Cancel()
	}
	d.dispatch()
	err := d.over.Wait(t)
	for _, f := range d.fetchers {
		_ = f.inbox.Post(f.leases.Close) // a fetcher that has ended has nothing to close
		f.inbox.Close()
	}
	for _, release := range d.room {
		release()
	}
	return errors.Join(err, d.failure)
}

// begin adds a seed.
func (d *desk) begin(u weburl.URL) {
	d.open(u)
	d.frontier.Add(frontier.URL{URL: u})
}

// open widens the scope by u, here and in every fetcher, before it can have a lease
// that comes of it.
func (d *desk) open(u weburl.URL) {
	if !d.bounds.open(u) {
		return
	}
	for _, f := range d.fetchers {
		_ = f.inbox.Post(func() { f.bounds.open(u) }) // a fetcher that has ended needs no scope
	}
}

// enough is how many URLs may be pending before seeds are held back.
const enough = 10_000

// seed takes in a seed of SeedSeq; release makes room for another.
func (d *desk) seed(u weburl.URL, release func()) {
	d.room = append(d.room, release)
	d.begin(u)
	d.dispatch()
}

// seeded says that SeedSeq has ended.
func (d *desk) seeded(err error) {
	d.seeding = false
	if err != nil {
		d.fail(err)
	}
	d.dispatch()
}

// end is called when all loops have ended, and says whether by an error of their own.
func (d *desk) end(failed bool) Summary {
	s := d.frontier.Stats()
	d.summary.Elapsed = d.loop.Now().Sub(d.summary.Started)
	d.summary.Pending = s.Pending + s.Leased
	d.summary.OverLimit = s.OverLimit
	if d.summary.Pending == 0 && !d.seeding {
		d.summary.Stopped = ""
	}
	d.summary.Interrupted = !failed && d.summary.Stopped == "" && (d.summary.Pending > 0 || d.seeding)
	return d.summary
}

func (d *desk) stats() Stats {
	s := d.frontier.Stats()
	elapsed := d.summary.Elapsed
	if elapsed == 0 {
		elapsed = d.loop.Now().Sub(d.summary.Started)
	}
	errors := 0
	for _, n := range d.summary.Errors {
		errors += n
	}
	return Stats{
		Elapsed: elapsed, Done: d.summary.Done, Pages: d.summary.Pages, Redirects: d.summary.Redirects,
		Errors: errors, Refused: d.summary.Errors[KindRobots],
		Pending: s.Pending, InFlight: s.Leased, Hosts: s.Hosts, Bytes: d.summary.Bytes, Slowest: d.frontier.Slowest(5),
	}
}

// receive takes in what a fetcher's workers have done in one of its turns.
func (d *desk) receive(f *fetcher, batch []outcome) {
	d.free[f.id] += len(batch)
	for i := range batch {
		out := &batch[i]
		for _, u := range out.links {
			if d.frontier.Add(u) {
				out.record.NewLinks++
			}
		}
		if out.target != nil {
			d.redirect(out)
		}
		if out.record != nil {
			d.write(out.record)
			if d.job != nil {
				d.job.links.add(out.lines)
			}
		}
	}
	failed := d.flush()
	now := d.loop.Now()
	for i := range batch {
		out := &batch[i]
		switch {
		case out.later:
			d.frontier.Postpone(now, out.url, now.Add(time.Second))
		case out.robots != nil:
			d.robots(now, out)
		case out.retry:
			d.frontier.Retry(now, out.url, out.answer, now.Add(max(backOff(out.url.Tries), min(out.answer.RetryAfter, frontier.MaxRetryAfter))))
		case failed != nil: // what has no record is not done
			d.frontier.Postpone(now, out.url, now)
		default:
			d.frontier.Done(now, out.url, out.answer)
			d.count(out.record)
			for _, n := range out.dropped {
				d.summary.NotFollowed[n.reason] += n.n
			}
		}
	}
	if failed != nil {
		d.fail(failed)
	}
	d.dispatch()
}

// redirect adds the target of a redirect. That of a seed is as good as a seed.
func (d *desk) redirect(out *outcome) {
	if out.url.Depth == 0 {
		d.open(out.target.URL)
	}
	if !d.frontier.Redirect(out.url, *out.target) {
		out.record.ErrorKind, out.record.Error = KindRedirects, fmt.Sprintf("a redirect beyond the limit of %d", d.cfg.MaxRedirects)
	}
}

// robots answers the lease of a robots.txt.
func (d *desk) robots(now time.Time, out *outcome) {
	r := out.robots
	d.summary.Robots++
	d.summary.Bytes += r.bytes
	if r.kind == "" {
		d.frontier.SetRobots(now, out.url, r.rules, out.answer)
		return
	}
	d.frontier.RobotsFailed(now, out.url, out.answer, r.kind, r.reason, r.final)
}

// refuse records the URLs that robots.txt keeps from being fetched.
func (d *desk) refuse() {
	refused := d.frontier.Refused()
	if len(refused) == 0 {
		return
	}
	now := d.loop.Now()
	for _, u := range refused {
		r := newRecord(u.URL, now, now)
		r.Tries, r.ErrorKind, r.Error = 0, u.Kind, u.Reason
		d.write(r)
		d.count(r)
	}
	if err := d.flush(); err != nil {
		d.fail(err)
	}
}

// write puts a record into the batches that flush writes.
func (d *desk) write(r *Record) {
	if d.job == nil && d.output == nil {
		return
	}
	line := r.line()
	if d.job != nil {
		d.job.pages.add(line)
	}
	if d.output != nil {
		d.output.add(r, line)
	}
}

func (d *desk) flush() error {
	err := d.job.flush()
	if d.output != nil && d.failure == nil {
		err = errors.Join(err, d.output.flush())
	}
	return err
}

// count takes a record that is written into the summary, and tells the hooks.
func (d *desk) count(r *Record) {
	d.summary.count(r)
	if hook := d.cfg.Hooks.OnRecord; hook != nil {
		hook(r)
	}
	if hook := d.cfg.Hooks.OnError; hook != nil && r.ErrorKind != "" {
		hook(r)
	}
}

// backOff is the wait before the next try, after a number of tries.
func backOff(tries int) time.Duration { return time.Second << min(tries, 6) }

// dispatch hands leases to workers that have none, to the fetcher with the most of
// them first, and ends the crawl when there is nothing left to do.
func (d *desk) dispatch() {
	if d.over.IsSet() {
		return
	}
	free := 0
	for _, n := range d.free {
		free += n
	}
	var leases []frontier.URL
	if !d.draining {
		leases = d.frontier.Lease(d.loop.Now(), free)
		d.refuse()
		d.hand(leases)
	}
	s := d.frontier.Stats()
	for len(d.room) > 0 && s.Pending < enough {
		d.room[0]()
		d.room = d.room[1:]
	}
	limited := d.frontier.Limited() && d.frontier.Stopped() && (s.Pending > 0 || d.seeding)
	if limited {
		d.summary.Stopped = cmp.Or(d.summary.Stopped, "limit")
	}
	if s.Leased == 0 && (d.draining || limited || d.frontier.Over() && !d.seeding) {
		d.over.Set()
		return
	}
	if !d.draining {
		d.wakeLater(free > len(leases))
	}
}

// hand posts leases to the fetchers.
func (d *desk) hand(leases []frontier.URL) {
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

// stop is drain because of a limit.
func (d *desk) stop(limit string) {
	d.summary.Stopped = cmp.Or(d.summary.Stopped, limit)
	d.drain()
}

// fail ends the crawl because its outputs cannot be written, or its seeds be read.
func (d *desk) fail(err error) {
	if d.failure == nil {
		d.failure = err
		d.drain()
	}
}
