package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestFewHostsInMemory crawls many hosts with memory for only a few, stops on the way and resumes.
// Every page is fetched exactly once, and each host's delay is kept.
func TestFewHostsInMemory(t *testing.T) {
	t.Parallel()
	const hosts, pages = 120, 4
	w := crawltest.Web{}
	var seeds []string
	for h := range hosts {
		name := func(h, page int) string { return fmt.Sprintf("http://h%03d.test/%d", h%hosts, page) }
		for page := range pages {
			// Each page links to the next one of its host and to one of another host.
			w[name(h, page)] = crawltest.Links(name(h, (page+1)%pages), name(h*7+page, page))
		}
		seeds = append(seeds, name(h, 0))
	}
	o := weft.Options{
		Seeds: seeds, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Concurrency: 4, Delay: 500 * time.Millisecond}, Limits: weft.Limits{MaxTime: 4 * time.Second},
	}
	_, first, seen := w.Crawl(t, o, crawltest.Crowded(2))
	if first.Stopped != "max-time" || first.Pages < 20 || first.Pending < hosts {
		t.Fatalf("first run: summary %+v", first)
	}
	o.Limits.MaxTime = 0
	got, sum, more := w.Crawl(t, o, crawltest.Crowded(2))
	if !sum.Finished || sum.Pages != hosts*pages || len(got) != hosts*pages {
		t.Errorf("%d pages, %d records, finished: %t; expected %d pages", sum.Pages, len(got), sum.Finished, hosts*pages)
	}
	requested := make(map[string]int)
	for _, run := range []crawltest.Requests{seen, more} {
		last := make(map[string]time.Time)
		for _, v := range run {
			host, _, _ := strings.Cut(strings.TrimPrefix(v.URL, "http://"), "/")
			if before, again := last[host]; again && v.At.Sub(before) < o.Pace.Delay {
				t.Errorf("%s was requested %v after the previous response, expected at least %v", v.URL, v.At.Sub(before), o.Pace.Delay)
			}
			last[host] = v.End
			requested[v.URL]++
		}
	}
	for u := range w {
		if requested[u] != 1 {
			t.Errorf("%s was requested %d times, expected once", u, requested[u])
		}
	}
}
