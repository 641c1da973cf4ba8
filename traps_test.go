package weft_test

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
	"github.com/weftcrawl/weft/internal/webtest"
)

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
	o := weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), MaxVariants: most}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil || !sum.Finished {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	got := make(map[string]int) // by first path segment
	for u := range records(t, o.Job) {
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
	job := open(t, o.Job)
	for path, want := range map[string]string{
		"/docs/docs/docs/docs/":              "trap: a segment of its path repeats 4 times, and at most 3 are followed\n",
		"/calendar?month=50":                 "dropped: its path reached its limit of 50 URLs that differ only after the first ; or ?\n",
		"/calendar?month=77":                 "limit: its path reached its limit of 50 URLs that differ only after the first ; or ?\n",
		"/grow?" + strings.Repeat("x", 4096): fmt.Sprintf("trap: it is %d bytes long, and at most 2048 are followed\n", len(site.URL)+len("/grow?")+4096),
		"/login":                             "unseen: no page that was read is known to link to it; not kept: links of pages that say nofollow (5); not kept: links with rel=nofollow (1)\n",
	} {
		if got := whyText(t, job, site.URL, path); !strings.Contains(got, want) {
			t.Errorf("%.100s: %s\nexpected it to contain %s", path, got, want)
		}
	}
}
