package fetch

import (
	"errors"
	"regexp"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/weburl"
)

// Loop is one fetch loop: its workers, their client, and the way to the coordinator.
// Owner: its event loop. The coordinator calls Lease, Permit, Trust, Know, Exclude and Close, which
// post to it.
type Loop struct {
	cfg    *Config
	shared *Shared

	loop    *aio.Loop
	clock   clock
	reports reports
	leases  aio.Queue[*fetching]
	workers workers
	broken  bool // see Break

	client   *httpclient.Client
	bounds   *scope.Bounds // shares what the coordinator's open
	reach    reach         // the coordinator sends what widens it
	outlinks outlinks
	archiver archiver
	pages    pageReader
	fetcher  fetcher
	robots   robotsFetcher
	errands  errandFetcher
}

// NewLoop returns the fetch loop that runs on loop with at most so many workers; its reports are
// posted to the coordinator's loop.
func NewLoop(id int, cfg *Config, shared *Shared, loop, coordinator *aio.Loop, most int, report Report) *Loop {
	f := &Loop{
		cfg: cfg, shared: shared,
		loop: loop, clock: clock{loop, loop.Now()},
		reports: reports{id: id, report: report, loop: loop, inbox: loop.Handle(), outbox: coordinator.Handle()},
		workers: workers{most: most},
		bounds:  shared.Bounds.Share(), reach: newReach(),
	}
	f.reach.distrust = cfg.Distrust
	f.reach.guard.AllowAll, f.reach.guard.OnOpen = cfg.AllowPrivate, f.reports.networkOpened
	f.outlinks = outlinks{cfg: cfg, bounds: f.bounds, reach: &f.reach}
	f.archiver = archiver{to: cfg.Archive, loop: loop, visit: cfg.Visit, posts: shared.Posts, bodies: shared.Bodies}
	f.pages = pageReader{
		cfg: cfg, outlinks: &f.outlinks, originals: originals{cfg, shared.Duplicates},
		items: itemFinder{cfg: cfg, outcomes: shared.Outcomes},
		pages: interleaver{bounds: f.bounds, reports: &f.reports},
		short: newExtractors(cfg, 3),
	}
	f.pages.lines = lines{outcomes: shared.Outcomes, page: &f.pages.pages.lock}
	f.fetcher = fetcher{
		cfg: cfg, clock: &f.clock, posts: shared.Posts, reach: &f.reach, pages: &f.pages, archiver: &f.archiver,
	}
	f.robots = robotsFetcher{fetcher: &f.fetcher, bounds: f.bounds}
	f.errands = errandFetcher{fetcher: &f.fetcher}
	f.pages.renders = renders{cfg: cfg, reports: &f.reports, clock: &f.clock, workers: &f.workers, shared: shared}
	return f
}

// AIO returns the event loop that f runs on.
func (f *Loop) AIO() *aio.Loop { return f.loop }

// Lease hands URLs to the loop. It must not have more leases than workers.
func (f *Loop) Lease(leases []Lease) {
	f.reports.post(func() { // a loop ends before the coordinator only by an error, which ends all
		for _, l := range leases {
			f.leases.TryPut(&fetching{lease: l})
		}
		if f.workers.lacks() { // some have left
			f.workers.add(f.reports.id, f.work)
		}
	})
}

// Permit lets links lead to private networks.
func (f *Loop) Permit(open []guard.Network) {
	f.reports.post(func() {
		for _, n := range open {
			f.reach.guard.Open(n)
		}
	})
}

// Trust names seeds that were given one by one: see reach.
func (f *Loop) Trust(seeds []weburl.URL) { f.reports.post(func() { f.reach.trust(seeds) }) }

// Know names seeds to whose origins the user's secrets may be sent: see httpclient.Options.Trusted.
func (f *Loop) Know(seeds []weburl.URL) { f.reports.post(func() { f.reach.know(seeds) }) }

// Exclude adds an exclusion.
func (f *Loop) Exclude(re *regexp.Regexp) {
	f.reports.post(func() {
		f.bounds.AddExclusion(re)
	})
}

// Disconnect closes the connections that are kept for later requests.
func (f *Loop) Disconnect() {
	f.reports.post(func() {
		if f.client != nil {
			f.client.Disconnect()
		}
	})
}

// Break breaks off what is in flight: the workers leave, and all leases come back as Broken.
func (f *Loop) Break() {
	f.reports.post(func() {
		f.broken = true
		if f.workers.group != nil {
			f.workers.group.Cancel()
		}
	})
}

// Close ends the loop when its leases have ended.
func (f *Loop) Close() {
	f.reports.post(f.leases.Close)
	f.reports.inbox.Close()
}

// Abandon closes what a loop that never ran still holds.
func (f *Loop) Abandon() {
	f.reports.inbox.Close()
	f.reports.outbox.Close()
}

// Ask runs fn on the loop, from any goroutine; false: it has ended.
func (f *Loop) Ask(fn func()) bool { return f.reports.inbox.Post(fn) == nil }

// Run is the task that the workers belong to. It ends when the coordinator has closed the loop.
func (f *Loop) Run(t *aio.Task) error {
	o := f.cfg.HTTP
	if o.NeedsTrusted() {
		o.Trusted = f.reach.knows
	}
	o.OnBytes = f.shared.Heard.note
	o.Resolver = dns.New(f.loop, f.cfg.resolver(&f.shared.Files))
	f.client = httpclient.NewClient(f.loop, o)
	f.pages.quota = aio.NewQuota(f.loop, readQuota)
	defer f.client.Close()
	defer f.reports.outbox.Close()
	err := t.Group(func(g *aio.Group) error {
		f.workers.group = g
		f.workers.add(f.reports.id, f.work)
		return nil
	})
	for err == nil && f.broken { // leases that no worker has taken
		var x *fetching
		if x, err = f.leases.Get(t); err == nil {
			f.reports.send(&Outcome{URL: x.lease.URL, Ticket: x.lease.Ticket, Postpone: true, Broken: true})
		}
	}
	if err == aio.ErrQueueClosed {
		return nil
	}
	return err
}

// resolver returns the options of a loop's resolver, which shares files with those of other loops.
func (c *Config) resolver(files *dns.Files) dns.Options {
	return dns.Options{Servers: c.DNS, MaxNames: c.NameBytes / dns.NameBytes, Files: files}
}

// work takes leases and reports their outcomes. While it waits for a response it has no stack.
func (f *Loop) work(t *aio.Task) error {
	for {
		x, err := f.leases.Get(t)
		if err == aio.ErrQueueClosed {
			return nil
		}
		if err != nil {
			return err
		}
		f.clock.start(x)
		if f.workers.take() {
			f.workers.add(f.reports.id, f.work)
		}
		var out *Outcome
		var res *httpclient.Response // of an earlier request
		switch {
		case x.lease.URL.Resolve:
			out, err = f.resolve(t, x.lease.URL)
		case x.lease.URL.Robots:
			f.robots.ask(x)
		case x.lease.URL.Errand != nil:
			out = f.errands.ask(x)
		default:
			if out = f.fetcher.ask(x); out == nil {
				res = f.fetcher.kept(x)
			}
		}
		switch {
		case res != nil:
			return f.take(t, x, res, nil)
		case out == nil:
			return f.client.DoThen(t, &x.req, func(t *aio.Task, res *httpclient.Response, err error) error {
				return f.take(t, x, res, err)
			})
		}
		if err := f.finish(x, out, err); err != nil {
			return err
		}
	}
}

// take takes in what came of a request.
func (f *Loop) take(t *aio.Task, x *fetching, res *httpclient.Response, err error) error {
	take := f.fetcher.fetched
	switch {
	case x.lease.URL.Robots:
		take = f.robots.fetched
	case x.lease.URL.Errand != nil:
		take = f.errands.fetched
	}
	out, err := take(t, x, res, err)
	if err := f.finish(x, out, err); err != nil || x.lease.URL.Responded && !f.workers.rejoin() {
		return err
	}
	return t.Then(f.work)
}

// finish reports the outcome of a lease. An error ends the crawl.
func (f *Loop) finish(x *fetching, out *Outcome, err error) error {
	if f.broken && errors.Is(err, aio.ErrCanceled) {
		out, err = &Outcome{URL: x.lease.URL, Postpone: true, Broken: true, Holds: out.Holds}, nil
	}
	if err != nil {
		return err
	}
	if !x.lease.URL.Responded { // else the task is no worker any more
		f.workers.idle++
	}
	out.Ticket, out.Began = x.lease.Ticket, f.clock.startOf(x)
	f.reports.send(out)
	return nil
}

// resolve looks up the address of a host. If there is none, connecting reports it.
func (f *Loop) resolve(t *aio.Task, u frontier.URL) (*Outcome, error) {
	out := &Outcome{URL: u}
	to, err := f.client.Lookup(t, u.URL.Scheme(), u.URL.Host())
	if err != nil && endsCrawl(err) {
		return out, err
	}
	var e *httpclient.Error
	if errors.As(err, &e) {
		out.blameNetwork(e, false)
	}
	if len(to) > 0 {
		out.Result.Addr = to[0].Addr()
	}
	f.archiver.addAddresses(out, to)
	return out, nil
}
