package fetch

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// Loop is one fetch loop: its workers, their client, and the way to the coordinator.
// Owner: its event loop. The coordinator calls Lease, Permit, Trust, Know, Exclude and Close, which
// post to it.
type Loop struct {
	id     int
	cfg    *Config
	shared *Shared
	report Report

	loop   *aio.Loop
	began  time.Time   // about when the loop was made, on its clock
	inbox  *aio.Handle // of this loop, held by the coordinator
	outbox *aio.Handle // of the coordinator's loop
	leases aio.Queue[*fetching]
	batch  []*Outcome // of this turn, on its way to the coordinator

	staff
	broken bool // see Break

	client   *httpclient.Client
	reading  *aio.Quota
	readers  readers
	turn     aio.Lock    // held by the worker that reads a page
	slices   slices      // the page that it reads
	short    *extractors // of pages that are read in one go
	long     *extractors // of long ones, which are read in slices; nil: none yet
	archived archived    // scratch

	bounds *scope.Bounds // shares what the coordinator's open
	reach  reach         // the coordinator sends what widens it
	known  map[sitemapKey]knownSitemap
}

// staff is the workers of a loop.
type staff struct {
	workers int // at most
	hired   int
	idle    int        // of these
	crew    *aio.Group // of these
}

// extractors read one page after another.
type extractors struct {
	links  *links.Extractor
	text   *fingerprint.Reader
	pieces *links.Extractor // finds what belongs to a page itself: see sketched
	recent *weburl.Memo     // URLs that they found, and that were sent to the coordinator lately
	pages  uint32           // read so far, for recent.Met
	led    weburl.Places    // to where the page leads that is read, as its links say it
}

// newExtractors returns extractors that take a number of quarters of what a loop may have.
func newExtractors(cfg *Config, quarters int) *extractors {
	return &extractors{
		links: links.NewExtractor(extraction(cfg)), text: &fingerprint.Reader{HashOnly: !cfg.Near},
		pieces: links.NewExtractor(links.Options{Kinds: sketched}),
		recent: weburl.NewMemo(recentURLs/4*quarters, cfg.RecentBytes/4*quarters),
	}
}

// NewLoop returns the fetch loop that runs on loop with as many workers; its reports are posted to
// the coordinator's loop.
func NewLoop(id int, cfg *Config, shared *Shared, loop, coordinator *aio.Loop, workers int, report Report) *Loop {
	f := &Loop{
		id: id, cfg: cfg, shared: shared, report: report,
		loop: loop, began: loop.Now(), inbox: loop.Handle(), outbox: coordinator.Handle(), staff: staff{workers: workers},
		bounds: shared.Bounds.Share(), short: newExtractors(cfg, 3),
	}
	f.reach = newReach()
	f.reach.distrust = cfg.Distrust
	f.reach.guard.AllowAll, f.reach.guard.OnOpen = cfg.AllowPrivate, f.networkOpened
	return f
}

// recentURLs is the number of URLs sent to the coordinator that a loop remembers.
const recentURLs = 1 << 12

// AIO returns the event loop that f runs on.
func (f *Loop) AIO() *aio.Loop { return f.loop }

// post runs fn on the loop; one that has ended needs nothing any more.
func (f *Loop) post(fn func()) { _ = f.inbox.Post(fn) }

// Lease hands URLs to the loop. It must not have more leases than workers.
func (f *Loop) Lease(leases []Lease) {
	f.post(func() { // a loop ends before the coordinator only by an error, which ends all
		for _, l := range leases {
			f.leases.TryPut(&fetching{lease: l})
		}
	})
}

// Permit lets links lead to private networks.
func (f *Loop) Permit(open []guard.Network) {
	f.post(func() {
		for _, n := range open {
			f.reach.guard.Open(n)
		}
	})
}

// Trust names seeds that were given one by one: see reach.
func (f *Loop) Trust(seeds []weburl.URL) { f.post(func() { f.reach.trust(seeds) }) }

// Know names seeds to whose origins the user's secrets may be sent: see httpclient.Options.Trusted.
func (f *Loop) Know(seeds []weburl.URL) { f.post(func() { f.reach.know(seeds) }) }

// Exclude adds an exclusion.
func (f *Loop) Exclude(re *regexp.Regexp) {
	f.post(func() {
		f.bounds.AddExclusion(re)
	})
}

// Disconnect closes the connections that are kept for later requests.
func (f *Loop) Disconnect() {
	f.post(func() {
		if f.client != nil {
			f.client.Disconnect()
		}
	})
}

// Break breaks off what is in flight: the workers leave, and all leases come back as Broken.
func (f *Loop) Break() {
	f.post(func() {
		f.broken = true
		if f.crew != nil {
			f.crew.Cancel()
		}
	})
}

// Close ends the loop when its leases have ended.
func (f *Loop) Close() {
	f.post(f.leases.Close)
	f.inbox.Close()
}

// Abandon closes what a loop that never ran still holds.
func (f *Loop) Abandon() {
	f.inbox.Close()
	f.outbox.Close()
}

// Ask runs fn on the loop, from any goroutine; false: it has ended.
func (f *Loop) Ask(fn func()) bool { return f.inbox.Post(fn) == nil }

// Run is the task that the workers belong to. It ends when the coordinator has closed the loop.
func (f *Loop) Run(t *aio.Task) error {
	o := f.cfg.HTTP
	if o.NeedsTrusted() {
		o.Trusted = f.reach.knows
	}
	o.OnBytes = f.shared.Heard.note
	o.Resolver = dns.New(f.loop, dns.Options{Servers: f.cfg.DNS, MaxNames: f.cfg.NameBytes / dns.NameBytes, Files: &f.shared.Files})
	f.client = httpclient.NewClient(f.loop, o)
	f.reading = aio.NewQuota(f.loop, readQuota)
	defer f.client.Close()
	defer f.outbox.Close()
	err := t.Group(func(g *aio.Group) error {
		f.crew = g
		f.hire(g)
		return nil
	})
	for err == nil && f.broken { // leases that no worker has taken
		var x *fetching
		if x, err = f.leases.Get(t); err == nil {
			f.send(&Outcome{URL: x.lease.URL, Ticket: x.lease.Ticket, Postpone: true, Broken: true})
		}
	}
	if err == aio.ErrQueueClosed {
		return nil
	}
	return err
}

// hire adds a worker.
func (f *Loop) hire(g *aio.Group) {
	f.hired++
	f.idle++
	g.Go(fmt.Sprintf("worker %d.%d", f.id, f.hired), f.work)
}

// work takes leases and reports their outcomes. As long as there may be more workers, one is idle
// and waits for the next lease. While it waits for a response it has no stack.
func (f *Loop) work(t *aio.Task) error {
	for {
		x, err := f.leases.Get(t)
		if err == aio.ErrQueueClosed {
			return nil
		}
		if err != nil {
			return err
		}
		f.start(x)
		if f.idle--; f.idle == 0 && f.hired < f.workers {
			f.hire(f.crew)
		}
		var out *Outcome
		switch {
		case x.lease.Resolve:
			out, err = f.resolve(t, x.lease.URL)
		case x.lease.Robots:
			f.askRobots(x)
		default:
			out = f.ask(x)
		}
		if out == nil {
			return f.client.DoThen(t, &x.req, func(t *aio.Task, res *httpclient.Response, err error) error {
				take := f.fetched
				if x.lease.Robots {
					take = f.fetchedRobots
				}
				out, err := take(t, x, res, err)
				if err := f.finish(x, out, err); err != nil {
					return err
				}
				return t.Then(f.work)
			})
		}
		if err := f.finish(x, out, err); err != nil {
			return err
		}
	}
}

// finish reports the outcome of a lease. An error ends the crawl.
func (f *Loop) finish(x *fetching, out *Outcome, err error) error {
	if f.broken && errors.Is(err, aio.ErrCanceled) {
		out, err = &Outcome{URL: x.lease.URL, Postpone: true, Broken: true, Holds: out.Holds}, nil
	}
	if err != nil {
		return err
	}
	f.idle++
	out.Ticket, out.Began = x.lease.Ticket, f.startOf(x)
	f.send(out)
	return nil
}

// send puts an outcome into the batch that goes to the coordinator at the end of this turn.
func (f *Loop) send(out *Outcome) {
	f.batch = append(f.batch, out)
	if len(f.batch) > 1 {
		return
	}
	f.loop.CallSoon(func() {
		batch := f.batch
		f.batch = nil
		// The coordinator's loop ends after this one, or by an error that has cancelled it: then
		// nobody needs the batch.
		_ = f.outbox.Post(func() { f.report.Outcomes(f.id, batch) })
	})
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
	f.noteAddresses(out, to)
	return out, nil
}

// kindOf returns the kind of an error of the exchange.
func kindOf(err error) httpclient.Kind {
	var e *httpclient.Error
	errors.As(err, &e)
	return e.Kind
}

// endsCrawl reports whether an error of the client is that of a cancelled task, and not of the
// exchange.
func endsCrawl(err error) bool {
	var e *httpclient.Error
	return !errors.As(err, &e) || e.Kind == httpclient.KindCanceled
}
