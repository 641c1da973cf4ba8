package fetch_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// twins is a web of duplicate and nearly duplicate pages. One worker fetches them in the order of
// their names.
var twins = crawltest.Web{
	"http://a.test/": crawltest.Links("/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9", "http://b.test/"),

	"http://a.test/1": crawltest.Essay("one") + crawltest.Links("x"),
	// Same body.
	"http://a.test/2": crawltest.Essay("one") + crawltest.Links("x"),
	// Same text.
	"http://a.test/3": "<nav>elsewhere</nav>" + crawltest.Essay("one") + "12:34" + crawltest.Links("x"),
	// Nearly the same text.
	"http://a.test/4": strings.Replace(crawltest.Essay("one"), "one7", "other", 1) + crawltest.Links("x"),
	"http://a.test/5": crawltest.Essay("five"),
	"http://a.test/6": "<p>tiny</p>",
	"http://a.test/7": "<p>tiny</p>",
	"http://a.test/8": "404",
	"http://a.test/9": "404",
	"http://a.test/x": crawltest.Essay("six"),
	"http://b.test/":  crawltest.Essay("one") + crawltest.Links("x"), // same body on another site
	"http://b.test/x": crawltest.Essay("seven"),
}

// duplicatesIn returns, by URL, which pages the records mark as duplicates, as "SAME|NEAR".
func duplicatesIn(records map[string]weft.Record) map[string]string {
	all := make(map[string]string)
	for u, r := range records {
		if s := r.DuplicateOf + "|" + r.NearDuplicateOf; s != "|" {
			all[u] = s
		}
	}
	return all
}

func expectDuplicates(t *testing.T, records map[string]weft.Record, want map[string]string) {
	t.Helper()
	if got := duplicatesIn(records); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("duplicates: %v, expected %v", got, want)
	}
}

// TestDuplicates checks that pages with identical bodies are marked `duplicate_of` and, on request,
// pages with nearly the same text `near_duplicate_of`. All are fetched, and their links followed.
func TestDuplicates(t *testing.T) {
	o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{Concurrency: 1}}
	same := map[string]string{"http://a.test/2": "http://a.test/1|", "http://b.test/": "http://a.test/1|"}
	near := map[string]string{
		"http://a.test/2": "http://a.test/1|", "http://b.test/": "http://a.test/1|",
		"http://a.test/3": "|http://a.test/1", "http://a.test/4": "|http://a.test/1",
	}
	for _, c := range []struct {
		duplicates weft.Duplicates
		want       map[string]string
		near       int
	}{
		{"", same, 0},
		{weft.DuplicatesSame, same, 0},
		{weft.DuplicatesNear, near, 2},
		{weft.DuplicatesOff, nil, 0},
	} {
		o.Keep.Duplicates = c.duplicates
		records, sum, _ := twins.Crawl(t, o)
		expectDuplicates(t, records, c.want)
		if len(records) != len(twins) || sum.Near != c.near || sum.Duplicates != len(c.want)-c.near {
			t.Errorf("Duplicates %q: %d records, %d duplicates, %d near duplicates", c.duplicates, len(records), sum.Duplicates, sum.Near)
		}
		one, three, five, tiny := records["http://a.test/1"], records["http://a.test/3"], records["http://a.test/5"], records["http://a.test/6"]
		if (one.TextHash == "") != (c.near == 0) || (one.Simhash == "") != (c.near == 0) || one.TextHash != three.TextHash ||
			one.TextHash == five.TextHash && c.near > 0 || tiny.TextHash != "" {
			t.Errorf("Duplicates %q: text hashes %q, %q, %q, %q", c.duplicates, one.TextHash, three.TextHash, five.TextHash, tiny.TextHash)
		}
	}
}

// TestPrune checks that links of pages that duplicate another page of their site are not followed,
// unless another page has the same link.
func TestPrune(t *testing.T) {
	maze := crawltest.Web{
		"http://a.test/":     crawltest.Essay("home") + crawltest.Links("/1/", "/2/", "/3/", "/4/", "http://b.test/"),
		"http://a.test/1/":   crawltest.Essay("maze") + crawltest.Links("in", "both"),
		"http://a.test/2/":   crawltest.Essay("maze") + crawltest.Links("in", "both"),
		"http://a.test/3/":   crawltest.Essay("maze") + "12:34" + crawltest.Links("in", "both"),
		"http://a.test/4/":   crawltest.Essay("four") + crawltest.Links("/2/both"),
		"http://b.test/":     crawltest.Essay("maze") + crawltest.Links("in", "both"),
		"http://a.test/1/in": crawltest.Essay("1"), "http://a.test/2/in": crawltest.Essay("2"), "http://a.test/3/in": crawltest.Essay("3"), "http://b.test/in": crawltest.Essay("b"),
		"http://a.test/1/both": crawltest.Essay("5"), "http://a.test/2/both": crawltest.Essay("6"), "http://a.test/3/both": crawltest.Essay("7"), "http://b.test/both": crawltest.Essay("8"),
	}
	o := weft.Options{
		Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny, PruneDuplicates: true}, Pace: weft.Pace{Concurrency: 1}, Keep: weft.Keep{Duplicates: weft.DuplicatesNear},
		Job: filepath.Join(t.TempDir(), "job"),
	}
	records, sum, _ := maze.Crawl(t, o)
	want := []string{
		"http://a.test/", "http://a.test/1/", "http://a.test/1/both", "http://a.test/1/in", "http://a.test/2/", "http://a.test/2/both",
		"http://a.test/3/", "http://a.test/4/", "http://b.test/", "http://b.test/both", "http://b.test/in",
	}
	if got := crawltest.Fetched(records); !slices.Equal(got, want) {
		t.Errorf("fetched %v, expected %v", got, want)
	}
	for u, r := range records {
		if pruned := u == "http://a.test/2/" || u == "http://a.test/3/"; r.Pruned != pruned || pruned && r.Links != 0 {
			t.Errorf("%s: pruned %t, %d links followed", u, r.Pruned, r.Links)
		}
	}
	if sum.NotFollowed["duplicate"] != 4 || sum.Duplicates != 2 || sum.Near != 1 {
		t.Errorf("%v not followed, %d duplicates, %d near duplicates, expected 4, 2 and 1", sum.NotFollowed, sum.Duplicates, sum.Near)
	}
	job := crawltest.Open(t, o.Job)
	for path, want := range map[string]string{
		"/2/": "try: 1: status 200, its links are not followed, as it is the same as SITE/1/\n",
		"/3/": "try: 1: status 200, its links are not followed, as it is nearly the same as SITE/1/\n",
	} {
		if got := crawltest.WhyText(t, job, "http://a.test", path); !strings.Contains(got, want) {
			t.Errorf("why %s: %s, expected %s", path, got, want)
		}
	}
}

// TestDuplicatesAcrossRuns checks that a run recognizes duplicates of pages of earlier runs.
func TestDuplicatesAcrossRuns(t *testing.T) {
	o := weft.Options{
		Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{Concurrency: 1}, Keep: weft.Keep{Duplicates: weft.DuplicatesNear},
		Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: 2},
	}
	records, sum, _ := twins.Crawl(t, o)
	if len(records) != 2 || sum.Duplicates != 0 {
		t.Fatalf("%d records, %d duplicates", len(records), sum.Duplicates)
	}
	for o.Limits.Limit = 3; !sum.Finished; o.Limits.Limit++ {
		records, sum, _ = twins.Crawl(t, o)
	}
	expectDuplicates(t, records, map[string]string{
		"http://a.test/2": "http://a.test/1|", "http://b.test/": "http://a.test/1|",
		"http://a.test/3": "|http://a.test/1", "http://a.test/4": "|http://a.test/1",
	})
	if sum.Duplicates != 2 || sum.Near != 2 {
		t.Errorf("%d duplicates, %d near duplicates, expected 2 and 2", sum.Duplicates, sum.Near)
	}
}

// TestDuplicatesAtRecrawl checks that a recrawl marks a duplicate again.
func TestDuplicatesAtRecrawl(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{"/": {Body: crawltest.Prose("home", "/1", "/2")}, "/1": {Body: crawltest.Essay("one")}, "/2": {Body: crawltest.Essay("one")}}
	for visit := 1; visit <= 2; visit++ {
		s.Visit(t, job, pages)
		duplicates := 0
		for _, r := range crawltest.Visits(t, job)[visit] {
			if r.DuplicateOf != "" {
				duplicates++
			}
		}
		if duplicates != 1 {
			t.Errorf("visit %d: %d duplicates, expected one of /1 and /2", visit, duplicates)
		}
	}
}

// TestSitemapsAreNotPruned checks that the URLs of a sitemap are followed even if the sitemap
// duplicates another, that its record is not marked as pruned, and that both hold when a recrawl
// finds the sitemap unchanged.
func TestSitemapsAreNotPruned(t *testing.T) {
	s := crawltest.NewChanging(t)
	job := filepath.Join(t.TempDir(), "job")
	xml := func(text string) crawltest.Response {
		return crawltest.Response{Body: text, Header: map[string]string{"Content-Type": "application/xml"}}
	}
	one := xml("<urlset><url><loc>page</loc><lastmod>2024-01-01</lastmod></url></urlset>")
	pages := map[string]crawltest.Response{
		"/": {}, "/a/1.xml": one, "/b/1.xml": one, "/a/page": {Body: "one"}, "/b/page": {Body: "two"},
		"/sitemap.xml": xml("<sitemapindex><sitemap><loc>/a/1.xml</loc></sitemap><sitemap><loc>/b/1.xml</loc></sitemap></sitemapindex>"),
	}
	s.Sitemaps, s.Prune = true, true
	for visit := 1; visit <= 2; visit++ {
		_, got := s.Visit(t, job, pages)
		if !strings.Contains(got, "/a/page: 200") || !strings.Contains(got, "/b/page: 200") {
			t.Errorf("visit %d:\n%s", visit, got)
		}
		duplicates := 0
		for _, r := range crawltest.Visits(t, job)[visit] {
			if r.DuplicateOf != "" {
				duplicates++
			}
			if r.Pruned {
				t.Errorf("visit %d: %s is marked as pruned, but %d of its links are followed", visit, r.URL, r.Links)
			}
		}
		if duplicates != 1 {
			t.Errorf("visit %d: %d duplicates, expected one", visit, duplicates)
		}
	}
}
