package webtest

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// Costs are what a polite crawl spends beside the time that servers take.
type Costs struct {
	Delay       time.Duration // from the end of an answer to the next request of the same host, domain or address
	Patience    time.Duration // with an answer that does not end
	Dial        time.Duration // with a connection that does not come about
	RobotsTries int           // of a robots.txt that cannot be had
	Pause       time.Duration // before the second try of a robots.txt; twice that before the third, and so on
	Hold        time.Duration // after a 429 or 503 without Retry-After
	Variants    int           // pages of each calendar without end, which answer without latency as far as the bound goes
}

// Bound is how long a crawl takes at least, if it is polite: the longest of its chains.
type Bound struct {
	URLs, Requests int
	Chains         [3]Chain // the longest, by Unit
}

// Chain is what is asked of a host, a domain or an address, one after the other, once it was found.
type Chain struct {
	Name     string
	Hosts    int // that it is made of
	Requests int
	Found    time.Duration // before, no client can know of its first host
	Time     time.Duration // until it is done with, from the crawl's beginning
}

// Longest returns the time of the longest chain.
func (b *Bound) Longest() (d time.Duration) {
	for _, c := range b.Chains {
		d = max(d, c.Time)
	}
	return d
}

// Bound returns that of a crawl under p, of which the URLs are p's Truth. Hosts have one
// request at a time, and so have domains and addresses. A host has none before it was found, as if
// nothing but the delays of hosts kept a crawl from the pages that lead there. Requests leaves calendars out.
func (w *Web) Bound(p Policy, c Costs) Bound {
	p = w.complete(p)
	var b Bound
	hosts := make(map[int]*toll)
	for at := range w.walk(p) {
		h := hosts[int(at.host)]
		if h == nil {
			h = w.robotsToll(int(at.host), p, c)
			hosts[int(at.host)] = h
		}
		b.URLs++
		h.add(w, at, p, c)
	}
	found := w.discover(p, c)
	var members [3]map[int][]int // the hosts of each unit
	for u := range members {
		members[u] = make(map[int][]int)
	}
	for i, h := range hosts {
		b.Requests += h.requests
		if h.requests > 0 && w.trap(i) && p.Robots && w.robots(i) != robotsClosed {
			h.requests += c.Variants
			if w.slow(place{host: int32(i)}) {
				h.busy += time.Duration(c.Variants) * w.cfg.SlowDelay
			}
		}
		if h.requests == 0 { // it is looked up, or connected to, and no more
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
			var work Chain // of those that are found last, which is not done before
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

// discover returns when each host can be known at the earliest: Dijkstra's algorithm over links, as if
// hosts were polite to by themselves only, and nothing was refused at first.
func (w *Web) discover(p Policy, c Costs) map[int]time.Duration {
	hosts := make(map[int]time.Duration)
	open := make(map[int]time.Duration) // by host: a page may be asked for
	known := make(map[place]time.Duration)
	var queue mentions
	reach := func(to place, at time.Duration) {
		if before, ok := known[to]; (!ok || at < before) && p.reaches(to) {
			known[to] = at
			heap.Push(&queue, mention{at, to})
		}
	}
	for _, i := range p.Seeds {
		reach(place{host: int32(i), kind: page}, 0)
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
			robots := w.robotsToll(host, p, c)
			open[host] = m.at + robots.busy + robots.held
			if robots.requests > 0 {
				open[host] += delay
			}
			if w.asksSitemap(m.of.host, p) {
				reach(place{host: m.of.host, kind: sitemapFile}, m.at)
			}
		}
		end := max(m.at, open[host]) + w.delay(m.of)
		follow := func(to place) {
			if to.host == m.of.host {
				reach(to, end+delay)
				return
			}
			reach(to, end)
		}
		switch status := w.fate(m.of, p).Status; {
		case status >= 300 && status < 400:
			follow(w.next(m.of))
		case status == 200 && m.of.kind == sitemapFile:
			for _, to := range w.told(m.of) {
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

// mention is that of a place, in an answer that has come at a time.
type mention struct {
	at time.Duration
	of place
}

// mentions is a heap, the earliest at its top.
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

// toll is what a host asks of a crawl.
type toll struct {
	requests int
	busy     time.Duration // for its answers
	held     time.Duration // let alone because it asked for that
	holds    int           // so often
}

// robotsToll is that of the robots.txt of host i.
func (w *Web) robotsToll(i int, p Policy, c Costs) *toll {
	h := new(toll)
	tries := func(cost time.Duration) {
		for n := range c.RobotsTries {
			h.busy += cost
			if n > 0 {
				h.busy += c.Pause << (n - 1)
			}
		}
	}
	robots := place{host: int32(i), kind: robotsTxt}
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

// add adds what a place asks for.
func (h *toll) add(w *Web, at place, p Policy, c Costs) {
	switch fate := w.fate(at, p); fate.Error {
	case ErrorDNS, ErrorConnect, ErrorDial, ErrorRobots:
		return
	case ErrorStall, ErrorEarlyEnd: // may pass, so they are tried again
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
		if a := w.refuse(Answer{}, at); a.RetryAfter > 0 {
			hold = a.RetryAfter
		}
		h.held += max(hold, c.Delay, w.CrawlDelay(int(at.host)))
	}
}
