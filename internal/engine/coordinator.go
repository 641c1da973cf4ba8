package engine

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
)

// Coordinator owns the frontier and the outputs: outcomes come in, leases go out, and the committer
// saves what has changed. It connects its parts, each of which owns its state, and decides when the
// crawl goes on and when it ends.
// Owner: its event loop.
type Coordinator struct {
	cfg      *Config
	clock    clock // of the job
	frontier *frontier.Frontier
	restorer *frontier.Restorer   // of the frontier, before the crawl
	ready    bool                 // the frontier is as the job's last run left it
	early    []func(*Coordinator) // orders that came before
	shared   *fetch.Shared

	ending    ending
	loops     loops
	committer committer
	progress  progress
	pauses    pauses
	outage    outage
	admission admission
	reach     reach
	seeds     seeds
	promises  promises
	traps     traps
	again     again
	resting   resting
	refusals  refusals
	leases    dispatcher
	errands   errands
	outcomes  outcomes
	sharing   *sharing // nil: the crawl is whole
}

// mostUnsaved bounds the big outcomes that wait to be saved, in bytes: a commit takes no longer
// than holdAfter for as much, so that other outcomes do not wait for it.
const mostUnsaved = 4 << 20

func newCoordinator(cfg *Config) *Coordinator {
	c := &Coordinator{cfg: cfg, restorer: frontier.Restore(cfg.Frontier)}
	c.frontier = c.restorer.Frontier()
	c.reach.bounds = scope.New(cfg.Fetch.Scope)
	c.shared = &fetch.Shared{
		Bodies:   budget.New(int64(cfg.Shares.Bodies)),
		Outcomes: budget.New(int64(min(cfg.Shares.Bodies/2, mostUnsaved))),
		Bounds:   c.reach.bounds,
		Posts:    postsOf(cfg.Seeds),
	}
	cfg.Fetch.HTTP.Meter = c.shared.Bodies
	if cfg.Duplicates > 0 {
		c.shared.Duplicates = duplicates.New(cfg.Duplicates)
		c.outcomes.duplicates.index = c.shared.Duplicates
	}
	if cfg.MaxAlike > 0 {
		c.traps.shapes = shapes.NewTable(cfg.Shares.Shapes, cfg.MaxAlike)
	}
	if r := cfg.Fetch.Render; r != nil {
		tabs := max(1, cfg.Tabs)
		c.frontier.Errands().Bound(4 * tabs)
		r.AtOnce = max(leastOfPage, errandsOf(cfg.Workers)/tabs)
		c.shared.Rendered = budget.New(int64(cfg.Shares.Bodies / 2))
		r.Drained, c.ending.drained = context.WithCancel(context.Background())
	}
	c.connect()
	c.recall()
	if cfg.Output != nil {
		c.committer.output = newOutput(cfg.Output, cfg.Form, c.progress.summary.Runs == 1, cfg.Disk.Waiting)
	}
	return c
}

// connect gives each part those that it calls.
func (c *Coordinator) connect() {
	cfg, clock, f := c.cfg, &c.clock, c.frontier
	warn := cfg.OnWarning
	if warn == nil {
		warn = func(error) {}
	}
	reading := func() bool { return c.seeds.reading }

	c.ending = ending{drained: c.ending.drained, clock: clock, loops: &c.loops, abandon: c.committer.abandon, dispatch: c.Dispatch, patience: DrainTime}
	c.committer = committer{
		clock: clock, frontier: f, ending: &c.ending, history: c.history, dispatch: c.Dispatch,
		job: cfg.Job, most: cfg.Shares.Batch,
	}
	c.progress = progress{clock: clock, committer: &c.committer, hooks: &cfg.Hooks, summary: record.NewSummary(), work: record.NewWork()}
	c.pauses = pauses{loops: &c.loops, lifted: c.resumed}
	if r := cfg.Fetch.Render; r != nil {
		c.pauses.render = r.Browser.Pause
	}
	c.outage = outage{
		clock: clock, heard: &c.shared.Heard, frontier: f, progress: &c.progress,
		giveUp: cfg.Frontier.GiveUp, resumed: cfg.Job != nil && cfg.Job.Resumed,
	}
	c.admission = admission{clock: clock, frontier: f, committer: &c.committer, dispatch: c.Dispatch}
	c.reach = reach{cfg: cfg, loops: &c.loops, committer: &c.committer, warn: warn, bounds: c.reach.bounds}
	c.seeds = seeds{
		cfg: cfg, clock: clock, frontier: f, reach: &c.reach, loops: &c.loops, admission: &c.admission,
		committer: &c.committer, fail: c.ending.fail, dispatch: c.Dispatch,
	}
	c.promises = promises{frontier: f, reach: &c.reach, admission: &c.admission, committer: &c.committer}
	c.traps = traps{committer: &c.committer, summary: &c.progress.summary, shapes: c.traps.shapes}
	c.again = newAgain(cfg)
	c.again.clock, c.again.frontier, c.again.admission = clock, f, &c.admission
	c.again.committer, c.again.progress = &c.committer, &c.progress
	c.resting = resting{clock: clock, admission: &c.admission, committer: &c.committer, again: &c.again}
	c.refusals = refusals{
		clock: clock, frontier: f, traps: &c.traps, promises: &c.promises, again: &c.again,
		committer: &c.committer, progress: &c.progress, fetch: &cfg.Fetch,
		exclusions: cfg.Late, maxAlike: cfg.MaxAlike,
	}
	c.leases = dispatcher{
		clock: clock, frontier: f, loops: &c.loops, bodies: c.shared.Bodies, rendered: c.shared.Rendered, traps: &c.traps, outage: &c.outage,
		dispatch: c.Dispatch, slots: slots{most: cfg.Concurrency},
	}
	c.errands = errands{
		clock: clock, frontier: f, loops: &c.loops, slots: &c.leases.slots, reach: &c.reach, admission: &c.admission,
		ending: &c.ending,
	}
	c.outcomes = outcomes{
		clock: clock, frontier: f, loops: &c.loops, leases: &c.leases, outage: &c.outage, admission: &c.admission,
		committer: &c.committer, reach: &c.reach, promises: &c.promises, again: &c.again, resting: &c.resting, traps: &c.traps,
		refusals: &c.refusals, progress: &c.progress, pauses: &c.pauses, fail: c.ending.fail, dispatch: c.Dispatch, warn: warn,
		links:      linkAdder{frontier: f, traps: &c.traps},
		duplicates: c.outcomes.duplicates, maxRedirects: cfg.Frontier.MaxRedirects,
	}
	if cfg.Job == nil {
		c.outcomes.mostQueued = cfg.Shares.Seen
	}
	if cfg.Node != nil {
		c.sharing = &sharing{
			cfg: cfg.Node, clock: clock, frontier: f, store: cfg.Job.Store, reach: &c.reach, admission: &c.admission,
			committer: &c.committer, again: &c.again, pauses: &c.pauses, ending: &c.ending,
			stop: c.stop, reading: reading, dispatch: c.Dispatch, maxOutbox: maxOutbox,
		}
	}
	c.committer.gathers, c.committer.committed = c.sharing.gathers, c.sharing.committed
}

// recall takes in what is known of the job before its frontier is.
func (c *Coordinator) recall() {
	if j := c.cfg.Job; j != nil {
		if j.History.Summary.Runs > 0 {
			c.progress.resume(j.History.Summary.Clone()) // the job's is what earlier runs have come to
		}
		c.progress.summary.Visit = c.cfg.Fetch.Visit
		c.seeds.recall(j.History.List)
	}
	s := &c.progress.summary
	s.Runs++
	c.again.whole = s.Runs == 1 && s.Visit <= 1 && c.sharing == nil
}

// start gives the coordinator and its fetch loops their event loops. It runs before these do.
func (c *Coordinator) start(own *aio.Loop, loops []*aio.Loop) {
	var last job.Clock
	if c.cfg.Job != nil {
		last = c.cfg.Job.History.Clock
	}
	c.clock.start(own, last)
	c.progress.start()
	c.shared.Heard.Start(own.Now())
	c.loops.start(c.cfg, c.shared, own, loops, fetch.Report{
		Outcomes: c.outcomes.receive, Network: c.reach.openNetwork, Links: c.outcomes.receiveLinks,
		Responded: func(loop int, l fetch.Lease, a frontier.Result) { c.errands.responded(loop, l, a); c.Dispatch() },
		Errand:    func(u frontier.URL) { c.errands.add(u); c.Dispatch() },
		Dropped:   func(u frontier.URL) { c.errands.dropped(u); c.Dispatch() },
	})
}

// run is the coordinator's task: it starts or resumes the crawl, waits for its end and sends the
// workers home.
func (c *Coordinator) run(t *aio.Task) error {
	err := c.resume(t)
	if err == nil {
		err = t.Group(func(g *aio.Group) error {
			g.Go("commit", c.committer.commitAll)
			if c.cfg.Job != nil {
				g.Go("look-up", c.admission.lookUpAll)
			}
			if c.cfg.Job != nil && c.cfg.MinFree > 0 {
				g.Go("free space", func(t *aio.Task) error {
					return c.pauses.watchFreeSpace(t, c.cfg.Job, c.cfg.MinFree, &c.ending.over)
				})
			}
			return c.crawl(t)
		})
	}
	c.ending.close()
	c.loops.close()
	c.seeds.releaseAll()
	return errors.Join(err, c.ending.failure)
}

// resume brings the frontier to where the job's last run left it.
func (c *Coordinator) resume(t *aio.Task) error {
	if j := c.cfg.Job; j != nil {
		now, starts := c.clock.now(), j.History.Turning
		retried, err := aio.Offload(t, func(ctx context.Context) (*job.Retried, error) {
			if err := j.StartVisit(ctx); err != nil {
				return nil, err
			}
			retried, err := j.StartRetry(ctx)
			if err != nil {
				return nil, err
			}
			if err := c.resting.recall(ctx, j); err != nil {
				return nil, err
			}
			if err := c.reach.recallScope(); err != nil {
				return nil, err
			}
			return retried, j.Store.Restore(now, c.restorer)
		})
		if err != nil {
			return err
		}
		c.retry(retried)
		if starts && j.History.Narrowed && c.frontier.View().Stats().Pending == 0 && c.cfg.OnWarning != nil {
			c.cfg.OnWarning(errors.New("no URL of the job is chosen: the visit asks none"))
		}
		if err := c.outcomes.duplicates.recall(j.Store); err != nil {
			return err
		}
		if r := c.cfg.Fetch.Render; r != nil && r.Lessons != nil {
			if err := recallLessons(r.Lessons, j.Store); err != nil {
				return err
			}
		}
		if j.Resumed {
			c.restorer.AskedUntil(now)
		}
		c.reach.recallNetworks()
		c.sharing.start(c.cfg.Frontier.Partition)
		if err := c.committer.resume(c.cfg); err != nil {
			return err
		}
		if err := c.traps.recall(j); err != nil {
			return err
		}
		c.refusals.recall()
	}
	c.ready = true
	c.committer.last = c.history()
	return nil
}

// retry takes in that URLs are asked again.
func (c *Coordinator) retry(r *job.Retried) {
	if r == nil {
		return
	}
	s := r.Summary
	s.Runs = c.progress.summary.Runs
	c.progress.resume(s)
	if r.URLs == 0 && c.cfg.OnWarning != nil {
		c.cfg.OnWarning(errors.New("no record of the job is selected: nothing is asked again"))
	}
}

// crawl starts at the seeds and waits until the crawl is over.
func (c *Coordinator) crawl(t *aio.Task) error {
	c.seeds.start()
	if c.cfg.Job != nil {
		c.promises.recall(c.cfg.Job)
	}
	early := c.early
	c.early = nil
	for _, fn := range early {
		fn(c)
	}
	c.sharing.committed(c.clock.loop.Now(), nil, nil) // what the last run has left
	c.seeds.readList()
	c.ending.began = c.clock.loop.Now()
	c.SetMaxTime(c.cfg.MaxTime)
	c.Dispatch()
	return c.ending.over.Wait(t)
}

// whenReady runs fn, now or when the frontier is as the job's last run left it.
func (c *Coordinator) whenReady(fn func(*Coordinator)) {
	if !c.ready {
		c.early = append(c.early, fn)
		return
	}
	fn(c)
}

// Dispatch hands leases to idle workers, and ends the crawl when nothing is left to do.
func (c *Coordinator) Dispatch() {
	if c.ending.over.IsSet() || !c.ready {
		return
	}
	starts := c.mayStart()
	if starts {
		errands, urls := c.leases.lease()
		c.refusals.record()
		c.errands.refused()
		c.leases.hand(errands, true)
		c.leases.hand(urls, false)
		c.committer.read(c.frontier.Reads())
	}
	s := c.frontier.View().Stats()
	c.seeds.release(s.Pending)
	c.sharing.wantMore()
	ends := c.mayBreakOff(&s)
	if s.Leased == 0 && c.admission.empty() && (ends || c.isDone()) {
		c.finish()
		return
	}
	c.sharing.checkDrains()
	c.leases.wake(starts)
	c.sharing.tellHomes()
}

// resumed takes in that a reason of a pause has gone.
func (c *Coordinator) resumed() {
	c.sharing.resumed()
	c.Dispatch()
}

// mayStart reports whether fetches may start now, as far as hosts do not matter.
func (c *Coordinator) mayStart() bool {
	return !c.ending.draining && !c.committer.behind(c.shared.Outcomes.Held()) && !c.seeds.comparing() &&
		!c.pauses.any() && c.sharing.mayStart()
}

// mayBreakOff reports whether the crawl may end although something is left to do.
func (c *Coordinator) mayBreakOff(s *frontier.Stats) bool {
	left := s.Pending > 0 || c.seeds.reading
	limited := (c.cfg.Frontier.Limit > 0 || c.sharing.limitReached()) && c.frontier.View().Limited() && c.frontier.View().Stopped() && left
	if limited {
		c.progress.stoppedBy("limit")
	}
	return (c.ending.draining || limited) && c.sharing.mayLeave()
}

// isDone reports whether nothing is left to do, here and on other nodes.
func (c *Coordinator) isDone() bool {
	return c.frontier.View().Over() && !c.seeds.reading && c.sharing.mayEnd()
}

// finish ends the crawl, in which nothing is left to do.
func (c *Coordinator) finish() {
	c.ending.finish()
	c.committer.finish()
	c.admission.begin.Set()
}

// SetMaxTime sets the time of this run, from its beginning, 0 to any.
func (c *Coordinator) SetMaxTime(d time.Duration) {
	c.cfg.MaxTime = d
	e := &c.ending
	if e.tooLong != nil {
		e.tooLong.Cancel()
		e.tooLong = nil
	}
	if d > 0 && !e.began.IsZero() { // else crawl comes to it
		e.tooLong = c.clock.loop.CallAt(e.began.Add(d), func() { c.stop("max-time") })
	}
}

// stop ends the crawl in good order because of a limit.
func (c *Coordinator) stop(limit string) {
	c.progress.stoppedBy(limit)
	c.ending.drain()
}

// conclude is called when all loops have ended; failed reports whether by an error of their own.
// The summary covers saved records only.
func (c *Coordinator) conclude(failed bool) record.Summary {
	s := c.history().Summary
	if c.cfg.Job != nil {
		s = c.committer.last.Summary
		if c.committer.failure != nil {
			s.Finished = false // something was not saved, if no more than seeds
		}
	}
	s.Interrupted = !failed && s.Stopped == "" && !s.Finished
	c.progress.summary, c.progress.ended = s, true
	return s
}

// history returns the history that the job is to remember as of now.
func (c *Coordinator) history() job.History {
	s := c.progress.summary.Clone()
	if c.ready {
		c.count(&s.Counters)
		// On disk a leased URL is pending.
		s.Pending, s.InFlight = s.Pending+c.frontier.View().LeasedURLs(), 0
	}
	s.Elapsed = c.progress.elapsed()
	if c.cfg.Job != nil {
		s.Narrowed = c.cfg.Job.History.Narrowed
	}
	if s.Finished = s.Pending == 0 && !c.seeds.reading && c.sharing.mayEnd(); s.Finished {
		s.Stopped = ""
	}
	h := job.History{Summary: s, List: c.seeds.list(), Clock: c.clock.read()}
	if c.cfg.Job != nil {
		was := &c.cfg.Job.History
		h.NotFollowed, h.Retry, h.Narrowed, h.Kept = was.NotFollowed, was.Retry, was.Narrowed, was.Kept
	}
	if c.ending.over.IsSet() || c.ending.broken {
		h.Ended = c.clock.loop.Wall().UTC()
	}
	return h
}

// count fills in the counters that the frontier keeps.
func (c *Coordinator) count(n *record.Counters) {
	s := c.frontier.View().Stats()
	kept := c.progress.kept()
	n.Pending, n.InFlight, n.Done, n.Refused = s.Pending, s.Leased, s.Done-kept.Done, s.Refused-kept.Refused
	n.Skipped = kept.Done + kept.Refused
	n.OverLimit, n.OverVariants, n.Hosts = s.OverLimit, s.OverVariants, s.Origins
	n.Failed = record.Failed(c.progress.summary.Errors, n.Refused)
}

// Drain ends the crawl in good order, for people: see ending.drainForPeople.
func (c *Coordinator) Drain() { c.ending.drainForPeople() }

// Paused returns why no fetch starts now; empty: they do. A worker that frees memory reports an
// outcome, so nothing else need wake the crawl from pausedMemory.
func (c *Coordinator) Paused() []string {
	all := c.pauses.all()
	if c.shared.Bodies.Full(false) && !c.ending.over.IsSet() {
		all = append(all, pausedMemory)
	}
	if !c.sharing.mayStart() && !slices.Contains(all, PausedOutbox) {
		all = append(all, PausedOutbox)
	}
	if c.outage.down {
		all = append(all, c.outage.words())
	}
	return all
}

// PausedBy reports whether a reason holds.
func (c *Coordinator) PausedBy(reason string) bool { return c.pauses.reasons[reason] }

// Pause stops new fetches for a reason, or lifts it. Fetches start again when no reason is left.
func (c *Coordinator) Pause(reason string, on bool) { c.pauses.set(reason, on) }

// AddSeed makes a URL one of the job's seeds.
func (c *Coordinator) AddSeed(s Seed) SeedState { return c.seeds.addLate(s) }

// Exclude has no URL fetched that an expression matches, in this and later runs. It reports whether
// the expression is new.
func (c *Coordinator) Exclude(re *regexp.Regexp) bool {
	p := &c.cfg.Job.Plan
	if slices.Contains(p.Exclude, re.String()) || slices.Contains(p.Late, re.String()) {
		return false
	}
	p.Late = append(p.Late, re.String())
	c.loops.exclude(re)
	c.committer.savePlan()
	c.refusals.exclude(re)
	return true
}
