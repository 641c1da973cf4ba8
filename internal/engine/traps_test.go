package engine_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestEndlessPaths: a calendar and a forum with session ids, both endless, end after a bounded
// number of requests; what was left of them is refused, with a record, and the summary names them.
func TestEndlessPaths(t *testing.T) {
	aiotest.CheckLeaks(t)
	site, requests := crawltest.ServePages(t, webtest.EndlessSite)
	o := weft.Options{Seeds: []string{site}, Job: filepath.Join(t.TempDir(), "job"), Traps: weft.Traps{MaxAlike: long.Or(60, 0)}}
	sum := crawltest.Finish(t, o)
	t.Logf("%d requests; %d refused; %d pages", requests.Load(), sum.Refused, sum.Pages)
	if n := requests.Load(); n > 4000 {
		t.Errorf("%d requests, expected at most 4000 for both", n)
	}
	slices.Sort(sum.Traps)
	if want := []string{site + "/cal/#/#/", site + "/cal/#/#/#", site + "/s/@/topic/#"}; !slices.Equal(sum.Traps, want) {
		t.Errorf("traps %q, expected %q", sum.Traps, want)
	}
	if sum.Errors["nothing-new"].URLs != sum.Refused || sum.Refused == 0 || len(sum.Broken) > 0 {
		t.Errorf("%d refused, errors %v", sum.Refused, sum.Errors)
	}
	all := crawltest.Records(t, o.Job)
	for i := range 10 {
		if u := fmt.Sprintf("%s/about/%d", site, i); all[u].Status != 200 {
			t.Errorf("%s: %+v", u, all[u])
		}
	}
	job := crawltest.Open(t, o.Job)
	for u, r := range all {
		if r.ErrorKind == "nothing-new" {
			if got := crawltest.WhyText(t, job, site, strings.TrimPrefix(u, site)); !strings.Contains(got, "refused: nothing-new: ") || !strings.Contains(got, "said nothing new\n") {
				t.Errorf("why %s: %s", u, got)
			}
			break
		}
	}
	if got := crawltest.WhyText(t, job, site, "/cal/9999/01/"); !strings.Contains(got, "trap: ") || !strings.Contains(got, "/cal/#/#/ in a row said nothing new") {
		t.Errorf("why a month that was not found: %s", got)
	}
	for h, err := range job.Hosts(t.Context()) {
		if err != nil || len(h.Traps) != 3 {
			t.Errorf("host %+v, %v, expected 3 traps", h, err)
		}
	}
}

// TestEventsNowAndThen: a calendar without end, of which one month in some has an event, is a trap,
// too; a calendar that ends is not, nor one with an event every third month.
func TestEventsNowAndThen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		each, months, most int
		trap               bool
	}{{12, 1 << 20, 900, true}, {24, 1 << 20, 400, true}, {12, 400, 400, false}, {3, 1000, 1000, false}} {
		site, requests := crawltest.ServePages(t, func(path string) string {
			var year, month int
			if _, err := fmt.Sscanf(path, "/cal/%d/%d/", &year, &month); err != nil {
				return `<a href="/cal/2000/01/">events</a>`
			}
			n, text := year*12+month-1-24000, "no events this month"
			if n%c.each == c.each-1 {
				text = fmt.Sprintf("concert of the band %x in hall %x", uint64(n)*0x9e3779b97f4a7c15, uint64(n)*0xd6e8feb86659fd93)
			}
			if n++; n < c.months {
				text += fmt.Sprintf(` <a href="/cal/%d/%02d/">next</a>`, 2000+n/12, n%12+1)
			}
			return "<title>Events</title><p>" + text
		})
		sum := crawltest.Finish(t, weft.Options{Seeds: []string{site}, Traps: weft.Traps{MaxAlike: 60}})
		if n := int(requests.Load()) - 1; n > c.most || (len(sum.Traps) > 0) != c.trap || !c.trap && n != c.months {
			t.Errorf("an event in one month of %d: %d requests, traps %q, expected at most %d", c.each, n, sum.Traps, c.most)
		}
	}
}

// TestEndlessPathsInRuns: a crawl that is broken off again and again keeps to the traps that it has
// recognised, and so does a recrawl, which fetches what was fetched.
func TestEndlessPathsInRuns(t *testing.T) {
	t.Parallel()
	site, requests := crawltest.ServePages(t, webtest.EndlessSite)
	// Of few requests at once, a busy machine has none waiting when the trap is recognised.
	o := weft.Options{
		Seeds: []string{site + "/s/start00/topic/0"}, Job: filepath.Join(t.TempDir(), "job"), Traps: weft.Traps{MaxAlike: 60}, Pace: weft.Pace{Concurrency: 4},
	}
	var sum weft.Summary
	for o.Limits.Limit = 100; !sum.Finished; o.Limits.Limit += 250 {
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err = c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// A trap is recognised after some 180 pages, and a run that ends before leaves that to the next.
	fetched := requests.Load()
	if fetched > 350 || sum.Runs != 2 {
		t.Errorf("%d requests in %d runs, expected at most 350 in two", fetched, sum.Runs)
	}
	again := crawltest.Finish(t, weft.Options{Job: o.Job, Rerun: weft.Rerun{Update: true}})
	if n := requests.Load() - fetched; n != fetched || len(again.Traps) != 1 || again.Refused != sum.Refused {
		t.Errorf("recrawl: %d requests after %d, %d refused after %d, traps %v", n, fetched, again.Refused, sum.Refused, again.Traps)
	}
}

// TestBigSitesAreWhole: a crawl has all pages of a big site, however alike they are, and stops at
// endless paths only if it is asked to.
func TestBigSitesAreWhole(t *testing.T) {
	t.Parallel()
	n := long.Or(120, 3000)
	site, requests := crawltest.ServePages(t, func(path string) string { return webtest.BigSite(n, path) })
	sum := crawltest.Finish(t, weft.Options{Seeds: []string{site}, Traps: weft.Traps{MaxAlike: 30}})
	if want := int64(1 + 10*n); requests.Load() != want || sum.Pages != int(want) || len(sum.Traps) > 0 || sum.Refused > 0 {
		t.Errorf("%d requests, %d pages, expected %d; %d refused, traps %q", requests.Load(), sum.Pages, want, sum.Refused, sum.Traps)
	}

	endless, requests := crawltest.ServePages(t, webtest.EndlessSite)
	c, err := weft.New(weft.Options{Seeds: []string{endless + "/s/start00/topic/0"}, Traps: weft.Traps{MaxAlike: -1}, Limits: weft.Limits{Limit: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(t.Context()); err != nil || sum.Stopped != "limit" || requests.Load() != 1000 {
		t.Errorf("without the bound: %d requests, %+v, %v", requests.Load(), sum, err)
	}
}

// TestTraps checks that a crawl of a site full of traps ends, has all ordinary pages, and reports
// what it did not follow and why.
func TestTraps(t *testing.T) {
	aiotest.CheckLeaks(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		html, location := webtest.TrapSite(r.RequestURI)
		if location != "" {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, html)
	}))
	defer site.Close()
	const most = 50 // variants; the default would allow 120,000 pages
	o := weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Traps: weft.Traps{MaxVariants: most}}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil || !sum.Finished {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	got := make(map[string]int) // by first path segment
	for u := range crawltest.Records(t, o.Job) {
		path, _, _ := strings.Cut(strings.TrimPrefix(u, site.URL), "?")
		first, _, _ := strings.Cut(path[1:], "/")
		got[first]++
	}
	want := map[string]int{
		"": 1, "about": 10, "private": 1,
		"calendar": most,
		"shop":     most + 1, // plus the one without a query
		"forum":    10*most + 1,
		"docs":     3, "list": 3, "en": 3, // by --max-repeats
		"down": 19, // by --max-path-depth
		"grow": 11, // by --max-url-length
	}
	if !maps.Equal(got, want) {
		t.Errorf("pages by first path segment: %v\nexpected %v", got, want)
	}
	reasons := slices.Sorted(maps.Keys(sum.NotFollowed))
	if want := []string{"nofollow", "rel-nofollow", "repeats", "too-deep", "too-long"}; !slices.Equal(reasons, want) || sum.OverVariants < 1000 {
		t.Errorf("not followed: %v, %d variants; expected the reasons %q and at least 1000 variants", sum.NotFollowed, sum.OverVariants, want)
	}
	job := crawltest.Open(t, o.Job)
	for path, want := range map[string]string{
		"/docs/docs/docs/docs/":              "trap: a segment of its path repeats 4 times, and at most 3 are followed\n",
		"/calendar?month=50":                 "dropped: its path reached its limit of 50 URLs that differ only after the first ; or ?\n",
		"/calendar?month=77":                 "limit: its path reached its limit of 50 URLs that differ only after the first ; or ?\n",
		"/grow?" + strings.Repeat("x", 4096): fmt.Sprintf("trap: it is %d bytes long, and at most 2048 are followed\n", len(site.URL)+len("/grow?")+4096),
		"/login":                             "unseen: no page that was read is known to link to it; not kept: links of pages that say nofollow (5); not kept: links with rel=nofollow (1)\n",
	} {
		if got := crawltest.WhyText(t, job, site.URL, path); !strings.Contains(got, want) {
			t.Errorf("%.100s: %s\nexpected it to contain %s", path, got, want)
		}
	}
}
