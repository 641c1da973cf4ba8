package weft

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/robots"
)

// maxRobots is how much of a robots.txt is taken, as sent and decoded, whatever the
// limit for pages: RFC 9309, section 2.5 wants 500 KiB read at least. It is twice as
// much, since a coding can make longer what it holds: one that is flushed line by line.
const maxRobots = 2 * robots.MaxSize

// robotsAnswer is what became of a host's robots.txt.
type robotsAnswer struct {
	rules  robots.Rules
	maps   []frontier.URL // the host's sitemaps
	bytes  int64
	kind   string // of the error that stands in for it; "" if rules are there
	reason string // of the error
	final  bool   // it need not be asked for again: of an outcome later, once that has lasted
}

// fetchRobots asks a host for its robots.txt, and follows its redirects to
// wherever they lead (RFC 9309, section 2.3.1).
func (f *fetcher) fetchRobots(t *aio.Task, u frontier.URL) (outcome, error) {
	out := outcome{url: u, robots: new(robotsAnswer)}
	at := u.URL
	for hops := 0; ; hops++ {
		req := f.request(u, at)
		req.MaxBody, req.Cut = maxRobots, true
		res, err := f.client.Do(t, req)
		var e *http1.Error
		switch {
		case err == nil:
		case !errors.As(err, &e) || e.Kind == http1.KindCanceled:
			return out, err
		default:
			out.later, out.crowded = e.Kind == http1.KindResource, errors.Is(e, http1.ErrNoRoom)
			if res == nil && hops == 0 {
				out.answer.Failure, out.answer.Reason = hostFailure(e)
			}
			out.robots.kind, out.robots.reason, out.robots.final = string(e.Kind), "robots.txt: "+e.Err.Error(), out.later || !e.Temporary()
			if res != nil {
				out.robots.bytes += res.Wire
				res.Close()
			}
			return out, nil
		}
		addr := out.answer.Addr
		out.answer = answerOf(res, f.loop.Now())
		if hops > 0 {
			out.answer.Addr = addr // a redirect may lead to another host
		}
		out.answer.Public = u.Seed && at.Host() == u.URL.Host() && isPublic(res.Addr)
		out.robots.bytes += res.Wire
		access := robots.For(res.Status)
		if access == robots.Follow {
			to, err := at.Resolve(res.Header.Get("Location"))
			if err == nil && to.IsHTTP() && hops < robots.MaxRedirects && res.Header.Get("Location") != "" {
				at = to
				res.Close()
				continue
			}
			access = robots.Open
		}
		switch access {
		case robots.Open:
			out.robots.maps = f.sitemaps(u, nil)
		case robots.Read:
			body := res.Body
			if res.Truncated {
				body = body[:bytes.LastIndexAny(body, "\r\n")+1] // half a line is another rule, or none
			}
			t.OnLoop(func() {
				file := robots.Parse(body)
				out.robots.rules, out.robots.maps = file.Agent(f.cfg.UserAgent), f.sitemaps(u, file.Sitemaps())
			})
		case robots.Closed:
			out.robots.kind, out.robots.reason = KindNoRobots, fmt.Sprintf("robots.txt: status %d", res.Status)
		}
		res.Close()
		return out, nil
	}
}
