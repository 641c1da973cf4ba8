package weft

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/http1"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// maxRobots is how much of a robots.txt is taken, as sent and decoded, whatever the
// limit for pages: RFC 9309, section 2.5 wants 500 KiB read at least. It is twice as
// much, since a coding can make longer what it holds: one that is flushed line by line.
const maxRobots = 2 * robots.MaxSize

// robotsAnswer is what became of a host's robots.txt.
type robotsAnswer struct {
	rules  robots.Rules
	at     *weburl.URL    // a redirect says that it is there; nil: it is here
	maps   []frontier.URL // the host's sitemaps
	bytes  int64
	kind   string // of the error that stands in for it; "" if rules are there
	reason string // of the error
	final  bool   // it need not be asked for again: of an outcome later, once that has lasted
}

// fetchRobots asks for a host's robots.txt, where redirects have led to so far. They may lead
// anywhere (RFC 9309, section 2.3.1.2); each is followed when it is the turn of the server there.
func (f *fetcher) fetchRobots(t *aio.Task, u frontier.URL) (outcome, error) {
	out := outcome{url: u, robots: new(robotsAnswer)}
	at := u.Where()
	req := f.request(u, at)
	req.MaxBody, req.Cut = maxRobots, true
	res, err := f.client.Do(t, req)
	if res != nil {
		defer res.Close()
		out.robots.bytes = res.Wire
	}
	if err != nil {
		var e *http1.Error
		if !errors.As(err, &e) || e.Kind == http1.KindCanceled {
			return out, err
		}
		out.later, out.crowded = e.Kind == http1.KindResource, errors.Is(e, http1.ErrNoRoom)
		if res == nil {
			blameHost(&out.answer, e)
		}
		out.robots.kind, out.robots.reason, out.robots.final = string(e.Kind), "robots.txt: "+e.Err.Error(), out.later || !e.Temporary()
		return out, nil
	}
	out.answer = answerOf(res, f.loop.Now())
	out.answer.Public = u.Seed && at.Host() == u.URL.Host() && guard.IsPublic(res.Addr.Addr())
	access := robots.For(res.Status)
	if access == robots.Follow {
		location := res.Header.Get("Location")
		to, err := at.Resolve(location)
		if err == nil && to.IsHTTP() && u.Hops < robots.MaxRedirects && location != "" {
			out.robots.at = &to
			return out, nil
		}
		access = robots.Open
	}
	switch access {
	case robots.Open:
		out.robots.maps = f.sitemaps(&out, new(robots.Robots))
	case robots.Read:
		body := res.Body
		if res.Truncated {
			body = body[:bytes.LastIndexAny(body, "\r\n")+1] // half a line is another rule, or none
		}
		t.OnLoop(func() {
			file := robots.Parse(body)
			out.robots.rules, out.robots.maps = file.Agent(f.cfg.UserAgent), f.sitemaps(&out, file)
		})
	case robots.Closed:
		out.robots.kind, out.robots.reason = KindNoRobots, fmt.Sprintf("robots.txt: status %d", res.Status)
	}
	return out, nil
}
