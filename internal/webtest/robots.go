package webtest

import "time"

// robotsKind is the kind of a host's robots.txt (RFC 9309).
type robotsKind uint8

const (
	robotsPlain  robotsKind = iota
	robotsNone              // 404: everything is allowed (section 2.3.1.3)
	robotsClosed            // always 503: nothing is allowed (section 2.3.1.4)
	robotsShy               // 503 at first, then plain
	robotsMoved             // plain, behind a redirect (section 2.3.1.2)
	robotsNamed             // plain for Agent, closed to others
)

// robots draws the kind of host i.
func (w *Web) robots(i int) robotsKind {
	if i == 0 {
		return robotsPlain
	}
	r := &w.cfg.Rates
	d := w.draws.dice(saltRobots, resource{host: int32(i)})
	at := d.unit()
	for _, of := range []struct {
		kind robotsKind
		rate float64
	}{
		{robotsNone, r.NoRobots}, {robotsClosed, r.ClosedRobots}, {robotsShy, r.ShyRobots}, {robotsMoved, r.MovedRobots}, {robotsNamed, r.NamedRobots},
	} {
		if at -= of.rate; at < 0 {
			return of.kind
		}
	}
	return robotsPlain
}

// CrawlDelay returns the Crawl-delay in the robots.txt of host i; 0: none, as for host 0.
func (w *Web) CrawlDelay(i int) time.Duration {
	switch w.robots(i) {
	case robotsNone, robotsClosed:
		return 0
	}
	if i == 0 || !w.draws.has(saltDelayed, resource{host: int32(i)}, w.cfg.Rates.Delayed) {
		return 0
	}
	return w.cfg.CrawlDelay
}
