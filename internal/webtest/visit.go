package webtest

import (
	"strings"
	"time"
)

// Visit is what a crawler has of one request, without a server: for simulations.
type Visit struct {
	Fate       Fate // of this request, not of the URL
	Took       time.Duration
	RetryAfter time.Duration // 0: it is not asked for
	Links      []string      // that are followed, absolute; of a redirect its target
	Robots     []byte        // of a robots.txt with status 200
}

// Visit returns what a crawler under p has of its request for target from a host, by its
// name and port, when there have been so many before; it does not ask whether robots.txt allows it.
func (w *Web) Visit(authority, target string, before int, p Policy) Visit {
	at, ok := w.locate(authority, target)
	if !ok {
		name, _, _ := strings.Cut(authority, ":")
		if i, ok := w.Index(name); ok {
			return Visit{Fate: w.fate(place{host: int32(i)}, Policy{})} // why it is away
		}
		return Visit{Fate: Fate{Error: ErrorDNS}}
	}
	v := Visit{Took: w.delay(at)}
	if before < w.fails(at) {
		a := w.refuse(Answer{}, at)
		v.Fate, v.RetryAfter = Fate{Status: a.Status}, a.RetryAfter
		return v
	}
	if at.kind == robotsTxt {
		a := w.answer(at, before)
		v.Fate.Status, v.Robots = a.Status, a.Body
		if a.Status == 301 {
			v.Links = []string{w.url(w.next(at))}
		}
		return v
	}
	v.Fate = w.fate(at, Policy{Retries: before})
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
