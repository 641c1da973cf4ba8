package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/frontier/store"
)

// TestBareSeedsBeyondMemory checks that seeds without a scheme whose hosts answer by http only are
// fetched by http where everything that was seen is looked up on disk first, and that a promise of
// such a fetch that a crash has left is kept by the next run.
func TestBareSeedsBeyondMemory(t *testing.T) {
	const hosts = 30
	s := crawltest.Leafy(t, 0)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, closed, _ := net.SplitHostPort(ln.Addr().String())
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	names := func(yield func(string, error) bool) {
		for i := range hosts {
			if !yield(fmt.Sprintf("h%02d.test", i), nil) {
				return
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "job")
	o := weft.Options{
		SeedSeq: names, Job: dir, Reach: weft.Reach{Scope: weft.ScopePage}, HTTP: weft.HTTP{AllowPrivate: true, Resolve: crawltest.Overrides(t, "*:80:127.0.0.1:"+port, "*:443:127.0.0.1:"+closed)}, Pace: weft.Pace{PerAddress: 16},
	}
	run := func() weft.Summary {
		t.Helper()
		return crawltest.Crawl(t, o, crawltest.Crowded(2))
	}
	sum, all := run(), crawltest.Records(t, dir)
	for i := range hosts {
		secure, plain := all[fmt.Sprintf("https://h%02d.test/", i)], all[fmt.Sprintf("http://h%02d.test/", i)]
		if secure.ErrorKind != "connect" || plain.Status != 200 || plain.From != secure.URL || plain.Depth != 0 {
			t.Errorf("%+v, %+v", secure, plain)
		}
	}
	if !sum.Finished || sum.SeedsFetched != hosts || len(all) != 2*hosts {
		t.Errorf("%d records, %+v", len(all), sum)
	}

	s2, err := store.Open(dir, store.Options{Outputs: []string{"pages.jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	if left := slices.Collect(notesOf(s2, "promise/")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	b := s2.Begin()
	b.Set("promise/http://late.test/", []byte("https://late.test/"))
	if err := s2.Commit(b); err != nil {
		t.Fatal(err)
	}
	if err := s2.Close(); err != nil {
		t.Fatal(err)
	}
	run()
	if late := crawltest.Records(t, dir)["http://late.test/"]; late.Status != 200 || late.From != "https://late.test/" {
		t.Errorf("promised: %+v", late)
	}
}

// notesOf yields the names of the notes in a store.
func notesOf(s *store.Store, prefix string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for n, err := range s.Notes(prefix) {
			if err != nil || !yield(n.Name) {
				return
			}
		}
	}
}

// silentTLS is a network where port 443 never answers.
type silentTLS struct{ *aiotest.Net }

func (n silentTLS) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	if strings.HasSuffix(to.String(), ":443") {
		return nil, cmp.Or(task.Sleep(time.Hour), error(syscall.ETIMEDOUT))
	}
	return n.Net.Connect(task, to)
}

// TestBareSilent: where https stays silent, a seed without a scheme is by http after 3 s, whether
// robots.txt is read or not; a seed with one is waited for.
func TestBareSilent(t *testing.T) {
	for seed, c := range map[string]struct {
		status int // of the page by http
		most   time.Duration
	}{"a.test": {200, 4 * time.Second}, "https://a.test/": {0, 11 * time.Second}} {
		for _, noRobots := range []bool{false, true} {
			n := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
			n.Host("a.test", "10.0.0.1")
			o := weft.Options{Seeds: []string{seed}, Reach: weft.Reach{NoRobots: noRobots}, Pace: weft.Pace{Retries: -1}}
			all, sum, _ := crawltest.Web{"http://a.test/": "<p>"}.CrawlOver(t, silentTLS{n}, o)
			if all["http://a.test/"].Status != c.status || sum.Elapsed > c.most || sum.Elapsed < 3*time.Second {
				t.Errorf("%s, NoRobots %t: %+v after %v", seed, noRobots, all, sum.Elapsed)
			}
		}
	}
}

// TestSeedSeq checks that seeds of a sequence are read and crawled along with the listed ones.
func TestSeedSeq(t *testing.T) {
	w := crawltest.Web{"http://a.test/": "a page", "http://b.test/": "a page", "http://c.test/": crawltest.Links("/x"), "http://c.test/x": "a page"}
	seq := func(yield func(string, error) bool) {
		for _, u := range []string{"http://b.test/", " http://c.test ", "http://a.test/"} {
			if !yield(u, nil) {
				return
			}
		}
	}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, SeedSeq: seq})
	if urls := crawltest.Fetched(got); len(urls) != 4 || sum.Interrupted {
		t.Errorf("fetched %q; summary %+v", urls, sum)
	}
}

// TestLimitEndsOpenSeeds checks that a crawl that has reached its limit does not wait for more
// seeds.
func TestLimitEndsOpenSeeds(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	c, err := weft.New(weft.Options{Limits: weft.Limits{Limit: 1}, SeedSeq: func(yield func(string, error) bool) {
		yield(crawltest.Leafy(t, 1).URL, nil)
		<-never
	}})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil || sum.Stopped != "limit" || sum.Recorded() != 1 || sum.SeedsFetched != 1 || sum.Interrupted {
		t.Errorf("summary %+v, error %v", sum, err)
	}
}

// TestListIsReadAgain checks that a resumed job reads its seed list again. A list that differs is
// an error before anything is fetched, and adds nothing to the job.
func TestListIsReadAgain(t *testing.T) {
	s := crawltest.Leafy(t, 0)
	a, b, c, d := s.URL+"/a", s.URL+"/b", s.URL+"/c", s.URL+"/d"
	dir := filepath.Join(t.TempDir(), "job")
	run := func(amend bool, urls ...string) (weft.Summary, error) {
		crawler, err := weft.New(weft.Options{SeedSeq: crawltest.List(urls...), Reach: weft.Reach{Scope: weft.ScopePage}, Job: dir, Rerun: weft.Rerun{Amend: amend}})
		if err != nil {
			t.Fatal(err)
		}
		return crawler.Run(t.Context())
	}
	if sum, err := run(false, a, b, c); err != nil || sum.Recorded() != 3 {
		t.Fatalf("%v, %+v", err, sum)
	}
	if sum, err := run(false, a, b, c); err != nil || sum.Recorded() != 3 || !sum.Finished {
		t.Errorf("the same list: %v, %+v", err, sum)
	}
	for name, urls := range map[string][]string{
		"changed": {a, d, c}, "in another order": {a, c, b}, "shorter": {a, b}, "longer": {a, b, c, d},
	} {
		if sum, err := run(false, urls...); !errors.Is(err, weft.ErrPlan) || sum.Recorded() != 3 {
			t.Errorf("%s: %v, %+v", name, err, sum)
		}
	}
	if sum, err := run(false, a, b, c); err != nil || sum.Recorded() != 3 {
		t.Errorf("the same list, after others: %v, %+v", err, sum)
	}
	// This run is canceled after the list has been compared, but before the list has ended.
	ctx, cancel := context.WithCancel(t.Context())
	endless := func(yield func(string, error) bool) {
		for _, u := range []string{a, b, c} {
			if !yield(u, nil) {
				return
			}
		}
		cancel()
		<-t.Context().Done()
	}
	crawler, err := weft.New(weft.Options{SeedSeq: endless, Reach: weft.Reach{Scope: weft.ScopePage}, Job: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crawler.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if sum, err := run(false, a, b, c, d); !errors.Is(err, weft.ErrPlan) || sum.Recorded() != 3 {
		t.Errorf("longer, after a canceled run: %v, %+v", err, sum)
	}
	if sum, err := run(true, d, a); err != nil || sum.Recorded() != 4 {
		t.Errorf("amended: %v, %+v", err, sum)
	}
	if sum, err := run(false, d, a); err != nil || sum.Recorded() != 4 {
		t.Errorf("the amended list: %v, %+v", err, sum)
	}
}

// TestLateExclusions: an exclusion that came after a URL was found refuses it.
func TestLateExclusions(t *testing.T) {
	s, dir := crawltest.Leafy(t, 3), filepath.Join(t.TempDir(), "job")
	for _, o := range []weft.Options{
		{Limits: weft.Limits{Limit: 1}},
		{Rerun: weft.Rerun{Amend: true}, Reach: weft.Reach{Exclude: []*regexp.Regexp{regexp.MustCompile("/xx$")}}},
	} {
		o.Seeds, o.Job = []string{s.URL}, dir
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(t.Context())
		if late := o.Rerun.Amend; err != nil || late && (sum.Pages != 3 || sum.Errors[weft.KindExcluded].URLs != 1) {
			t.Errorf("%v, %+v", err, sum)
		}
	}
}
