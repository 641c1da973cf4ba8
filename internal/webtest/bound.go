package webtest

import (
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
}

// Bound is how long a crawl takes at least, if it is polite: the longest of its chains.
type Bound struct {
	URLs, Requests int
	Chains         [3]Chain // the longest, by Unit
}

// Chain is what is asked of a host, a domain or an address, one after the other.
type Chain struct {
	Name     string
	Hosts    int // that it is made of
	Requests int
	Time     time.Duration
}

// Longest returns the time of the longest chain.
func (b *Bound) Longest() (d time.Duration) {
	for _, c := range b.Chains {
		d = max(d, c.Time)
	}
	return d
}

// Bound returns that of a crawl under p, of which the URLs are p's Truth. Hosts have one
// request at a time, and so have domains and addresses.
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
	var chains [3]map[int]*Chain
	for u := range chains {
		chains[u] = make(map[int]*Chain)
	}
	for i, h := range hosts {
		b.Requests += h.requests
		if h.requests == 0 { // it is looked up, or connected to, and no more
			if d := h.busy; d > b.Chains[Host].Time {
				b.Chains[Host] = Chain{w.unitName(Host, i), 1, 0, d}
			}
			continue
		}
		for u, n := range w.units(i) {
			chain := chains[u][n]
			if chain == nil {
				chain = &Chain{Name: w.unitName(Unit(u), i)}
				chains[u][n] = chain
			}
			chain.Hosts++
			chain.Requests += h.requests
			if delay := max(c.Delay, w.CrawlDelay(i)); Unit(u) == Host {
				chain.Time = h.busy + h.held + time.Duration(h.requests-1-h.holds)*delay
			} else {
				chain.Time += h.busy + time.Duration(h.requests)*c.Delay
			}
		}
	}
	for u := range chains {
		for _, chain := range chains[u] {
			if Unit(u) != Host {
				chain.Time -= c.Delay // none after the last
			}
			if chain.Time > b.Chains[u].Time {
				b.Chains[u] = *chain
			}
		}
	}
	return b
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
