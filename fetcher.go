package weft

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/dns"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/internal/charset"
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
	answer  frontier.Answer
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
	ended   frontier.Try     // how the try has ended, if it is to be made again
	dropped []dropped        // links that are not followed
	first   duplicates.Verdict
	hold    *budget.Hold // of an outcome that is big, until it is saved; see weigh
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
		try = frontier.Try{Status: r.Status, Kind: r.ErrorKind, Reason: cmp.Or(r.Error, r.Redirect, r.duplicate())}
	}
	try.At, try.Reason = now, frontier.Brief(try.Reason)
	return try
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
	var page *Page
	t.OnLoop(func() {
		page = f.read(&out, res)
		f.compare(&out, res)
	})
	res.Keep(-unpacks)
	out.weigh(res)
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
func answerOf(res *http1.Response, now time.Time) frontier.Answer {
	a := frontier.Answer{
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
func blameHost(a *frontier.Answer, e *http1.Error) {
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
// them, or a date.
func retryAfter(value string, now time.Time) time.Duration {
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

// read fills the record from an answer and finds the links in it. It runs on the
// loop's stack. The page is nil if there is nothing to keep.
func (f *fetcher) read(out *outcome, res *http1.Response) *Page {
	r, u := out.record, out.url
	if len(res.Body) > 0 {
		out.content = sha256.Sum256(res.Body)
		r.SHA256 = hex.EncodeToString(out.content[:])
	}
	var page *Page
	if f.cfg.KeepBodies || f.cfg.Hooks.OnPage != nil {
		page = &Page{Record: r, Header: res.Header, Body: res.Body, text: res.Body}
	}
	location := res.Header.Get("Location")
	if isRedirect(res.Status) && location != "" {
		f.redirect(out, location)
		if !f.cfg.KeepBodies {
			return nil
		}
		page.redirect = true
		return page
	}
	collect := f.cfg.Hooks.OnPage != nil
	if !collect && sameBody(u.Known, out.content, r) && sameLinks(u.Known, res) {
		out.text.Hash = u.Known.Text
		return page // its links were found when they were new
	}
	body := res.Body
	if links.Reads(r.ContentType) {
		if body, r.Charset = charset.UTF8(r.ContentType, res.Body); len(body) > 0 && &body[0] != &res.Body[0] {
			res.Keep(len(body))
		}
	}
	if page != nil {
		page.text = body
	}
	if res.Status < 200 || res.Status >= 300 && !collect {
		return page
	}
	s := sighting{f: f, out: out, follow: res.Status < 300, page: page, collect: collect, depth: u.Depth + 1}
	if s.follow && f.cfg.Sitemaps && (isSitemap(u) || resemblesSitemap(res)) && s.sitemap(res) {
		f.judge(out)
		return page
	}
	links.Header(u.URL, res.Header.Values("Link"), s.link)
	var said links.Page
	doc := links.Document{Base: u.URL, ContentType: r.ContentType, Body: body, Charset: r.Charset}
	if f.cfg.Duplicates == DuplicatesNear || f.desk.job != nil { // to tell what is nearly the same; or changed, at a later visit
		said, out.text = f.text.Extract(f.links, doc, s.link)
	} else {
		said = f.links.Extract(doc, s.link)
	}
	f.judge(out)
	r.Title = said.Title
	if said.Cut {
		out.drop(reasonTooMany)
	}
	said.Add(links.RobotsTag(res.Header.Values("X-Robots-Tag"), f.cfg.UserAgent))
	r.Robots = said.All()
	if said.NoFollow && !f.cfg.NoRobots {
		s.forget(reasonNoFollow)
	}
	if r.Pruned {
		s.forget(reasonDuplicate)
	}
	out.links = append(out.links, s.wanted...)
	return page
}

// followed is what a crawl follows: what leads to pages, and style sheets; not the rest of
// what pages are made of.
var followed = links.KindsOf(links.KindPage, links.KindFrame, links.KindRedirect, links.KindCanonical, links.KindAlternate,
	links.KindFeed, links.KindNext, links.KindPrev, links.KindRelated, links.KindStyle)

// extraction says what is read of a page: all of its links, or only those that are followed.
func (c *config) extraction() links.Options {
	if c.KeepLinks || c.Hooks.OnLink != nil || c.Hooks.OnPage != nil {
		return links.Options{Agent: c.UserAgent}
	}
	return links.Options{Kinds: followed, Bare: true, Agent: c.UserAgent}
}

// sighting is what becomes of the links of one page.
type sighting struct {
	f       *fetcher
	out     *outcome
	page    *Page
	follow  bool           // an error page's links are told, not followed
	collect bool           // into page
	depth   int            // of what they lead to
	rank    int8           // the same
	n       int            // links
	text    int            // of them, as maxLinkText has it
	asked   int            // of them, those that OnLink has followed
	wanted  []frontier.URL // by it
	again   []frontier.URL // by it, but sent lately, perhaps for this page
}

// forget takes back the links to follow, but for those that OnLink wants, be it by another mention.
func (s *sighting) forget(reason string) {
	for _, u := range s.out.links {
		s.f.recent.Forget(u.URL)
	}
	s.out.links = nil
	s.wanted = append(s.wanted, s.again...)
	for range s.out.record.Links - s.asked {
		s.out.drop(reason)
	}
	s.out.record.Links = s.asked
}

// recentURLs is how many URLs a fetch loop remembers of those that it has sent the desk.
const recentURLs = 1 << 12

// maxLinks bounds how many links of a page are looked at, mentions counted: each costs
// memory here and time at the desk, and more are no work of people.
const maxLinks = 100_000

// maxLinkText bounds their text, in bytes: of each its own and that of the page, which goes with
// it. By <base> a page of a megabyte can be gigabytes of links.
const maxLinkText = 32 << 20

// maxURL bounds a URL that is followed, in bytes, whatever MaxURLLength and a hook say. Of pages
// that want one so long there are next to none: servers read 8 KiB. What one host can make a
// crawl remember is then bounded too.
const maxURL = 16 << 10

func (s *sighting) link(l links.Link) bool {
	f, r := s.f, s.out.record
	s.n++
	s.text += len(l.URL.String()) + len(r.URL)
	if s.n > maxLinks || s.text > maxLinkText {
		s.out.drop(reasonTooMany)
		return false
	}
	if s.collect {
		s.page.Links = append(s.page.Links, l)
	}
	if !s.follow {
		return true
	}
	if f.cfg.KeepLinks {
		s.out.lines = append(s.out.lines, linkLine(r.URL, l)...)
	}
	to := l.URL
	if f.cfg.Canon != 0 {
		to = f.cfg.Canon.Apply(to)
	}
	var v Verdict
	if f.cfg.Hooks.OnLink != nil {
		v = f.cfg.Hooks.OnLink(s.out.url.URL, l)
	}
	reason := ""
	switch {
	case v.Decision == Drop:
		if reason = v.Reason; reason == "" {
			reason = reasonDropped
		}
	case v.Decision == ByScope && !followed.Has(l.Kind) || l.Kind == links.KindHint:
		return true
	case len(to.String()) > maxURL:
		reason = reasonTooLong
	case v.Decision == ByScope && l.NoFollow && !f.cfg.NoRobots:
		reason = reasonRel
	case v.Decision == ByScope:
		reason = f.bounds.refuses(to, s.depth)
	}
	if reason != "" {
		s.out.drop(reason)
		return true
	}
	list := &s.out.links
	u, _, added := f.recent.Add(to)
	if v.Decision == Follow {
		s.asked++
		list = &s.wanted
		if !added {
			list, added = &s.again, true
		}
	}
	r.Links++
	f.mention(s.out.url.URL, to)
	if added {
		*list = append(*list, frontier.URL{URL: u, From: r.URL, Depth: s.depth, Priority: int8(max(-128, min(127, v.Priority))), Rank: s.rank})
	}
	return true
}

func (out *outcome) drop(reason string) {
	for i := range out.dropped {
		if out.dropped[i].reason == reason {
			out.dropped[i].n++
			return
		}
	}
	out.dropped = append(out.dropped, dropped{reason, 1})
}

func linkLine(from string, l links.Link) []byte {
	b, err := json.Marshal(LinkRecord{From: from, To: l.URL.String(), Tag: l.Tag, Attr: l.Attr, Rel: l.Rel, Kind: l.Kind.String(), Text: l.Text})
	if err != nil {
		panic("weft: a link that is no JSON: " + err.Error()) // strings cannot cause it
	}
	return append(b, '\n')
}

// redirect notes where an answer leads. A seed's redirect is followed out of the
// scope, which the desk widens by it, but into no trap. A nofollow in the head of the answer is
// about links of a page, and a redirect is none.
func (f *fetcher) redirect(out *outcome, location string) {
	to, err := out.url.URL.Resolve(location)
	if err != nil {
		out.record.ErrorKind, out.record.Error = KindLocation, err.Error()
		return
	}
	out.record.Redirect = to.String()
	asItStands := to.Canonical()
	to = f.cfg.Canon.Apply(to)
	switch {
	case !to.IsHTTP():
		out.record.ErrorKind, out.record.Error = KindLocation, fmt.Sprintf("leads to scheme %.64q, expected http or https", to.Scheme())
		return
	case len(to.String()) > maxURL:
		out.drop(reasonTooLong)
		return
	case to == out.url.URL && asItStands != to:
		to = asItStands // the rules make one page of two that lead one to the other
	}
	reason := f.bounds.refusesTarget(to, out.url.Depth)
	if isSitemap(out.url) {
		reason = f.bounds.refusesSitemap(to)
	}
	if reason != "" {
		out.drop(reason)
		return
	}
	f.mention(out.url.URL, to)
	out.target = &frontier.URL{URL: to, From: out.record.URL, Depth: out.url.Depth, Priority: out.url.Priority, Rank: out.url.Rank}
}
