package weft

import (
	"context"
	"errors"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/engine"
)

// Crawler is one crawl. Any goroutine may use it.
type Crawler struct{ crawl *crawl.Crawl }

// New checks the options and opens the job, which it starts or resumes; it may wait for room on a
// full disk. Nothing is fetched before Run, which also closes the job: a Crawler that is not run
// keeps others from it until Close.
// Errors: an *OptionError. Of Job it wraps ErrJobExists where the folder is not that of a job,
// ErrJobUnusable where the job is damaged or of another version; of a frozen option, ErrPlan.
func New(o Options) (*Crawler, error) {
	cfg, err := o.Config()
	if err != nil {
		return nil, err
	}
	c, err := crawl.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Crawler{c}, nil
}

// Run crawls until all is done, a limit is reached, Drain has emptied the crawl, or ctx is done,
// which cancels what is in flight. The first error ends all. A crawl runs once.
//
// The summary is valid with an error, too. Errors: the cause of ctx; what went wrong with the
// outputs; an error of OnPage, wrapped; an *OptionError of SeedSeq; ErrRan.
func (c *Crawler) Run(ctx context.Context) (Summary, error) { return c.crawl.Run(ctx) }

// RunOn is Run on the loop of t, next to other tasks. With a virtual clock and an in-memory
// network a crawl is the same every time.
func (c *Crawler) RunOn(t *aio.Task) (Summary, error) { return c.crawl.RunOn(t) }

// DrainTime is the time that a crawl that drains waits for requests in flight.
const DrainTime = engine.DrainTime

// Close lets go of the job of a Crawler that is not to run: Run is then refused. After Run has
// begun it does nothing, as Run closes the job.
func (c *Crawler) Close() error { return c.crawl.Close() }

// Drain ends the crawl in good order: no more fetches start, those in flight finish, or are broken
// off after DrainTime and stay pending, and Run returns. It may be called at any time.
func (c *Crawler) Drain() { c.crawl.Drain() }

// Stats returns where the crawl is: zero before Run. It takes time in proportion to the hosts in
// memory. A hook that a loop calls must not call it: it would wait for itself.
func (c *Crawler) Stats() Stats { return c.crawl.Stats() }

// Figures returns the running crawl as monitoring reads it. It takes time as Stats does. Errors:
// ErrNotRunning, that of ctx.
func (c *Crawler) Figures(ctx context.Context) (Figures, error) {
	f, err := c.crawl.Figures(ctx)
	if errors.Is(err, engine.ErrEnded) {
		err = ErrNotRunning
	}
	return f, err
}

// Earlier returns what the job had come to in its earlier runs; Runs is 0 if it is new.
func (c *Crawler) Earlier() Summary { return c.crawl.Earlier() }

// Job returns the job's folder; "" if there is none.
func (c *Crawler) Job() string { return c.crawl.Job() }
