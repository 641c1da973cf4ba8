package weft

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
)

// Crawler is one crawl.
type Crawler struct {
	desk *desk
}

// Summary is what a crawl has come to.
type Summary struct {
	Started     time.Time
	Elapsed     time.Duration
	Done        int // URLs finished
	Pages       int // of these, answered 200 with HTML
	Redirects   int
	Statuses    map[int]int    // how often each status came
	Errors      map[string]int // how often each error kind came
	Bytes       int64          // received
	Pending     int            // URLs left, if it was interrupted
	Interrupted bool
}

func (s *Summary) count(r *Record) {
	s.Done++
	s.Bytes += r.Bytes
	if r.Status != 0 {
		s.Statuses[r.Status]++
	}
	if r.ErrorKind != "" {
		s.Errors[r.ErrorKind]++
	}
	if r.Redirect != "" {
		s.Redirects++
	}
	if r.Status == 200 && isHTML(r.ContentType) {
		s.Pages++
	}
}

// New checks the options and makes the job's folder. Nothing is fetched before Run.
// Errors: what is wrong with which option; ErrJobExists.
func New(o Options) (*Crawler, error) {
	cfg, err := o.check()
	if err != nil {
		return nil, err
	}
	j, err := newJob(cfg.Job)
	if err != nil {
		return nil, err
	}
	d := &desk{cfg: cfg, job: j, frontier: frontier.New(frontier.Config{Delay: cfg.Delay})}
	d.summary.Statuses, d.summary.Errors = make(map[int]int), make(map[string]int)
	d.loop = aio.NewLoop(cfg.Loop)
	d.inbox = d.loop.Handle()
	loops := cfg.Loops
	if cfg.Loop.Clock != nil {
		loops = 1
	}
	for i := range loops {
		f := &fetcher{id: i, cfg: cfg, desk: d, loop: d.loop, outbox: d.loop.Handle()}
		if cfg.Loop.Clock == nil {
			f.loop = aio.NewLoop(cfg.Loop)
		}
		f.inbox = f.loop.Handle()
		f.workers = (cfg.Concurrency + loops - 1 - i) / loops // the first ones take what does not divide
		d.fetchers = append(d.fetchers, f)
		d.free = append(d.free, f.workers)
	}
	return &Crawler{desk: d}, nil
}

// Run crawls until all is done, Drain has emptied the crawl, or ctx is done, which
// breaks off what is under way. It is called once.
//
// The summary is valid with an error too. Errors: the cause of ctx; what went wrong
// with the outputs.
func (c *Crawler) Run(ctx context.Context) (Summary, error) {
	d := c.desk
	var err error
	if d.cfg.Loop.Clock != nil {
		err = d.loop.Run(ctx, func(t *aio.Task) error {
			return t.Group(func(g *aio.Group) error {
				g.Go("desk", d.run)
				g.Go("fetcher", d.fetchers[0].run)
				return nil
			})
		})
	} else {
		err = c.runLoops(ctx)
	}
	if e := d.job.close(); e != nil {
		err = errors.Join(err, fmt.Errorf("job folder: %w", e))
	}
	if ctx.Err() != nil {
		d.summary.Interrupted = true
	}
	return d.summary, err
}

// runLoops runs the desk and each fetcher on a loop of its own. The first error
// ends all.
func (c *Crawler) runLoops(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var loops sync.WaitGroup
	run := func(l *aio.Loop, main func(*aio.Task) error) {
		loops.Go(func() {
			if err := l.Run(ctx, main); err != nil {
				stop(err)
			}
		})
	}
	for _, f := range c.desk.fetchers {
		run(f.loop, f.run)
	}
	run(c.desk.loop, c.desk.run)
	loops.Wait()
	return context.Cause(ctx)
}

// Drain ends the crawl in good order: no more URLs are begun, those under way are
// finished, and Run returns. Any goroutine may call it.
func (c *Crawler) Drain() {
	_ = c.desk.inbox.Post(c.desk.drain) // a crawl that is over is drained
}

// Job returns the job's folder.
func (c *Crawler) Job() string { return c.desk.cfg.Job }
