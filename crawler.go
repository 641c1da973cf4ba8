package weft

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
)

// Crawler is one crawl.
type Crawler struct {
	desk *desk

	mu struct { // Drain comes from any goroutine, before Run too
		sync.Mutex
		ran   bool
		drain bool
		inbox *aio.Handle // of the desk's loop, while it runs
	}
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
	FirstError  string         // the URL that failed first, and why
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
		if s.Errors[r.ErrorKind]++; s.FirstError == "" {
			s.FirstError = r.URL + ": " + r.Error
		}
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
	d := &desk{cfg: cfg, job: j, frontier: frontier.New(frontier.Config{Delay: cfg.Delay, MaxRedirects: cfg.MaxRedirects})}
	d.summary.Statuses, d.summary.Errors = make(map[int]int), make(map[string]int)
	return &Crawler{desk: d}, nil
}

// Run crawls until all is done, Drain has emptied the crawl, or ctx is done, which
// breaks off what is under way. The desk and each fetcher have a loop of their own;
// the first error ends all. A crawl runs once.
//
// The summary is valid with an error too. Errors: the cause of ctx; what went wrong
// with the outputs; ErrRan.
func (c *Crawler) Run(ctx context.Context) (Summary, error) {
	cfg := c.desk.cfg
	desk := aio.NewLoop(cfg.Loop)
	fetchers := make([]*aio.Loop, cfg.Loops)
	for i := range fetchers {
		fetchers[i] = aio.NewLoop(cfg.Loop)
	}
	return c.run(desk, fetchers, func() error {
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
		for i, f := range c.desk.fetchers {
			run(fetchers[i], f.run)
		}
		run(desk, c.desk.run)
		loops.Wait()
		return context.Cause(ctx)
	})
}

// RunOn is Run on the loop of t, beside whatever else runs there: desk and workers
// are tasks of that one loop. On a virtual clock and an in-memory network a crawl
// is then the same every time.
func (c *Crawler) RunOn(t *aio.Task) (Summary, error) {
	return c.run(t.Loop(), []*aio.Loop{t.Loop()}, func() error {
		return t.Group(func(g *aio.Group) error {
			g.Go("desk", c.desk.run)
			for _, f := range c.desk.fetchers {
				g.Go("fetcher", f.run)
			}
			return nil
		})
	})
}

// run lays the ways between the loops, has crawl run them and tidies up.
func (c *Crawler) run(desk *aio.Loop, fetchers []*aio.Loop, crawl func() error) (Summary, error) {
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
	err := crawl()
	c.mu.Lock()
	c.mu.inbox.Close()
	c.mu.Unlock()
	for _, f := range d.fetchers { // those that never began still hold theirs
		f.inbox.Close()
		f.outbox.Close()
	}
	err = errors.Join(err, d.job.close())
	return d.end(), err
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

// Job returns the job's folder.
func (c *Crawler) Job() string { return c.desk.cfg.Job }
