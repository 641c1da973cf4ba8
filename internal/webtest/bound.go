package webtest

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// Costs are the times that a polite crawl spends in addition to those of the servers.
type Costs struct {
	Delay       time.Duration // between requests to a host, domain or address, from the response on
	Patience    time.Duration // with a response that does not end
	Dial        time.Duration // with a connection that does not complete
	RobotsTries int           // for an unreachable robots.txt
	Pause       time.Duration // before the second try for a robots.txt; doubles with each further try
	Hold        time.Duration // after a 429 or 503 without Retry-After
	Variants    int           // pages fetched of each endless calendar, whose latency is ignored
}

// Bound is the least time that a polite crawl takes: that of its longest chain.
type Bound struct {
	URLs, Requests int
	Chains         [3]Chain // the longest, by Unit
}

// Chain is the sequence of requests to a host, a domain or an address, once the crawl has found it.
type Chain struct {
	Name     string
	Hosts    int
	Requests int
	Found    time.Duration // the earliest time at which a client can know its first host
	Time     time.Duration // its end, from the start of the crawl
}

// Longest returns the time of the longest chain.
func (b *Bound) Longest() (d time.Duration) {
	for _, c := range b.Chains {
		d = max(d, c.Time)
	}
	return d
}

// Bound returns the bound of a crawl under p, whose URLs are p's Truth. A host, domain or address
// gets one request at a time, and a host none before the crawl can have found it, if only the
// delays of hosts keep it from the pages that lead there. Requests leaves calendars out.
func (w *Web) Bound(p Policy, c Costs) Bound {
	return (&crawl{w, p.complete(), c}).bound()
}

func (cr *crawl) bound() Bound {
	w, p, c := cr.web, &cr.policy, &cr.costs
	var b Bound
	hosts := make(map[int]*cost)
	for at := range cr.walk() {
		h := hosts[int(at.host)]
		if h == nil {
			h = cr.robotsCost(int(at.host))
			hosts[int(at.host)] = h
		}
		b.URLs++
		h.add(cr, at)
	}
	found := cr.discover()
	var members [3]map[int][]int // the hosts of each unit
	for u := range members {
		members[u] = make(map[int][]int)
	}
	for i, h := range hosts {
		b.Requests += h.requests
		if h.requests > 0 && w.trap(i) && p.Robots && w.robots(i) != robotsClosed {
			h.requests += c.Variants
			if w.slow(resource{host: int32(i)}) {
				h.busy += time.Duration(c.Variants) * w.cfg.SlowDelay
			}
		}
		if h.requests == 0 { // only looked up or dialled
			if d := found[i] + h.busy; d > b.Chains[Host].Time {
				b.Chains[Host] = Chain{w.unitName(Host, i), 1, 0, found[i], d}
			}
			continue
		}
		own := Chain{w.unitName(Host, i), 1, h.requests, found[i], found[i] + h.busy + h.held}
		if more := h.requests - 1 - h.holds; more > 0 {
			own.Time += time.Duration(more) * max(c.Delay, w.CrawlDelay(i))
		}
		b.Chains[Host] = longer(b.Chains[Host], own)
		for u, n := range w.units(i) {
			members[u][n] = append(members[u][n], i)
		}
	}
	for _, u := range []Unit{Site, Address} {
		for _, of := range members[u] {
			slices.SortFunc(of, func(i, j int) int { return cmp.Compare(found[j], found[i]) })
			var work Chain // of the hosts found last
			for _, i := range of {
				work.Hosts++
				work.Requests += hosts[i].requests
				work.Time += hosts[i].busy + time.Duration(hosts[i].requests)*c.Delay
				b.Chains[u] = longer(b.Chains[u], Chain{w.unitName(u, i), work.Hosts, work.Requests, found[i], found[i] + work.Time - c.Delay})
			}
		}
	}
	return b
}

func longer(a, b Chain) Chain {
	if b.Time > a.Time || b.Time == a.Time && b.Name < a.Name {
		return b
	}
	return a
}

// discover returns the earliest time at which a crawl can know each host: Dijkstra's algorithm over
// links, as if only delays between requests to one host counted and no resource refused at first.
func (cr *crawl) discover() map[int]time.Duration {
	w, p, c := cr.web, &cr.policy, &cr.costs
	hosts := make(map[int]time.Duration)
	open := make(map[int]time.Duration) // by host: when its first page may be requested
	known := make(map[resource]time.Duration)
	var queue mentions
	reach := func(to resource, at time.Duration) {
		if before, ok := known[to]; (!ok || at < before) && p.reaches(to) {
			known[to] = at
			heap.Push(&queue, mention{at, to})
		}
	}
	for _, i := range p.Seeds {
		reach(resource{host: int32(i), kind: page}, 0)
	}
	for len(queue) > 0 {
		m := heap.Pop(&queue).(mention)
		if m.at > known[m.of] {
			continue
		}
		host := int(m.of.host)
		delay := max(c.Delay, w.CrawlDelay(host))
		if _, ok := hosts[host]; !ok {
			hosts[host] = m.at
			robots := cr.robotsCost(host)
			open[host] = m.at + robots.busy + robots.held
			if robots.requests > 0 {
				open[host] += delay
			}
			if cr.asksSitemap(m.of.host) {
				reach(resource{host: m.of.host, kind: sitemapFile}, m.at)
			}
		}
		end := max(m.at, open[host]) + w.delay(m.of)
		follow := func(to resource) {
			if to.host == m.of.host {
				reach(to, end+delay)
				return
			}
			reach(to, end)
		}
		switch status := cr.fate(m.of).Status; {
		case status >= 300 && status < 400:
			follow(w.next(m.of))
		case status == 200 && m.of.kind == sitemapFile:
			for _, to := range w.listed(m.of) {
				follow(to)
			}
		case status == 200:
			for _, l := range w.links(m.of) {
				if l.followedBy(p.Elements) {
					follow(l.to)
				}
			}
		}
	}
	return hosts
}

// mention is a link to a resource, in a response at a time.
type mention struct {
	at time.Duration
	of resource
}

// mentions is a heap by time.
type mentions []mention

func (m mentions) Len() int           { return len(m) }
func (m mentions) Less(i, j int) bool { return m[i].at < m[j].at }
func (m mentions) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *mentions) Push(x any)        { *m = append(*m, x.(mention)) }
func (m *mentions) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// cost is the share of a host in a crawl.
type cost struct {
	requests int
	busy     time.Duration // until its responses end
	held     time.Duration // backed off at its request
	holds    int           // number of back-offs
}

// robotsCost returns the cost of the robots.txt of host i.
func (cr *crawl) robotsCost(i int) *cost {
	w, p, c := cr.web, &cr.policy, &cr.costs
	h := new(cost)
	tries := func(cost time.Duration) {
		for n := range c.RobotsTries {
			h.busy += cost
			if n > 0 {
				h.busy += c.Pause << (n - 1)
			}
		}
	}
	robots := resource{host: int32(i), kind: robotsTxt}
	switch {
	case w.Dead(i), !p.Robots:
		return h
	case w.refusing(i):
		tries(0)
		return h
	case w.mute(i):
		tries(c.Dial)
		return h
	}
	n := 1
	switch w.robots(i) {
	case robotsClosed:
		n = c.RobotsTries
	case robotsShy:
		n = min(w.fails(robots)+1, c.RobotsTries)
	case robotsMoved:
		n = 2
	}
	h.requests, h.busy = n, time.Duration(n)*w.delay(robots)
	if n > 1 && w.robots(i) != robotsMoved {
		for k := range n - 1 {
			h.held += max(c.Delay, c.Pause<<k)
			h.holds++
		}
	}
	return h
}

// add adds the cost of a resource.
func (h *cost) add(cr *crawl, at resource) {
	w, p, c := cr.web, &cr.policy, &cr.costs
	switch fate := cr.fate(at); fate.Error {
	case ErrorDNS, ErrorConnect, ErrorDial, ErrorRobots:
		return
	case ErrorStall, ErrorEarlyEnd: // transient: retried
		h.requests += p.Retries
		if fate.Error == ErrorStall {
			h.busy += time.Duration(1+p.Retries) * c.Patience
		}
	default:
		if fate.Status == 502 || fate.Status == 504 {
			h.requests += p.Retries
			h.busy += time.Duration(p.Retries) * w.delay(at)
		}
	}
	h.requests++
	h.busy += w.delay(at)
	for range min(w.fails(at), p.Retries) {
		h.requests++
		h.busy += w.delay(at)
		h.holds++
		hold := c.Hold
		if a := w.refuse(Response{}, at); a.RetryAfter > 0 {
			hold = a.RetryAfter
		}
		h.held += max(hold, c.Delay, w.CrawlDelay(int(at.host)))
	}
}
