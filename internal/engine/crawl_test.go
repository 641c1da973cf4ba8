package engine_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestDepthIsTheSameEachTime crawls a web of several hosts to a depth, over networks of different
// speeds and with different numbers of workers: each time it finds the same pages, at the same
// depths.
func TestDepthIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	cfg := webtest.Config{
		Seed: 4, Hosts: 6, Pages: 80, Links: 2, Latency: 80 * time.Millisecond, SlowDelay: 700 * time.Millisecond, Clean: true,
		Rates: webtest.Rates{Across: 0.2, Redirect: 0.3, Slow: 0.2, Missing: 0.05},
	}
	var first map[string]int
	for i, workers := range []int{3, 64, 16, 200} {
		over := aiotest.NetOptions{Seed: uint64(i), Latency: time.Duration(1+10*i) * time.Millisecond}
		_, got, sum := crawltest.CrawlSyntheticOver(t, cfg, over, weft.Options{Reach: weft.Reach{Depth: 4}, Pace: weft.Pace{Concurrency: workers}})
		depths := make(map[string]int)
		for u, r := range got {
			depths[u] = r.Depth
		}
		t.Logf("%d pages, in %v", len(depths), sum.Elapsed)
		if first == nil {
			first = depths
		}
		for u, depth := range first {
			if is, ok := depths[u]; !ok || is != depth {
				t.Errorf("run %d: %s has depth %d, %v; at first %d", i+1, u, is, ok, depth)
			}
		}
		if len(depths) != len(first) {
			t.Errorf("run %d: %d pages, at first %d", i+1, len(depths), len(first))
		}
	}
}

// crawlVirtual crawls a synthetic site over an in-memory network, on a virtual clock. It returns
// the records, the summary and the trace of all tasks.
func crawlVirtual(t *testing.T, s *site, o weft.Options) (map[string]weft.Record, weft.Summary, string) {
	t.Helper()
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 7, Latency: 5 * time.Millisecond, Jitter: 10 * time.Millisecond})
	netw.Host("site.test", "10.1.2.3")
	trace := aiotest.Trace{Max: 1 << 20}
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw, Trace: trace.Record})
	o.Seeds = []string{"http://site.test/"}
	o.Job = filepath.Join(t.TempDir(), "job")
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	err = loop.Run(context.Background(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("site", func(task *aio.Task) error { return s.serve(task, ln) })
			defer ln.Close()
			sum, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if open := netw.Open(); len(open) > 0 {
		t.Errorf("connections left open: %v", open)
	}
	return crawltest.Records(t, o.Job), sum, trace.String()
}

func checkAgainst(t *testing.T, truth map[string]int, got map[string]weft.Record, origin string) {
	t.Helper()
	statuses := make(map[string]int)
	for u, r := range got {
		statuses[strings.TrimPrefix(u, origin)] = r.Status
	}
	if maps.Equal(statuses, truth) {
		return
	}
	for target, status := range truth {
		if was, ok := statuses[target]; !ok {
			t.Errorf("%s was not fetched", target)
		} else if was != status {
			t.Errorf("%s has status %d, expected %d", target, was, status)
		}
	}
	for target := range statuses {
		if _, ok := truth[target]; !ok {
			t.Errorf("%s was fetched, but no link leads to it", target)
		}
	}
}

// TestCrawlFindsAll checks that the crawl fetches exactly the ground truth, requests each URL once
// apart from retries, and never has more requests in flight than workers.
func TestCrawlFindsAll(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 8, 256} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			s := newSite(3, 300)
			got, sum, _ := crawlVirtual(t, s, weft.Options{Pace: weft.Pace{Concurrency: workers}})
			checkAgainst(t, s.truth(10), got, "http://site.test")
			for target, n := range s.hits {
				want := 1 + s.response(target).fails
				if target == "/drop" { // three tries
					want = 3
				}
				if n != want {
					t.Errorf("%s was requested %d times, expected %d", target, n, want)
				}
			}
			if s.most > workers {
				t.Errorf("%d requests at once with %d workers", s.most, workers)
			}
			if sum.Recorded() != len(got) || sum.Pages != 300 || sum.Pending != 0 || sum.Interrupted {
				t.Errorf("summary %+v", sum)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	s := newSite(3, 60)
	got, _, _ := crawlVirtual(t, s, weft.Options{})
	root := got["http://site.test/"]
	if root.Title != "page 0" || root.Depth != 0 || root.From != "" || root.ContentType != "text/html; charset=utf-8" ||
		root.BodyBytes != len(s.pages["/"].body) || root.Bytes <= 0 || root.Links == 0 || root.Tries != 1 || root.TotalMS <= 0 {
		t.Errorf("record of the home page: %+v", root)
	}
	if r := got["http://site.test/loop/a"]; r.Redirect != "http://site.test/loop/b" || r.Depth != 1 || r.From != "http://site.test/" {
		t.Errorf("record of a redirect: %+v", r)
	}
	if r := got["http://site.test/long/10"]; r.ErrorKind != "redirects" || r.Redirect != "http://site.test/long/11" {
		t.Errorf("record of the redirect beyond the limit: %+v", r)
	}
	if r := got["http://site.test/drop"]; r.Status != 0 || r.ErrorKind != "early-end" || r.Tries != 3 || r.Error == "" {
		t.Errorf("record of a URL whose connection always breaks: %+v", r)
	}
	if r := got["http://site.test/d6/p13.html"]; r.Status != 200 || r.Tries != 1+s.pages["/d6/p13.html"].fails {
		t.Errorf("record of a page that succeeds after retries: %+v", r)
	}
}

// TestCrawlIsDeterministic checks that the same crawl produces the same trace every time.
func TestCrawlIsDeterministic(t *testing.T) {
	t.Parallel()
	run := func() (string, time.Duration) {
		_, sum, trace := crawlVirtual(t, newSite(5, 100), weft.Options{Pace: weft.Pace{Concurrency: 16}})
		return trace, sum.Elapsed
	}
	first, took := run()
	if lines := strings.Count(first, "\n"); lines < 1000 {
		t.Fatalf("the trace has only %d lines", lines)
	}
	for range 5 {
		again, tookAgain := run()
		if again != first || tookAgain != took {
			a, b := strings.Split(first, "\n"), strings.Split(again, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Fatalf("traces differ at line %d:\n%s\n%s", i+1, a[i], b[i])
				}
			}
			t.Fatalf("traces of %d and %d lines, elapsed %v and %v", len(a), len(b), took, tookAgain)
		}
	}
}

// TestDelay checks on the virtual clock that a crawl of one host with a delay takes at least the
// sum of its delays.
func TestDelay(t *testing.T) {
	s := newSite(3, 20)
	_, sum, _ := crawlVirtual(t, s, weft.Options{Pace: weft.Pace{Concurrency: 8, Delay: time.Second}})
	if least := time.Duration(sum.Recorded()-1) * time.Second; sum.Elapsed < least {
		t.Errorf("%d URLs in %v with a delay of 1 s", sum.Recorded(), sum.Elapsed)
	}
	if s.most > 1 {
		t.Errorf("%d requests at once", s.most)
	}
}

// TestCredentialsInLinks checks that a user name in a link neither makes a new URL nor appears in
// the records.
func TestCredentialsInLinks(t *testing.T) {
	s := &site{hits: make(map[string]int), pages: map[string]page{
		"/":  {status: 200, body: `<a href="http://evil:x@site.test/a">a</a><a href="/a">a</a>`},
		"/a": {status: 200, body: `<a href="b">b</a><a href="//y@site.test/">root</a>`},
		"/b": {status: 302, location: "http://z@site.test/a"},
	}}
	got, _, _ := crawlVirtual(t, s, weft.Options{})
	checkAgainst(t, map[string]int{"/": 200, "/a": 200, "/b": 302}, got, "http://site.test")
	for target, n := range s.hits {
		if n != 1 {
			t.Errorf("%s was requested %d times, expected once", target, n)
		}
	}
}

// TestRedirectsInAnyOrder checks that a link into the middle of an overlong redirect chain reaches
// the rest of the chain, whether the link is found early or late.
func TestRedirectsInAnyOrder(t *testing.T) {
	for _, late := range []time.Duration{0, time.Second} {
		s := &site{hits: make(map[string]int), pages: map[string]page{
			"/":     {status: 200, body: `<a href="/r/0">x</a><a href="/late">x</a>`},
			"/late": {status: 200, body: `<a href="/r/10">x</a>`, delay: late},
		}}
		truth := map[string]int{"/": 200, "/late": 200, "/r/15": 404}
		for i := range 15 {
			s.pages[fmt.Sprintf("/r/%d", i)] = page{status: 302, location: fmt.Sprintf("/r/%d", i+1)}
			truth[fmt.Sprintf("/r/%d", i)] = 302
		}
		got, _, _ := crawlVirtual(t, s, weft.Options{})
		checkAgainst(t, truth, got, "http://site.test")
	}
}
