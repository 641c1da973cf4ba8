package frontier_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// TestDurable crawls random small webs with a journal that is committed now and then, and kills the
// crawl now and then; a new one restarts from what was committed. However few URLs, fingerprints
// and hosts stay in memory, however late and in what pieces the others are read, and wherever it
// is killed: the same URLs end in the same way as in a crawl that keeps everything in memory and
// is never killed, each once.
func TestDurable(t *testing.T) {
	cases := long.Or[uint64](120, 1000)
	for _, c := range []struct {
		name string
		cfg  frontier.Config
	}{
		{"no limits", frontier.Config{PerHost: 3}},
		{"delay and robots", frontier.Config{Robots: true, RobotsTries: 2, Delay: time.Second}},
		{"paced", frontier.Config{Robots: true, RobotsTries: 1}},
		{"host limit", frontier.Config{Robots: true, RobotsTries: 2, PerHost: 2, LimitPerHost: 7}},
		{"limit", frontier.Config{PerHost: 2, Limit: 25}},
		{"both limits and a delay", frontier.Config{PerHost: 2, Delay: time.Second, Limit: 30, LimitPerHost: 9}},
	} {
		c.cfg.MaxRedirects = 3
		t.Run(c.name, func(t *testing.T) {
			left, dormant := 0, 0
			for seed := range cases {
				if !testDurable(t, c.cfg, seed, &left, &dormant) {
					t.Fatalf("that was seed %d", seed)
				}
			}
			if left < int(cases) || dormant < int(cases)/8 {
				t.Errorf("%d origins have left memory in %d crawls, of these %d with something pending", left, cases, dormant)
			}
		})
	}
}

func testDurable(t *testing.T, cfg frontier.Config, seed uint64, left, dormant *int) bool {
	w := newSmallWeb(t, seed)
	heads := cfg
	heads.Heads = []int{0, 1, 2, 7, 100}[seed%5]
	heads.InMemory = []int{0, 1, 300, 2000}[seed/5%4] * min(heads.Heads, 1)
	heads.SeenBytes = []int{0, 1, 64 * 300}[seed%3] // none, no fingerprint, a third
	// All; leased ones; one or two; all, and the names of evicted ones.
	heads.HostBytes = []int{0, 1, 700, 8 * 64 * 1024}[seed/3%4]
	c := &durableCrawl{smallWeb: w, t: t, cfg: heads, journal: newJournal(t), rand: rand.New(rand.NewPCG(seed, 3))}
	c.crawl()
	if heads.HostBytes > 0 && heads.HostBytes < 1000 {
		*left += c.left
		*dormant += c.dormant
	}
	if cfg.Limit == 0 && cfg.LimitPerHost == 0 {
		if got, want := c.ends(), w.crawl(cfg); !maps.Equal(got, want) {
			t.Errorf("Heads is %d, SeenBytes %d, HostBytes %d; the URLs ended as %v, want %v", heads.Heads, heads.SeenBytes, heads.HostBytes, got, want)
		}
	}
	return !t.Failed()
}

// smallWeb is a web whose pages never change.
type smallWeb struct {
	pages  map[weburl.URL]*page
	seeds  []frontier.URL
	rules  map[string]robots.Rules
	down   map[string]bool         // origins whose robots.txt can't be had
	moved  map[string][]weburl.URL // targets of their redirects, one after the other
	robots bool                    // they apply
	depth  int                     // links from a seed that are followed; 0: any number
}

type page struct {
	links    []frontier.URL
	target   *frontier.URL // of its redirect
	fails    int           // so many tries fail
	excluded bool          // by RefuseBy
	again    bool          // it is asked again after its first response
}

const maxTries = 3 // at a page

func newSmallWeb(t *testing.T, seed uint64) *smallWeb {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	w := &smallWeb{pages: make(map[weburl.URL]*page), rules: make(map[string]robots.Rules), down: make(map[string]bool), moved: make(map[string][]weburl.URL)}
	hosts := 1 + r.IntN(4)
	far := 60        // as a link leads at most, in the order in which the URLs are made
	if seed%2 == 1 { // hosts are crawled one after the other, and so soon have nothing left to do
		hosts, far = 10+r.IntN(16), 10
	}
	redirects, failures := r.IntN(8), r.IntN(5) // of 10 pages
	var urls []weburl.URL
	for i := range 1 + r.IntN(60) {
		host := r.IntN(hosts)
		if far < 60 {
			host = i * hosts / 60
		}
		url := u(t, fmt.Sprintf("%c/%d", 'a'+host, i)).URL
		if far < 60 && r.IntN(5) == 0 { // another origin of the host
			var err error
			if url, err = url.Resolve(fmt.Sprintf("https://%s/%d", url.Hostname(), i)); err != nil {
				t.Fatal(err)
			}
		}
		urls = append(urls, url.Canonical())
	}
	link := func(from int) frontier.URL {
		return frontier.URL{URL: urls[(from+r.IntN(min(far, len(urls))))%len(urls)], Priority: int8(r.IntN(8) / 7), Rank: int8(r.IntN(8) / 6)}
	}
	for i, url := range urls {
		p := &page{excluded: r.IntN(20) == 0, again: i%7 == 3}
		w.pages[url] = p
		if r.IntN(10) < redirects {
			target := link(i)
			p.target = &target
		}
		if r.IntN(10) < failures {
			p.fails = 1 + r.IntN(maxTries+1)
		}
		for range r.IntN(10) {
			p.links = append(p.links, link(i))
		}
		origin := url.Origin()
		if _, ok := w.rules[origin]; !ok {
			text := []string{"", "Disallow: /1", "Crawl-delay: 2", "Disallow: /*3\nCrawl-delay: 0.3"}[r.IntN(4)]
			w.rules[origin] = robots.Parse([]byte("User-agent: *\n" + text)).Agent("weft")
			w.down[origin] = r.IntN(10) == 0
			for r.IntN(3) == 0 {
				w.moved[origin] = append(w.moved[origin], u(t, string(rune('a'+r.IntN(hosts+1)))+"/rules").URL)
			}
		}
	}
	for range 1 + r.IntN(3) {
		w.seeds = append(w.seeds, link(0))
	}
	return w
}

// refuse is given to RefuseBy.
func (w *smallWeb) refuse(u *frontier.URL) (kind, reason string) {
	if w.pages[u.URL].excluded {
		return "excluded", "by the user"
	}
	return "", ""
}

// answer ends a lease. A done URL has the kind of its last try.
func (w *smallWeb) answer(f *frontier.Frontier, now time.Time, u frontier.URL, again time.Duration) {
	origin, p := u.URL.Origin(), w.pages[u.URL]
	if u.Robots {
		if u.Hops < len(w.moved[origin]) {
			f.Robots().Redirected(now, u, frontier.Result{}, w.moved[origin][u.Hops])
		} else if w.down[origin] {
			f.Robots().Failed(now, u, frontier.Result{}, "robots-unreachable", "status 503", false)
		} else {
			f.Robots().Set(now, u, w.rules[origin], frontier.Result{})
		}
		return
	}
	try := frontier.Try{At: now, Status: 200}
	switch failed := u.Tries < p.fails; {
	case failed:
		try = frontier.Try{At: now, Kind: "timeout"}
	case p.target != nil:
		try.Status = 301
	}
	u.Past = append(slices.Clip(u.Past), try)
	switch {
	case try.Kind != "" && u.Tries+1 < maxTries:
		f.Retry(now, u, frontier.Result{}, now.Add(again))
		return
	case try.Status == 301:
		target := *p.target
		target.Depth = u.Depth
		if w.depth > 0 {
			target.From = u.URL.String()
		}
		f.Redirect(u, target)
	case try.Status == 200:
		for _, link := range p.links {
			link.Depth = u.Depth + 1
			if w.depth > 0 {
				link.From = u.URL.String()
			}
			if w.depth == 0 || link.Depth <= w.depth {
				f.Add(link)
			}
		}
	}
	f.Done(now, u, frontier.Result{Took: again})
	responses := 0
	for _, t := range u.Past {
		responses += min(t.Status, 1)
	}
	if p.again && responses == 1 && try.Status != 0 {
		f.Again(now, u)
	}
}

// crawl crawls without a journal, and returns how each URL ended.
func (w *smallWeb) crawl(cfg frontier.Config) map[string]string {
	f := frontier.New(cfg)
	f.RefuseBy(w.refuse)
	for _, u := range w.seeds {
		f.Add(u)
	}
	ends := make(map[string]string)
	for now := epoch; !f.View().Over(); {
		for _, u := range f.Lease(now, 9) {
			if before := f.View().Stats().Done; !u.Robots {
				w.answer(f, now, u, time.Second)
				if f.View().Stats().Done > before {
					ends[short(u)] = fmt.Sprintf("done after %d", u.Tries+1)
				}
				continue
			}
			w.answer(f, now, u, 0)
		}
		for _, r := range f.Refused().URLs {
			ends[short(r.URL)] = r.Kind
		}
		if next, ok := f.Next(); ok && next.After(now) {
			now = next
		}
	}
	return ends
}

// durableCrawl is a crawl with a journal, which is killed now and then. All fields after the first
// are since the last kill.
type durableCrawl struct {
	*smallWeb
	t       *testing.T
	cfg     frontier.Config
	journal *journal
	rand    *rand.Rand
	now     time.Duration
	kills   int // that are still to come
	often   int // they come: in 100 steps
	later   int // leases that are postponed, of 10
	steps   int
	sealed  int                      // notes of the batch that is being committed; 0: none is
	left    int                      // origins that were not in memory, at most
	dormant int                      // of these, with something pending
	late    int                      // the step at which RefuseBy begins to refuse
	free    map[string]time.Duration // when the delay of an origin is over
	fetched map[weburl.URL]bool      // but for what was lost in a kill

	f       *frontier.Frontier
	rules   map[string]*robots.Rules // known to f; nil: not yet
	leases  []frontier.URL
	leased  map[string]int
	wants   []*want
	revival *revival // nil: no request
}

// want is a Refill on its way: it is read after a commit, and provided later.
type want struct {
	frontier.Request
	committed, read bool
	page            frontier.Page
}

func (c *durableCrawl) crawl() {
	c.free = make(map[string]time.Duration)
	c.kills, c.often, c.later = c.rand.IntN(8), 1+c.rand.IntN(5), c.rand.IntN(6)
	if c.cfg.Limit > 0 || c.cfg.LimitPerHost > 0 {
		c.late = c.rand.IntN(200) // changes the set of URLs found
	}
	c.begin()
	for c.steps = 0; !c.over(); c.steps++ {
		if c.steps > 100_000 {
			c.t.Fatalf("no end: %+v", c.f.View().Stats())
		}
		c.step()
		if c.t.Failed() {
			return
		}
	}
	c.commit()
	c.checkEnd()
}

// over reports whether the crawl is over. It may be killed before it has noticed.
func (c *durableCrawl) over() bool {
	if !c.f.View().Stopped() {
		return false
	}
	if c.kills > 0 && c.rand.IntN(3) == 0 {
		c.kill()
		return false
	}
	return true
}

// begin starts a process.
func (c *durableCrawl) begin() {
	c.f = c.journal.restore(c.cfg, at(c.now))
	c.f.RefuseBy(func(u *frontier.URL) (kind, reason string) {
		if c.steps < c.late {
			return "", ""
		}
		return c.refuse(u)
	})
	c.leases, c.wants, c.revival, c.leased, c.sealed = nil, nil, nil, make(map[string]int), 0
	c.rules = make(map[string]*robots.Rules)
	for origin, r := range c.journal.rules {
		c.rules[origin] = &r
	}
	c.fetched = make(map[weburl.URL]bool)
	for u := range c.journal.done {
		c.fetched[u] = true
	}
	for _, urls := range c.journal.pending {
		for _, u := range urls {
			if u.Tries > 0 {
				c.fetched[u.URL] = true
			}
		}
	}
	c.ask(c.seeds)
	for _, u := range c.seeds {
		c.f.Add(u)
	}
}

// ask prepares the frontier for URLs. The page is of the time of the request, or later.
func (c *durableCrawl) ask(urls []frontier.URL) {
	if c.cfg.SeenBytes == 0 && c.cfg.HostBytes == 0 {
		return
	}
	if c.sealed == 0 && c.rand.IntN(3) == 0 {
		c.f.NoteOrigins()
		c.sealed = len(c.journal.notes)
	}
	r, ok := c.f.Prepare(func(func(weburl.URL) bool) {}, func(yield func(weburl.URL) bool) {
		for _, u := range urls {
			if !yield(u.URL) {
				return
			}
		}
	})
	c.left = max(c.left, c.f.View().Evicted())
	if c.rand.IntN(3) == 0 {
		c.commit()
	}
	page := c.journal.lookup(r)
	if c.rand.IntN(3) == 0 {
		c.commit()
	}
	if ok {
		c.f.Provide(at(c.now), page)
	}
}

func (c *durableCrawl) kill() {
	c.kills--
	// An origin that the journal does not know may be asked at once.
	clear(c.free)
	for origin := range c.journal.origins {
		c.free[origin] = c.now + c.delay(origin, c.journal.rules[origin])
	}
	c.begin()
}

func (c *durableCrawl) delay(origin string, r robots.Rules) time.Duration {
	if !c.cfg.Robots {
		return c.cfg.Delay
	}
	delay, _ := r.CrawlDelay()
	return max(c.cfg.Delay, delay)
}

// step does one thing.
func (c *durableCrawl) step() {
	switch n := c.rand.IntN(100); {
	case n < 30:
		c.lease(1 + c.rand.IntN(4))
	case n < 60 && len(c.leases) > 0:
		c.answer()
	case n < 70:
		c.commit()
	case n < 75 && c.revival != nil:
		c.wake()
	case n < 85 && len(c.wants) > 0:
		c.serve(c.wants[c.rand.IntN(len(c.wants))])
	case n < 85+c.often && c.kills > 0:
		c.kill()
	case n < 95:
		c.now += time.Duration(c.rand.IntN(2000)) * time.Millisecond
	default:
		c.advance()
	}
	for _, w := range c.f.Reads() {
		if w.Kind == frontier.Revive {
			if c.revival != nil || w.N < 1 {
				c.t.Errorf("origins after %q are to be revived, and others are", w.Cursor)
			}
			c.revival = &revival{Request: w}
			continue
		}
		if slices.ContainsFunc(c.wants, func(other *want) bool { return other.Origin == w.Origin }) || w.N < 1 && w.Kind == frontier.Refill {
			c.t.Errorf("%s wants %d more, and has asked before", w.Origin, w.N)
		}
		c.wants = append(c.wants, &want{Request: w})
	}
	c.dormant = max(c.dormant, c.f.View().Dormant())
}

// advance lets time pass if nothing else can happen.
func (c *durableCrawl) advance() {
	if len(c.leases) > 0 || len(c.wants) > 0 || c.revival != nil {
		return
	}
	next, ok := c.f.Next()
	if !ok && !c.f.View().Stopped() {
		c.t.Errorf("nothing is in flight, and nothing will be: %+v", c.f.View().Stats())
	}
	if ok {
		c.now = max(c.now, next.Sub(epoch))
	}
}

func (c *durableCrawl) lease(n int) {
	for _, u := range c.f.Lease(at(c.now), n) {
		origin := u.Where().Origin()
		rules := c.rules[origin]
		switch {
		case c.now < c.free[origin]:
			c.t.Errorf("%v: %s is leased, and the delay is over at %v", c.now, u.URL, c.free[origin])
		case c.cfg.PerHost > 0 && c.leased[origin] == c.cfg.PerHost:
			c.t.Errorf("%s is leased, besides %d others", u.URL, c.leased[origin])
		case u.Robots:
		case c.cfg.Robots && rules == nil:
			c.t.Errorf("%s is leased before robots.txt", u.URL)
		case c.cfg.Robots && !rules.Test(u.URL.Path()).Allowed || c.pages[u.URL].excluded && c.steps >= c.late:
			c.t.Errorf("%s is leased, and should be refused", u.URL)
		case len(u.Past) != u.Tries:
			c.t.Errorf("%s has %d tries, and the past is %v", u.URL, u.Tries, u.Past)
		}
		if !u.Robots {
			c.fetched[u.URL] = true
		}
		if rules == nil {
			rules = new(robots.Rules)
		}
		c.free[origin] = c.now + c.delay(origin, *rules)
		c.leased[origin]++
		c.leases = append(c.leases, u)
	}
	c.f.Refused()
	c.checkLimits()
}

// checkLimits checks that no more URLs are fetched than the limits allow.
func (c *durableCrawl) checkLimits() {
	perHost := make(map[string]int)
	for u := range c.fetched {
		perHost[u.Hostname()]++
	}
	for host, n := range perHost {
		if c.cfg.LimitPerHost > 0 && n > c.cfg.LimitPerHost {
			c.t.Errorf("%d URLs of %s are fetched", n, host)
		}
	}
	if c.cfg.Limit > 0 && len(c.fetched) > c.cfg.Limit {
		c.t.Errorf("%d URLs are fetched", len(c.fetched))
	}
}

// answer ends one of the leases.
func (c *durableCrawl) answer() {
	i := c.rand.IntN(len(c.leases))
	u := c.leases[i]
	c.leases = slices.Delete(c.leases, i, i+1)
	c.now += time.Duration(c.rand.IntN(300)) * time.Millisecond
	origin := u.Where().Origin()
	c.leased[origin]--
	again := time.Duration(c.rand.IntN(3000)) * time.Millisecond
	if c.rand.IntN(10) < c.later {
		c.f.Postpone(at(c.now), u, frontier.Result{}, at(c.now+again))
	} else {
		if p := c.pages[u.URL]; !u.Robots {
			urls := p.links
			if p.target != nil {
				urls = append(slices.Clip(urls), *p.target)
			}
			c.ask(urls)
		} else if moved := c.moved[u.URL.Origin()]; u.Hops < len(moved) {
			c.ask([]frontier.URL{{URL: moved[u.Hops]}})
		}
		c.smallWeb.answer(c.f, at(c.now), u, again)
		asker := u.URL.Origin()
		if r := c.smallWeb.rules[asker]; u.Robots && u.Hops == len(c.moved[asker]) && !c.down[asker] {
			c.rules[asker] = &r
		}
	}
	rules := c.rules[origin]
	if rules == nil {
		rules = new(robots.Rules)
	}
	c.free[origin] = c.now + c.delay(origin, *rules)
}

func (c *durableCrawl) commit() {
	if c.sealed > 0 {
		c.journal.commitFirst(c.sealed)
		c.f.Saved()
		c.sealed = 0
	}
	c.f.NoteOrigins()
	c.journal.commit()
	if c.cfg.SeenBytes+c.cfg.HostBytes > 0 && c.rand.IntN(3) > 0 { // or the frontier does not know yet
		c.f.Saved()
	}
	for _, w := range c.wants {
		w.committed = true
	}
	if c.revival != nil {
		c.revival.committed = true
	}
}

// serve brings a Refill one step further. A page need not have everything there is.
func (c *durableCrawl) serve(w *want) {
	switch {
	case !w.committed:
	case !w.read:
		w.read = true
		if w.Kind == frontier.Find {
			w.page = c.journal.find(w.Request)
			return
		}
		w.page = c.journal.read(w.Request)
		if n := len(w.page.URLs); n > 1 && c.rand.IntN(3) == 0 {
			w.page.URLs, w.page.More = w.page.URLs[:1+c.rand.IntN(n-1)], true
		}
	default:
		c.wants = slices.DeleteFunc(c.wants, func(other *want) bool { return other == w })
		c.f.Provide(at(c.now), w.page)
	}
}

// ends returns how each URL ended.
func (c *durableCrawl) ends() map[string]string {
	ends := make(map[string]string)
	for _, u := range c.journal.done {
		ends[short(u)] = fmt.Sprintf("done after %d", len(u.Past))
	}
	for _, r := range c.journal.refused {
		ends[short(r.URL)] = r.Kind
	}
	return ends
}

// checkEnd checks that no URL is lost, and that the limits have turned nothing down that was
// within them.
func (c *durableCrawl) checkEnd() {
	d := &c.journal.durable
	pending, counted := 0, 0
	perHost := make(map[string]int) // that count for the limits
	for _, o := range d.origins {
		pending += o.Pending
		counted += o.Answered
		name, err := weburl.Parse(o.Name)
		if err != nil {
			c.t.Fatal(err)
		}
		perHost[name.Hostname()] += o.Answered
	}
	for u, r := range d.refused {
		if r.URL.Tries == 0 && c.fetched[u] { // leased, postponed and then refused
			counted++
			perHost[u.Hostname()]++
		}
	}
	for u := range d.dropped {
		if n := perHost[u.Hostname()]; n < c.cfg.LimitPerHost {
			c.t.Errorf("%s is dropped, and only %d URLs of its host were leased", u, n)
		}
	}
	if got := len(d.done) + len(d.refused) + len(d.dropped) + pending; got != len(d.seen) {
		c.t.Errorf("%d URLs were seen, and %d ended or are pending", len(d.seen), got)
	}
	if pending > 0 && (c.cfg.Limit == 0 || counted < c.cfg.Limit) {
		c.t.Errorf("%d URLs are pending after %d", pending, counted)
	}
}
