package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Crawl is a crawl of several machines, as this one takes part in it. Any goroutine may use it.
type Crawl struct {
	servers Options
	options weft.Options

	mu struct {
		sync.Mutex
		node     *node // the current one
		draining bool
		rejoin   func() // ends joining again; nil: it never did
	}
}

// Join joins the crawl of the name, or begins it. Nothing is fetched before Run. The error is one
// line: ErrOver, for one, or that of options that are not those of the crawl.
func Join(ctx context.Context, servers Options, o weft.Options) (*Crawl, error) {
	n, err := join(ctx, &servers, o, new(figures))
	if err != nil {
		return nil, err
	}
	o.Limits.Limit, o.Limits.MaxTime = 0, 0 // others may raise them, by the time that it joins again
	c := &Crawl{servers: servers, options: o}
	c.mu.node = n
	return c, nil
}

// Began reports whether Join began the crawl: the servers had none of this name.
func (c *Crawl) Began() bool { return c.now().began }

// Run crawls until the crawl is over on all machines, or this one has left. A node that was cut off
// for so long that others have its partitions joins again, as soon as the servers answer.
func (c *Crawl) Run(ctx context.Context) (weft.Summary, error) {
	for {
		s, err := c.now().follow(ctx)
		if !errors.Is(err, errCutOff) && !errors.Is(err, ownership.ErrDead) || ctx.Err() != nil || c.ends() {
			return s, err
		}
		servers := c.servers
		servers.Wait, servers.again = math.MaxInt64, true
		if servers.OnWarning != nil {
			servers.OnWarning(fmt.Errorf("%w: it joins again", err))
		}
		n, err := c.joinAgain(ctx, servers)
		var limit *limitError
		switch {
		case errors.Is(err, ErrOver): // by others, who have what it had
			s.Interrupted, s.Finished = false, true
			return s, nil
		case errors.As(err, &limit): // others reached it
			s.Interrupted, s.Stopped = false, limit.name()
			return s, nil
		case err != nil && c.ends(): // others have what it had
			return s, nil
		case err != nil:
			return s, err
		}
		c.mu.Lock()
		c.mu.node = n
		draining := c.mu.draining
		c.mu.Unlock()
		if draining {
			n.crawler.Drain()
		}
	}
}

// joinAgain joins the crawl as a new process. Drain ends it.
func (c *Crawl) joinAgain(ctx context.Context, servers Options) (*node, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.mu.Lock()
	c.mu.rejoin = stop
	draining := c.mu.draining
	c.mu.Unlock()
	if draining {
		stop()
	}
	return join(ctx, &servers, c.options, c.now().reporter.figures)
}

func (c *Crawl) now() *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.node
}

func (c *Crawl) ends() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.draining
}

// Drain has this machine leave the crawl: no more fetches start, those in flight finish or are
// broken off, its partitions go to other nodes, and Run returns.
func (c *Crawl) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.draining = true
	c.mu.node.crawler.Drain()
	if c.mu.rejoin != nil {
		c.mu.rejoin()
	}
}

// Stats returns where this machine's part of the crawl is.
func (c *Crawl) Stats() weft.Stats { return c.now().crawler.Stats() }

// Figures returns this machine's part of the running crawl: see weft.Crawler.Figures.
func (c *Crawl) Figures(ctx context.Context) (weft.Figures, error) {
	return c.now().crawler.Figures(ctx)
}

// Earlier is that of the job: see weft.Crawler.Earlier.
func (c *Crawl) Earlier() weft.Summary { return c.now().crawler.Earlier() }

// Job returns the folder of the job.
func (c *Crawl) Job() string { return c.now().crawler.Job() }
