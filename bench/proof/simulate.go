package proof

import (
	"container/heap"
	"fmt"
	"io"
	"maps"
	"runtime"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Simulation is a crawl on virtual time: a frontier, and a web that responds to its leases.
type Simulation struct {
	Task
	Web     *webtest.Web
	Bound   webtest.Bound
	Verdict webtest.Verdict
	Fates   map[webtest.Fate]int // of finished URLs
	Truth   map[webtest.Fate]int
	Trapped int           // URLs of calendars, fetched
	Took    time.Duration // virtual
	Leases  int

	// The cost of the frontier alone.
	Leasing, Adding, Answering time.Duration // CPU time
	Added                      int           // links
	Heap                       int           // bytes, at the end

	policy   webtest.Policy
	frontier *frontier.Frontier
	referee  *webtest.Referee
	now      time.Time
	inFlight flights
}

// flight is a lease in flight.
type flight struct {
	at    time.Time // its end
	lease frontier.URL
	was   webtest.Exchange
	end   func(time.Time, time.Duration, bool)
}

// flights is a heap by end.
type flights []flight

func (v flights) Len() int           { return len(v) }
func (v flights) Less(i, j int) bool { return v[i].at.Before(v[j].at) }
func (v flights) Swap(i, j int)      { v[i], v[j] = v[j], v[i] }
func (v *flights) Push(x any)        { *v = append(*v, x.(flight)) }
func (v *flights) Pop() any {
	last := (*v)[len(*v)-1]
	(*v)[len(*v)-1] = flight{}
	*v = (*v)[:len(*v)-1]
	return last
}

// Simulate crawls a web from its first host, without running the command.
func Simulate(task Task) (*Simulation, error) {
	web, err := webtest.New(task.Web)
	if err != nil {
		return nil, err
	}
	s := &Simulation{
		Task: task, Web: web, policy: policy(), Fates: make(map[webtest.Fate]int), Truth: make(map[webtest.Fate]int),
		now: time.Unix(1_000_000_000, 0),
	}
	s.Bound = web.Bound(s.policy, task.costs())
	for _, fate := range web.Truth(s.policy) {
		s.Truth[fate]++
	}
	s.referee = webtest.NewReferee(web, webtest.Rule{Delay: task.Delay})
	before := heapNow()
	s.frontier = frontier.New(frontier.Config{
		Delay: task.Delay, MaxRedirects: s.policy.MaxRedirects, Robots: true, RobotsTries: retries + 1, Resolve: true, MaxVariants: task.Variants,
	})
	seed, err := weburl.Parse(web.Home(0))
	if err != nil {
		return nil, err
	}
	s.frontier.Add(frontier.URL{URL: seed})
	began := s.now
	if err := s.crawl(); err != nil {
		return nil, err
	}
	s.Took = s.now.Sub(began)
	s.Verdict = s.referee.Verdict()
	s.Heap = heapNow() - before
	runtime.KeepAlive(s.frontier)
	return s, nil
}

func heapNow() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// crawl runs until nothing is left to do.
func (s *Simulation) crawl() error {
	for !s.frontier.View().Over() {
		free := s.Concurrency - len(s.inFlight)
		began := time.Now()
		leases := s.frontier.Lease(s.now, free)
		refused := s.frontier.Refused().URLs
		next, ok := s.frontier.Next()
		s.Leasing += time.Since(began)
		s.Leases += len(leases)
		for i := range refused {
			s.Fates[fateOf(refused[i].Kind)]++
		}
		for _, u := range leases {
			s.begin(u)
		}
		switch {
		case len(s.inFlight) > 0 && (!ok || len(s.inFlight) == s.Concurrency || !next.Before(s.inFlight[0].at)):
			s.now = s.inFlight[0].at
		case ok:
			s.now = latest(s.now, next)
		case len(refused) == 0:
			return fmt.Errorf("nothing is in flight, nothing will be leased, and the crawl is not over: %+v", s.frontier.View().Stats())
		}
		for len(s.inFlight) > 0 && !s.inFlight[0].at.After(s.now) {
			v := heap.Pop(&s.inFlight).(flight)
			if err := s.finish(&v); err != nil {
				return err
			}
		}
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fateOf is the fate of a URL that is refused for an error.
func fateOf(kind string) webtest.Fate { return webtest.Fate{Error: kind} }

// lookUp is the duration of a DNS look-up.
const lookUp = time.Millisecond

// begin starts a request.
func (s *Simulation) begin(u frontier.URL) {
	v := flight{lease: u, at: s.now}
	if u.Resolve {
		v.at = v.at.Add(lookUp)
		heap.Push(&s.inFlight, v)
		return
	}
	at := u.Where()
	v.was = s.Web.Exchange(at.Host(), at.RequestTarget(), u.Tries, s.policy)
	switch v.was.Fate.Error {
	case webtest.ErrorDNS, webtest.ErrorConnect:
	case webtest.ErrorDial:
		v.at = v.at.Add(dial)
	default:
		s.request(&v, at)
	}
	heap.Push(&s.inFlight, v)
}

// request reports a request to the referee, and sets when it ends.
func (s *Simulation) request(v *flight, at weburl.URL) {
	host, _ := s.Web.Index(at.Hostname())
	v.end = s.referee.Begin(webtest.Arrival{Host: host, Target: at.RequestTarget(), At: v.at, Moved: v.lease.At != nil})
	v.at = v.at.Add(v.was.Took)
	if v.was.Fate.Error == webtest.ErrorStall {
		v.at = v.at.Add(s.Patience - v.was.Took)
	}
}

// finish returns a lease to the frontier.
func (s *Simulation) finish(v *flight) error {
	addr, _ := s.Web.Resolve(v.lease.URL.Hostname())
	if v.lease.Resolve {
		defer s.meter(&s.Answering)()
		s.frontier.Addresses().Resolved(s.now, v.lease, addr)
		return nil
	}
	if v.end != nil {
		v.end(s.now, v.was.RetryAfter, false)
	}
	status := v.was.Fate.Status
	a := frontier.Result{Took: v.was.Took, Overload: status == 429 || status == 503, RetryAfter: v.was.RetryAfter}
	if v.end != nil {
		a.Addr = addr
	} else {
		a.Failure = v.was.Fate.Error
	}
	if v.lease.Robots {
		s.finishRobots(v, a)
		return nil
	}
	if transient(v.was.Fate) && v.lease.Tries < retries {
		defer s.meter(&s.Answering)()
		s.frontier.Retry(s.now, v.lease, a, s.now.Add(max(time.Second<<v.lease.Tries, v.was.RetryAfter)))
		return nil
	}
	if err := s.follow(v); err != nil {
		return err
	}
	if s.Web.Trap(v.lease.URL.Host(), v.lease.URL.RequestTarget()) {
		s.Trapped++
	} else {
		s.Fates[v.was.Fate]++
	}
	defer s.meter(&s.Answering)()
	s.frontier.Done(s.now, v.lease, a)
	return nil
}

// transient reports whether a crawler retries after a fate.
func transient(f webtest.Fate) bool {
	switch f.Error {
	case webtest.ErrorStall, webtest.ErrorEarlyEnd, webtest.ErrorConnect, webtest.ErrorDial:
		return true
	}
	return f.Status == 429 || f.Status >= 502 && f.Status <= 504
}

func (s *Simulation) finishRobots(v *flight, a frontier.Result) {
	var rules robots.Rules
	fate := v.was.Fate
	if fate.Status == 200 {
		rules = robots.Parse(v.was.Robots).Agent(webtest.Agent)
	}
	defer s.meter(&s.Answering)()
	switch {
	case fate.Error != "":
		s.frontier.Robots().Failed(s.now, v.lease, a, fate.Error, "", fate.Error == webtest.ErrorDNS)
	case fate.Status == 301:
		to, err := weburl.Parse(v.was.Links[0])
		if err != nil {
			panic(err)
		}
		s.frontier.Robots().Redirected(s.now, v.lease, a, to)
	case fate.Status >= 500:
		s.frontier.Robots().Failed(s.now, v.lease, a, webtest.ErrorRobots, "", false)
	default:
		s.frontier.Robots().Set(s.now, v.lease, rules, a)
	}
}

// follow adds the links of a page, or the target of a redirect.
func (s *Simulation) follow(v *flight) error {
	links := make([]frontier.URL, 0, len(v.was.Links))
	for _, l := range v.was.Links {
		u, err := weburl.Parse(l)
		if err != nil {
			return err
		}
		links = append(links, frontier.URL{URL: u, From: v.lease.URL.String(), Depth: v.lease.Depth + 1})
	}
	s.Added += len(links)
	redirect := v.was.Fate.Status >= 300 && v.was.Fate.Status < 400
	defer s.meter(&s.Adding)()
	for _, u := range links {
		if redirect {
			u.Depth = v.lease.Depth
			s.frontier.Redirect(v.lease, u)
			continue
		}
		s.frontier.Add(u)
	}
	return nil
}

// meter starts a timer; the function that it returns adds the time to a sum.
func (s *Simulation) meter(to *time.Duration) func() {
	began := time.Now()
	return func() { *to += time.Since(began) }
}

// Failures lists what the crawl did wrong, a line each.
func (s *Simulation) Failures() (wrong []string) {
	if !maps.Equal(s.Fates, s.Truth) {
		for fate, n := range s.Truth {
			if s.Fates[fate] != n {
				wrong = append(wrong, fmt.Sprintf("%d URLs with the fate %+v, expected %d", s.Fates[fate], fate, n))
			}
		}
	}
	if most := s.Web.Traps() * s.Variants; s.Trapped > most {
		wrong = append(wrong, fmt.Sprintf("%d URLs of endless calendars, expected at most %d", s.Trapped, most))
	}
	return append(wrong, impolite(s.Verdict)...)
}

// Ratio is the duration of the crawl divided by its bound.
func (s *Simulation) Ratio() float64 { return s.Took.Seconds() / s.Bound.Longest().Seconds() }

// conclusion is the first paragraph of the page.
func (s *Simulation) conclusion() string {
	if len(s.Failures()) > 0 {
		return "This crawl failed its proof: see the section Wrong at the end."
	}
	return fmt.Sprintf(`A frontier of %d hosts, driven on virtual time, is polite to every host, domain and address, and
finds exactly what the ground truth holds. It takes %.3f times the time that politeness itself
demands, %.1f µs of CPU time per request, and %d bytes of memory per URL.`, s.Web.Hosts(), s.Ratio(),
		perRequest(s.Leasing+s.Answering, s.Leases), s.Heap/max(1, s.Bound.URLs))
}

// Write writes the page of a simulation that a command made.
func (s *Simulation) Write(w io.Writer, command string) error {
	p := &page{w: w}
	p.line("# A broad crawl, simulated\n")
	p.line("%s\n\n## How it was measured\n", s.conclusion())
	p.line("`%s`, on %s:", command, runtime.Version())
	p.line("a frontier, a synthetic web that responds to its leases, and a virtual clock; no sockets, no store.\n")
	p.line("| | |\n|---|---:|")
	p.row("hosts", s.Web.Hosts())
	p.row("URLs", s.Bound.URLs)
	p.row("requests that the ground truth demands", s.Bound.Requests)
	p.row("requests sent", s.Verdict.Requests)
	p.row("concurrent requests", s.Concurrency)
	p.row("virtual time", s.Took.Round(100*time.Millisecond))
	p.row("lower bound that politeness sets", s.Bound.Longest().Round(100*time.Millisecond))
	p.row("time ÷ bound", fmt.Sprintf("%.3f", s.Ratio()))
	p.row("URLs of endless calendars, fetched", s.Trapped)
	p.row("leases", s.Leases)
	p.row("links added", s.Added)
	p.row("CPU per Lease, µs", fmt.Sprintf("%.2f", perRequest(s.Leasing, s.Leases)))
	p.row("CPU per outcome, µs", fmt.Sprintf("%.2f", perRequest(s.Answering, s.Leases)))
	p.row("CPU per link added, µs", fmt.Sprintf("%.2f", perRequest(s.Adding, s.Added)))
	p.row("memory of the frontier at the end, MiB", s.Heap>>20)
	p.row("the same, bytes per URL", s.Heap/max(1, s.Bound.URLs))
	p.chains(s.Bound)
	p.politeness(s.Verdict, s.Delay)
	p.failures(s.Failures())
	return p.err
}
