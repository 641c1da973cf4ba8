package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// index returns a sitemap index.
func index(urls ...string) string {
	return strings.NewReplacer("urlset", "sitemapindex", "url>", "sitemap>").Replace(crawltest.URLSet(urls...))
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSitemaps checks which URLs a crawl with sitemaps fetches.
func TestSitemaps(t *testing.T) {
	t.Parallel()
	const home, robots = "http://a.test/", "http://a.test/robots.txt"
	page := func(paths ...string) (urls []string) {
		for _, p := range paths {
			urls = append(urls, home+p)
		}
		return urls
	}
	for _, c := range []struct {
		name string
		web  crawltest.Web
		o    weft.Options
		want []string // in addition to the home page
		not  map[string]int
	}{
		{"option off", crawltest.Web{robots: "Sitemap: /s.xml", home + "s.xml": crawltest.URLSet("/1")}, weft.Options{Reach: weft.Reach{Sitemaps: false}}, nil, nil},
		{"named in robots.txt", crawltest.Web{robots: "Sitemap: /s.xml\nSitemap: http://a.test/t.txt", home + "s.xml": crawltest.URLSet("/1", "http://b.test/2"), home + "t.txt": "http://a.test/3\n", home + "1": "", home + "3": crawltest.Links("/4"), home + "4": "", home + "sitemap.xml": crawltest.URLSet("/5")},
			weft.Options{}, page("1", "3", "4", "s.xml", "t.txt"), map[string]int{"scope": 1}},
		{"more than the limit", crawltest.Web{robots: strings.Repeat("Sitemap: /s.xml\n", 1000) + "Sitemap: /t.xml", home + "s.xml": crawltest.URLSet("/1"), home + "1": "", home + "t.xml": crawltest.URLSet("/2")}, weft.Options{}, page("1", "s.xml"), map[string]int{"too-many": 1}},
		{"invalid URLs", crawltest.Web{robots: "Sitemap: ftp://a.test/s.xml\nSitemap: javascript:s()\nSitemap: http://[/\nSitemap: /" + strings.Repeat("x", 17<<10) + "\nSitemap: /s.xml", home + "s.xml": crawltest.URLSet("/1"), home + "1": ""},
			weft.Options{}, page("1", "s.xml"), map[string]int{"scope": 3, "too-long": 1}},
		{"default location", crawltest.Web{home + "sitemap.xml": crawltest.URLSet("/1"), home + "1": ""}, weft.Options{}, page("1", "sitemap.xml"), nil},
		{"none", crawltest.Web{}, weft.Options{}, page("sitemap.xml"), nil},
		{"a page in place of a sitemap", crawltest.Web{home + "sitemap.xml": crawltest.Links("/1"), home + "1": ""}, weft.Options{}, page("1", "sitemap.xml"), nil},
		{"an index, gzip, broken", crawltest.Web{home + "sitemap.xml": index("/s/1.gz", "/s/2.xml", "http://b.test/s.xml"), home + "s/1.gz": zipped(t, crawltest.URLSet("/1")), home + "s/2.xml": strings.TrimSuffix(crawltest.URLSet("/2", "/3"), "</loc></url></urlset>"), home + "1": "", home + "2": "", "http://b.test/s.xml": crawltest.URLSet("/x")},
			weft.Options{}, page("1", "2", "s/1.gz", "s/2.xml", "sitemap.xml"), map[string]int{"scope": 1, "broken-sitemap": 1}},
		{"nested indexes", crawltest.Web{home + "sitemap.xml": index("/1"), home + "1": index("/2"), home + "2": index("/3"), home + "3": index("/4"), home + "4": index("/5"), home + "5": index("/6"), home + "6": crawltest.URLSet("/7")},
			weft.Options{}, page("1", "2", "3", "4", "5", "sitemap.xml"), map[string]int{"too-many": 1}},
		{"an index that lists itself", crawltest.Web{home + "sitemap.xml": index("/sitemap.xml")}, weft.Options{}, page("sitemap.xml"), nil},
		{"on another host, named in robots.txt", crawltest.Web{robots: "Sitemap: http://b.test/a.xml", "http://b.test/a.xml": "301 http://b.test/b.xml", "http://b.test/b.xml": crawltest.URLSet("http://a.test/1", "/2"), home + "1": ""},
			weft.Options{Reach: weft.Reach{Depth: 1}}, []string{home + "1", "http://b.test/a.xml", "http://b.test/b.xml"}, map[string]int{"scope": 1}},
		{"disallowed", crawltest.Web{robots: "User-agent: *\nDisallow: /s\nSitemap: /s.xml", home + "s.xml": crawltest.URLSet("/1")}, weft.Options{}, nil, nil},
		{"depth", crawltest.Web{home + "sitemap.xml": crawltest.URLSet("/1"), home + "1": crawltest.Links("/2"), home + "2": ""}, weft.Options{Reach: weft.Reach{Depth: 1}}, page("1", "sitemap.xml"), map[string]int{"depth": 1}},
		{"no depth", crawltest.Web{home + "sitemap.xml": crawltest.URLSet("/1")}, weft.Options{Reach: weft.Reach{Depth: -1}}, nil, nil},
		{"scope page", crawltest.Web{home + "sitemap.xml": crawltest.URLSet("/1")}, weft.Options{Reach: weft.Reach{Scope: weft.ScopePage}}, nil, nil},
		{"scope prefix", crawltest.Web{home + "d/": "", home + "sitemap.xml": crawltest.URLSet("/1", "/d/1"), home + "d/1": ""}, weft.Options{Reach: weft.Reach{Scope: weft.ScopePrefix}, Seeds: page("d/")}, page("d/", "d/1", "sitemap.xml"), map[string]int{"scope": 1}},
		{"exclude", crawltest.Web{robots: "Sitemap: /s.xml\nSitemap: /t.xml", home + "s.xml": crawltest.URLSet("/1", "/tt"), home + "1": "", home + "t.xml": crawltest.URLSet("/2")}, weft.Options{Reach: weft.Reach{Exclude: []*regexp.Regexp{regexp.MustCompile("/t")}}}, page("1", "s.xml"), map[string]int{"exclude": 2}},
		{"include", crawltest.Web{home + "sitemap.xml": crawltest.URLSet("/1", "/2"), home + "1": ""}, weft.Options{Reach: weft.Reach{Include: []*regexp.Regexp{regexp.MustCompile("/1$")}}}, page("1", "sitemap.xml"), map[string]int{"include": 1}},
		{"no robots", crawltest.Web{robots: "Sitemap: /s.xml", home + "sitemap.xml": crawltest.URLSet("/1"), home + "1": ""}, weft.Options{Reach: weft.Reach{NoRobots: true}}, page("1", "sitemap.xml"), nil},
		{"a seed", crawltest.Web{home + "s.xml": crawltest.URLSet("/1"), home + "1": "", home + "sitemap.xml": "404"}, weft.Options{Seeds: page("s.xml")}, page("1", "s.xml", "sitemap.xml"), nil},
		{"a hook", crawltest.Web{home + "sitemap.xml": crawltest.URLSet("/1", "/2"), home + "1": ""}, weft.Options{Hooks: weft.Hooks{OnLink: func(_ weburl.URL, l links.Link) (v weft.Verdict) {
			if l.Tag == "sitemap" && l.Attr == "loc" && strings.HasSuffix(l.Raw, "2") {
				v = weft.Verdict{Decision: weft.Drop, Reason: "two"}
			}
			return v
		}}}, page("1", "sitemap.xml"), map[string]int{"two": 1}},
	} {
		var changes []func(*crawl.Config)
		run := func(t *testing.T) {
			c.web[home], c.web["http://b.test/"] = "", ""
			c.o.Reach.Sitemaps = c.name != "option off"
			got, sum, _ := c.web.Crawl(t, c.o, changes...)
			slices.Sort(c.want)
			if urls := crawltest.Fetched(got); !slices.Equal(urls, c.want) {
				t.Errorf("fetched %q, expected %q", urls, c.want)
			}
			for reason, n := range c.not {
				if sum.NotFollowed[reason] != n {
					t.Errorf("not followed: %v, expected %v", sum.NotFollowed, c.not)
				}
			}
			for u, r := range got {
				switch isSitemap := strings.HasPrefix(c.web[u], "<urlset") || strings.HasPrefix(c.web[u], "<sitemapindex"); {
				case isSitemap && r.Status != 0 && (r.Sitemap == "" || r.NewLinks > r.Links), !isSitemap && r.Sitemap == "urlset" && !strings.HasSuffix(u, ".gz"):
					t.Errorf("%s: record %+v", u, r)
				case c.web[u] != "" && r.Depth > 2:
					t.Errorf("%s has depth %d, expected at most 2", u, r.Depth)
				}
			}
		}
		if c.o.Seeds == nil {
			c.o.Seeds, c.want = []string{home}, append(c.want, home)
		}
		t.Run(c.name, run)
		changes = append(changes, crawltest.Crowded(2048))
		t.Run(c.name+", fingerprints on disk", run)
	}
}

// TestSitemapsSeenOnDisk checks that sitemaps from robots.txt and at the default location are
// looked up in the seen set like links when fingerprints are on disk, and so are fetched once.
func TestSitemapsSeenOnDisk(t *testing.T) {
	for _, noRobots := range []bool{false, true} {
		w := crawltest.Web{
			"http://a.test/": "", "http://a.test/robots.txt": "Sitemap: /sitemap.xml\nSitemap: http://b.test/s.xml", "http://a.test/sitemap.xml": crawltest.URLSet("/1"), "http://a.test/1": "",
			"http://b.test/s.xml": crawltest.URLSet("http://a.test/2"), "http://a.test/2": "", "http://b.test/": "",
		}
		o := weft.Options{
			Seeds: []string{"http://a.test/", "http://a.test/sitemap.xml"}, Reach: weft.Reach{Sitemaps: true, NoRobots: noRobots}, Job: filepath.Join(t.TempDir(), "job"),
		}
		got, sum, _ := w.Crawl(t, o, crawltest.Crowded(2048))
		want := []string{"http://a.test/", "http://a.test/1", "http://a.test/2", "http://a.test/sitemap.xml", "http://b.test/s.xml"}
		if noRobots {
			want = []string{want[0], want[1], want[3]}
		}
		if urls := crawltest.Fetched(got); !slices.Equal(urls, want) || sum.Recorded() != len(want) {
			t.Errorf("NoRobots %t: fetched %q, %d URLs; expected %q, each once", noRobots, urls, sum.Recorded(), want)
		}
	}
}

// TestSitemapOrder checks the order of fetches: first by depth, then sitemaps before pages, then
// pages by their priority in the sitemap.
func TestSitemapOrder(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/": crawltest.Links("/linked"), "http://a.test/robots.txt": "Sitemap: /s.xml", "http://a.test/s.xml": index("/i.xml") + crawltest.URLSet("/low 0.1", "/plain", "/high 0.9", "/top 1.0"),
		"http://a.test/i.xml": crawltest.URLSet("/inner 0.8"), "http://a.test/top": crawltest.Links("/deep"), "http://a.test/deep": "",
	}
	for _, name := range []string{"linked", "low", "plain", "high", "inner"} {
		w["http://a.test/"+name] = ""
	}
	_, _, seen := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true}, Pace: weft.Pace{PerHost: 1}})
	var got []string
	for _, u := range seen.URLs() {
		got = append(got, strings.TrimPrefix(u, "http://a.test/"))
	}
	want := []string{"robots.txt", "", "s.xml", "i.xml", "top", "high", "inner", "linked", "plain", "low", "deep"}
	if !slices.Equal(got, want) {
		t.Errorf("requested %q, expected %q", got, want)
	}
}

// TestSitemapDepth checks that a host's sitemaps, and the URLs in them, are one link deeper than
// the host's first URL, so that sitemaps do not lead from host to host beyond the depth limit.
func TestSitemapDepth(t *testing.T) {
	w := crawltest.Web{}
	for i := range 6 {
		host := fmt.Sprintf("http://h%d.test/", i)
		w[host] = ""
		w[host+"sitemap.xml"] = crawltest.URLSet(host+"1", fmt.Sprintf("http://h%d.test/", i+1))
		w[host+"1"] = ""
	}
	got, _, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://h0.test/"}, Reach: weft.Reach{Sitemaps: true, Scope: weft.ScopeAny, Depth: 2}})
	want := []string{
		"http://h0.test/", "http://h0.test/1", "http://h0.test/sitemap.xml", "http://h1.test/", "http://h1.test/1", "http://h1.test/sitemap.xml", "http://h2.test/",
	}
	if urls := crawltest.Fetched(got); !slices.Equal(urls, want) {
		t.Errorf("fetched %q, expected %q", urls, want)
	}
	if r := got["http://h1.test/1"]; r.Depth != 2 || r.From != "http://h1.test/sitemap.xml" {
		t.Errorf("record %+v", r)
	}
}

// TestSitemapCut checks that the beginning of a sitemap beyond the body limit is used.
func TestSitemapCut(t *testing.T) {
	w := crawltest.Web{"http://a.test/": "", "http://a.test/1": "", "http://a.test/sitemap.xml": crawltest.URLSet("/1", "/"+strings.Repeat("x", 1000))}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true}, HTTP: weft.HTTP{MaxBody: 500}})
	if r := got["http://a.test/sitemap.xml"]; r.ErrorKind != "" || r.Sitemap != "urlset" || got["http://a.test/1"].Status != 200 || sum.NotFollowed["broken-sitemap"] != 1 {
		t.Errorf("records %+v, not followed %v", got, sum.NotFollowed)
	}
}

// TestSitemapOverLimit checks that entries beyond the limit are counted as too-many, not as broken.
func TestSitemapOverLimit(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{"http://a.test/": "", "http://a.test/sitemap.xml": "<urlset>" + strings.Repeat("<url><loc>/</loc></url>", 100_001) + "</urlset>"}
	_, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true}})
	if sum.NotFollowed["too-many"] != 1 || sum.NotFollowed["broken-sitemap"] != 0 {
		t.Errorf("not followed: %v, expected one too-many", sum.NotFollowed)
	}
}

// TestSitemapResumed cancels a crawl at many moments and resumes it. The job knows which of its
// URLs are sitemaps.
func TestSitemapResumed(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/": crawltest.Links("http://b.test/"), "http://a.test/robots.txt": "Sitemap: /s.xml", "http://a.test/s.xml": index("/i.xml"),
		"http://a.test/i.xml": crawltest.URLSet("/1", "/2"), "http://a.test/1": "", "http://a.test/2": "",
		"http://b.test/": "", "http://b.test/sitemap.xml": crawltest.URLSet("/1"), "http://b.test/1": crawltest.Links("/2"), "http://b.test/2": "",
	}
	want := crawltest.Fetched(first(w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true, Scope: weft.ScopeAny, Depth: 2}})))
	if len(want) != 8 {
		t.Fatalf("an undisturbed crawl fetches %q, expected 8 URLs", want)
	}
	for stop := 50 * time.Millisecond; stop < 1500*time.Millisecond; stop += 50 * time.Millisecond {
		o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true, Scope: weft.ScopeAny, Depth: 2}, Job: filepath.Join(t.TempDir(), "job")}
		cancelAfter(t, w, o, stop)
		got, sum, _ := w.Crawl(t, o)
		if urls := crawltest.Fetched(got); !slices.Equal(urls, want) || !sum.Finished {
			t.Errorf("canceled after %v: fetched %q, expected %q", stop, urls, want)
		}
	}
}

func first[A, B, C any](a A, _ B, _ C) A { return a }

// cancelAfter starts a crawl and cancels it after a time.
func cancelAfter(t *testing.T, w crawltest.Web, o weft.Options, after time.Duration) {
	t.Helper()
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	netw.Host("b.test", "10.0.0.2")
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw}).Run(context.Background(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Timeout(after+time.Second, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				var seen crawltest.Requests
				g.Go("web", func(task *aio.Task) error {
					return task.Group(func(g *aio.Group) error {
						for {
							conn, err := ln.Accept(task)
							if err != nil {
								return crawltest.Ignore(err, aio.ErrClosed)
							}
							g.Go("server", func(task *aio.Task) error { return w.Serve(task, conn, &seen) })
						}
					})
				})
				defer ln.Close()
				return ignoreTimeout(task.Timeout(after, func(task *aio.Task) error {
					_, err := c.RunOn(task)
					return err
				}))
			})
		})
	})
	if err = ignoreTimeout(err); err != nil {
		t.Fatal(err)
	}
}

// TestSitemapsOfSyntheticWeb crawls a web with all kinds of sitemaps. The records must match the
// ground truth exactly.
func TestSitemapsOfSyntheticWeb(t *testing.T) {
	t.Parallel()
	web, got, sum := crawltest.CrawlSynthetic(t, webtest.Config{Seed: 11, Hosts: 40, Pages: 4, Listed: 9}, weft.Options{Reach: weft.Reach{Sitemaps: true}})
	onlyInSitemaps, types := 0, make(map[string]int)
	for u, fate := range web.Truth(webtest.Policy{
		Scope: webtest.Anywhere, Elements: []string{"a", "area", "frame", "iframe", "link", "meta", "header"},
		MaxRedirects: 10, Retries: 2, Robots: true, Agent: "weft", Sitemaps: true,
	}) {
		r, ok := got[u]
		if !ok {
			t.Errorf("%s has no record", u)
		} else if !torture.Is(r, fate) {
			t.Errorf("%s: status %d, error %q %q, expected %+v", u, r.Status, r.ErrorKind, r.Error, fate)
		}
		if strings.Contains(u, "/told/") {
			onlyInSitemaps++
		}
		if r.Sitemap != "" {
			types[r.Sitemap]++
		}
		delete(got, u)
	}
	for u, r := range got {
		if r.ErrorKind != weft.KindRedirects { // beyond the limit of redirects
			t.Errorf("%s has a record, but nothing leads to it", u)
		}
	}
	if onlyInSitemaps < 100 || types["urlset"] < 5 || types["index"] < 2 || types["text"] < 2 || sum.NotFollowed["broken-sitemap"] < 2 {
		t.Errorf("%d pages from sitemaps only, sitemaps %v, not followed %v", onlyInSitemaps, types, sum.NotFollowed)
	}
}

func ignoreTimeout(err error) error {
	var late *aio.TimeoutError
	if errors.As(err, &late) {
		return nil
	}
	return err
}

// TestSameSitemap checks that a sitemap under several names is recorded under each, with the same
// figures, and that its entries are found once.
func TestSameSitemap(t *testing.T) {
	urls := "<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2</loc></url></urlset>"
	w := crawltest.Web{
		"http://a.test/":           "home",
		"http://a.test/robots.txt": "Sitemap: http://a.test/x.xml\nSitemap: http://a.test/y.xml\nSitemap: http://a.test/z.xml",
		"http://a.test/x.xml":      urls, "http://a.test/y.xml": urls, "http://a.test/z.xml": urls,
		"http://a.test/1": "one", "http://a.test/2": "two",
	}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true}, Pace: weft.Pace{PerHost: 1}})
	found := 0
	for _, name := range []string{"x", "y", "z"} {
		r := got["http://a.test/"+name+".xml"]
		if r.Sitemap != "urlset" || r.Links != 2 {
			t.Errorf("%s.xml: sitemap %q, %d links", name, r.Sitemap, r.Links)
		}
		found += r.NewLinks
	}
	if len(got) != 6 || found != 2 {
		t.Errorf("%d records, %d new links, not followed: %v", len(got), found, sum.NotFollowed)
	}
}
