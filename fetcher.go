package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/text"
	"github.com/weftcrawl/weft/weburl"
)

// fetcher is one fetch loop: its workers, their client, and the way to the desk.
// Owner: its loop. The desk reaches it through inbox.
type fetcher struct {
	id      int
	cfg     *config
	loop    *aio.Loop
	inbox   *aio.Handle // of this loop, held by the desk
	desk    *desk
	outbox  *aio.Handle // of the desk's loop
	workers int         // at most
	hired   int
	idle    int // of these
	client  *http1.Client
	reading *aio.Quota
	turn    aio.Lock // of who reads a page: see mayRead
	leases  aio.Queue[lease]
	bounds  bounds       // a copy of the desk's, which sends what it adds
	reach   reach        // the same
	recent  *weburl.Memo // of what it has sent the desk lately
	links   *links.Extractor
	text    *text.Reader
	visit   int       // of the job: see Summary
	batch   []outcome // of this turn, on its way to the desk

	judges, admits func(netip.AddrPort) error // what allow returns, made once
}

// lease is one that is handed to a worker.
type lease struct {
	frontier.URL
	slot *slot
}

// outcome answers a lease.
type outcome struct {
	url     frontier.URL
	slot    *slot
	answer  frontier.Result
	retry   bool             // an error that may pass, and tries are left
	later   bool             // this machine was short of something: no try, and no error of the URL's, unless it is so for long
	crowded bool             // with later: short of memory for bodies, of which others had some, so it does not last
	robots  *robotsAnswer    // of a lease of robots.txt
	record  *Record          // if none of these, and of later
	links   []frontier.URL   // to follow, not seen lately
	target  *frontier.URL    // of a redirect that is followed
	lines   []byte           // for links.jsonl
	folder  string           // of the body that is kept
	content [32]byte         // SHA-256 of the body; zero: there is none
	text    text.Fingerprint // of the page's text; zero: it was not read
	saved   int64            // bytes that an unchanged page has not sent again
	moved   bool             // it redirects, and did not when it was first asked for
	ended   frontier.Try     // how the try has ended, if it is to be made again
	dropped []dropped        // links that are not followed
	first   duplicates.Verdict
	read    budget.Hold    // from mayRead to weigh
	holds   []*budget.Hold // of an outcome that is big, until it is saved; see weigh
}

// leads yields the URLs that it may add to the frontier.
func (out *outcome) leads(yield func(weburl.URL) bool) bool {
	lists := [][]frontier.URL{out.links, nil}
	if out.robots != nil {
		lists[1] = out.robots.maps
	}
	for _, list := range lists {
		for i := range list {
			if !yield(list[i].URL) {
				return false
			}
		}
	}
	return out.target == nil || yield(out.target.URL)
}

// try is how it has ended.
func (out *outcome) try(now time.Time) frontier.Try {
	try := out.ended
	if r := out.record; r != nil {
		try = frontier.Try{Status: r.Status, Kind: r.ErrorKind, Reason: cmp.Or(r.Error, r.Redirect, out.unfollowed())}
	}
	try.At, try.Reason = now, frontier.Brief(try.Reason)
	return try
}

// unfollowed says of what a page is a duplicate, and why links of it are not followed that would be if they
// stood elsewhere.
func (out *outcome) unfollowed() string {
	said := []string{}
	if d := out.record.duplicate(); d != "" {
		said = append(said, d)
	}
	for _, d := range out.dropped {
		switch d.reason {
		case reasonNoFollow:
			said = append(said, "its links are not followed, as it says nofollow")
		case reasonTooMany:
			said = append(said, "its last links are not followed, as they are too many")
		case reasonBroken:
			said = append(said, "it is broken, so that not all URLs in it could be read")
		}
	}
	return strings.Join(said, "; ")
}

// dropped counts mentions of links by the reason why they are not followed.
type dropped struct {
	reason string
	n      int
}

// run is the task that the fetcher's workers belong to. It ends when the desk has
// closed the queue of leases.
func (f *fetcher) run(t *aio.Task) error {
	c := f.cfg
	f.judges, f.admits = f.reach.guard.Judge, f.admit
	f.client = http1.NewClient(t.Loop(), http1.Options{
		Timeout: c.Timeout, DialTimeout: c.DialTimeout, TLSTimeout: c.TLSTimeout, FirstByteTimeout: c.FirstByteTimeout,
		IdleTimeout: c.IdleTimeout, MinRate: c.MinRate, MaxBody: c.MaxBody, MaxIdle: (c.Concurrency + c.Loops - 1) / c.Loops, Meter: f.desk.meter, MaxKept: f.desk.shares.kept,
		UserAgent: c.UserAgent, Header: c.Header, Cookies: c.Cookies, Auth: c.Auth, Proxy: c.Proxy, Insecure: c.Insecure, RootCAs: c.RootCAs,
		Resolve: c.Resolve, Resolver: dns.New(t.Loop(), dns.Options{Servers: c.DNS}),
	})
	f.reading = aio.NewQuota(f.loop, readQuota)
	f.links, f.text = links.NewExtractor(c.extraction()), &text.Reader{HashOnly: c.Duplicates != DuplicatesNear}
	f.recent = weburl.NewMemo(recentURLs)
	defer f.client.Close()
	defer f.outbox.Close()
	return t.Group(func(g *aio.Group) error {
		f.hire(g)
		return nil
	})
}

// hire adds a worker.
func (f *fetcher) hire(g *aio.Group) {
	f.hired++
	f.idle++
	g.Go(fmt.Sprintf("worker %d.%d", f.id, f.hired), func(t *aio.Task) error { return f.work(t, g) })
}

// Bodies of more than shortBody bytes are read in turn: at most readQuota bytes in a turn of
// the loop, and one body more. Others do not wait for them.
const (
	readQuota = 1 << 20 // a few milliseconds' work
	shortBody = 64 << 10
)

// work answers leases. As long as there may be more workers one is idle, for the next lease.
func (f *fetcher) work(t *aio.Task, g *aio.Group) error {
	for {
		l, err := f.leases.Get(t)
		if err == aio.ErrQueueClosed {
			return nil
		}
		if err != nil {
			return err
		}
		if f.idle--; f.idle == 0 && f.hired < f.workers {
			f.hire(g)
		}
		var out outcome
		switch {
		case l.Resolve:
			out, err = f.resolve(t, l.URL)
		case l.Robots:
			out, err = f.fetchRobots(t, l.URL)
		default:
			out, err = f.fetch(t, l.URL)
		}
		if err != nil {
			return err
		}
		f.idle++
		out.slot = l.slot
		f.send(out)
	}
}

// send puts an outcome into the batch that goes to the desk when this turn's tasks
// have run.
func (f *fetcher) send(out outcome) {
	f.batch = append(f.batch, out)
	if len(f.batch) == 1 {
		f.loop.CallSoon(func() {
			batch := f.batch
			f.batch = nil
			// The desk's loop ends after its fetchers, or by an error that has
			// cancelled them: then nobody needs the batch.
			_ = f.outbox.Post(func() { f.desk.receive(f, batch) })
		})
	}
}

// fetch makes one try at a URL. An error is that of a cancelled task, of OnPage, or
// of the disk: it ends the crawl.
func (f *fetcher) fetch(t *aio.Task, u frontier.URL) (outcome, error) {
	out := outcome{url: u}
	started := f.loop.Now()
	req := f.request(u, u.URL)
	req.Cut = isSitemap(u) // what there is of it is of use
	req.Header = conditions(u.Known)
	if f.cfg.Hooks.OnRequest != nil {
		r := Request{URL: u.URL, From: u.From, Depth: u.Depth, Tries: u.Tries, Header: req.Header}
		if err := f.cfg.Hooks.OnRequest(&r); err != nil {
			out.record = newRecord(u, f.visit, started, started)
			out.record.Tries, out.record.ErrorKind, out.record.Error = 0, KindRefused, err.Error()
			return out, nil
		}
		req.Header = r.Header
	}
	res, err := f.client.Do(t, req)
	if res != nil {
		defer res.Close()
		out.answer = answerOf(res, started)
		out.answer.Public = u.Seed && isPublic(res.Addr)
	}
	if err != nil {
		var e *http1.Error
		if !errors.As(err, &e) || e.Kind == http1.KindCanceled {
			return out, err
		}
		if res == nil {
			blameHost(&out.answer, e)
		}
		switch {
		case e.Kind == http1.KindResource:
			out.later, out.crowded = true, errors.Is(e, http1.ErrNoRoom)
		case e.Temporary() && u.Tries < f.cfg.Retries:
			out.retry, out.ended = true, frontier.Try{Kind: string(e.Kind), Reason: e.Err.Error()}
			return out, nil
		}
		out.record = newRecord(u, f.visit, started, f.loop.Now())
		if res != nil {
			out.record.exchange(res)
		}
		out.record.failed(e)
		return out, nil
	}
	if mayPass(res.Status) && u.Tries < f.cfg.Retries {
		out.retry, out.ended = true, frontier.Try{Status: res.Status}
		return out, nil
	}
	out.record = newRecord(u, f.visit, started, f.loop.Now())
	out.record.exchange(res)
	unpacks := 0
	if f.cfg.Sitemaps && isGzip(res.Body) {
		unpacks = unpacked(res.Body, f.cfg.MaxBody)
		if err := res.Make(t, unpacks); err != nil {
			return out, err
		}
	}
	if n := len(res.Body); n > shortBody || unpacks > 0 {
		if err := f.reading.Take(t); err != nil {
			return out, err
		}
		f.reading.Spend(n)
	}
	if err := f.mayRead(t, &out); err != nil {
		return out, err
	}
	var page *Page
	t.OnLoop(func() {
		page = f.read(&out, res)
		f.compare(&out, res)
	})
	res.Keep(-unpacks)
	out.weigh(res, page)
	f.turn.Unlock(t)
	out.folder, err = f.keep(t, page)
	return out, err
}

// request is that for u, which a lease or its redirects led to.
func (f *fetcher) request(lease frontier.URL, u weburl.URL) http1.Request {
	req := http1.Request{Scheme: u.Scheme(), Host: u.Host(), Target: u.RequestTarget(), Allow: f.allow(lease, u)}
	if at := lease.Where(); u.Hostname() == at.Hostname() {
		req.Prefer, req.Pinned = lease.Addr, lease.Pinned // whose turn it is
	}
	return req
}

// answerOf says what an answer teaches about the host's pace.
func answerOf(res *http1.Response, now time.Time) frontier.Result {
	a := frontier.Result{
		Took:     res.Timing.FirstByte,
		Addr:     res.Addr.Addr(),
		Overload: res.Status == 429 || res.Status == 503,
	}
	if a.Overload {
		a.RetryAfter = retryAfter(res.Header.Get("Retry-After"), now)
	}
	return a
}

// blameHost takes into an answer an error that is the host's: it has not answered at all. Others
// are of one page, or of this machine.
func blameHost(a *frontier.Result, e *http1.Error) {
	switch e.Kind {
	case http1.KindFirstByteTimeout, http1.KindTimeout, http1.KindReset, http1.KindEarlyEnd:
		a.Silent = true
	case http1.KindDNS, http1.KindConnect, http1.KindDialTimeout, http1.KindTLS, http1.KindTLSTimeout:
	default:
		return
	}
	a.Failure, a.Reason = string(e.Kind), frontier.Brief(e.Err.Error())
}

// resolve asks for the address of a host. That there is none is told by who connects.
func (f *fetcher) resolve(t *aio.Task, u frontier.URL) (outcome, error) {
	out := outcome{url: u}
	to, err := f.client.Lookup(t, u.URL.Scheme(), u.URL.Host())
	var e *http1.Error
	if err != nil && (!errors.As(err, &e) || e.Kind == http1.KindCanceled) {
		return out, err
	}
	if len(to) > 0 {
		out.answer.Addr = to[0].Addr()
	}
	return out, nil
}

// retryAfter reads a Retry-After field (RFC 9110, section 10.2.3): seconds, any number of
// them, or a date. Some send seconds with a fraction, which are rounded up.
func retryAfter(value string, now time.Time) time.Duration {
	whole, fraction, point := strings.Cut(value, ".")
	if _, err := strconv.ParseUint(fraction, 10, 64); point && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return retryAfter(whole, now) + time.Second
	}
	s, err := strconv.ParseUint(value, 10, 31)
	switch {
	case err == nil:
		return time.Duration(s) * time.Second
	case errors.Is(err, strconv.ErrRange):
		return frontier.MaxRetryAfter
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// isRedirect says whether an answer of a status leads elsewhere, if it says where.
func isRedirect(status int) bool { return status >= 300 && status < 400 }

// mayPass says whether a status may be another one later.
func mayPass(status int) bool {
	return status == 429 || status == 502 || status == 503 || status == 504
}

// keep does with a page what takes time: the body is kept, in the folder that is returned,
// and the user's hook is called. A nil page is nothing to do.
func (f *fetcher) keep(t *aio.Task, page *Page) (folder string, err error) {
	if page == nil {
		return "", nil
	}
	return aio.Offload(t, func(ctx context.Context) (folder string, err error) {
		if f.cfg.KeepBodies && len(page.Body) > 0 {
			if folder, err = f.desk.job.keepBody(page.SHA256, page.Body); err != nil {
				return "", err
			}
		}
		if f.cfg.Hooks.OnPage != nil && !page.redirect {
			if err := f.cfg.Hooks.OnPage(ctx, page); err != nil {
				return "", fmt.Errorf("OnPage of %.128s: %w", page.URL, err)
			}
		}
		return folder, nil
	})
}
