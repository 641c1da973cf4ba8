package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// Crawler is one crawl.
type Crawler struct {
	desk *desk
	over chan struct{} // closed when the crawl has ended: then desk may be read

	mu struct { // Drain and Stats come from any goroutine, before Run too
		sync.Mutex
		ran   bool
		drain bool
		inbox *aio.Handle // of the desk's loop, while it runs
	}
}

// New checks the options and opens the job, a new one or one that goes on; it may wait for
// room on a full disk. Nothing is fetched before Run, which also closes the job: a Crawler
// that is not run keeps others from it until the process ends.
// Errors: an *OptionError. Of Job it wraps ErrJobExists where the folder is that of no job,
// ErrJobUnusable where it is damaged or of another version; of what is frozen in a job, ErrPlan.
func New(o Options) (*Crawler, error) {
	cfg, err := o.check()
	if err != nil {
		return nil, err
	}
	d := &desk{cfg: cfg, summary: newSummary(), shares: split(cfg.Memory, cfg.Loops)}
	d.meter, d.outcomes = budget.New(int64(d.shares.bodies)), budget.New(int64(d.shares.bodies/2))
	c := &Crawler{desk: d, over: make(chan struct{})}
	heads, inMemory, seen, hosts := 0, 0, 0, 0
	if cfg.Job != "" {
		if d.job, err = openJob(cfg, d.shares, c.waiting); err != nil {
			return nil, err
		}
		heads, inMemory, seen, hosts = cfg.heads, d.shares.pending, cmp.Or(cfg.seenBytes, d.shares.seen), cmp.Or(cfg.hostBytes, d.shares.hosts)
		d.recall(d.job)
	}
	d.summary.Runs++
	d.bounds = newBounds(cfg)
	if cfg.Duplicates != DuplicatesOff {
		d.firsts = duplicates.New(min(maxFirsts, d.shares.firsts/costOfFirst))
	}
	if cfg.Output != nil {
		d.output = newStream(cfg.Format, d.summary.Runs == 1)
	}
	d.restorer = frontier.Restore(frontier.Config{
		Delay: cfg.Delay, DomainDelay: cfg.DomainDelay, AddressDelay: cfg.AddressDelay,
		PerHost: cfg.PerHost, PerDomain: cfg.PerDomain, PerAddress: cfg.PerAddress, Resolve: true, RateLimit: cfg.RateLimit, MaxRedirects: cfg.MaxRedirects,
		Robots: !cfg.NoRobots, RobotsTries: cfg.Retries + 1, Limit: cfg.Limit, LimitPerHost: cfg.LimitPerHost, MaxVariants: cfg.MaxVariants,
		Heads: heads, InMemory: inMemory, SeenBytes: seen, HostBytes: hosts, RulesBytes: d.shares.rules,
	})
	d.frontier = d.restorer.Frontier()
	return c, nil
}

// Run crawls until all is done, a limit is reached, Drain has emptied the crawl, or
// ctx is done, which breaks off what is under way. The desk and each fetcher have a
// loop of their own; the first error ends all. A crawl runs once.
//
// The summary is valid with an error too. Errors: the cause of ctx; what went wrong
// with the outputs; an error of OnPage, wrapped; an *OptionError of SeedSeq; ErrRan.
func (c *Crawler) Run(ctx context.Context) (Summary, error) {
	cfg := c.desk.cfg
	desk := aio.NewLoop(cfg.Loop)
	fetchers := make([]*aio.Loop, cfg.Loops)
	for i := range fetchers {
		fetchers[i] = aio.NewLoop(cfg.Loop)
	}
	return c.run(desk, fetchers, func() (canceled bool, err error) {
		outer := ctx
		ctx, stop := context.WithCancelCause(outer)
		defer stop(nil)
		var loops sync.WaitGroup
		run := func(l *aio.Loop, main func(*aio.Task) error) {
			loops.Go(func() {
				if err := l.Run(ctx, main); err != nil {
					stop(err)
				}
			})
		}
		for i, f := range c.desk.fetchers {
			run(fetchers[i], f.run)
		}
		run(desk, c.desk.run)
		loops.Wait()
		return outer.Err() != nil, context.Cause(ctx)
	})
}

// RunOn is Run on the loop of t, beside whatever else runs there: desk and workers
// are tasks of that one loop. On a virtual clock and an in-memory network a crawl
// is then the same every time.
func (c *Crawler) RunOn(t *aio.Task) (Summary, error) {
	return c.run(t.Loop(), []*aio.Loop{t.Loop()}, func() (canceled bool, err error) {
		err = t.Group(func(g *aio.Group) error {
			g.Go("desk", c.desk.run)
			for _, f := range c.desk.fetchers {
				g.Go("fetcher", f.run)
			}
			return nil
		})
		return errors.Is(err, aio.ErrCanceled), err
	})
}

// run lays the ways between the loops, has crawl run them and tidies up.
func (c *Crawler) run(desk *aio.Loop, fetchers []*aio.Loop, crawl func() (canceled bool, err error)) (Summary, error) {
	d := c.desk
	c.mu.Lock()
	ran := c.mu.ran
	c.mu.ran = true
	if !ran {
		d.start(desk, fetchers)
		d.draining = c.mu.drain
		c.mu.inbox = d.loop.Handle()
	}
	c.mu.Unlock()
	if ran {
		return Summary{}, ErrRan
	}
	if d.cfg.SeedSeq != nil {
		d.seeding = true
		d.feed = func() { go c.feed(d.cfg.SeedSeq, d.loop.Handle()) }
	}
	door := c.answer()
	canceled, err := crawl()
	c.mu.Lock()
	c.mu.inbox.Close()
	c.mu.Unlock()
	door.Close()
	for _, f := range d.fetchers { // those that never began still hold theirs
		f.inbox.Close()
		f.outbox.Close()
	}
	s := d.end(err != nil && !canceled)
	err = errors.Join(untasked(err), d.job.close())
	close(c.over)
	return s, err
}

// seedsAhead is how many seeds of SeedSeq may wait for the desk to take them.
const seedsAhead = 1000

// feed hands the seeds of seq to the desk as it has room for them. When the crawl
// ends, seq is left at its next seed: a read that blocks cannot be broken off, and
// nothing waits for it.
func (c *Crawler) feed(seq iter.Seq2[string, error], inbox *aio.Handle) {
	defer inbox.Close()
	d := c.desk
	room := make(chan struct{}, seedsAhead)
	release := func() { <-room }
	var failure error
	for s, err := range seq {
		var u weburl.URL
		if err == nil {
			u, err = ParseSeed(s)
		}
		if err != nil {
			failure = &OptionError{Option: "SeedSeq", Err: err}
			break
		}
		select {
		case room <- struct{}{}:
		case <-c.over:
			return
		}
		if inbox.Post(func() { d.seed(u, release) }) != nil {
			return
		}
	}
	_ = inbox.Post(func() { d.seeded(failure) }) // a crawl that is over needs no more seeds
}

// waiting is told when the disk is full, and with nil when there is room again.
func (c *Crawler) waiting(full error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch hook := c.desk.cfg.Hooks.OnWarning; {
	case c.mu.inbox != nil:
		_ = c.mu.inbox.Post(func() { c.desk.pause(pausedFull, full != nil) }) // a crawl that is over begins nothing
	case full != nil && hook != nil:
		hook(fmt.Errorf("%s, the crawl begins when there is room: %w", pausedFull, full))
	}
}

// Drain ends the crawl in good order: no more URLs are begun, those under way are
// finished, and Run returns. Any goroutine may call it, at any time.
func (c *Crawler) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.drain = true
	if c.mu.inbox != nil {
		_ = c.mu.inbox.Post(c.desk.drain) // a crawl that is over is drained
	}
}

// Stats returns where the crawl is: zero before Run. It costs time in proportion to
// the hosts seen. Any goroutine may call it, at any time; not so a hook that a loop
// calls, which would wait for itself.
func (c *Crawler) Stats() Stats {
	reply := make(chan Stats, 1)
	c.mu.Lock()
	ran, posted := c.mu.ran, false
	if c.mu.inbox != nil {
		posted = c.mu.inbox.Post(func() { reply <- c.desk.stats() }) == nil
	}
	c.mu.Unlock()
	if !ran {
		return Stats{}
	}
	if posted {
		select {
		case s := <-reply:
			return s
		case <-c.over:
		}
	}
	<-c.over
	return c.desk.stats()
}

// Earlier returns what the job had come to in its earlier runs; Runs is 0 if it is new.
func (c *Crawler) Earlier() Summary {
	if c.desk.job == nil {
		return Summary{}
	}
	return c.desk.job.history.Summary.clone()
}

// Job returns the job's folder; "" if there is none.
func (c *Crawler) Job() string { return c.desk.cfg.Job }
