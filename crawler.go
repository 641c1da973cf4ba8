package weft

import (
	"context"
	"iter"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
)

// Crawler is one crawl. Any goroutine may use it.
type Crawler struct{ crawl *crawl.Crawl }

// New checks the options and opens the job, which it starts or resumes; it may wait for room on a
// full disk. Nothing is fetched before Run, which also closes the job: a Crawler that is not run
// keeps others from it until the process ends.
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

// Config returns o checked and with its defaults filled in, as the rooms of a crawl take it. Only
// packages of this module have a use for it, to build a crawl of their own: see package
// internal/crawl. Its error is an *OptionError.
func (o Options) Config() (*crawl.Config, error) {
	c, err := o.check()
	if err != nil {
		return nil, err
	}
	shares := budget.Split(c.Memory, c.Loops)
	return &crawl.Config{
		Engine: c.engine(shares), Job: c.forJob(shares),
		Software: "weft/" + Version, Digest: c.ArchiveDigest, Metadata: c.ArchiveMetadata,
	}, nil
}

// forJob returns the options of the job.
func (c *config) forJob(shares budget.Shares) job.Options {
	return job.Options{
		Dir: c.Job, Files: store.Disk, Fresh: c.Fresh, Update: c.Update, Amend: c.Amend, Retry: c.RetryFailed, List: c.SeedSeq != nil,
		Plan: c.plan(c.seeds), Asked: c.asked.plan(nil), Buffer: shares.Buffer, Cache: shares.Cache,
	}
}

// engine distributes the options to the rooms that need them.
func (c *config) engine(shares budget.Shares) engine.Config {
	e := engine.Config{
		Fetch: c.fetch(shares), Seeds: c.seeds, Amend: c.Amend, Archive: engine.ArchiveConfig{Size: int64(c.ArchiveSize)},
		Loops: c.Loops, Concurrency: c.Concurrency, Workers: c.workers, Memory: c.Memory, Shares: shares,
		MaxTime: c.MaxTime, MinFree: c.MinFree, Loop: c.Loop, Output: c.Output, Form: record.Form{Format: c.Format, Fields: c.Fields},
		Hooks: engine.Hooks{OnRecord: c.Hooks.OnRecord, OnError: c.Hooks.OnError, OnWarning: c.Hooks.OnWarning},
		Frontier: frontier.Config{
			Delay: c.Delay, DomainDelay: c.DomainDelay, AddressDelay: c.AddressDelay,
			PerHost: c.PerHost, PerDomain: c.PerDomain, PerAddress: c.PerAddress, Resolve: true, RateLimit: c.RateLimit,
			RobotsTries: c.Retries + 1, GiveUp: c.GiveUp, Limit: c.Limit, RulesBytes: shares.Rules,
		},
	}
	if c.SeedSeq != nil {
		e.SeedSeq = c.seedSeq()
	}
	if c.Job != "" { // what does not fit spills to its store
		f := &e.Frontier
		f.Heads, f.InMemory, f.SeenBytes, f.HostBytes = heads, shares.Pending, shares.Seen, shares.Hosts
	}
	return e
}

// heads is the number of URLs of an origin that wait in memory: a site of some thousand pages is
// not read back.
const heads = 2048

// fetch returns the configuration of fetch loops.
func (c *config) fetch(shares budget.Shares) fetch.Config {
	return fetch.Config{
		DNS: c.DNS, NameBytes: shares.Names, RecentBytes: shares.Recent, AllowPrivate: c.AllowPrivate, Retries: c.Retries,
		Visit: 1, Hooks: c.Hooks.forFetch(),
		HTTP: httpclient.Options{
			HTTP1: c.HTTP1, HTTP2: c.HTTP2,
			Timeout: c.Timeout, DialTimeout: c.DialTimeout, TLSTimeout: c.TLSTimeout, FirstByteTimeout: c.FirstByteTimeout,
			IdleTimeout: c.IdleTimeout, MinRate: c.MinRate, MaxBody: c.MaxBody, Window: c.window(), MaxIdle: (c.Concurrency + c.Loops - 1) / c.Loops, MaxKept: shares.Kept,
			MaxIdleBytes: shares.Idle, MaxSessionBytes: shares.Sessions,
			Header: c.Header, Cookies: c.Cookies, Auth: c.Auth, Proxy: c.Proxy, Insecure: c.Insecure, RootCAs: c.RootCAs,
			Resolve: c.Resolve,
		},
	}
}

// window returns the first window of a stream of HTTP/2. It counts with the request in flight, to
// which a quarter of the memory belongs; a page seldom takes more than 64 KiB as sent.
func (c *config) window() int {
	const besides = 8 << 10 // of budget.PerRequest: task, stream, a part of a connection
	return min(c.Memory/4/c.workers-besides, 64<<10-1)
}

// seedSeq parses the seeds of SeedSeq. It ends at the first that is none.
func (c *config) seedSeq() iter.Seq2[engine.Seed, error] {
	return func(yield func(engine.Seed, error) bool) {
		for line, err := range c.SeedSeq {
			var s seed.Seed
			if err == nil {
				s, err = seed.ReadListed(line)
			}
			if err != nil {
				yield(engine.Seed{}, &OptionError{Option: "SeedSeq", Err: err})
				return
			}
			if !yield(engine.Seed{URL: s.URL, Written: s.Written, Guessed: s.Guessed}, nil) {
				return
			}
		}
	}
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

// DrainTime is how long a crawl that drains waits for requests in flight.
const DrainTime = engine.DrainTime

// Drain ends the crawl in good order: no more fetches start, those in flight finish, or are broken
// off after DrainTime and stay pending, and Run returns. It may be called at any time.
func (c *Crawler) Drain() { c.crawl.Drain() }

// Stats returns where the crawl is: zero before Run. It takes time in proportion to the hosts in
// memory. A hook that a loop calls must not call it: it would wait for itself.
func (c *Crawler) Stats() Stats { return c.crawl.Stats() }

// Earlier returns what the job had come to in its earlier runs; Runs is 0 if it is new.
func (c *Crawler) Earlier() Summary { return c.crawl.Earlier() }

// Job returns the job's folder; "" if there is none.
func (c *Crawler) Job() string { return c.crawl.Job() }
