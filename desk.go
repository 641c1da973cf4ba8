package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// desk owns the frontier and the outputs: outcomes come in, leases go out, and what
// has changed is saved: see ledger.
// Owner: its loop. A fetcher has never more leases than workers, so what is under way
// between the loops is bounded.
type desk struct {
	cfg      *config
	loop     *aio.Loop
	frontier *frontier.Frontier
	restorer *frontier.Restorer // of the frontier, before the crawl
	bounds   bounds             // each fetcher has a copy
	reach    reach              // the same
	fetchers []*fetcher
	free     []int // by fetcher: workers without a lease
	slots    slots
	job      *job              // nil: nothing is kept
	output   *stream           // nil: none
	firsts   *duplicates.Index // of the pages that were seen, shared by the fetchers; nil: none
	forgot   uint64            // pages up to this number are in the job no more
	ledger   ledger
	shares   shares
	meter    *budget.Meter // of the bodies, shared with the fetchers
	outcomes *budget.Meter // of what big outcomes have, shared too: see mayRead
	warned   bool          // by overMemory
	intake   intake
	later    *aio.Callback // dispatch, when the next host is due
	tooLong  *aio.Callback // stop, after MaxTime
	feed     func()        // begins to read SeedSeq; nil: there is none
	ready    bool          // the frontier is as the job's last run has left it
	seeding  bool          // SeedSeq has more
	list     list          // what this run has read of it
	before   list          // what the job's earlier runs had read, which has to be the same
	another  bool          // it is not
	room     []func()      // for each seed that has come while enough was pending: it may be let go
	draining bool
	short    shortage
	paused   map[string]bool // why no URL is begun; empty: they are
	failure  error
	over     aio.Event
	broken   bool           // off: what is saved now is the last
	ended    bool           // the summary is whole
	nested   map[string]int // sitemaps that indexes have named in this run, by host
	summary  Summary        // of all runs; Elapsed is that of those before this one
	pulse    pulse
	started  time.Time // this run
}

// start gives the desk and its fetchers their loops. It runs before the loops do.
func (d *desk) start(loop *aio.Loop, fetchers []*aio.Loop) {
	d.loop = loop
	d.started = loop.Now()
	if d.summary.Started.IsZero() {
		d.summary.Started = d.started
	}
	d.slots.most = d.cfg.Concurrency
	n := len(fetchers)
	for i, l := range fetchers {
		f := &fetcher{
			id: i, cfg: d.cfg, loop: l, inbox: l.Handle(), desk: d, outbox: loop.Handle(), bounds: newBounds(d.cfg), visit: d.summary.Visit,
			workers: (d.cfg.workers + n - 1 - i) / n, // the first ones take what does not divide
		}
		d.fetchers = append(d.fetchers, f)
		d.free = append(d.free, f.workers)
	}
}

// run is the desk's task: it begins the crawl, or goes on with it, waits for its end
// and sends the workers home.
func (d *desk) run(t *aio.Task) error {
	err := d.resume(t)
	if err == nil {
		err = t.Group(func(g *aio.Group) error {
			g.Go("save", d.save)
			if d.job != nil {
				g.Go("look-up", d.lookUp)
			}
			if d.job != nil && d.cfg.MinFree > 0 {
				g.Go("room", d.watchRoom)
			}
			return d.crawl(t)
		})
	}
	for _, f := range d.fetchers {
		_ = f.inbox.Post(f.leases.Close) // a fetcher that has ended has nothing to close
		f.inbox.Close()
	}
	for _, release := range d.room {
		release()
	}
	return errors.Join(err, d.failure)
}

// recall takes in what is known of the job before its frontier is.
func (d *desk) recall(j *job) {
	if j.history.Summary.Runs > 0 {
		d.summary = j.history.Summary
		d.summary.Stopped, d.summary.Interrupted, d.summary.Finished = "", false, false
	}
	d.summary.Visit = max(1, j.history.Summary.Visit)
	if d.before = j.history.List; d.cfg.Amend && d.cfg.SeedSeq != nil {
		d.before = list{} // another list is as good
	}
}

// excluded judges by the exclusions that came later than the URLs that wait.
func (d *desk) excluded(u weburl.URL) (kind, reason string) {
	s := u.String()
	for _, re := range d.cfg.late {
		if re.MatchString(s) {
			return KindExcluded, re.String()
		}
	}
	return "", ""
}

// resume brings the frontier to where the job's last run has left it.
func (d *desk) resume(t *aio.Task) error {
	if d.job != nil {
		now := d.loop.Now()
		_, err := aio.Offload(t, func(ctx context.Context) (struct{}, error) {
			if err := d.job.turn(ctx); err != nil {
				return struct{}{}, err
			}
			return struct{}{}, d.job.store.Restore(now, d.restorer)
		})
		if err != nil {
			return err
		}
		if err := d.recallFirsts(d.job.store); err != nil {
			return err
		}
		if d.job.resumed {
			d.restorer.AskedUntil(now)
		}
		for _, u := range d.job.scope {
			d.bounds.open(u)
		}
		d.widen(d.job.scope)
		d.recallNetworks(d.job.opened)
		d.ledger.open.state = d.job.store.Begin()
		d.frontier.SetJournal(d.ledger.open.state)
		if len(d.cfg.late) > 0 {
			d.frontier.RefuseBy(d.excluded)
		}
	}
	d.ready = true
	d.ledger.saved = d.history()
	return nil
}

// crawl begins at the seeds and waits until the crawl is over.
func (d *desk) crawl(t *aio.Task) error {
	d.give(d.seeds())
	d.arrive(none, d.begins(d.seeds()...), func() {
		for _, u := range d.cfg.seeds {
			d.begin(u)
		}
	})
	if d.feed != nil {
		d.feed()
	}
	if d.cfg.MaxTime > 0 {
		d.tooLong = d.loop.CallLater(d.cfg.MaxTime, func() { d.stop("max-time") })
		defer d.tooLong.Cancel()
	}
	d.dispatch()
	return d.over.Wait(t)
}

// end is called when all loops have ended, and says whether by an error of their own. The
// summary is that of what was saved.
func (d *desk) end(failed bool) Summary {
	if d.job == nil {
		d.summary = d.history().Summary
	} else {
		d.summary = d.ledger.saved.Summary
		if d.ledger.failure != nil {
			d.summary.Finished = false // something was not saved, if no more than its seeds
		}
	}
	d.ended = true
	s := &d.summary
	s.Interrupted = !failed && s.Stopped == "" && !s.Finished
	return *s
}

// history is what the job is to remember as of now.
func (d *desk) history() history {
	sum := d.summary.clone()
	hosts := 0
	if d.ready {
		s := d.frontier.Stats()
		sum.Pending, sum.OverLimit, sum.OverVariants, hosts = s.Pending+s.Leased, s.OverLimit, s.OverVariants, s.Hosts
	}
	sum.Elapsed = d.elapsed()
	if sum.Finished = sum.Pending == 0 && !d.seeding; sum.Finished {
		sum.Stopped = ""
	}
	h := history{Summary: sum, List: d.read(), Hosts: hosts}
	if d.job != nil {
		h.NotFollowed = d.job.history.NotFollowed
	}
	if d.over.IsSet() || d.broken {
		h.Ended = d.loop.Now().UTC()
	}
	return h
}

// elapsed is the time of all runs.
func (d *desk) elapsed() time.Duration {
	if d.ended {
		return d.summary.Elapsed
	}
	return d.summary.Elapsed + d.loop.Now().Sub(d.started)
}

func (d *desk) stats() Stats {
	errors := 0
	for _, n := range d.summary.Errors {
		errors += n.URLs
	}
	now := Stats{
		Elapsed: d.elapsed(), Paused: d.reasons(),
		Memory: memoryUsed(), MaxMemory: int64(d.cfg.Memory),
		Done: d.summary.Done, Pages: d.summary.Pages, Redirects: d.summary.Redirects,
		Errors: errors, Refused: d.summary.Errors[KindRobots].URLs, Bytes: d.summary.Bytes, Pending: d.summary.Pending,
	}
	if d.ready { // or the frontier is not the desk's yet
		s := d.frontier.Stats()
		now.Pending, now.InFlight, now.Hosts, now.Slowest = s.Pending, s.Leased, s.Hosts, d.frontier.View().Slowest(5)
	}
	return now
}

// receive receives what a fetcher's workers have done in one of its turns.
func (d *desk) receive(f *fetcher, batch []outcome) {
	urls := func(yield func(weburl.URL) bool) {
		for i := range batch {
			if !batch[i].leads(yield) {
				return
			}
		}
	}
	elsewhere := func(yield func(weburl.URL) bool) {
		for i := range batch {
			if r := batch[i].robots; r != nil && r.at != nil && !yield(*r.at) {
				return
			}
		}
	}
	d.arrive(urls, elsewhere, func() { d.takeOutcomes(f, batch) })
	d.dispatch()
}

// takeOutcomes takes in what has come of leases.
func (d *desk) takeOutcomes(f *fetcher, batch []outcome) {
	d.free[f.id] += len(batch)
	now := d.loop.Now()
	for i := range batch {
		out := &batch[i]
		d.slots.give(out.slot)
		if out.url.Resolve {
			continue
		}
		if out.later = out.crowded || d.short.postpones(now, out.url.URL, out.later); out.later {
			continue
		}
		for _, u := range out.links {
			if !d.nests(u) {
				out.drop(reasonTooMany)
			} else if d.frontier.Add(u) {
				out.record.NewLinks++
			}
		}
		if out.target != nil {
			d.redirect(out)
		}
		if out.record != nil {
			d.write(out.record)
			d.keep(out)
		}
	}
	for i := range batch {
		out := &batch[i]
		if !out.later && out.robots == nil && !out.url.Resolve {
			out.url.Past = append(out.url.Past, out.try(now))
		}
		switch {
		case out.url.Resolve:
			d.frontier.Resolved(now, out.url, out.answer.Addr)
		case out.later:
			d.frontier.Postpone(now, out.url, now.Add(time.Second))
		case out.robots != nil:
			d.robots(now, out)
		case out.retry:
			d.frontier.Retry(now, out.url, out.answer, now.Add(max(backOff(out.url.Tries), min(out.answer.RetryAfter, frontier.MaxRetryAfter))))
		default:
			d.frontier.Done(now, out.url, out.answer)
			d.count(out.record)
			if out.moved && out.url.Depth == 0 && out.record.ErrorKind == "" { // where a link led before, it may be: that is no seed
				d.summary.SeedsFetched++
			}
			d.summary.BytesSaved += out.saved
			d.summary.notFollowed(out.dropped)
		}
	}
	for i := range batch {
		d.ledger.open.holds = append(d.ledger.open.holds, batch[i].holds...)
	}
	if d.job == nil { // the links are in the frontier, or gone
		release(d.ledger.open.holds)
		d.ledger.open.holds = nil
	}
	d.overMemory()
	d.note()
}

// keep puts what belongs to a record into the open group.
func (d *desk) keep(out *outcome) {
	if d.job == nil {
		return
	}
	d.noteFirst(out.first)
	g := d.ledger.open.state
	if len(out.lines) > 0 {
		g.Append(linksFile, out.lines)
	}
	if out.folder != "" {
		g.SyncDir(out.folder)
	}
}

// redirect adds the target of a redirect. That of a seed is as good as a seed.
func (d *desk) redirect(out *outcome) {
	if out.url.Depth == 0 && d.open(out.target.URL) {
		d.summary.opened(out.target.URL.Host())
	}
	if !d.frontier.Redirect(out.url, *out.target) {
		out.record.ErrorKind, out.record.Error = KindRedirects, fmt.Sprintf("a redirect beyond the limit of %d", d.cfg.MaxRedirects)
	}
}

// robots answers the lease of a robots.txt.
func (d *desk) robots(now time.Time, out *outcome) {
	r := out.robots
	d.summary.Bytes += r.bytes
	if r.at != nil {
		d.frontier.RobotsAt(now, out.url, out.answer, *r.at)
		return
	}
	d.summary.Robots++
	if r.kind == "" {
		d.frontier.SetRobots(now, out.url, r.rules, out.answer)
		d.addSitemaps(r.maps)
		d.summary.notFollowed(out.dropped)
		return
	}
	d.frontier.RobotsFailed(now, out.url, out.answer, r.kind, r.reason, r.final)
}

// refuse records the URLs that are not to be fetched, because of robots.txt or of an
// exclusion that came later than they.
func (d *desk) refuse() {
	refused := d.frontier.Refused()
	if len(refused) == 0 {
		return
	}
	now := d.loop.Now()
	for _, u := range refused {
		r := newRecord(u.URL, d.summary.Visit, now, now)
		r.Tries, r.ErrorKind, r.Error = 0, u.Kind, u.Reason
		d.write(r)
		d.count(r)
	}
	d.note()
}

// write puts a record into the open group.
func (d *desk) write(r *Record) {
	if d.job == nil && d.output == nil {
		return
	}
	line := r.line()
	if d.job != nil {
		d.ledger.open.state.Append(pagesFile, line)
	}
	if d.output != nil {
		d.output.add(r, line)
	}
}

// count takes a record into the summary, and tells the hooks.
func (d *desk) count(r *Record) {
	d.summary.count(r)
	d.pulse.count(d.loop.Now(), r.Bytes)
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
	if d.over.IsSet() || !d.ready {
		return
	}
	free := 0
	for _, n := range d.free {
		free += n
	}
	slots := min(free, d.slots.left(d.loop.Now()))
	var leases []frontier.URL
	begin := !d.draining && !d.behind() && !d.comparing() && len(d.paused) == 0 && !d.meter.Full()
	if begin {
		leases = d.frontier.Lease(d.loop.Now(), slots)
		d.refuse()
		d.hand(leases)
		d.want(d.frontier.Reads())
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
	if s.Leased == 0 && d.intake.empty() && (d.draining || limited || d.frontier.Over() && !d.seeding) {
		d.finish()
		return
	}
	d.wakeLater(begin && free > len(leases), slots-len(leases))
}

// hand posts leases to the fetchers.
func (d *desk) hand(leases []frontier.URL) {
	share := make([][]lease, len(d.fetchers))
	now := d.loop.Now()
	for _, u := range leases {
		most := 0
		for i, n := range d.free {
			if n > d.free[most] {
				most = i
			}
		}
		d.free[most]--
		share[most] = append(share[most], lease{u, d.slots.take(now)})
	}
	for i, urls := range share {
		if len(urls) == 0 {
			continue
		}
		f := d.fetchers[i]
		_ = f.inbox.Post(func() { // a fetcher ends before the desk only by an error, which ends all
			for _, l := range urls {
				f.leases.TryPut(l)
			}
		})
	}
}

// wakeLater sees to it that dispatch is called when the next host is due, or the next slot is
// free, if there are workers to be had.
func (d *desk) wakeLater(free bool, slots int) {
	if d.later != nil {
		d.later.Cancel()
		d.later = nil
	}
	at, ok := d.frontier.Next()
	if !ok || !free {
		return
	}
	if slots == 0 && at.Before(d.slots.next()) {
		at = d.slots.next()
	}
	d.later = d.loop.CallAt(at, d.dispatch)
}

// finish ends the crawl, in which nothing is left to do.
func (d *desk) finish() {
	d.over.Set()
	d.note() // that it has ended, and how
	d.ledger.dirty.Set()
	d.ledger.hurry.Set()
	d.intake.begin.Set()
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
