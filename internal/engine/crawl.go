package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/record"
)

var (
	// ErrRan is returned when a crawl is run again, or after it was closed.
	ErrRan = errors.New("weft: a crawl runs once, and not after Close")

	// ErrEnded is returned when a crawl has ended, or has not started: what is saved of it holds.
	ErrEnded = errors.New("the crawl has ended")
)

// Crawl is one crawl. Any goroutine may use it.
type Crawl struct {
	coordinator *Coordinator
	over        chan struct{} // closed when the crawl has ended: then coordinator may be read
	node        *Node         // nil: the crawl is whole

	mu struct { // Drain and Stats come from any goroutine, before Run too
		sync.Mutex
		ran   bool
		drain bool
		inbox *aio.Handle // of the coordinator's loop, while it runs
	}
}

// New returns a crawl that is ready to run. It takes over the job.
func New(cfg Config) *Crawl {
	c := &Crawl{coordinator: newCoordinator(&cfg), over: make(chan struct{})}
	if cfg.Node != nil {
		c.node = newNode(c, &cfg, c.WhenReady)
	}
	return c
}

// Node returns the crawl as one of several nodes; nil: it is whole.
func (c *Crawl) Node() *Node { return c.node }

// Run crawls until all is done, a limit is reached, Drain has emptied the crawl, or ctx is done,
// which breaks off what is in flight. The coordinator and each fetch loop have an event loop of
// their own; the first error ends all. The summary is valid with an error, too.
func (c *Crawl) Run(ctx context.Context) (record.Summary, error) {
	cfg := c.coordinator.cfg
	own := aio.NewLoop(cfg.Loop)
	loops := make([]*aio.Loop, cfg.Loops)
	for i := range loops {
		loops[i] = aio.NewLoop(cfg.Loop)
	}
	return c.run(own, loops, func() (canceled bool, err error) {
		outer := ctx
		ctx, stop := context.WithCancelCause(outer)
		defer stop(nil)
		var all sync.WaitGroup
		run := func(l *aio.Loop, main func(*aio.Task) error) {
			all.Go(func() {
				if err := l.Run(ctx, main); err != nil {
					stop(err)
				}
			})
		}
		for i, f := range c.coordinator.loops.all {
			run(loops[i], f.Run)
		}
		run(own, c.coordinator.run)
		all.Wait()
		return outer.Err() != nil, context.Cause(ctx)
	})
}

// RunOn is Run on the loop of t, next to other tasks: coordinator and workers are tasks of that one
// loop. With a virtual clock and an in-memory network a crawl is the same every time.
func (c *Crawl) RunOn(t *aio.Task) (record.Summary, error) {
	return c.run(t.Loop(), []*aio.Loop{t.Loop()}, func() (canceled bool, err error) {
		err = t.Group(func(g *aio.Group) error {
			g.Go("coordinator", c.coordinator.run)
			for _, f := range c.coordinator.loops.all {
				g.Go("fetch loop", f.Run)
			}
			return nil
		})
		return errors.Is(err, aio.ErrCanceled), err
	})
}

// Forgo takes the place of a run, and reports whether it was still free.
func (c *Crawl) Forgo() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := !c.mu.ran
	c.mu.ran = true
	return free
}

// run connects the loops, has crawl run them and cleans up.
func (c *Crawl) run(own *aio.Loop, loops []*aio.Loop, crawl func() (canceled bool, err error)) (record.Summary, error) {
	co := c.coordinator
	c.mu.Lock()
	ran := c.mu.ran
	c.mu.ran = true
	if !ran {
		co.start(own, loops)
		co.ending.draining = c.mu.drain
		c.mu.inbox = own.Handle()
	}
	c.mu.Unlock()
	if ran {
		return record.Summary{}, ErrRan
	}
	if seq := co.cfg.SeedSeq; seq != nil {
		co.seeds.reading = true
		co.seeds.read = func() { go c.feed(seq, own.Handle()) }
	}
	co.cfg.Disk.attach(c.pauseFull)
	stopServing := func() {}
	if co.cfg.Serve != nil {
		stopServing = co.cfg.Serve()
	}
	canceled, err := crawl()
	c.mu.Lock()
	c.mu.inbox.Close()
	c.mu.Unlock()
	stopServing()
	co.loops.abandon()
	s := co.conclude(err != nil && !canceled)
	err = errors.Join(withoutTasks(err), co.cfg.Job.Close())
	close(c.over)
	return s, err
}

// seedsAhead is the number of seeds of SeedSeq that may wait for the coordinator.
const seedsAhead = 1000

// feed hands the seeds of seq to the coordinator as it has room for them. When the crawl ends, seq
// is left at its next seed: a read that blocks cannot be broken off, and nothing waits for it.
func (c *Crawl) feed(seq iter.Seq2[Seed, error], inbox *aio.Handle) {
	defer inbox.Close()
	seeds := &c.coordinator.seeds
	room := make(chan struct{}, seedsAhead)
	release := func() { <-room }
	var failure error
	for s, err := range seq {
		if err != nil {
			failure = err
			break
		}
		select {
		case room <- struct{}{}:
		case <-c.over:
			return
		}
		if inbox.Post(func() { seeds.take(s, release) }) != nil {
			return
		}
	}
	_ = inbox.Post(func() { seeds.end(failure) }) // a crawl that is over needs no more seeds
}

// Drain ends the crawl in good order: no more fetches start, those in flight finish, or are broken
// off after DrainTime, and Run returns.
func (c *Crawl) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.drain = true
	if c.mu.inbox != nil {
		_ = c.mu.inbox.Post(c.coordinator.Drain) // a crawl that is over is drained
	}
}

// Stats returns where the crawl is: zero before Run. It takes time in proportion to the hosts in
// memory. A hook that a loop calls must not call it: it would wait for itself.
func (c *Crawl) Stats() Stats {
	reply := make(chan Stats, 1)
	c.mu.Lock()
	ran, posted := c.mu.ran, false
	if c.mu.inbox != nil {
		posted = c.mu.inbox.Post(func() { reply <- c.coordinator.stats() }) == nil
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
	return c.coordinator.stats()
}

// Ask runs fn on the coordinator's loop. If it returns nil, fn has run; otherwise fn still may.
// Errors: ErrEnded; that of ctx.
func (c *Crawl) Ask(ctx context.Context, fn func(*Coordinator)) error {
	done := make(chan struct{})
	err := c.post(func() {
		fn(c.coordinator)
		close(done)
	})
	if err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// post has fn run on the coordinator's loop, if that runs; otherwise it returns ErrEnded.
func (c *Crawl) post(fn func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.inbox == nil || c.mu.inbox.Post(fn) != nil {
		return ErrEnded
	}
	return nil
}

// WhenReady has fn run on the coordinator's loop when the crawl can be steered, after those that
// were given before it. A crawl that ends may never run it.
func (c *Crawl) WhenReady(fn func(*Coordinator)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.ran {
		c.coordinator.early = append(c.coordinator.early, fn)
		return nil
	}
	if c.mu.inbox.Post(func() { c.coordinator.whenReady(fn) }) != nil {
		return ErrEnded
	}
	return nil
}

// Meters returns the meters of bodies and of big outcomes.
func (c *Crawl) Meters() (bodies, outcomes *budget.Meter) {
	return c.coordinator.shared.Bodies, c.coordinator.shared.Outcomes
}

// pauseFull pauses the crawl for a shortage of the disk, or continues it after any.
func (c *Crawl) pauseFull(reason string, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.mu.inbox.Post(func() { // a crawl that is over starts nothing
		if full {
			c.coordinator.Pause(reason, true)
			return
		}
		c.coordinator.Pause(PausedFull, false)
		c.coordinator.Pause(PausedDescriptors, false)
	})
}

// withoutTasks returns err without the names of the tasks that it came through: the caller of a
// crawl did not start them.
func withoutTasks(err error) error {
	switch e := err.(type) {
	case *aio.TaskError:
		return withoutTasks(e.Err)
	case interface{ Unwrap() []error }: // several, joined by aio
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, withoutTasks(one))
		}
		return errors.Join(all...)
	}
	return err
}
