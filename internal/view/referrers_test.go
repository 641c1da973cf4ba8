package view_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/weburl"
)

// referrers returns the pages that lead to a path of a site, by path and in their order.
func referrers(t *testing.T, job, site, path string) string {
	t.Helper()
	j, err := weft.OpenJob(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	why, err := j.Why(t.Context(), site+path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range why.Referrers.Pages {
		text := strings.TrimPrefix(p.URL, site)
		if p.By != "" {
			text += " (" + string(p.By) + ")"
		}
		all = append(all, text)
	}
	if why.Referrers.Total != len(all) || why.Referrers.Cut {
		t.Errorf("%s: %+v", path, why.Referrers)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestReferrers checks that a job knows every page that leads to a URL, and after recrawls those
// whose last visit has found that.
func TestReferrers(t *testing.T) {
	s := crawltest.NewChanging(t)
	s.Sitemaps = true
	job := filepath.Join(t.TempDir(), "job")
	pages := map[string]crawltest.Response{
		"/":            {Body: crawltest.Prose("home", "/lost", "/a", "/lost", "/b", "/old", "/empty")},
		"/a":           {Body: crawltest.Prose("again", "/lost", "/", "https://elsewhere.example/"), ETag: `"1"`},
		"/b":           {Body: crawltest.Prose("before", "/lost")},
		"/empty":       {Body: "<p>nothing"},
		"/old":         {Status: 301, Location: "/lost"},
		"/sitemap.xml": {Body: `<urlset><url><loc>` + s.URL + `/lost</loc></url></urlset>`},
	}
	for _, step := range []struct {
		name   string
		change func()
		want   string
	}{
		{"first visit", func() {}, "/ /a /b /old (redirect) /sitemap.xml (sitemap)"},
		{"nothing changed", func() {}, "/ /a /b /old (redirect) /sitemap.xml (sitemap)"},
		{"one does not link any more", func() { pages["/b"] = crawltest.Response{Body: crawltest.Prose("behind")} },
			"/ /a /old (redirect) /sitemap.xml (sitemap)"},
		{"one is gone, one leads elsewhere", func() {
			delete(pages, "/a")
			pages["/old"] = crawltest.Response{Status: 301, Location: "/b"}
		}, "/ /sitemap.xml (sitemap)"},
		{"one fails, one is new, one is back", func() {
			pages["/"] = crawltest.Response{Status: 500}
			pages["/empty"] = crawltest.Response{Body: crawltest.Prose("else", "/lost")}
			pages["/a"] = crawltest.Response{Body: crawltest.Prose("anew", "/lost")}
		}, "/ /a /empty /sitemap.xml (sitemap)"},
	} {
		step.change()
		s.Visit(t, job, pages)
		if got := referrers(t, job, s.URL, "/lost"); got != step.want {
			t.Errorf("%s: got %q, expected %q", step.name, got, step.want)
		}
	}
	if got, want := referrers(t, job, s.URL, "/b"), "/ /old (redirect)"; got != want {
		t.Errorf("/b: got %q, expected %q", got, want)
	}
	if got := referrers(t, job, s.URL, "/unknown"); got != "" {
		t.Errorf("/unknown: got %q", got)
	}
	lost, err := weburl.Parse(s.URL + "/lost")
	if err != nil {
		t.Fatal(err)
	}
	all, err := crawltest.Open(t, job).Referrers([]weburl.URL{lost}, 1)
	if err != nil || len(all) != 1 || all[0].Total != 4 || len(all[0].Pages) != 1 {
		t.Errorf("at most one: %+v, %v", all, err)
	}
}

// TestReferrersFollowed checks that only links which the crawl follows count.
func TestReferrersFollowed(t *testing.T) {
	s := crawltest.NewChanging(t)
	s.Show(map[string]crawltest.Response{
		"/":       {Body: crawltest.Links("/silent", "/some", "/lost")},
		"/silent": {Body: crawltest.Links("/lost"), Header: map[string]string{"X-Robots-Tag": "nofollow"}},
		"/some":   {Body: `<a rel=nofollow href=/lost>`},
	})
	job := filepath.Join(t.TempDir(), "job")
	c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Job: job})
	if err == nil {
		_, err = c.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := referrers(t, job, s.URL, "/lost"); got != "/" {
		t.Errorf("got %q", got)
	}
}

// TestReferrersBeyond checks that pages which link to what is only checked, or needed, count.
func TestReferrersBeyond(t *testing.T) {
	s, other := crawltest.NewChanging(t), crawltest.NewChanging(t)
	s.Show(map[string]crawltest.Response{
		"/":       {Body: crawltest.Links("/silent", "/some", other.URL+"/lost")},
		"/silent": {Body: crawltest.Links(other.URL+"/lost") + "<img src=/lost.png>", Header: map[string]string{"X-Robots-Tag": "nofollow"}},
		"/some":   {Body: `<img src=/lost.png>` + crawltest.Links(other.URL+"/moved")},
	})
	other.Show(map[string]crawltest.Response{"/moved": {Status: 301, Location: "/lost"}})
	job := filepath.Join(t.TempDir(), "job")
	crawltest.CrawlOnce(t, weft.Options{Seeds: []string{s.URL + "/"}, Job: job, Reach: weft.Reach{External: true, Assets: weft.AssetsScope}})
	if got, want := referrers(t, job, s.URL, "/lost.png"), "/silent /some"; got != want {
		t.Errorf("the image: got %q, expected %q", got, want)
	}
	want := "/moved (redirect) " + s.URL + "/ " + s.URL + "/silent"
	if got := referrers(t, job, other.URL, "/lost"); got != want {
		t.Errorf("beyond the scope: got %q, expected %q", got, want)
	}
}
