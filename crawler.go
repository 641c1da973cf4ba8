package weft

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/cdxj"
	"github.com/weftcrawl/weft/internal/control"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// Crawler is one crawl. Any goroutine may use it.
type Crawler struct {
	crawl *engine.Crawl
	job   *job.Job // nil: nothing is kept
}

// New checks the options and opens the job, which it starts or resumes; it may wait for room on a
// full disk. Nothing is fetched before Run, which also closes the job: a Crawler that is not run
// keeps others from it until the process ends.
// Errors: an *OptionError. Of Job it wraps ErrJobExists where the folder is not that of a job,
// ErrJobUnusable where the job is damaged or of another version; of a frozen option, ErrPlan.
func New(o Options) (*Crawler, error) {
	cfg, err := o.check()
	if err != nil {
		return nil, err
	}
	shares := budget.Split(cfg.Memory, cfg.Loops)
	disk := &engine.Disk{OnWarning: cfg.Hooks.OnWarning}
	if j, ok := cfg.Cookies.(interface{ Limit(bytes int) }); ok {
		j.Limit(shares.Cookies)
	}
	c := new(Crawler)
	if cfg.Job != "" {
		if c.job, err = cfg.openJob(shares, disk); err != nil {
			return nil, err
		}
	}
	e := cfg.engine(c.job, shares)
	e.Disk = disk
	e.Serve = func() (stop func()) {
		return control.Serve(&inspect.View{Job: c.job, Crawl: c.crawl}, cfg.Hooks.OnWarning)
	}
	c.crawl = engine.New(e)
	if cfg.tuning.Drain != 0 {
		c.crawl.SetDrainTime(cfg.tuning.Drain)
	}
	if cfg.tuning.OnCrawl != nil {
		cfg.tuning.OnCrawl(c.crawl)
	}
	if cfg.tuning.OnMeters != nil {
		cfg.tuning.OnMeters(c.crawl.Meters())
	}
	return c, nil
}

// openJob opens the job; then the frozen options and seeds of c are the job's.
func (c *config) openJob(shares budget.Shares, disk *engine.Disk) (*job.Job, error) {
	plan, asked := c.plan(c.seeds), c.asked.plan(nil)
	if c.tuning.Plan != nil {
		plan, asked = *c.tuning.Plan, job.Plan{}
	}
	j, err := job.Open(job.Options{
		Dir: c.Job, Files: c.tuning.Files, Fresh: c.Fresh, Update: c.Update, Amend: c.Amend, Retry: c.RetryFailed, RetryBatch: c.tuning.Retried, List: c.SeedSeq != nil,
		Plan: plan, Asked: asked,
		Buffer: shares.Buffer, Cache: shares.Cache, Waiting: disk.Waiting, Partition: c.tuning.Partition,
	})
	if err != nil {
		return nil, err
	}
	err = c.thaw(&j.Plan)
	if err == nil {
		c.late, err = j.Plan.LateExclusions()
	}
	if err == nil {
		err = c.checkExtract()
	}
	if err == nil {
		var urls []weburl.URL
		urls, err = j.Plan.SeedURLs()
		posts, _ := seed.PostsOf(j.Plan.Posts) // job.Open has checked the plan
		typed := make(map[weburl.URL]string)
		for _, s := range c.seeds {
			typed[s.URL] = s.Written
		}
		c.seeds = nil
		for _, u := range urls {
			c.seeds = append(c.seeds, engine.Seed{URL: u, Written: typed[u], Guessed: slices.Contains(j.Plan.Guessed, u.String()), Post: posts[u.Post()]})
		}
	}
	if err != nil { // job.Open has checked the plan: this cannot be
		_ = j.Close()
		return nil, invalid("Job", c.Job, job.Damaged("plan", err))
	}
	return j, nil
}

// engine distributes the options to the rooms that need them.
func (c *config) engine(j *job.Job, shares budget.Shares) engine.Config {
	e := engine.Config{
		Fetch: c.fetch(j, shares), Seeds: c.seeds, Amend: c.Amend, Late: c.late,
		Loops: c.Loops, Concurrency: c.Concurrency, Workers: c.workers, Memory: c.Memory, Shares: shares,
		MaxAlike: c.MaxAlike, MaxTime: c.MaxTime, MinFree: c.MinFree, Loop: c.Loop, Job: j, Output: c.Output, Form: record.Form{Format: c.Format, Fields: c.Fields},
		Hooks: engine.Hooks{OnRecord: c.Hooks.OnRecord, OnError: c.Hooks.OnError, OnWarning: c.Hooks.OnWarning},
		Frontier: frontier.Config{
			Delay: c.Delay, DomainDelay: c.DomainDelay, AddressDelay: c.AddressDelay,
			PerHost: c.PerHost, PerDomain: c.PerDomain, PerAddress: c.PerAddress, Resolve: true, RateLimit: c.RateLimit, MaxRedirects: c.MaxRedirects,
			Robots: !c.NoRobots, RobotsTries: c.Retries + 1, GiveUp: c.GiveUp, Limit: c.Limit, LimitPerHost: c.LimitPerHost, MaxVariants: c.MaxVariants,
			Beyond: c.Assets != AssetsNone || c.External, Levels: c.Depth > 0, RulesBytes: shares.Rules,
		},
	}
	e.Node, e.Frontier.Partition, e.Frontier.Ours = c.tuning.Node, c.tuning.Partition, c.tuning.Ours
	e.Frontier.Metered = e.Node != nil && e.Node.Short != nil
	if c.Archive {
		e.Archive = engine.ArchiveConfig{Size: int64(c.ArchiveSize), About: c.about()}
	}
	if c.Duplicates != DuplicatesOff {
		e.Duplicates = min(maxDuplicates, shares.Duplicates/costOfDuplicate)
	}
	if c.SeedSeq != nil {
		e.SeedSeq = c.seedSeq()
	}
	if j != nil { // what does not fit spills to its store
		f := &e.Frontier
		f.Heads, f.InMemory = c.tuning.Heads, shares.Pending
		f.SeenBytes, f.HostBytes = cmp.Or(c.tuning.SeenBytes, shares.Seen), cmp.Or(c.tuning.HostBytes, shares.Hosts)
	}
	return e
}

// about describes the crawl in each file of its archive.
func (c *config) about() warc.Header {
	robots := "obey"
	if c.NoRobots {
		robots = "ignore"
	}
	return warc.Header{
		{Name: "software", Value: "weft/" + Version},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "http-header-user-agent", Value: c.UserAgent},
		{Name: "robots", Value: robots},
	}
}

// A crawl remembers at most maxDuplicates pages, to recognize their duplicates; each takes
// costOfDuplicate bytes. Of more, it forgets the oldest.
const (
	maxDuplicates   = 1 << 17
	costOfDuplicate = 200
)

// fetch is what fetch loops need of the options.
func (c *config) fetch(j *job.Job, shares budget.Shares) fetch.Config {
	f := fetch.Config{
		DNS: c.DNS, NameBytes: shares.Names, RecentBytes: shares.Recent, Canon: c.Canon, AllowPrivate: c.AllowPrivate, Distrust: c.Distrust, Retries: c.Retries, NoRobots: c.NoRobots, Sitemaps: c.Sitemaps,
		Check: fetch.Check{Beyond: c.External, All: c.CheckAll, HTTPS: c.ExternalHTTPS, Body: min(c.ExternalBody, c.MaxBody)},
		Visit: 1, Job: j != nil, KeepLinks: c.KeepLinks, Hooks: c.Hooks.forFetch(),
		Duplicates: c.Duplicates != DuplicatesOff, Near: c.Duplicates == DuplicatesNear, Prune: c.PruneDuplicates,
		Scope: scope.Rules{
			Scope: c.Scope, Include: c.Include, Exclude: c.Exclude, Depth: c.Depth, Assets: c.Assets,
			Traps: scope.Traps{Length: c.MaxURLLength, Depth: c.MaxPathDepth, Repeats: c.MaxRepeats},
		},
		HTTP: httpclient.Options{
			HTTP1: c.HTTP1, HTTP2: c.HTTP2,
			Timeout: c.Timeout, DialTimeout: c.DialTimeout, TLSTimeout: c.TLSTimeout, FirstByteTimeout: c.FirstByteTimeout,
			IdleTimeout: c.IdleTimeout, MinRate: c.MinRate, MaxBody: c.MaxBody, Window: c.window(), MaxIdle: (c.Concurrency + c.Loops - 1) / c.Loops, MaxKept: shares.Kept,
			MaxIdleBytes: shares.Idle, MaxSessionBytes: shares.Sessions,
			UserAgent: c.UserAgent, Header: c.Header, Cookies: c.Cookies, Auth: c.Auth, Proxy: c.Proxy, Insecure: c.Insecure, RootCAs: c.RootCAs,
			Resolve: c.Resolve,
		},
	}
	if len(c.Extract) > 0 || c.Structured {
		f.Extract, _ = extract.New(c.Extract, c.Structured) // they are checked
	}
	if j != nil {
		f.Visit = max(1, j.History.Summary.Visit)
		switch {
		case c.Archive:
			f.Archive = capture.New(j.Salt, cmp.Or(c.ArchiveDigest, warc.SHA256), shares.Originals)
			f.Archive.Metadata = c.ArchiveMetadata
			for _, field := range c.Header {
				if !field.Shown() {
					f.Archive.Secret = append(f.Archive.Secret, field.Name)
				}
			}
			f.HTTP.KeepRaw = true
		case c.KeepBodies:
			f.KeepBody = j.KeepBody
		}
	}
	return f
}

// window returns the first window of a stream of HTTP/2. It counts with the request in flight, to which
// a quarter of the memory belongs; a page seldom takes more than 64 KiB as sent.
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
func (c *Crawler) Run(ctx context.Context) (Summary, error) {
	sum, err := c.crawl.Run(ctx)
	if sum.Finished {
		err = errors.Join(err, c.sortIndex())
	}
	return sum, err
}

// sortIndex makes the sorted index of the archive. What needs it makes it, too: a crawl that was
// interrupted does not wait for it.
func (c *Crawler) sortIndex() error {
	if c.job == nil || !c.job.Plan.Archive || c.job.Files != store.Disk {
		return nil
	}
	return cdxj.Update(filepath.Join(c.job.Dir, job.ArchiveDir), cdxj.All)
}

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
func (c *Crawler) Earlier() Summary {
	if c.job == nil {
		return Summary{}
	}
	return c.job.History.Summary.Clone()
}

// Job returns the job's folder; "" if there is none.
func (c *Crawler) Job() string {
	if c.job == nil {
		return ""
	}
	return c.job.Dir
}
