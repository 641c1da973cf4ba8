package fetch

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// maxRobots is the part of a robots.txt that is read, as sent and as decoded, whatever the limit
// for pages. RFC 9309, section 2.5 asks for at least 500 KiB; twice as much, since a coding that is
// flushed line by line can make a body longer.
const maxRobots = 2 * robots.MaxSize

// robotsFetcher makes the requests for the robots.txt of hosts, and takes in what comes of them.
// Owner: one loop.
type robotsFetcher struct {
	fetcher *fetcher
	bounds  *scope.Bounds
}

// ask makes the request for a host's robots.txt, where redirects have led to so far. They may
// lead to any host (RFC 9309, section 2.3.1.2); each is followed at the turn of the server there.
func (f *robotsFetcher) ask(x *fetching) {
	x.req = f.fetcher.request(x.lease, x.lease.URL.Where())
	x.req.MaxBody, x.req.Cut = maxRobots, true
}

// fetched takes in what came of that request: see fetcher.fetched.
func (f *robotsFetcher) fetched(t *aio.Task, x *fetching, res *httpclient.Response, err error) (*Outcome, error) {
	u, started := x.lease.URL, f.fetcher.clock.startOf(x)
	out := &Outcome{URL: u, Robots: new(Robots)}
	at := u.Where()
	if res != nil {
		defer res.Close()
		out.Robots.Bytes = res.Wire
	}
	if err != nil && endsCrawl(err) {
		return out, err
	}
	if err := f.fetcher.archiver.addRobots(t, out, at, res, f.fetcher.clock.when(started), err); err != nil {
		return out, err
	}
	if err != nil && (res == nil || robots.For(res.Status) == robots.Read) {
		// Else the status says it all.
		f.fail(out, res, err)
		return out, nil
	}
	out.Result, out.Network = f.fetcher.reach.answered(u, at, res, f.fetcher.clock.loop.Wall()), NetworkUp
	if f.fetcher.cfg.NoRobots { // it was to see whether the server responds
		return out, nil
	}
	access := robots.For(res.Status)
	if access == robots.Follow {
		location := res.Header.Get("Location")
		to, err := at.Resolve(weburl.EscapeInvalid(location))
		switch {
		case err != nil || !to.IsHTTP() || u.Hops >= robots.MaxRedirects || location == "",
			len(to.String()) > scope.DefaultURLLength: // each host that waits for its turn there keeps one
			access = robots.Open
		case f.bounds.BlocksPort(to):
			out.Robots.Kind = record.KindNoRobots
			out.Robots.Reason = fmt.Sprintf("robots.txt: redirects to %s, a blocked port", to.Host())
			return out, nil
		default:
			out.Robots.At = &to
			return out, nil
		}
	}
	switch access {
	case robots.Open:
		out.Robots.Sitemaps = f.sitemaps(out, new(robots.Robots))
	case robots.Read:
		body := res.Body
		if res.Truncated {
			body = body[:bytes.LastIndexAny(body, "\r\n")+1] // half a line is another rule, or none
		}
		t.OnLoop(func() {
			file := robots.Parse(body)
			out.Robots.Rules, out.Robots.Sitemaps = file.Agent(f.fetcher.cfg.HTTP.UserAgent), f.sitemaps(out, file)
		})
		if n := out.Robots.Rules.Size(); n > bigOutcome*linkCost {
			hold := new(budget.Hold)
			res.Hand(hold)
			hold.Set(n)
			out.Holds = append(out.Holds, hold)
		}
	case robots.Closed:
		out.Robots.Kind, out.Robots.Reason = record.KindNoRobots, fmt.Sprintf("robots.txt: status %d", res.Status)
	}
	return out, nil
}

// fail takes in an error of the exchange; res is what came of the response, or nil.
func (f *robotsFetcher) fail(out *Outcome, res *httpclient.Response, err error) {
	var e *httpclient.Error
	errors.As(err, &e)
	stale := errors.Is(e, httpclient.ErrStale)
	out.Result.Total, out.Result.Overload = e.Timing.Total, e.Overloaded()
	out.Postpone, out.Crowded = e.Kind == httpclient.KindResource || stale, errors.Is(e, httpclient.ErrNoRoom)
	if !stale {
		out.blameNetwork(e, res != nil)
	}
	if res == nil && !stale && !e.Overloaded() {
		blameHost(&out.Result, e)
	}
	r := out.Robots
	r.Kind, r.Reason, r.Final = string(e.Kind), e.Err.Error(), out.Postpone || !e.Temporary()
	switch e.Kind {
	case httpclient.KindDNS, httpclient.KindBlocked, httpclient.KindConnect, httpclient.KindProxy, httpclient.KindDialTimeout, httpclient.KindTLS, httpclient.KindTLSTimeout:
		if out.URL.At == nil {
			return // an error of the host, as any of its URLs would have it
		}
	}
	r.Reason = "robots.txt: " + r.Reason
}

// sitemaps returns the sitemaps that a host's robots.txt names.
func (f *robotsFetcher) sitemaps(out *Outcome, file *robots.Robots) []frontier.URL {
	all := f.fetcher.cfg.HostSitemaps(f.bounds, out.URL, file, out.Drop)
	for _, u := range all {
		f.fetcher.reach.mention(out.URL.URL, u.URL)
	}
	return all
}
