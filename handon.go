package weft

import (
	"iter"

	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/seed"
)

// Config returns o checked and with its defaults filled in, as the rooms of a crawl take it. Only
// packages of this module have a use for it, to build a crawl of their own: see package
// internal/crawl. Its error is an *OptionError.
func (o Options) Config() (*crawl.Config, error) {
	c, err := o.check()
	if err != nil {
		return nil, err
	}
	return c.handOn(handedOn), nil
}

// handOn returns what the rooms of the crawl are given: by the rows of handedOn.
func (c *config) handOn(rows []handing) *crawl.Config {
	to := &crawl.Config{Software: "weft/" + Version}
	to.Engine.Fetch.Visit, to.Engine.Frontier.Resolve = 1, true
	to.Job.Files, to.Job.Plan, to.Job.Asked = store.Disk, c.plan(c.seeds), c.asked.plan(nil)
	for _, row := range rows {
		row.on(c, to)
	}
	return to
}

// handing hands one thing to one room.
type handing struct {
	option string // that decides it
	on     func(*config, *crawl.Config)
}

// handedOn hands on what may differ from run to run. What a job freezes the plan hands on: see
// package internal/crawl.
var handedOn = []handing{
	// To the engine.
	{"Seeds", func(c *config, to *crawl.Config) { to.Engine.Seeds = c.seeds }},
	{"SeedSeq", func(c *config, to *crawl.Config) { to.Engine.SeedSeq = c.seedSeq() }},
	{"Amend", func(c *config, to *crawl.Config) { to.Engine.Amend = c.Rerun.Amend }},
	{"Loops", func(c *config, to *crawl.Config) { to.Engine.Loops = c.Loops }},
	{"Concurrency", func(c *config, to *crawl.Config) { to.Engine.Concurrency = c.Pace.Concurrency }},
	{"Concurrency", func(c *config, to *crawl.Config) { to.Engine.Workers = c.workers }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Memory = c.Memory }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Shares = c.shares }},
	{"MaxTime", func(c *config, to *crawl.Config) { to.Engine.MaxTime = c.Limits.MaxTime }},
	{"MinFree", func(c *config, to *crawl.Config) { to.Engine.MinFree = c.Keep.MinFree }},
	{"Loop", func(c *config, to *crawl.Config) { to.Engine.Loop = c.Loop }},
	{"ArchiveSize", func(c *config, to *crawl.Config) { to.Engine.Archive.Size = int64(c.Keep.ArchiveSize) }},
	{"Output", func(c *config, to *crawl.Config) { to.Engine.Output = c.Output }},
	{"Format", func(c *config, to *crawl.Config) { to.Engine.Form.Format = c.Format }},
	{"Fields", func(c *config, to *crawl.Config) { to.Engine.Form.Fields = c.Fields }},
	{"Hooks", func(c *config, to *crawl.Config) { to.Engine.OnRecord = c.Hooks.OnRecord }},
	{"Hooks", func(c *config, to *crawl.Config) { to.Engine.OnError = c.Hooks.OnError }},
	{"Hooks", func(c *config, to *crawl.Config) { to.Engine.OnWarning = c.Hooks.OnWarning }},

	// To the frontier; what does not fit into memory spills to the store of a job.
	{"Delay", func(c *config, to *crawl.Config) { to.Engine.Frontier.Delay = c.Pace.Delay }},
	{"DomainDelay", func(c *config, to *crawl.Config) { to.Engine.Frontier.DomainDelay = c.Pace.DomainDelay }},
	{"AddressDelay", func(c *config, to *crawl.Config) { to.Engine.Frontier.AddressDelay = c.Pace.AddressDelay }},
	{"PerHost", func(c *config, to *crawl.Config) { to.Engine.Frontier.PerHost = c.Pace.PerHost }},
	{"PerDomain", func(c *config, to *crawl.Config) { to.Engine.Frontier.PerDomain = c.Pace.PerDomain }},
	{"PerAddress", func(c *config, to *crawl.Config) { to.Engine.Frontier.PerAddress = c.Pace.PerAddress }},
	{"RateLimit", func(c *config, to *crawl.Config) { to.Engine.Frontier.RateLimit = c.Pace.RateLimit }},
	{"Retries", func(c *config, to *crawl.Config) { to.Engine.Frontier.RobotsTries = c.Pace.Retries + 1 }},
	{"GiveUp", func(c *config, to *crawl.Config) { to.Engine.Frontier.GiveUp = c.Pace.GiveUp }},
	{"Limit", func(c *config, to *crawl.Config) {
		to.Engine.Frontier.Limit, to.Job.Limit = c.Limits.Limit, c.Limits.Limit
	}},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Frontier.RulesBytes = c.shares.Rules }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Frontier.InMemory = c.spills(c.shares.Pending) }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Frontier.SeenBytes = c.spills(c.shares.Seen) }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Frontier.HostBytes = c.spills(c.shares.Hosts) }},
	{"Job", func(c *config, to *crawl.Config) { to.Engine.Frontier.Heads = c.spills(heads) }},

	// To fetch loops.
	{"DNS", func(c *config, to *crawl.Config) { to.Engine.Fetch.DNS = c.HTTP.DNS }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Fetch.NameBytes = c.shares.Names }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Fetch.RecentBytes = c.shares.Recent }},
	{"AllowPrivate", func(c *config, to *crawl.Config) { to.Engine.Fetch.AllowPrivate = c.HTTP.AllowPrivate }},
	{"Retries", func(c *config, to *crawl.Config) { to.Engine.Fetch.Retries = c.Pace.Retries }},
	{"HeaderFields", func(c *config, to *crawl.Config) { to.Engine.Fetch.Headers = c.Keep.HeaderFields }},
	{"unfollowed", func(c *config, to *crawl.Config) { to.Engine.Fetch.Check.All = c.unfollowed.All }},
	{"unfollowed", func(c *config, to *crawl.Config) { to.Engine.Fetch.Check.HTTPS = c.unfollowed.HTTPS }},
	{"unfollowed", func(c *config, to *crawl.Config) { to.Engine.Fetch.Check.Body = min(c.unfollowed.Body, c.HTTP.MaxBody) }},
	{"Hooks", func(c *config, to *crawl.Config) { to.Engine.Fetch.Hooks = c.Hooks.forFetch() }},

	// To the client of a fetch loop.
	{"HTTP1", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.HTTP1 = c.HTTP.HTTP1 }},
	{"HTTP2", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.HTTP2 = c.HTTP.HTTP2 }},
	{"Timeout", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Timeout = c.HTTP.Timeout }},
	{"DialTimeout", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.DialTimeout = c.HTTP.DialTimeout }},
	{"TLSTimeout", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.TLSTimeout = c.HTTP.TLSTimeout }},
	{"FirstByteTimeout", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.FirstByteTimeout = c.HTTP.FirstByteTimeout }},
	{"IdleTimeout", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.IdleTimeout = c.HTTP.IdleTimeout }},
	{"MinRate", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.MinRate = c.HTTP.MinRate }},
	{"MaxBody", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.MaxBody = c.HTTP.MaxBody }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Window = c.window() }},
	{"Concurrency", func(c *config, to *crawl.Config) {
		to.Engine.Fetch.HTTP.MaxIdle = (maxIdle(c.Pace.Concurrency) + c.Loops - 1) / c.Loops
	}},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.MaxKept = c.shares.Kept }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.MaxIdleBytes = c.shares.Idle }},
	{"Memory", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.MaxSessionBytes = c.shares.Sessions }},
	{"Header", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Header = c.HTTP.Header }},
	{"Cookies", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Cookies = c.HTTP.Cookies }},
	{"Session", func(c *config, to *crawl.Config) { to.Engine.Fetch.Session = c.HTTP.Session.inner() }},
	{"Auth", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Auth = c.HTTP.Auth }},
	{"Proxy", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Proxy = c.HTTP.Proxy }},
	{"Insecure", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Insecure = c.HTTP.Insecure }},
	{"RootCAs", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.RootCAs = c.HTTP.RootCAs }},
	{"Resolve", func(c *config, to *crawl.Config) { to.Engine.Fetch.HTTP.Resolve = c.HTTP.Resolve }},

	// To the browser.
	{"Browser", func(c *config, to *crawl.Config) { to.Browser.Program = c.Render.Browser }},
	{"Wait", func(c *config, to *crawl.Config) { to.Steps.Wait = c.Render.wait() }},
	{"Scroll", func(c *config, to *crawl.Config) { to.Steps.Scroll = c.Render.Scroll }},
	{"Click", func(c *config, to *crawl.Config) { to.Steps.Click = c.Render.Click }},
	{"Block", func(c *config, to *crawl.Config) { to.Block = c.Render.blocks() }},
	{"RenderPost", func(c *config, to *crawl.Config) { to.RenderPost = c.Render.RenderPost }},
	{"Screenshot", func(c *config, to *crawl.Config) { to.Screenshot = render.Screenshot(c.Render.Screenshot) }},
	{"PDF", func(c *config, to *crawl.Config) { to.PDF = c.Render.PDF }},
	{"Memory", func(c *config, to *crawl.Config) { to.Browser.Memory = int64(max(c.Memory, leastBrowser)) }},

	// To the job.
	{"Job", func(c *config, to *crawl.Config) { to.Job.Dir = c.Job }},
	{"Fresh", func(c *config, to *crawl.Config) { to.Job.Fresh = c.Rerun.Fresh }},
	{"Update", func(c *config, to *crawl.Config) { to.Job.Update = c.Rerun.Update }},
	{"UpdateOnly", func(c *config, to *crawl.Config) { to.Job.Only = c.Rerun.UpdateOnly }},
	{"OlderThan", func(c *config, to *crawl.Config) { to.Job.OlderThan = c.Rerun.OlderThan }},
	{"Amend", func(c *config, to *crawl.Config) { to.Job.Amend = c.Rerun.Amend }},
	{"RetryFailed", func(c *config, to *crawl.Config) { to.Job.Retry = c.Rerun.RetryFailed }},
	{"SeedSeq", func(c *config, to *crawl.Config) { to.Job.List = c.SeedSeq != nil }},
	{"Memory", func(c *config, to *crawl.Config) { to.Job.Buffer = c.shares.Buffer }},
	{"Memory", func(c *config, to *crawl.Config) { to.Job.Cache = c.shares.Cache }},
	{"ArchiveDigest", func(c *config, to *crawl.Config) { to.Digest = c.Keep.ArchiveDigest }},
	{"ArchiveMetadata", func(c *config, to *crawl.Config) { to.Metadata = c.Keep.ArchiveMetadata }},
}

// heads is the number of URLs of an origin that wait in memory: a site of some thousand pages is
// not read back.
const heads = 2048

// leastBrowser is the least memory of a browser, in bytes: what tabs take with pages of 10 MB.
const leastBrowser = 1 << 30

// spills returns the room in memory of a table that goes on in the store of the job; 0, any room,
// without a job.
func (c *config) spills(room int) int {
	if c.Job == "" {
		return 0
	}
	return room
}

// window returns the first window of a stream of HTTP/2. It counts with the request in flight, to
// which a quarter of the memory belongs; a page seldom takes more than 64 KiB as sent.
func (c *config) window() int {
	const besides = 8 << 10 // of budget.PerRequest: task, stream, a part of a connection
	return min(c.Memory/4/c.workers-besides, 64<<10-1)
}

// seedSeq parses the seeds of SeedSeq. It ends at the first that is none; nil: there are none.
func (c *config) seedSeq() iter.Seq2[engine.Seed, error] {
	if c.SeedSeq == nil {
		return nil
	}
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
