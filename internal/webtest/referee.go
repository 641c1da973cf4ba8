package webtest

import (
	"fmt"
	"sync"
	"time"
)

// Rule is the treatment that each host, each registrable domain and each address must get. A host's
// Crawl-delay and Retry-After count in addition.
type Rule struct {
	Delay  time.Duration // from the end of a response to the next request
	AtOnce int           // concurrent requests; 0: 1

	// Patience is the time after which a crawler gives up a response that does not end, unless the
	// server sees it leave earlier; 0: when the server sees it. The crawler's time starts before
	// the server's, by a connection and a wait, so the next gap may seem shorter by up to Lag.
	Patience, Lag time.Duration

	// Forgets is the part of its last work that a killed crawler may lose. It cannot honour
	// back-offs that hosts requested in that time.
	Forgets time.Duration
}

// Referee judges a crawl while it runs, in memory that does not grow with the requests: about 170
// bytes per host. Any goroutine may use it.
type Referee struct {
	web  *Web
	rule Rule

	mu struct {
		sync.Mutex
		lines   [3][]line // by Unit
		run     int       // number of the crawler's run
		dead    time.Time // when the crawler was killed; zero: it runs
		verdict Verdict
	}
}

// Unit is a kind of target to which the rule applies.
type Unit int

const (
	Host Unit = iota
	Site      // registrable domain
	Address
)

func (u Unit) String() string { return [...]string{"host", "domain", "address"}[u] }

// line is the record of one host, domain or address. Times are Unix nanoseconds.
type line struct {
	end   int64 // of the last response; 0: none yet
	hold  int64 // no request before this time
	busy  int64 // nanoseconds spent responding
	idle  int64 // nanoseconds without a request beyond the required gap
	first int64 // first request
	asked int32 // requests
	now   int16 // requests in flight
	most  int16
	gone  bool // the client gave up the last response
}

// Verdict is the judgement of a Referee.
type Verdict struct {
	Requests   int
	Again      int      // requests not judged: see Arrival
	Astray     int      // requests to another host's address
	Units      [3]Tally // by Unit
	Violations []Violation
}

// Tally sums up all hosts, domains or addresses.
type Tally struct {
	Asked    int // units with a request
	Shared   int // of these, units with several hosts
	Requests int // of the unit with the most requests
	// SmallGap is the smallest, from the end of a response to the next request, except after a client
	// gave up; -1: none.
	SmallGap   time.Duration
	MostAtOnce int
	Violations int

	// Of the unit with the longest span, from its first request to the end of its last response:
	// that span, the time spent responding, and the time without a request beyond the required gap.
	Longest          string
	Span, Busy, Idle time.Duration
}

// Violation is a request that came too early, or with too many others in flight.
type Violation struct {
	Unit   Unit
	Name   string
	Target string
	At     time.Time
	Gap    time.Duration
	Want   time.Duration
	AtOnce int // requests in flight, with this one
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %v %s: requested %s %v after the last response, expected at least %v; %d concurrent",
		v.At.UTC().Format("15:04:05.000"), v.Unit, v.Name, v.Target, v.Gap, v.Want, v.AtOnce)
}

// maxViolations bounds the violations kept per Unit; all are counted.
const maxViolations = 300

// NewReferee returns a referee for crawls of w.
func NewReferee(w *Web, r Rule) *Referee {
	r.AtOnce = max(1, r.AtOnce)
	f := &Referee{web: w, rule: r}
	for u, n := range [...]int{Host: w.Hosts(), Site: w.Hosts() + 1, Address: w.Hosts() + 1 + w.addresses.shared} {
		f.mu.lines[u] = make([]line, n)
		f.mu.verdict.Units[u].SmallGap = -1
	}
	return f
}

// Arrival is the arrival of a request at a living host.
type Arrival struct {
	Host   int
	Target string
	At     time.Time
	Astray bool // it went to another host's address

	// Again marks a request that every client would repeat at once, because a kept connection ended
	// without a response. Its gap is not judged.
	Again bool

	// Moved marks a request for the target of a moved robots.txt: no Crawl-delay is known yet.
	Moved bool
}

// Begin reports an arrival. The caller calls end at the end of the response, with that time, the
// back-off that the response requests, and whether the client gave up. Another call corrects the
// time to an earlier one.
func (f *Referee) Begin(r Arrival) (end func(at time.Time, hold time.Duration, gone bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.verdict.Requests++
	if r.Again {
		f.mu.verdict.Again++
	}
	if r.Astray {
		f.mu.verdict.Astray++
	}
	if !f.mu.dead.IsZero() {
		return f.late(r.Host)
	}
	now := r.At.UnixNano()
	resources := f.web.units(r.Host)
	for u, n := range resources {
		f.begin(Unit(u), n, &r)
	}
	run := f.mu.run
	var ended int64 // 0: not yet
	return func(at time.Time, hold time.Duration, gone bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if run != f.mu.run {
			return
		}
		end := at.UnixNano()
		for u, n := range resources {
			switch l := &f.mu.lines[u][n]; {
			case ended == 0:
				l.now--
				l.end = max(l.end, end)
				l.busy += end - now
				l.gone = gone
			case l.end == ended && end < ended: // no request since
				l.end = end
				l.busy -= ended - end
			}
		}
		ended = end
		if l := &f.mu.lines[Host][r.Host]; hold > 0 {
			l.hold = max(l.hold, end+int64(hold))
		}
	}
}

// begin judges an arrival by one unit.
func (f *Referee) begin(u Unit, n int, r *Arrival) {
	l, t := &f.mu.lines[u][n], &f.mu.verdict.Units[u]
	l.now++
	l.most = max(l.most, l.now)
	l.asked++
	if l.asked == 1 {
		l.first = r.At.UnixNano()
	}
	last := l.end
	if now := r.At.UnixNano(); l.gone && last > now {
		// The client had given it up by now: the next gap counts from this arrival.
		l.busy -= last - now
		l.end = now
	}
	if l.asked == 1 || r.Again {
		return
	}
	gap := r.At.UnixNano() - last
	if l.now > 1 && f.rule.Delay > 0 {
		gap = min(gap, 0)
	}
	want := int64(f.rule.Delay)
	if u == Host {
		if !r.Moved {
			want = max(want, int64(f.web.CrawlDelay(r.Host)))
		}
		if l.hold > 0 {
			want = max(want, l.hold-last)
		}
	}
	l.idle += max(0, gap-want)
	if l.gone {
		want -= int64(f.rule.Lag)
	} else if t.SmallGap < 0 || time.Duration(gap) < t.SmallGap {
		t.SmallGap = time.Duration(gap)
	}
	if gap >= want && int(l.now) <= f.rule.AtOnce {
		return
	}
	t.Violations++
	if t.Violations <= maxViolations {
		f.mu.verdict.Violations = append(f.mu.verdict.Violations,
			Violation{u, f.web.unitName(u, r.Host), f.web.Name(r.Host) + r.Target, r.At, time.Duration(gap), time.Duration(want), int(l.now)})
	}
}

// late records a request that a server reads after the crawler was killed.
func (f *Referee) late(host int) func(time.Time, time.Duration, bool) {
	for u, n := range f.web.units(host) {
		l := &f.mu.lines[u][n]
		l.asked++
		l.end, l.gone = f.mu.dead.UnixNano(), true
	}
	return func(time.Time, time.Duration, bool) {}
}

// Killed reports that the crawler was killed. Nothing is in flight any more, even if the server
// learns it later; and requests read before Restarted were sent before the kill.
func (f *Referee) Killed(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.run++
	f.mu.dead = at
	for _, lines := range f.mu.lines {
		for i := range lines {
			l := &lines[i]
			if l.now > 0 || l.end > at.UnixNano() {
				l.now, l.end, l.gone = 0, at.UnixNano(), true
			}
			if at.UnixNano()-l.end < int64(f.rule.Forgets) {
				l.hold = 0
			}
		}
	}
}

// Restarted reports that the crawler starts, or starts again.
func (f *Referee) Restarted() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.dead = time.Time{}
}

// Requests returns the number of arrivals.
func (f *Referee) Requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.verdict.Requests
}

// Verdict returns the verdict so far.
func (f *Referee) Verdict() Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.mu.verdict
	var hosts, of [3][]int32 // by unit: its hosts with requests, and one of them
	for u := range hosts {
		hosts[u], of[u] = make([]int32, len(f.mu.lines[u])), make([]int32, len(f.mu.lines[u]))
	}
	for i := range f.mu.lines[Host] {
		if f.mu.lines[Host][i].asked > 0 {
			for u, n := range f.web.units(i) {
				hosts[u][n]++
				of[u][n] = int32(i)
			}
		}
	}
	for u, lines := range f.mu.lines {
		t := &v.Units[u]
		for n := range lines {
			l := &lines[n]
			if l.asked == 0 {
				continue
			}
			t.Asked++
			if hosts[u][n] > 1 {
				t.Shared++
			}
			t.Requests = max(t.Requests, int(l.asked))
			t.MostAtOnce = max(t.MostAtOnce, int(l.most))
			if span := time.Duration(l.end - l.first); span > t.Span {
				t.Longest = f.web.unitName(Unit(u), int(of[u][n]))
				t.Span, t.Busy, t.Idle = span, time.Duration(l.busy), time.Duration(l.idle)
			}
		}
	}
	return v
}

// units returns the numbers of host, domain and address of host i, which lives.
func (w *Web) units(i int) [3]int {
	return [3]int{Host: i, Site: w.siteOf(i), Address: w.addresses.number(i)}
}

func (w *Web) unitName(u Unit, host int) string {
	switch u {
	case Host:
		return w.Authority(host)
	case Site:
		return w.Site(host)
	}
	return w.addresses.at(w.addresses.number(host)).String()
}
