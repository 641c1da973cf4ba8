package webtest

import (
	"strings"
	"time"
)

// Exchange is the outcome of one request, computed without a server, for simulations.
type Exchange struct {
	Fate       Fate // of this request, not of the URL
	Took       time.Duration
	RetryAfter time.Duration // 0: no such field
	Links      []string      // to follow, absolute; of a redirect its target
	Robots     []byte        // of a robots.txt with status 200
}

// Exchange returns the outcome of a request under p for a target of a host (name and port), after a
// number of earlier requests. It ignores robots.txt.
func (w *Web) Exchange(authority, target string, before int, p Policy) Exchange {
	at, ok := w.locate(authority, target)
	if !ok {
		name, _, _ := strings.Cut(authority, ":")
		if i, ok := w.Index(name); ok {
			return Exchange{Fate: (&crawl{web: w}).fate(resource{host: int32(i)})} // why it is unreachable
		}
		return Exchange{Fate: Fate{Error: ErrorDNS}}
	}
	v := Exchange{Took: w.delay(at)}
	if before < w.fails(at) {
		a := w.refuse(Response{}, at)
		v.Fate, v.RetryAfter = Fate{Status: a.Status}, a.RetryAfter
		return v
	}
	if at.kind == robotsTxt {
		a := w.respond(at, before)
		v.Fate.Status, v.Robots = a.Status, a.Body
		if a.Status == 301 {
			v.Links = []string{w.url(w.next(at))}
		}
		return v
	}
	v.Fate = (&crawl{web: w, policy: Policy{Retries: before}}).fate(at)
	switch {
	case v.Fate.Status >= 300 && v.Fate.Status < 400:
		v.Links = []string{w.url(w.next(at))}
	case v.Fate.Status == 200:
		for _, l := range w.links(at) {
			if l.followedBy(p.Elements) && p.follows(l.to) {
				v.Links = append(v.Links, w.url(l.to))
			}
		}
	}
	return v
}
