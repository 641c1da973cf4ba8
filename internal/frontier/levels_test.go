package frontier_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/long"
)

// TestLevels crawls random small webs to a depth, with random latencies, retries and postponements,
// in which little stays in memory and the process is killed now and then. Every time the pages and
// their depths are those of a search in breadth.
func TestLevels(t *testing.T) {
	cases := long.Or[uint64](60, 2000)
	for _, c := range []struct {
		name string
		cfg  frontier.Config
	}{
		{"no limits", frontier.Config{PerHost: 3}},
		{"delay and robots", frontier.Config{Robots: true, RobotsTries: 2, Delay: time.Second}},
		{"paced", frontier.Config{PerDomain: 1}},
	} {
		c.cfg.MaxRedirects = 100
		t.Run(c.name, func(t *testing.T) {
			for seed := range cases {
				if !testLevels(t, c.cfg, seed) {
					t.Fatalf("that was seed %d", seed)
				}
			}
		})
	}
}

func testLevels(t *testing.T, cfg frontier.Config, seed uint64) bool {
	w := newSmallWeb(t, seed)
	w.robots = cfg.Robots
	w.seeds, w.depth = w.seeds[:1], 1+int(seed/7%6)
	cfg.Levels = true
	cfg.Heads = []int{0, 1, 2, 7, 100}[seed%5]
	cfg.InMemory = []int{0, 1, 300, 2000}[seed/5%4] * min(cfg.Heads, 1)
	cfg.SeenBytes = []int{0, 1, 64 * 300}[seed%3]
	cfg.HostBytes = []int{0, 1, 700, 8 * 64 * 1024}[seed/3%4]
	c := &durableCrawl{smallWeb: w, t: t, cfg: cfg, journal: newJournal(t), rand: rand.New(rand.NewPCG(seed, 3))}
	c.crawl()
	if got, want := c.depths(), w.depths(); !maps.Equal(got, want) {
		t.Errorf("depth %d, Heads %d, InMemory %d, SeenBytes %d, HostBytes %d; the depths are\n%v, expected\n%v", w.depth, cfg.Heads, cfg.InMemory, cfg.SeenBytes, cfg.HostBytes, got, want)
	}
	return !t.Failed()
}

// depths returns the depth of each URL that ended.
func (c *durableCrawl) depths() map[string]int {
	depths := make(map[string]int)
	for _, u := range c.journal.done {
		depths[short(u)] = u.Depth
	}
	for _, r := range c.journal.refused {
		depths[short(r.URL)] = r.URL.Depth
	}
	return depths
}

// depths returns the least number of links that lead to each URL, up to the web's depth.
func (w *smallWeb) depths() map[string]int {
	depths := make(map[string]int)
	level := w.seeds
	for depth := 0; depth <= w.depth; depth++ {
		var next []frontier.URL
		for i := 0; i < len(level); i++ { // redirects make it longer
			u := level[i]
			if _, known := depths[short(u)]; known {
				continue
			}
			depths[short(u)] = depth
			p := w.pages[u.URL]
			disallowed := w.robots && (w.down[u.URL.Origin()] || !w.rules[u.URL.Origin()].Test(u.URL.RequestTarget()).Allowed)
			switch {
			case p.excluded, disallowed, p.fails >= maxTries:
			case p.target != nil:
				level = append(level, *p.target)
			default:
				next = append(next, p.links...)
			}
		}
		level = next
	}
	return depths
}

// TestWhoWaits checks who waits at a level for whom.
func TestWhoWaits(t *testing.T) {
	link := func(f *frontier.Frontier, to string, from frontier.URL, depth int) {
		v := u(t, to)
		v.From, v.Depth = from.URL.String(), depth
		f.Add(v)
	}
	begin := func(cfg frontier.Config) (f *frontier.Frontier, a, b frontier.URL) {
		cfg.Levels, cfg.PerHost = true, 4
		f = with(t, cfg, "a/ b/")
		leases := expectLease(t, f, 0, 9, "a/ b/")
		return f, leases[0], leases[1]
	}
	t.Run("a site for itself", func(t *testing.T) {
		f, a, _ := begin(frontier.Config{})
		link(f, "a/1", a, 1)
		link(f, "a/2", a, 1)
		f.Done(at(0), a, frontier.Result{})
		leases := expectLease(t, f, 0, 9, "a/1 a/2")
		link(f, "a/3", leases[0], 2)
		f.Retry(at(0), leases[0], frontier.Result{}, at(20*time.Second))
		f.Done(at(0), leases[1], frontier.Result{})
		expectLease(t, f, 0, 9, "")
		f.Done(at(20*time.Second), expectLease(t, f, 20*time.Second, 9, "a/1")[0], frontier.Result{})
		expectLease(t, f, 20*time.Second, 9, "a/3")
	})
	t.Run("sites that lead to each other", func(t *testing.T) {
		f, a, b := begin(frontier.Config{})
		link(f, "a/1", a, 1)
		link(f, "b/", a, 1)
		f.Done(at(0), a, frontier.Result{})
		expectLease(t, f, 0, 9, "")
		f.Done(at(0), b, frontier.Result{})
		expectLease(t, f, 0, 9, "a/1")
	})
	t.Run("not for a site that is overloaded", func(t *testing.T) {
		f, a, b := begin(frontier.Config{})
		link(f, "a/1", a, 1)
		link(f, "b/", a, 1)
		f.Done(at(0), a, frontier.Result{})
		f.Retry(at(0), b, frontier.Result{Overload: true, RetryAfter: time.Minute}, at(0))
		expectLease(t, f, 0, 9, "a/1")
	})
	t.Run("not for a response that hangs", func(t *testing.T) {
		f, a, _ := begin(frontier.Config{})
		link(f, "a/1", a, 1)
		link(f, "b/", a, 1)
		f.Done(at(0), a, frontier.Result{})
		expectLease(t, f, 0, 9, "")
		expectNext(t, f, 10*time.Second)
		expectLease(t, f, 10*time.Second, 9, "a/1")
	})
	t.Run("not for a site that has nothing but a link to check", func(t *testing.T) {
		f := with(t, frontier.Config{Levels: true, PerHost: 4}, "a/")
		a := expectLease(t, f, 0, 9, "a/")[0]
		link(f, "a/1", a, 1)
		v := u(t, "b/")
		v.From, v.Depth, v.Role = a.URL.String(), 1, frontier.RoleExternal
		f.Add(v)
		f.Done(at(0), a, frontier.Result{})
		leases := expectLease(t, f, 0, 9, "a/1 b/")
		link(f, "a/2", leases[0], 2)
		f.Done(at(0), leases[0], frontier.Result{})
		expectLease(t, f, 0, 9, "a/2")
	})
	t.Run("for seeds to come", func(t *testing.T) {
		f, a, _ := begin(frontier.Config{})
		f.DelayLevels(at(0), time.Second)
		link(f, "a/1", a, 1)
		f.Done(at(0), a, frontier.Result{})
		expectLease(t, f, 0, 9, "")
		expectNext(t, f, time.Second)
		expectLease(t, f, time.Second, 9, "a/1")
	})
}

// TestNearer checks that a pending URL moves to the depth of a shorter way that is found later.
func TestNearer(t *testing.T) {
	f := with(t, frontier.Config{Levels: true, PerHost: 4, MaxRedirects: 5}, "a/ a/r")
	leases := expectLease(t, f, 0, 9, "a/ a/r")
	for _, path := range []string{"a/1", "a/2", "a/3"} {
		v := u(t, path)
		v.From, v.Depth = leases[0].URL.String(), 1
		f.Add(v)
	}
	f.Done(at(0), leases[0], frontier.Result{})
	target := u(t, "a/2")
	target.From = leases[1].URL.String()
	f.Redirect(leases[1], target)
	add(t, f, "a/3") // a late seed
	f.Done(at(0), leases[1], frontier.Result{})
	near := expectLease(t, f, 0, 9, "a/2 a/3")
	for _, v := range near {
		if v.Depth != 0 {
			t.Errorf("%s has depth %d", v.URL, v.Depth)
		}
		f.Done(at(0), v, frontier.Result{})
	}
	expectLease(t, f, 0, 9, "a/1")
}

// TestNearerElsewhere: a shorter way that another node has found counts for a URL that is pending,
// and is told to the node that has the URL, however deep the levels are here.
func TestNearerElsewhere(t *testing.T) {
	ours := func(host string) int { return int(host[0] - 'a') }
	f := frontier.New(frontier.Config{Levels: true, Partition: ours, Ours: []int{0}})
	from := func(path string, depth int) frontier.URL {
		link := u(t, path)
		link.From, link.Depth = "http://b.example/", depth
		return link
	}
	f.Add(from("a/0", 1))
	first := expectLease(t, f, 0, 9, "a/0")[0]
	for _, depth := range []int{5, 3, 4} {
		f.Add(from("a/1", depth))
	}
	f.Done(at(0), first, frontier.Result{})
	if lease := f.Lease(at(0), 9); len(lease) != 1 || lease[0].Depth != 3 {
		t.Errorf("%+v, expected a depth of 3", lease)
	}
	var sent []int
	f.Partitions().SendBy(func(u frontier.URL) { sent = append(sent, u.Depth) })
	for _, depth := range []int{5, 5, 3} {
		f.Add(from("b/1", depth))
	}
	if !slices.Equal(sent, []int{5, 3}) {
		t.Errorf("sent at the depths %d", sent)
	}
}
