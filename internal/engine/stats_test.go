package engine_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestStats checks that the final Stats agree with the summary.
func TestStats(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			io.WriteString(w, "User-agent: *\nDisallow: /private")
		case "/":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, crawltest.Links("/private/a", "/private/b", "/cut", "/page"))
		case "/cut":
			w.Header().Set("Content-Length", "1000")
		default:
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	defer s.Close()
	c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Pace: weft.Pace{Retries: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Stats(); got.Done != 0 || got.Elapsed != 0 {
		t.Errorf("stats before the crawl: %+v", got)
	}
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := c.Stats()
	if got.Recorded() != 5 || got.Pages != 1 || got.Redirects != 1 || got.Failed+got.Refused != 3 || got.Refused != 2 || got.Pending+got.InFlight != 0 || got.Hosts != 1 {
		t.Errorf("stats %+v", got)
	}
	if got.Done != sum.Done || got.Pages != sum.Pages || got.Redirects != sum.Redirects || got.Refused != sum.Errors[weft.KindRobots].URLs || got.Bytes != sum.Bytes || got.Elapsed != sum.Elapsed {
		t.Errorf("stats %+v, but summary %+v", got, sum)
	}
}

// TestLongestInFlight: a page that hangs is named, with how long it has and which try that is,
// until it has ended.
func TestLongestInFlight(t *testing.T) {
	w := crawltest.Web{"http://a.test/": crawltest.Links("/hang", "/page"), "http://a.test/page": "a page", "http://a.test/hang": "stall"}
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: w.Network(t)})
	c, err := weft.New(weft.Options{Seeds: []string{"http://a.test/"}})
	if err != nil {
		t.Fatal(err)
	}
	err = loop.Run(t.Context(), func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			ln, err := aio.Listen(task, "tcp", ":80")
			if err != nil {
				return err
			}
			defer ln.Close()
			g.Go("server", func(task *aio.Task) error { return w.Listen(task, ln, new(crawltest.Requests)) })
			g.Go("watcher", func(task *aio.Task) error {
				for _, want := range []struct {
					at  time.Duration
					try int // 0: nothing has hung for long
				}{{3 * time.Second, 0}, {20 * time.Second, 1}, {34 * time.Second, 0}, {50 * time.Second, 2}} {
					if err := task.Sleep(want.at - task.Loop().Now().Sub(aiotest.Epoch)); err != nil {
						return err
					}
					stats, err := aio.Offload(task, func(context.Context) (weft.Stats, error) { return c.Stats(), nil })
					if err != nil {
						return err
					}
					long := stats.Longest
					if want.try == 0 && len(long) > 0 || want.try > 0 && (len(long) != 1 || long[0].URL != "http://a.test/hang" || long[0].Try != want.try || long[0].For < 15*time.Second || long[0].For > want.at) {
						t.Errorf("at %v: %+v, expected try %d", want.at, long, want.try)
					}
				}
				return nil
			})
			_, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if long := c.Stats().Longest; len(long) > 0 {
		t.Errorf("after the crawl: %+v", long)
	}
}

// TestLongContentTypes checks that the text of a server's Content-Type takes little of a record and
// of the job's history, which every commit saves.
func TestLongContentTypes(t *testing.T) {
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", fmt.Sprintf("text/%d%s; charset=utf-8", n.Add(1), strings.Repeat("x", 30_000)))
		fmt.Fprint(w, "text")
	}))
	defer server.Close()
	o := weft.Options{Job: filepath.Join(t.TempDir(), "job"), Loops: 1}
	for i := range 20 {
		o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", server.URL, i))
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Run(t.Context())
	if err != nil || s.Statuses[200].URLs != 20 {
		t.Fatalf("%v, statuses %v", err, s.Statuses)
	}
	if len(s.ContentTypes) != 1 || s.ContentTypes["other"].URLs == 0 {
		t.Errorf("%d content types in the summary, expected all among other", len(s.ContentTypes))
	}
	for u, r := range crawltest.Records(t, o.Job) {
		if len(r.ContentType) > 255 {
			t.Errorf("%s: a Content-Type of %d bytes", u, len(r.ContentType))
		}
	}
}

// TestPendingWithoutRobots: a crawl that is broken off while it waits for robots.txt leaves as many
// URLs as it has seeds: the requests for robots.txt do not count.
func TestPendingWithoutRobots(t *testing.T) {
	const servers = 3
	asked, ended := make(chan bool, servers), make(chan bool)
	o := weft.Options{Job: filepath.Join(t.TempDir(), "job")}
	for range servers {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked <- true
			<-ended
		}))
		defer s.Close()
		o.Seeds = append(o.Seeds, s.URL+"/")
	}
	defer close(ended)
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for range servers {
			<-asked
		}
		cancel()
	}()
	if s, err := c.Run(ctx); s.Pending != servers || s.InFlight != 0 {
		t.Errorf("%d pending, %d in flight, expected %d and 0; error %v", s.Pending, s.InFlight, servers, err)
	}
	j, err := weft.OpenJob(t.Context(), o.Job)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if s, err := j.Status(t.Context()); err != nil || s.Pending != servers {
		t.Errorf("the job has %d pending, expected %d; error %v", s.Pending, servers, err)
	}
}

// statsAfter returns what a crawl says of itself once it has n records, and ends it.
func statsAfter(t *testing.T, n int, o weft.Options) weft.Stats {
	t.Helper()
	reached := make(chan struct{})
	records := 0
	o.Hooks.OnRecord = func(*weft.Record) {
		if records++; records == n {
			close(reached)
		}
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := c.Run(t.Context())
		ended <- err
	}()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("the crawl ended before its %d. record: %v", n, err)
	}
	s := c.Stats()
	c.Drain()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEstimate: a crawl says that no end is in sight, or how long it takes, and what that depends
// on.
func TestEstimate(t *testing.T) {
	t.Parallel()
	endless, _ := crawltest.ServePages(t, webtest.EndlessSite)
	// Of half as many pages, few orders have mostly leaves at the end: see engine.TestGrowth.
	const enough = 400
	o := weft.Options{Seeds: []string{endless}, Traps: weft.Traps{MaxAlike: -1}}
	if s := statsAfter(t, enough, o); !s.Growing || s.Left != 0 || s.NewPerURL < 1 {
		t.Errorf("an endless site: %+v, expected that it grows", s.Estimate)
	}
	s := statsAfter(t, 20, o)
	for range 20 {
		if s.Done < 100 {
			break
		}
		s = statsAfter(t, 20, o) // of a busy machine: it comes late
	}
	if s.Growing {
		t.Errorf("%d pages: %+v, expected that it is too early to say", s.Done, s.Estimate)
	}
	o.Limits.MaxTime = time.Hour
	if s := statsAfter(t, enough, o); s.Growing || s.Bound != "max-time" || s.Left < 59*time.Minute || s.Left > time.Hour {
		t.Errorf("an endless site, for an hour: %+v", s.Estimate)
	}
	o.Limits.MaxTime, o.Limits.Limit = 0, 100_000
	if s := statsAfter(t, enough, o); s.Growing || s.Bound != "limit" || s.Left == 0 {
		t.Errorf("an endless site, 100,000 pages of it: %+v", s.Estimate)
	}

	list, _ := crawltest.ServePages(t, func(path string) string { // a home page with 1,000 links
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "<a href=/%d>x</a> ", i)
		}
		return b.String()
	})
	o = weft.Options{Seeds: []string{list}, Pace: weft.Pace{Delay: 2 * time.Millisecond}}
	s = statsAfter(t, 100, o)
	if known := time.Duration(s.Pending+s.InFlight) * o.Pace.Delay; s.Growing || s.NewPerURL > 0.9 || s.Left < known {
		t.Errorf("a list: %+v, expected at least %v", s.Estimate, known)
	}
}
