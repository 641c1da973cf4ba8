package webtest

import (
	"iter"
	"strings"
)

// Fate is the outcome of a URL.
type Fate struct {
	Status int    `json:"status,omitempty"` // of the last response
	Error  string `json:"error,omitempty"`  // of a URL without a response: ErrorDNS and so on
}

// Errors of Fate.
const (
	ErrorDNS      = "dns"          // the host has no address
	ErrorConnect  = "connect"      // it refuses connections
	ErrorDial     = "dial-timeout" // no connection to it completes
	ErrorRobots   = "robots"       // robots.txt disallows it: no request
	ErrorStall    = "stall"        // the response never ends: some time-out of the crawler
	ErrorEarlyEnd = "early-end"    // the connection ends before the response
	ErrorProtocol = "protocol"     // not HTTP
	ErrorEncoding = "encoding"     // the body is not in its Content-Encoding
	ErrorBomb     = "bomb"         // the body decompresses beyond any limit
)

// Policy is the part of a crawler's behaviour that decides what it finds.
type Policy struct {
	Seeds  []int            // hosts whose home pages are the seeds; empty: host 0
	Scope  func(i int) bool // hosts to follow links to; nil: those of the seeds
	Beyond bool             // request what links beyond Scope lead to, and follow only redirects there
	// Elements are those to follow links in: HTML names, and "header" for Link; nil: a, area, frame,
	// iframe, link.
	Elements     []string
	MaxRedirects int    // to follow in a row; 0: none
	Retries      int    // after the first try, of 429 and 503; 0: none
	Repeats      int    // of a segment in a path to follow, so mazes end; 0: any, and no mazes
	Robots       bool   // obey robots.txt
	Sitemaps     bool   // follow sitemaps; with Robots only
	Agent        string // product token, for robots.txt
}

// Anywhere is the Scope of all hosts.
func Anywhere(int) bool { return true }

// Truth yields every URL that a crawl under p must finish, with its fate, in no particular order. A
// redirect counts by itself, with its own status. A target one redirect too far is left out, unless
// a shorter way leads there.
func (w *Web) Truth(p Policy) iter.Seq2[string, Fate] {
	cr := crawl{w, p.complete(), Costs{}}
	return func(yield func(string, Fate) bool) {
		for to := range cr.walk() {
			if !yield(w.url(to), cr.fate(to)) {
				return
			}
		}
	}
}

// complete returns p with its defaults.
func (p Policy) complete() Policy {
	if len(p.Seeds) == 0 {
		p.Seeds = []int{0}
	}
	if p.Scope == nil {
		seeds := make(map[int]bool)
		for _, i := range p.Seeds {
			seeds[i] = true
		}
		p.Scope = func(i int) bool { return seeds[i] }
	}
	if p.Elements == nil {
		p.Elements = []string{"a", "area", "frame", "iframe", "link"}
	}
	return p
}

// reaches reports whether a crawler under p, which is complete, follows links to a resource that
// the truth covers.
func (p *Policy) reaches(to resource) bool {
	return (p.Beyond || p.Scope(int(to.host))) && to.kind != day && (to.kind != maze || p.Repeats > 0 && p.follows(to))
}

// follows reports whether a crawler accepts the URL of a resource.
func (p *Policy) follows(to resource) bool {
	return to.kind != maze || p.Repeats == 0 || int(to.n) <= p.Repeats
}

// crawl is the crawl of a web under a policy that is complete, at some costs.
type crawl struct {
	web    *Web
	policy Policy
	costs  Costs
}

// walk returns the reachable resources, with the fewest redirects in a row that lead to each.
func (cr *crawl) walk() map[resource]int32 {
	w, p := cr.web, &cr.policy
	hops := make(map[resource]int32)
	var queue []resource
	reach := func(to resource, n int32) {
		if !p.reaches(to) {
			return
		}
		if known, ok := hops[to]; !ok || n < known { // a shorter way may lead further
			hops[to] = n
			queue = append(queue, to)
			if root := (resource{host: to.host, kind: sitemapFile}); !ok && to != root && cr.asksSitemap(to.host) {
				if _, ok := hops[root]; !ok {
					hops[root] = 0
					queue = append(queue, root)
				}
			}
		}
	}
	for _, i := range p.Seeds {
		reach(resource{host: int32(i), kind: page}, 0)
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		switch status := cr.fate(at).Status; {
		case status >= 300 && status < 400:
			if hops[at] < int32(p.MaxRedirects) {
				reach(w.next(at), hops[at]+1)
			}
		case !p.Scope(int(at.host)):
		case status == 200 && at.kind == sitemapFile:
			for _, to := range w.listed(at) {
				reach(to, 0)
			}
		case status == 200:
			for _, l := range w.links(at) {
				if l.followedBy(p.Elements) {
					reach(l.to, 0)
				}
			}
		}
	}
	return hops
}

// fate returns the fate of a resource.
func (cr *crawl) fate(at resource) Fate {
	switch w := cr.web; {
	case w.Dead(int(at.host)):
		return Fate{Error: ErrorDNS}
	case w.refusing(int(at.host)):
		return Fate{Error: ErrorConnect}
	case w.mute(int(at.host)):
		return Fate{Error: ErrorDial}
	case !cr.allows(at):
		return Fate{Error: ErrorRobots}
	case w.fails(at) > cr.policy.Retries:
		return Fate{Status: w.refusal(at)}
	}
	switch at.kind {
	case sitemapFile:
		if cr.web.sitemapStyleOf(at) == sitemapNone {
			return Fate{Status: 404}
		}
	case hop, loop:
		return Fate{Status: redirects[int(at.n+at.sub)%len(redirects)]}
	case missing:
		return Fate{Status: []int{404, 410}[at.n%2]}
	case failing:
		return Fate{Status: failures[int(at.n)%len(failures)]}
	case stalled:
		return Fate{Error: ErrorStall}
	case broken:
		return faults[int(at.n)%len(faults)].fate
	case hostile:
		return hostilities[int(at.n)%len(hostilities)].fate
	}
	return Fate{Status: 200}
}

// Trap reports whether a URL lies in an endless calendar, which the truth leaves out.
func (w *Web) Trap(host, target string) bool {
	p, _ := w.locate(host, target)
	return p.kind == day
}

// allows reports whether robots.txt allows the crawl to fetch a resource.
func (cr *crawl) allows(to resource) bool {
	w, p := cr.web, &cr.policy
	if !p.Robots {
		return true
	}
	host := int(to.host)
	switch w.robots(host) {
	case robotsNone:
		return true
	case robotsClosed:
		return false
	case robotsShy:
		if w.fails(resource{host: to.host, kind: robotsTxt}) > p.Retries {
			return false
		}
	case robotsNamed:
		if !strings.EqualFold(p.Agent, Agent) {
			return false
		}
	}
	switch to.kind {
	case private:
		return to.sub > 0
	case asset:
		return assetTypes[int(to.n)%len(assetTypes)].extension != ".pdf"
	}
	return true
}

// asksSitemap reports whether the crawl fetches the sitemaps of a host: it does once it has
// the host's robots.txt, or knows that there is none.
func (cr *crawl) asksSitemap(host int32) bool {
	w, p := cr.web, &cr.policy
	i := int(host)
	if !p.Sitemaps || !p.Robots || w.cfg.Listed == 0 || w.Dead(i) {
		return false
	}
	switch w.robots(i) {
	case robotsClosed:
		return false
	case robotsShy:
		return w.fails(resource{host: host, kind: robotsTxt}) <= p.Retries
	}
	return true
}
