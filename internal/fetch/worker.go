package fetch

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/warc"
	"github.com/weftcrawl/weft/weburl"
)

// fetching is a lease on its way: what is known until a response comes. There are thousands that
// wait, so it is little.
type fetching struct {
	lease   Lease
	req     httpclient.Request
	started time.Duration // since clock.began
	session int           // Reads of it, then
	kept    *Exchange     // of a page, which has brought the response; nil: none
}

// clock times the tries of leases.
type clock struct {
	loop  *aio.Loop
	began time.Time // about when the loop was made, on its clock
}

// start notes when a lease is tried.
func (c *clock) start(x *fetching) { x.started = c.loop.Now().Sub(c.began) }

// startOf returns the time of the loop at which a lease was tried.
func (c *clock) startOf(x *fetching) time.Time { return c.began.Add(x.started) }

// when returns the date of a time of the loop.
func (c *clock) when(at time.Time) time.Time { return c.loop.Wall().Add(at.Sub(c.loop.Now())) }

// fetcher makes the requests for URLs, and takes in what comes of them.
// Owner: one loop.
type fetcher struct {
	cfg      *Config
	clock    *clock
	posts    seed.Posts
	reach    *reach
	pages    *pageReader
	archiver *archiver
}

// ask makes the request of one try at a URL, or the outcome if there is to be none.
func (f *fetcher) ask(x *fetching) *Outcome {
	l := x.lease
	u := l.URL
	x.session = f.cfg.Session.Reads()
	x.req = f.request(l, u.URL)
	req := &x.req
	req.Cut = IsSitemap(u) // the part that came is of use
	if err := makePost(f.posts, req, &u); err != nil {
		return f.unasked(x, string(httpclient.KindScheme), err)
	}
	// A page whose scripts ask for what may have changed is needed in full.
	if req.Method == "" && f.cfg.Render == nil && (f.cfg.Archive == nil || u.Known != nil && !u.Known.Capture.At.IsZero()) {
		// A 304 refers to a capture.
		req.Header = conditions(u.Known)
	}
	f.cfg.check(req, &u)
	if err := f.askHook(u, req); err != nil {
		return f.unasked(x, record.KindRefused, err)
	}
	return nil
}

// newOutcome returns the outcome of a try at a URL.
func newOutcome(l Lease) *Outcome {
	out := &Outcome{URL: l.URL, Before: l.URL.Known, watched: l.Sketch}
	out.Again = l.URL.Known != nil || Responses(l.URL.Past) > 0
	return out
}

// unasked returns the outcome of a URL that is not requested.
func (f *fetcher) unasked(x *fetching, kind string, err error) *Outcome {
	out := newOutcome(x.lease)
	out.Record = f.newRecord(out.URL, f.clock.startOf(x))
	out.Record.Tries, out.Record.ErrorKind, out.Record.Error = 0, kind, err.Error()
	return out
}

// fetched takes in what came of a request. An error ends the crawl: a cancelled task, OnPage, or
// the disk.
func (f *fetcher) fetched(t *aio.Task, x *fetching, res *httpclient.Response, err error) (*Outcome, error) {
	out, u, req, started := newOutcome(x.lease), x.lease.URL, &x.req, f.clock.startOf(x)
	out.session, out.Exchange = x.session, x.kept
	if res != nil {
		defer res.Close()
	}
	if res != nil && x.kept == nil {
		out.Cookies = f.cfg.cookiesOf(req, res)
		out.Result = f.reach.answered(u, u.URL, res, f.clock.loop.Wall())
		out.Network = NetworkUp
	}
	cut := ""
	if err != nil {
		if endsCrawl(err) {
			return out, err
		}
		cut = cutOff(kindOf(err))
		if res == nil || u.Role != frontier.RoleExternal {
			// The head of a response is an answer to a check.
			f.fail(out, req, res, err, started)
			if out.Record == nil {
				return out, nil
			}
			return out, f.archiver.add(t, out, u.URL, res, f.clock.when(started), cut)
		}
	}
	if again := mayPass(res.Status); u.Tries < f.cfg.retries(&u) && (again && repeatable(req, res, nil) || dislikesHead(req, res.Status, nil)) {
		out.Retry, out.AtOnce, out.Try = true, !again, frontier.Try{Status: res.Status}
		return out, nil
	}
	if err == nil {
		why := ""
		t.OnLoop(func() { why = f.cfg.signedOut(&u, res) })
		if f.cfg.signOut(out, why) {
			return out, nil
		}
	}
	out.Record = f.newRecord(u, started)
	f.received(out.Record, res)
	out.Record.Method = req.Method
	at := f.clock.when(started)
	if x.kept != nil {
		at = x.kept.at
		out.Record.Started = at.UTC().Truncate(time.Millisecond)
	}
	if res.Truncated {
		cut = warc.CutLength
	}
	if err := f.pages.read(t, &x.lease, at, out, res); err != nil {
		return out, err
	}
	if out.Postpone || out.SignedOut != "" {
		return out, nil
	}
	switch {
	case x.kept != nil: // it is there
		x.kept.placeIn(out, f.cfg.Visit)
		return out, nil
	case req.Method == methodHead: // an archive has what GET brings
		return out, nil
	}
	f.keep(x, out.Record, res)
	return out, f.archiver.add(t, out, u.URL, res, at, cut)
}

// askHook calls OnRequest, which may change the request's header; an error refuses the URL.
func (f *fetcher) askHook(u frontier.URL, req *httpclient.Request) error {
	if f.cfg.Hooks.OnRequest == nil {
		return nil
	}
	r := Request{URL: u.URL, From: u.From, Depth: u.Depth, Tries: u.Tries, Header: req.Header}
	err := f.cfg.Hooks.OnRequest(&r)
	req.Header = r.Header
	return err
}

// crowdedTries are the further tries of a URL whose response waited in vain for memory that
// others hold: the server is not to blame, but has sent it each time.
const crowdedTries = 5

// fail takes in an error of the exchange; res is what came of the response, or nil.
func (f *fetcher) fail(out *Outcome, req *httpclient.Request, res *httpclient.Response, err error, started time.Time) {
	var e *httpclient.Error
	errors.As(err, &e)
	out.AtOnce, out.Result.Total = errors.Is(e, httpclient.ErrStale) || dislikesHead(req, 0, e), e.Timing.Total
	out.Result.Overload = e.Overloaded()
	if !out.AtOnce && repeatable(req, res, e) { // else it would be sent again
		out.blameNetwork(e, res != nil)
		if res == nil && !e.Overloaded() {
			blameHost(&out.Result, e)
		}
	}
	instead, guessed := Instead(out.URL, string(e.Kind))
	switch {
	case guessed:
		out.Instead = &instead
	case !repeatable(req, res, e):
	case e.Overloaded() && (e.Unsent() || !e.Alone()): // the server has not judged this URL
		out.Await = true
		return
	case errors.Is(e, httpclient.ErrNoRoom) && out.URL.Tries < f.cfg.Retries+crowdedTries:
		out.Retry, out.Try = true, frontier.Try{Kind: string(e.Kind), Reason: e.Err.Error()}
		return
	case errors.Is(e, httpclient.ErrNoRoom):
	case e.Kind == httpclient.KindResource:
		out.Postpone = true
	case out.AtOnce, e.Temporary() && out.URL.Tries < f.cfg.retries(&out.URL):
		out.Retry, out.Try = true, frontier.Try{Kind: string(e.Kind), Reason: e.Err.Error()}
		return
	}
	r := f.newRecord(out.URL, started)
	if res != nil {
		f.received(r, res)
	}
	Failed(r, e)
	if guessed {
		r.Error = TriedInstead(r.Error, instead.URL)
	}
	out.Record = r
}

// request returns the request for u, which a lease or its redirects led to.
func (f *fetcher) request(lease Lease, u weburl.URL) httpclient.Request {
	req := httpclient.Request{
		Scheme: u.Scheme(), Host: u.Host(), Target: targetOf(lease.URL, u), Allow: f.reach.allow(lease.URL, u),
		Once: true, Fresh: lease.URL.Tries > 0, // the frontier says when to try again
		Prompt: lease.URL.Prompt,
	}
	if lease.Guess {
		req.ConnectTimeout = seed.Patience
	}
	if at := lease.URL.Where(); u.Hostname() == at.Hostname() {
		req.Prefer, req.Pinned = lease.URL.Addr, lease.URL.Pinned // the address whose turn it is
	}
	return req
}

// newRecord returns the record of a try that started at a time of the loop and ends now.
func (f *fetcher) newRecord(u frontier.URL, started time.Time) *record.Record {
	return newRecord(u, f.cfg.Visit, f.clock.when(started))
}

func newRecord(u frontier.URL, visit int, started time.Time) *record.Record {
	r := &record.Record{
		URL:     u.URL.String(),
		From:    u.From,
		Depth:   u.Depth,
		Role:    RoleOf(&u),
		Tries:   u.Tries + 1,
		Started: started.UTC().Truncate(time.Millisecond),
	}
	if u.URL.Post() != "" {
		r.Method = methodPost
	}
	if visit > 1 {
		r.Visit = visit
	}
	return r
}

// Refused returns the record of a URL that is not requested.
func Refused(u frontier.Refusal, visit int, now time.Time) *record.Record {
	r := newRecord(u.URL, visit, now)
	r.Tries, r.ErrorKind, r.Error = 0, u.Kind, u.Reason
	r.Indexability = r.Judge()
	return r
}

// received is Received, with the header fields that are asked for.
func (f *fetcher) received(r *record.Record, res *httpclient.Response) {
	Received(r, res)
	for _, name := range f.cfg.Headers {
		r.Headers.Add(name, res.Header.Values(name))
	}
}

// Received records the metadata of a response, or of the received part of one.
func Received(r *record.Record, res *httpclient.Response) {
	r.Status, r.Bytes, r.BodyBytes = res.Status, res.Wire, len(res.Body)
	r.ContentType, r.Encoding = record.BriefContentType(res.Header.Get("Content-Type")), res.Encoding
	r.Protocol, r.TLS = res.Protocol(), res.Secured()
	if res.Addr.IsValid() {
		r.IP = res.Addr.Addr().String()
	}
	timing(r, res.Timing)
}

// Failed records the error of an exchange.
func Failed(r *record.Record, e *httpclient.Error) {
	r.ErrorKind, r.Error, r.Bytes = string(e.Kind), e.Err.Error(), e.Wire
	if e.Addr.IsValid() {
		r.IP = e.Addr.Addr().String()
	}
	timing(r, e.Timing)
}

func timing(r *record.Record, t httpclient.Timing) {
	ms := record.Milliseconds
	r.DNSMS, r.ConnectMS, r.TLSMS, r.TTFBMS, r.TotalMS = ms(t.DNS), ms(t.Connect), ms(t.TLS), ms(t.FirstByte), ms(t.Total)
}
