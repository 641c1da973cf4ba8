package frontier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// TestPolite crawls random webs of hosts that are slow, overloaded or down, and checks that no
// rule of politeness is ever broken, that Next is right to the nanosecond, and that every URL ends
// in one way.
func TestPolite(t *testing.T) {
	for name, cfg := range map[string]frontier.Config{
		"paced":      {},
		"robots":     {Robots: true, RobotsTries: 3},
		"delay":      {Robots: true, RobotsTries: 1, Delay: 700 * time.Millisecond},
		"per host":   {Robots: true, RobotsTries: 2, PerHost: 3},
		"both":       {Delay: 200 * time.Millisecond, PerHost: 2},
		"rate":       {Robots: true, RobotsTries: 2, RateLimit: 20},
		"host limit": {Robots: true, RobotsTries: 2, LimitPerHost: 15},
		"limit":      {Robots: true, RobotsTries: 2, Limit: 60},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				w := &web{
					t: t, cfg: cfg, f: frontier.New(cfg), rand: rand.New(rand.NewPCG(seed, 1)),
					hosts: make(map[string]*webHost), end: make(map[string]string),
				}
				w.crawl()
			}
		})
	}
}

// web is hosts, and a crawl of them on virtual time.
type web struct {
	t      *testing.T
	cfg    frontier.Config
	f      *frontier.Frontier
	rand   *rand.Rand
	now    time.Duration
	hosts  map[string]*webHost
	end    map[string]string // the end of each URL that was added; empty: not yet
	away   []request
	leases []time.Duration // when, for RateLimit
}

type webHost struct {
	rules     string // lines of its robots.txt
	known     bool   // to the crawler
	leased    int
	redirects int           // of these
	lastEnd   time.Duration // of a response
	lastLease time.Duration
	any       bool // lastEnd and lastLease are set
	held      time.Duration
}

type request struct {
	url  frontier.URL
	ends time.Duration
}

func (w *web) crawl() {
	w.add(6)
	for steps := 0; !w.f.View().Stopped(); steps++ {
		if steps > 100_000 {
			w.t.Fatalf("no end: %+v", w.f.View().Stats())
		}
		w.lease()
		next, due := w.f.Next()
		i := w.soonest()
		switch {
		case i >= 0 && (!due || w.away[i].ends < next.Sub(epoch)):
			r := w.away[i]
			w.away = slices.Delete(w.away, i, i+1)
			w.now = max(w.now, r.ends)
			w.answer(r.url)
		case due:
			w.wait(next.Sub(epoch))
		case !w.f.View().Stopped():
			w.t.Fatalf("%v: nothing will ever happen: %+v", w.now, w.f.View().Stats())
		}
	}
	w.finish()
}

// wait goes to the time at which something is due: not a moment before.
func (w *web) wait(next time.Duration) {
	if next > w.now {
		w.now = next - 1
		if got := w.f.Lease(at(w.now), 9); len(got) > 0 || len(w.f.Refused().URLs) > 0 {
			w.t.Fatalf("Next() = %v, and %d were leased before", next, len(got))
		}
		w.now = next
	}
	if w.lease() == 0 {
		w.t.Fatalf("Next() = %v, and nothing was leased nor refused then", next)
	}
}

func (w *web) soonest() int {
	best := -1
	for i, r := range w.away {
		if best < 0 || r.ends < w.away[best].ends {
			best = i
		}
	}
	return best
}

func (w *web) add(n int) {
	for range n {
		name := fmt.Sprintf("%c/%d", 'a'+w.rand.IntN(4), w.rand.IntN(60))
		url := u(w.t, name)
		url.Depth, url.Priority = w.rand.IntN(3), int8(w.rand.IntN(2))
		host, _, _ := strings.Cut(name, "/")
		if w.hosts[host] == nil {
			w.hosts[host] = &webHost{rules: []string{"Disallow: /1", "", "Crawl-delay: 1\nDisallow: /2", "Disallow: /"}[w.rand.IntN(4)]}
		}
		if _, seen := w.end[name]; !seen {
			w.end[name] = ""
		}
		w.f.Add(url)
	}
}

// lease leases, checks each lease, and returns how many leases and refusals there were.
func (w *web) lease() int {
	leases := w.f.Lease(at(w.now), 1+w.rand.IntN(9))
	leases = append(leases, w.f.LeasePrompt(at(w.now), w.rand.IntN(3))...)
	for _, lease := range leases {
		w.check(lease)
		w.away = append(w.away, request{lease, w.now + time.Duration(20+w.rand.IntN(60))*time.Millisecond})
	}
	for _, h := range w.f.View().Slowest(100) {
		if h.Pace > 0 && h.Leased > h.Pace && len(leases) > 0 && strings.Contains(h.Origin, leases[len(leases)-1].URL.Hostname()) {
			w.t.Fatalf("%v: %s has %d leases at pace %d", w.now, h.Origin, h.Leased, h.Pace)
		}
	}
	refused := w.f.Refused().URLs
	for _, r := range refused {
		if !w.cfg.Robots {
			w.t.Fatalf("%s refused", short(r.URL))
		}
		w.ended(r.URL, "refused")
	}
	return len(leases) + len(refused)
}

func (w *web) check(lease frontier.URL) {
	name := short(lease)
	_, target, _ := strings.Cut(name, "/")
	h := w.asked(lease)
	delay := w.cfg.Delay
	rules := robots.Parse([]byte("User-agent: *\n" + h.rules)).Agent("weft")
	if h.known {
		crawlDelay, _ := rules.CrawlDelay()
		delay = max(delay, crawlDelay)
	}
	switch {
	case w.now < h.held:
		w.t.Fatalf("%v: %s leased, its host is backs off until %v", w.now, name, h.held)
	case h.any && w.now < max(h.lastEnd, h.lastLease)+delay:
		w.t.Fatalf("%v: %s leased, the delay is over at %v", w.now, name, max(h.lastEnd, h.lastLease)+delay)
	case w.cfg.PerHost > 0 && h.leased >= w.cfg.PerHost, w.cfg.PerHost == 0 && delay > 0 && h.leased > 0, h.leased >= 16:
		w.t.Fatalf("%v: %s leased, besides %d", w.now, name, h.leased)
	case lease.Robots && lease.At == nil && h.leased > h.redirects:
		w.t.Fatalf("%v: %s leased, besides %d", w.now, name, h.leased)
	case w.cfg.Robots && !lease.Robots && !h.known:
		w.t.Fatalf("%v: %s leased before robots.txt", w.now, name)
	case w.cfg.Robots && !lease.Robots && !rules.Test("/"+target).Allowed:
		w.t.Fatalf("%v: %s leased, which is disallowed", w.now, name)
	case w.cfg.RateLimit > 0 && len(w.leases) > 0 && w.now-w.leases[len(w.leases)-1] < time.Duration(float64(time.Second)/w.cfg.RateLimit)-time.Millisecond:
		w.t.Fatalf("%v: %s leased, the last was at %v", w.now, name, w.leases[len(w.leases)-1])
	}
	if w.end[name] != "" {
		w.t.Fatalf("%v: %s leased, which is %s", w.now, name, w.end[name])
	}
	h.leased++
	if lease.At != nil {
		h.redirects++
	}
	h.lastLease, h.any = w.now, true
	w.leases = append(w.leases, w.now)
}

// robotsOf returns the robots.txt of a host, and adds the host to the web.
func (w *web) robotsOf(host string) weburl.URL {
	if w.hosts[host] == nil {
		w.hosts[host] = new(webHost)
	}
	return u(w.t, host+"/robots.txt").URL
}

// asked returns the host that a lease requests.
func (w *web) asked(lease frontier.URL) *webHost { return w.hosts[hostOf(lease.Where())] }

// hostOf returns the short name of the host of a URL.
func hostOf(u weburl.URL) string {
	host, _, _ := strings.Cut(short(frontier.URL{URL: u}), "/")
	return host
}

func (w *web) answer(u frontier.URL) {
	h := w.asked(u)
	h.leased--
	if u.At != nil {
		h.redirects--
	}
	h.lastEnd = w.now
	a := frontier.Result{Took: time.Duration(5+w.rand.IntN(40)) * time.Millisecond, Total: time.Duration(w.rand.IntN(1100)) * time.Millisecond}
	if w.rand.IntN(12) == 0 {
		a.Overload = true
		a.RetryAfter = time.Duration(w.rand.IntN(3)) * time.Second
		h.held = max(h.held, w.now+max(a.RetryAfter, time.Second))
	}
	switch {
	case u.Robots && (a.Overload || w.rand.IntN(3) == 0):
		w.f.Robots().Failed(at(w.now), u, a, "robots-unreachable", "status 503", false)
	case u.Robots && u.Hops < 5 && w.rand.IntN(3) == 0:
		// It is elsewhere, maybe where nothing else leads to.
		w.f.Robots().Redirected(at(w.now), u, a, w.robotsOf(string(rune('a'+w.rand.IntN(5)))))
	case u.Robots:
		h := w.hosts[hostOf(u.URL)]
		h.known = true
		w.f.Robots().Set(at(w.now), u, robots.Parse([]byte("User-agent: *\n"+h.rules)).Agent("weft"), a)
	case a.Overload || w.rand.IntN(10) == 0:
		w.f.Retry(at(w.now), u, a, at(w.now+time.Duration(w.rand.IntN(3000))*time.Millisecond))
	default:
		w.add(w.rand.IntN(4))
		w.f.Done(at(w.now), u, a)
		w.ended(u, "done")
	}
}

func (w *web) ended(u frontier.URL, how string) {
	if was := w.end[short(u)]; was != "" {
		w.t.Fatalf("%s is %s, and was %s", short(u), how, was)
	}
	w.end[short(u)] = how
}

func (w *web) finish() {
	count := make(map[string]int)
	for _, how := range w.end {
		count[how]++
	}
	s := w.f.View().Stats()
	if s.Done != count["done"] || s.Refused != count["refused"] || s.OverLimit+s.Pending != count[""] {
		w.t.Fatalf("%+v, want %v", s, count)
	}
	if w.cfg.LimitPerHost == 0 && s.OverLimit > 0 || w.cfg.Limit == 0 && s.Pending > 0 || w.cfg.Limit > 0 && s.Done > w.cfg.Limit {
		w.t.Fatalf("the crawl is over: %+v", s)
	}
}
