package fetch

import (
	"errors"
	"net/http"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/httpcache"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
)

// Errand is a request of a page that is being rendered: see frontier.Errand.
type Errand struct {
	request *render.Request
	cookies *PageCookies
	to      chan answer // of capacity 1: full, when nobody waits any more
}

// answer is the outcome of an errand, for its page.
type answer struct {
	res  httpcache.Response
	held *budget.Hold // of res; nil: there is none
	err  error
}

// give ends an errand, once, from any goroutine.
func (e *Errand) give(a answer) {
	select {
	case e.to <- a:
	default: // nobody waits any more
		if a.held != nil {
			a.held.Release()
		}
	}
}

// Refuse ends an errand that has failed.
func (e *Errand) Refuse(err error) { e.give(answer{err: err}) }

// Forbid ends an errand that is not requested, by a rule.
func (e *Errand) Forbid(reason string) { e.Refuse(render.ByRule(reason)) }

// Refused ends an errand that the frontier refuses to lease.
func (e *Errand) Refused(kind, reason string) {
	switch kind {
	case record.KindRobots, record.KindNoRobots, string(httpclient.KindBlocked):
		e.Forbid(kind + ": " + reason)
	default:
		e.Refuse(errors.New(kind + ": " + reason))
	}
}

// errandFetcher makes the requests of pages that are being rendered.
// Owner: one loop.
type errandFetcher struct{ fetcher *fetcher }

// ask makes the request of an errand, or the outcome if there is to be none.
func (f *errandFetcher) ask(x *fetching) *Outcome {
	errand := errandOf(x)
	x.req = f.fetcher.request(x.lease, x.lease.URL.URL)
	x.req.Once = false
	x.req.Method = errand.request.Method
	if errand.request.Type.MayStayOpen() {
		x.req.FirstByteTimeout = mostOpen
	}
	if post := postBy(errand.request); post != nil {
		x.req.Body = post.Body
	}
	x.req.Header = append(x.req.Header, FromBrowser(errand.request)...)
	x.req.Cookies = errand.cookies.Of(errand.request, x.lease.URL.URL)
	x.req.Stranger = errand.cookies.Stranger(errand.request, x.lease.URL.URL)
	if err := f.fetcher.askHook(x.lease.URL, &x.req); err != nil {
		errand.Forbid(err.Error())
		return &Outcome{URL: x.lease.URL}
	}
	errand.request.Sent()
	return nil
}

func errandOf(x *fetching) *Errand { return x.lease.URL.Errand.For.(*Errand) }

// fetched takes in what came of that request: see fetcher.fetched. A redirect is a response: the
// browser asks for its target.
func (f *errandFetcher) fetched(t *aio.Task, x *fetching, res *httpclient.Response, err error) (*Outcome, error) {
	u, at, out := x.lease.URL, x.lease.URL.URL, &Outcome{URL: x.lease.URL}
	if out.sent = postBy(errandOf(x).request); out.sent != nil {
		at = at.WithPost(out.sent.Digest())
	}
	if res != nil {
		defer res.Close()
		out.Result, out.Network = f.fetcher.reach.answered(u, u.URL, res, f.fetcher.clock.loop.Wall()), NetworkUp
		out.Bytes = res.Wire
	}
	if err != nil {
		if endsCrawl(err) {
			errandOf(x).Refuse(err)
			return out, err
		}
		var e *httpclient.Error
		errors.As(err, &e)
		out.Result.Total, out.Result.Overload = e.Timing.Total, e.Overloaded()
		if e.Kind == httpclient.KindFirstByteTimeout && x.req.FirstByteTimeout > 0 {
			out.Failed = e.Err // no fault of the host
			return out, nil
		}
		out.blameNetwork(e, res != nil)
		if res == nil && !e.Overloaded() {
			blameHost(&out.Result, e)
		}
		if e.Kind == httpclient.KindBlocked {
			errandOf(x).Forbid(e.Err.Error())
		} else {
			out.Failed = e.Err
			f.mayPass(x, out, res, e)
		}
		return out, nil
	}
	if mayPass(res.Status) && u.Tries < f.fetcher.cfg.Retries && repeatable(&x.req, res, nil) && out.Result.RetryAfter <= mostPatience {
		out.Retry = true
		return out, nil
	}
	cut := ""
	if res.Truncated {
		cut = "length"
		errandOf(x).Refuse(errors.New("longer than a body may be"))
	} else {
		out.Exchange = newExchange(errandOf(x).request, res, f.fetcher.clock.when(f.fetcher.clock.startOf(x)))
		// What it takes counts until the browser has it, so that the next long one waits for that.
		a := answer{httpcache.Response{Status: res.Status, Header: out.Exchange.res.Header, Body: res.Lasting(), Exchange: out.Exchange}, new(budget.Hold), nil}
		res.Hand(a.held)
		res.CountWith(f.fetcher.archiver.bodies)
		errandOf(x).give(a)
	}
	// An archive has what GET and POST bring.
	if x.req.Method == methodHead || x.req.Method == http.MethodOptions {
		return out, nil
	}
	return out, f.fetcher.archiver.add(t, out, at, res, f.fetcher.clock.when(f.fetcher.clock.startOf(x)), cut)
}

// mostOpen is the most time that a request of a script waits for the first byte of its response.
// Its page has gone on by then, and a long poll would hold one of the host's connections.
var mostOpen = render.DefaultLimits.Open + 2*time.Second

// mostPatience bounds the wait before the next try of an errand, whose page has a tab all the time.
const mostPatience = time.Minute

// mayPass says of an errand that has failed whether it is tried again, as fetcher.fail does of a
// URL.
func (f *errandFetcher) mayPass(x *fetching, out *Outcome, res *httpclient.Response, e *httpclient.Error) {
	tries, most, crowded := x.lease.URL.Tries, f.fetcher.cfg.Retries, errors.Is(e, httpclient.ErrNoRoom)
	switch {
	case !repeatable(&x.req, res, e):
	case e.Overloaded() && (e.Unsent() || !e.Alone()):
		out.Await = true
	case crowded:
		out.Retry = tries < most+crowdedTries
	case e.Kind == httpclient.KindResource:
		out.Postpone = true
	default:
		out.Retry = e.Temporary() && tries < most
	}
}
