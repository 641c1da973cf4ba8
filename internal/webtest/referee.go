package webtest

import (
	"fmt"
	"sync"
	"time"
)

// Rule is how a crawler has to behave towards each host, each registrable domain and each
// address, whatever the others do. Beside it a host's Crawl-delay and Retry-After count.
type Rule struct {
	Delay  time.Duration // from the end of an answer to the next request
	AtOnce int           // requests under way; 0: 1

	// Patience is after how long a crawler gives up an answer that does not end, unless the server sees
	// before that it has; 0: when it sees it. Its time has begun before the server's, by a connection and
	// a wait: the gap after that may seem shorter, by Lag at most.
	Patience, Lag time.Duration

	// Forgets is how much of its last work a crawler may have lost when it is killed: of what hosts asked
	// for then, to be let alone, it cannot know.
	Forgets time.Duration
}

// Referee judges a crawl while it goes on, in memory that does not grow with the requests:
// about 170 bytes for each host. It may be used from any goroutine.
type Referee struct {
	web  *Web
	rule Rule

	mu struct {
		sync.Mutex
		lines   [3][]line // by Unit
		run     int       // of the crawler, counted
		dead    time.Time // it was killed, and has not begun again; zero: neither
		verdict Verdict
	}
}

// Unit is what is asked by rule.
type Unit int

const (
	Host Unit = iota
	Site      // registrable domain
	Address
)

func (u Unit) String() string { return [...]string{"host", "domain", "address"}[u] }

// line is what is known of one host, domain or address. Times are Unix nanoseconds.
type line struct {
	end   int64 // of the last answer; 0: there was none
	hold  int64 // not to be asked before
	busy  int64 // nanoseconds that it took to answer
	idle  int64 // nanoseconds that it was let alone beyond what it had to be
	first int64 // request
	asked int32
	now   int16 // requests under way
	most  int16
	gone  bool // the last answer was given up by the client
}

// Verdict is what a Referee has seen.
type Verdict struct {
	Requests   int
	Again      int      // of these, not judged: see Asked
	Astray     int      // went to another address than the host's
	Units      [3]Tally // by Unit
	Violations []Violation
}

// Tally is how the hosts, domains or addresses were treated.
type Tally struct {
	Asked      int           // how many were asked at all
	Shared     int           // of these, those with more than one host
	Requests   int           // of the one that was asked the most
	SmallGap   time.Duration // from the end of an answer to the next request, of all but those after a client gave up; -1: none
	MostAtOnce int
	Violations int

	// Of the one that was asked the longest: from its first request to the end of its last answer; of that the time
	// that it took to answer, and that it was let alone beyond what it had to be.
	Longest          string
	Span, Busy, Idle time.Duration
}

// Violation is a request that came too early, or beside too many others.
type Violation struct {
	Unit   Unit
	Name   string
	Target string
	At     time.Time
	Gap    time.Duration
	Want   time.Duration
	AtOnce int // with it
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %v %s: asked for %s %v after the last answer, expected at least %v; %d at once",
		v.At.UTC().Format("15:04:05.000"), v.Unit, v.Name, v.Target, v.Gap, v.Want, v.AtOnce)
}

// maxViolations bounds those that are kept of each Unit; all are counted.
const maxViolations = 300

// NewReferee returns a referee for crawls of w.
func NewReferee(w *Web, r Rule) *Referee {
	r.AtOnce = max(1, r.AtOnce)
	f := &Referee{web: w, rule: r}
	for u, n := range [...]int{Host: w.Hosts(), Site: w.Hosts() + 1, Address: w.Hosts() + 1 + w.shared} {
		f.mu.lines[u] = make([]line, n)
		f.mu.verdict.Units[u].SmallGap = -1
	}
	return f
}

// Asked is a request to a host that lives.
type Asked struct {
	Host   int
	Target string
	At     time.Time
	Astray bool // it went to another address

	// Again is set if it follows another as it would with every client: it repeats what a kept
	// connection had no answer to. Its gap is not judged.
	Again bool

	// Moved is set if it is for a robots.txt that has moved: a Crawl-delay is not known yet.
	Moved bool
}

// Begin says that a request has come. The function that it returns is to be called when it
// was answered: when, how long the host asks to be let alone, and whether it was the client that gave up.
// Called again it says that this was so before.
func (f *Referee) Begin(r Asked) (end func(at time.Time, hold time.Duration, gone bool)) {
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
	places := f.web.units(r.Host)
	for u, n := range places {
		f.begin(Unit(u), n, &r)
	}
	run := f.mu.run
	var told int64 // when it was answered; 0: not yet
	return func(at time.Time, hold time.Duration, gone bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if run != f.mu.run {
			return
		}
		end := at.UnixNano()
		for u, n := range places {
			switch l := &f.mu.lines[u][n]; {
			case told == 0:
				l.now--
				l.end = max(l.end, end)
				l.busy += end - now
				l.gone = gone
			case l.end == told && end < told: // nothing was asked since
				l.end = end
				l.busy -= told - end
			}
		}
		told = end
		if l := &f.mu.lines[Host][r.Host]; hold > 0 {
			l.hold = max(l.hold, end+int64(hold))
		}
	}
}

// begin judges a request by one unit.
func (f *Referee) begin(u Unit, n int, r *Asked) {
	l, t := &f.mu.lines[u][n], &f.mu.verdict.Units[u]
	l.now++
	l.most = max(l.most, l.now)
	l.asked++
	if l.asked == 1 {
		l.first = r.At.UnixNano()
	}
	last := l.end
	if now := r.At.UnixNano(); l.gone && last > now { // it was given up by now: what is asked next waits from the end of this one
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

// late takes in a request that a server reads of a crawler that is dead.
func (f *Referee) late(host int) func(time.Time, time.Duration, bool) {
	for u, n := range f.web.units(host) {
		l := &f.mu.lines[u][n]
		l.asked++
		l.end, l.gone = f.mu.dead.UnixNano(), true
	}
	return func(time.Time, time.Duration, bool) {}
}

// Killed says that the crawler was killed: nothing is under way any more, whenever the
// server comes to know it; and what is read until it has Begun again was asked before.
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

// Begun says that the crawler begins again.
func (f *Referee) Begun() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.dead = time.Time{}
}

// Requests returns how many have come.
func (f *Referee) Requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.verdict.Requests
}

// Verdict returns what was seen so far.
func (f *Referee) Verdict() Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.mu.verdict
	var hosts, of [3][]int32 // by unit, how many hosts of each were asked; one of them
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

// units returns the numbers of the host, the domain and the address of host i, which lives.
func (w *Web) units(i int) [3]int {
	return [3]int{Host: i, Site: w.siteOf(i), Address: w.addressOf(i)}
}

func (w *Web) unitName(u Unit, host int) string {
	switch u {
	case Host:
		return w.Authority(host)
	case Site:
		return w.Site(host)
	}
	return w.address(w.addressOf(host)).String()
}
