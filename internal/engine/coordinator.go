package engine

import (
	"context"
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Coordinator owns the frontier and the outputs: outcomes come in, leases go out, and the committer
// saves what has changed.
// Owner: its event loop.
type Coordinator struct {
	cfg      *Config
	loop     *aio.Loop
	clock    clock // of the job
	frontier *frontier.Frontier
	restorer *frontier.Restorer // of the frontier, before the crawl
	ready    bool               // the frontier is as the job's last run left it

	loops []*fetch.Loop
	placing
	slots  slots
	shared *fetch.Shared

	bounds   *scope.Bounds // the fetch loops share what is open
	networks guard.Guard   // each fetch loop has a copy
	nested   nested

	admission admission
	committer committer
	seeds     seeds
	progress  progress
	pauses    pauses
	short     shortage
	outage    outage
	ending    ending
	node      node

	alarms
	warned warned
	contents
}

// alarms are what the coordinator does by time.
type alarms struct {
	later   *aio.Callback // Dispatch, when the next host is due
	tooLong *aio.Callback // stop, after MaxTime
}

// contents is what the crawl knows of what it has fetched.
type contents struct {
	duplicates duplicateLog
	traps      traps
	again      again
}

// warned is of what the user was warned once.
type warned struct {
	memory bool // see overMemory
	scope  bool // see openTarget
}

// ending is how the crawl ends.
type ending struct {
	patience time.Duration // DrainTime, but for tests
	draining bool          // no more fetches start
	until    time.Time     // draining: then what is in flight is broken off
	breakOff *aio.Callback // at until
	giveUp   *aio.Callback // then waiting for room on the disk ends
	over     aio.Event
	broken   bool  // by a cancelled context: the batch that is being saved is the last
	failure  error // of the outputs, or the seeds
}

// mostUnsaved bounds the big outcomes that wait to be saved, in bytes: a commit takes no longer
// than holdAfter for as much, so that other outcomes do not wait for it.
const mostUnsaved = 4 << 20

func newCoordinator(cfg *Config) *Coordinator {
	d := &Coordinator{cfg: cfg, bounds: scope.New(cfg.Fetch.Scope), ending: ending{patience: DrainTime}}
	d.shared = &fetch.Shared{Bodies: budget.New(int64(cfg.Shares.Bodies)), Outcomes: budget.New(int64(min(cfg.Shares.Bodies/2, mostUnsaved))), Bounds: d.bounds, Posts: postsOf(cfg.Seeds)}
	if cfg.Duplicates > 0 {
		d.shared.Duplicates = duplicates.New(cfg.Duplicates)
	}
	if cfg.MaxAlike > 0 {
		d.traps.Table = shapes.NewTable(cfg.Shares.Shapes, cfg.MaxAlike)
	}
	cfg.Fetch.HTTP.Meter = d.shared.Bodies
	d.progress.summary = record.NewSummary()
	if cfg.Job != nil {
		d.recall(cfg.Job)
	}
	d.progress.summary.Runs++
	d.committer = committer{job: cfg.Job, most: cfg.Shares.Batch, gathers: d.gathers}
	if cfg.Output != nil {
		d.committer.output = store.NewPatientWriter(cfg.Output, cfg.Disk.Waiting)
		d.committer.stream = record.NewStream(cfg.Form, d.progress.summary.Runs == 1)
	}
	d.again = newAgain(cfg, d.progress.summary.Runs == 1 && d.progress.summary.Visit <= 1)
	d.restorer = frontier.Restore(cfg.Frontier)
	d.frontier = d.restorer.Frontier()
	return d
}

// recall takes in what is known of the job before its frontier is.
func (d *Coordinator) recall(j *job.Job) {
	if j.History.Summary.Runs > 0 {
		d.progress.goOn(j.History.Summary.Clone()) // the job's is what earlier runs have come to
	}
	d.progress.summary.Visit = d.cfg.Fetch.Visit
	if d.seeds.before = j.History.List; d.cfg.Amend && d.cfg.SeedSeq != nil {
		d.seeds.before = job.List{} // any list will do
	}
}

// start gives the coordinator and its fetch loops their event loops. It runs before these do.
func (d *Coordinator) start(own *aio.Loop, loops []*aio.Loop) {
	d.loop = own
	var last job.Clock
	if d.cfg.Job != nil {
		last = d.cfg.Job.History.Clock
	}
	d.clock.start(own, last)
	d.progress.start(own.Now(), own.Wall())
	d.shared.Heard.Start(own.Now())
	d.slots.most = d.cfg.Concurrency
	report := fetch.Report{Outcomes: d.receive, Network: d.openNetwork, Links: d.receiveLinks}
	n := len(loops)
	for i, l := range loops {
		workers := (d.cfg.Workers + n - 1 - i) / n // the first ones take the remainder
		d.loops = append(d.loops, fetch.NewLoop(i, &d.cfg.Fetch, d.shared, l, own, workers, report))
		d.free = append(d.free, workers)
	}
}

// run is the coordinator's task: it starts or resumes the crawl, waits for its end and sends the
// workers home.
func (d *Coordinator) run(t *aio.Task) error {
	err := d.resume(t)
	if err == nil {
		err = t.Group(func(g *aio.Group) error {
			g.Go("commit", d.commitAll)
			if d.cfg.Job != nil {
				g.Go("look-up", d.lookUpAll)
			}
			if d.cfg.Job != nil && d.cfg.MinFree > 0 {
				g.Go("free space", d.watchFreeSpace)
			}
			return d.crawl(t)
		})
	}
	if d.ending.giveUp != nil {
		d.ending.giveUp.Cancel()
	}
	for _, f := range d.loops {
		f.Close()
	}
	d.seeds.releaseAll()
	return errors.Join(err, d.ending.failure)
}

// resume brings the frontier to where the job's last run left it.
func (d *Coordinator) resume(t *aio.Task) error {
	if j := d.cfg.Job; j != nil {
		now := d.clock.now()
		retried, err := aio.Offload(t, func(ctx context.Context) (*job.Retried, error) {
			if err := j.StartVisit(ctx); err != nil {
				return nil, err
			}
			retried, err := j.StartRetry(ctx)
			if err != nil {
				return nil, err
			}
			if err := d.recallScope(j); err != nil {
				return nil, err
			}
			return retried, j.Store.Restore(now, d.restorer)
		})
		if err != nil {
			return err
		}
		d.retry(retried)
		if err := d.recallDuplicates(j.Store); err != nil {
			return err
		}
		if j.Resumed {
			d.restorer.AskedUntil(now)
		}
		d.recallNetworks(j.Networks)
		d.startNode()
		d.committer.begin(d.frontier, d.clock.date)
		if d.committer.refs, err = openRefs(j); err != nil {
			return err
		}
		if d.cfg.Fetch.Archive != nil {
			if d.committer.archive, err = openArchive(d.cfg, j); err != nil {
				return err
			}
		}
		if err := d.recallTraps(); err != nil {
			return err
		}
		if len(d.cfg.Late) > 0 || d.traps.Table != nil && d.traps.Traps() > 0 {
			d.frontier.RefuseBy(d.refuses)
		}
	}
	d.ready = true
	d.committer.saved = d.history()
	return nil
}

// retry takes in that URLs are asked again.
func (d *Coordinator) retry(r *job.Retried) {
	if r == nil {
		return
	}
	s := r.Summary
	s.Runs = d.progress.summary.Runs
	d.progress.goOn(s)
	if r.URLs == 0 {
		d.warn(errors.New("no record of the job is selected: nothing is asked again"))
	}
}

// crawl starts at the seeds and waits until the crawl is over.
func (d *Coordinator) crawl(t *aio.Task) error {
	given := d.canonicalSeeds()
	d.trust(given)
	d.frontier.HoldLevels(d.clock.now(), time.Hour) // until they are looked up
	d.admit(none, d.seedURLs(given...), func() {
		for _, s := range d.cfg.Seeds {
			d.addSeed(s)
		}
		d.warnOfCredentials()
		d.holdLevels()
	})
	d.keepPromises()
	d.joinCrawl()
	if d.seeds.read != nil {
		d.seeds.read()
	}
	if d.cfg.MaxTime > 0 {
		d.tooLong = d.loop.CallLater(d.cfg.MaxTime, func() { d.stop("max-time") })
		defer d.tooLong.Cancel()
	}
	d.Dispatch()
	return d.ending.over.Wait(t)
}

// excluded judges a pending URL by the exclusions that are younger than it.
func (d *Coordinator) excluded(u weburl.URL) (kind, reason string) {
	s := u.Canonical().String()
	for _, re := range d.cfg.Late {
		if re.MatchString(s) {
			return record.KindExcluded, re.String()
		}
	}
	return "", ""
}

// conclude is called when all loops have ended; failed reports whether by an error of their own.
// The summary covers saved records only.
func (d *Coordinator) conclude(failed bool) record.Summary {
	s := d.history().Summary
	if d.cfg.Job != nil {
		s = d.committer.saved.Summary
		if d.committer.failure != nil {
			s.Finished = false // something was not saved, if no more than seeds
		}
	}
	s.Interrupted = !failed && s.Stopped == "" && !s.Finished
	d.progress.summary, d.progress.ended = s, true
	return s
}

// history is what the job is to remember as of now.
func (d *Coordinator) history() job.History {
	s := d.progress.summary.Clone()
	if d.ready {
		d.count(&s.Counters)
		s.Pending, s.InFlight = s.Pending+d.frontier.View().LeasedURLs(), 0 // on disk a leased URL is pending
	}
	s.Elapsed = d.progress.elapsed(d.loop.Now())
	if s.Finished = s.Pending == 0 && !d.seeds.reading && d.node.mayEnd(); s.Finished {
		s.Stopped = ""
	}
	h := job.History{Summary: s, List: d.seeds.list(), Clock: d.clock.read()}
	if d.cfg.Job != nil {
		h.NotFollowed, h.Retry = d.cfg.Job.History.NotFollowed, d.cfg.Job.History.Retry
	}
	if d.ending.over.IsSet() || d.ending.broken {
		h.Ended = d.loop.Wall().UTC()
	}
	return h
}

// count fills in the counters that the frontier keeps.
func (d *Coordinator) count(c *record.Counters) {
	s := d.frontier.Stats()
	c.Pending, c.InFlight, c.Done, c.Refused = s.Pending, s.Leased, s.Done, s.Refused
	c.OverLimit, c.OverVariants, c.Hosts = s.OverLimit, s.OverVariants, s.Origins
	c.Failed = record.Failed(d.progress.summary.Errors, c.Refused)
}

// progress is what the crawl has done so far, in all runs of the visit.
type progress struct {
	summary record.Summary // Elapsed is that of the runs before this one
	started time.Time      // this run
	rate    rate
	growth  growth
	ended   bool // the summary is whole
}

// goOn continues from what earlier runs have come to.
func (p *progress) goOn(s record.Summary) {
	s.Stopped, s.Interrupted, s.Finished = "", false, false
	p.summary = s
}

func (p *progress) start(now, date time.Time) {
	p.started = now
	if p.summary.Started.IsZero() {
		p.summary.Started = date
	}
}

// elapsed is the time of all runs.
func (p *progress) elapsed(now time.Time) time.Duration {
	if p.ended {
		return p.summary.Elapsed
	}
	return p.summary.Elapsed + now.Sub(p.started)
}
