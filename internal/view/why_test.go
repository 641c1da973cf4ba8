package view_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestWhyReasons checks that Why explains every URL that is not fetched: each reason, each error
// kind that is not a failed fetch, and each limit.
func TestWhyReasons(t *testing.T) {
	t.Parallel()
	home := func(html string) crawltest.Web { return crawltest.Web{"http://a.test/": html} }
	res := func(s string) []*regexp.Regexp { return []*regexp.Regexp{regexp.MustCompile(s)} }
	deep := "/1/2/3/4/5"
	cases := []struct {
		reason string
		web    crawltest.Web
		o      weft.Options
		again  func(o *weft.Options) // changes the options for a second run; nil: one run
		path   string
		want   string // state and steps, with gaps marked by …
	}{
		{reason: "scope", web: home(crawltest.Links("http://b.test/x")), path: "http://b.test/x",
			want: "unseen … a link to it is not followed: it is outside the scope … scope: host: outside, links to it are not followed"},
		{reason: "blocked-port", web: home(crawltest.Links("http://a.test:25/x")), o: weft.Options{Reach: weft.Reach{Scope: weft.ScopeDomain}}, path: "http://a.test:25/x",
			want: "unseen … a link to it is not followed: its port is blocked … port: 25 is blocked"},
		{reason: "blocked-port", web: home("302 http://a.test:6379/x"), path: "http://a.test:6379/x", want: "unseen … port: 6379 is blocked"},
		{reason: "blocked-port", web: crawltest.Web{"http://a.test/": crawltest.Links(), "http://a.test/robots.txt": "Sitemap: http://a.test:25/s.xml"}, o: weft.Options{Reach: weft.Reach{Sitemaps: true}}, path: "http://a.test:25/s.xml",
			want: "unseen … port: 25 is blocked"},
		{reason: "depth", web: home(crawltest.Links("/x")), o: weft.Options{Reach: weft.Reach{Depth: -1}}, path: "/x",
			want: "unseen … a link to it is not followed: no links are followed … depth: at most 0 links from a seed are followed"},
		{reason: "depth", web: crawltest.Web{"http://a.test/": crawltest.Links("/x"), "http://a.test/x": crawltest.Links("/y")}, o: weft.Options{Reach: weft.Reach{Depth: 1}}, path: "/y",
			want: "unseen … depth: at most 1 link from a seed are followed; others are not kept"},
		{reason: "exclude", web: home(crawltest.Links("/x")), o: weft.Options{Reach: weft.Reach{Exclude: res("/x$")}}, path: "/x", want: "unseen … it is excluded … exclude: /x$ matches"},
		{reason: "include", web: home(crawltest.Links("/x")), o: weft.Options{Reach: weft.Reach{Include: res("/y$")}}, path: "/x", want: "unseen … it is not included … include: none matches"},
		{reason: "too-long", web: home(crawltest.Links("/long")), o: weft.Options{Traps: weft.Traps{MaxURLLength: 17}}, path: "/long",
			want: "unseen … a link to it is not followed: it looks like a trap … trap: it is 18 bytes long, and at most 17 are followed"},
		{reason: "too-deep", web: home(crawltest.Links(deep)), o: weft.Options{Traps: weft.Traps{MaxPathDepth: 4}}, path: deep,
			want: "unseen … it looks like a trap … trap: its path has 5 segments, and at most 4 are followed"},
		{reason: "repeats", web: home(crawltest.Links("/x/x")), o: weft.Options{Traps: weft.Traps{MaxRepeats: 1}}, path: "/x/x",
			want: "unseen … it looks like a trap … trap: a segment of its path repeats 2 times, and at most 1 are followed"},
		{reason: "repeats", web: crawltest.Web{"http://a.test/": crawltest.Links("/go"), "http://a.test/go": "302 /x/x/x/x"}, path: "/x/x/x/x",
			want: "unseen … trap: a segment of its path repeats 4 times"},
		{reason: "repeats", web: home("302 /x/x/x/x"), path: "/x/x/x/x", want: "unseen … trap: a segment of its path repeats 4 times"},
		{reason: "too-many", web: home(strings.Repeat("<a href=/>", 100_001) + crawltest.Links("/x")), path: "/x",
			want: "unseen … not kept: the last links of pages with too many (1)"},
		{reason: "logout", web: home(crawltest.Links("/sign-out")), o: weft.Options{HTTP: weft.HTTP{Session: new(weft.Session)}}, path: "/sign-out",
			want: "unseen … it may log out, and the crawl is logged in … logout: it may log out"},
		{reason: "nofollow", web: home(`<meta name=robots content=nofollow>` + crawltest.Links("/x")), path: "/x",
			want: "unseen … not kept: links of pages that say nofollow (1)"},
		{reason: "nofollow", web: home(`<meta name=robots content=none><meta http-equiv=refresh content="0; /x"><iframe src=/x></iframe>`), path: "/x",
			want: "unseen … not kept: links of pages that say nofollow (2)"},
		{reason: "rel-nofollow", web: home(`<a rel="ugc NoFollow" href=/x>`), path: "/x",
			want: "unseen … not kept: links with rel=nofollow (1)"},
		{reason: "dropped", web: home(crawltest.Links("/x")), path: "/x", o: weft.Options{Hooks: weft.Hooks{OnLink: func(weburl.URL, links.Link) weft.Verdict {
			return weft.Verdict{Decision: weft.Drop}
		}}}, want: "unseen … not kept: links that a hook dropped (1)"},
		{reason: "limit-per-host", web: home(crawltest.Links("/x", "/y")), o: weft.Options{Limits: weft.Limits{LimitPerHost: 2}}, path: "/y",
			want: "dropped … dropped: its host reached its limit of 2 URLs"},
		{reason: "limit-per-host", web: home(crawltest.Links("/x", "/y")), o: weft.Options{Limits: weft.Limits{LimitPerHost: 2}}, path: "/z",
			want: "unseen … limit: its host reached its limit of 2 URLs"},
		{reason: "max-variants", web: home(crawltest.Links("/x?1", "/x?2")), o: weft.Options{Traps: weft.Traps{MaxVariants: 1}}, path: "/x?2",
			want: "dropped … dropped: its path reached its limit of 1 URLs that differ only after the first ; or ?"},
		{reason: "max-variants", web: home(crawltest.Links("/x?1", "/x?2")), o: weft.Options{Traps: weft.Traps{MaxVariants: 1}}, path: "/x?3",
			want: "unseen … limit: its path reached its limit of 1 URLs that differ only after the first ; or ?"},

		{reason: "duplicate", web: crawltest.Web{"http://a.test/": crawltest.Links("/1/", "/2/"), "http://a.test/1/": crawltest.Essay("maze") + crawltest.Links("in"), "http://a.test/2/": crawltest.Essay("maze") + crawltest.Links("in")}, o: weft.Options{Reach: weft.Reach{PruneDuplicates: true}, Pace: weft.Pace{Concurrency: 1}}, path: "/2/in",
			want: "unseen … not kept: links of pages that are duplicates (1)"},
		{reason: "broken-sitemap", web: crawltest.Web{"http://a.test/": crawltest.Links(), "http://a.test/sitemap.xml": "<urlset><url><loc>/1</loc></url><url><loc>/x"}, o: weft.Options{Reach: weft.Reach{Sitemaps: true}}, path: "/x",
			want: "unseen … not kept: URLs in sitemaps that are broken (1)"},

		{reason: "unclosed", web: home("<script>" + crawltest.Links("/x")), path: "/x",
			want: "unseen … not kept: links that pages hide in an unclosed tag, comment, script or the like (1)"},

		{reason: weft.KindRobots, web: crawltest.Web{"http://a.test/": crawltest.Links("/x"), "http://a.test/robots.txt": "User-agent: *\nDisallow: /x"}, path: "/x",
			want: "refused … robots: disallowed by line 2: Disallow: /x … refused: robots: "},
		{reason: weft.KindNoRobots, web: crawltest.Web{"http://a.test/robots.txt": "503"}, path: "/",
			want: "refused … refused: robots-unreachable: robots.txt: status 503"},
		{reason: weft.KindExcluded, web: home(crawltest.Links("/x")), o: weft.Options{Limits: weft.Limits{Limit: 1}}, path: "/x",
			again: func(o *weft.Options) { o.Limits.Limit, o.Rerun.Amend, o.Reach.Exclude = 0, true, res("/x$") }, want: "refused … exclude: /x$ matches … refused: excluded: /x$"},
		{reason: weft.KindRefused, web: home(crawltest.Links("/x")), path: "/x", o: weft.Options{Hooks: weft.Hooks{OnRequest: func(r *weft.Request) error {
			if r.From != "" {
				return errors.New("not today")
			}
			return nil
		}}}, want: "failed … try: 1: refused: not today"},
		{reason: "blocked-address", web: home(crawltest.Links("http://127.0.0.1/x")), o: weft.Options{Reach: weft.Reach{Scope: weft.ScopeAny}}, path: "http://127.0.0.1/x",
			want: "refused … refused: blocked-address: 127.0.0.1 is loopback"},
		{reason: weft.KindRedirects, web: crawltest.Web{"http://a.test/": "302 /1", "http://a.test/1": "302 /x"}, o: weft.Options{Reach: weft.Reach{MaxRedirects: 1}}, path: "/1",
			want: "failed … redirects: a redirect beyond the limit of 1"},
		{reason: weft.KindLocation, web: home("302 mailto:x@a.test"), path: "/", want: "failed … location: leads to scheme \"mailto\", expected http or https"},
		{reason: "limit", web: home(crawltest.Links("/x")), o: weft.Options{Limits: weft.Limits{Limit: 1}}, path: "/x", want: "pending … next: try 1; the crawl is not running (stopped by the limit limit)"},
	}
	covered := make(map[string]bool)
	for _, c := range cases {
		covered[c.reason] = true
		t.Run(c.reason+c.path, func(t *testing.T) {
			c.o.Seeds, c.o.Pace.Retries, c.o.Job = []string{"http://a.test/"}, -1, filepath.Join(t.TempDir(), "job")
			_, sum, seen := c.web.Crawl(t, c.o)
			if c.again != nil {
				c.again(&c.o)
				_, sum, seen = c.web.Crawl(t, c.o)
			}
			site, path := "http://a.test", c.path
			if !strings.HasPrefix(path, "/") {
				site, path = path, ""
			}
			got := crawltest.WhyText(t, crawltest.Open(t, c.o.Job), site, path)
			rest := got
			for _, want := range strings.Split(strings.ReplaceAll(c.want, site, "SITE"), " … ") {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%sexpected it to contain %s", got, want)
				}
				rest = after
			}
			if c.reason != weft.KindRedirects && c.reason != weft.KindLocation {
				for _, v := range seen {
					if v.URL == site+path {
						t.Errorf("%s was fetched", v.URL)
					}
				}
			}
			for _, r := range weft.Reasons() {
				counted := sum.NotFollowed[r.Name] > 0 || r.Name == "limit-per-host" && sum.OverLimit > 0 || r.Name == "max-variants" && sum.OverVariants > 0
				if counted != (r.Name == c.reason) {
					t.Errorf("%s counted: %t; not followed: %v", r.Name, counted, sum.NotFollowed)
				}
			}
		})
	}
	for _, r := range weft.Reasons() {
		if !covered[r.Name] {
			t.Errorf("no case covers %s", r.Name)
		}
	}
}

// TestTrapsOverruled checks that seeds, and links that a hook follows, are fetched even if they
// look like traps.
func TestTrapsOverruled(t *testing.T) {
	const trap = "http://a.test/x/x/x/x"
	hooks := weft.Hooks{OnLink: func(_ weburl.URL, l links.Link) weft.Verdict {
		return weft.Verdict{Decision: weft.Follow}
	}}
	for _, c := range []struct {
		name string
		o    weft.Options
		want string
	}{
		{"seed", weft.Options{Seeds: []string{trap}}, "seed: given\nscope: host: does not apply to seeds"},
		{"hook", weft.Options{Seeds: []string{"http://a.test/"}, Hooks: hooks}, "at most 3 are followed; a hook followed it all the same"},
		{"no limit", weft.Options{Seeds: []string{"http://a.test/"}, Traps: weft.Traps{MaxRepeats: -1}}, "1 link from a seed\nscope: host: inside\nrobots: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Job = filepath.Join(t.TempDir(), "job")
			got, _, _ := crawltest.Web{"http://a.test/": crawltest.Links("/x/x/x/x"), trap: "a page"}.Crawl(t, c.o)
			if got[trap].Status != 200 {
				t.Errorf("the trap was not fetched: %v", got)
			}
			if text := crawltest.WhyText(t, crawltest.Open(t, c.o.Job), "http://a.test", "/x/x/x/x"); !strings.Contains(text, c.want) {
				t.Errorf("%sexpected it to contain %s", text, c.want)
			}
		})
	}
}

// TestWhyBeyond checks what Why and URLs say of URLs beyond the scope.
func TestWhyBeyond(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{"http://a.test/": crawltest.Links("http://b.test/ok", "http://b.test/gone") + "<img src=http://c.test/image>", "http://b.test/ok": "", "http://c.test/image": "data"}
	dir := filepath.Join(t.TempDir(), "job")
	w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{External: true, Assets: weft.AssetsAny}, Job: dir})
	job := crawltest.Open(t, dir)
	for u, want := range map[string]string{
		"http://b.test/ok":    "external link, checked with HEAD; nothing there is followed … 1: HEAD status 200",
		"http://b.test/gone":  "external link, checked with HEAD, then with GET … 1: HEAD status 404 … 2: status 404",
		"http://c.test/image": "asset beyond the scope … 1: status 200",
		"http://d.test/":      "no page that was read is known to link to it … host: outside, links to it are only checked",
	} {
		why, err := job.Why(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for _, s := range why.Steps {
			steps = append(steps, s.Text)
		}
		text := strings.Join(steps, "\n")
		for part := range strings.SplitSeq(want, " … ") {
			if !strings.Contains(text, part) || (why.Role == "") != (why.State == weft.URLUnseen) {
				t.Errorf("%s: %s, expected %s", u, text, part)
			}
		}
	}
}

// TestWhyNotFollowed checks that Why explains unfollowed links both for their page and for their
// targets.
func TestWhyNotFollowed(t *testing.T) {
	site := crawltest.Web{
		"http://a.test/":      crawltest.Links("/quiet"),
		"http://a.test/quiet": `<meta name=robots content=nofollow>` + crawltest.Links("/behind"),
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Job: filepath.Join(t.TempDir(), "job")}
	site.Crawl(t, o)
	job := crawltest.Open(t, o.Job)
	for path, want := range map[string]string{
		"/quiet":  "try: 1: status 200, its links are not followed, as it says nofollow\n",
		"/behind": "not kept: links of pages that say nofollow (1)",
	} {
		if got := crawltest.WhyText(t, job, "http://a.test", path); !strings.Contains(got, want) {
			t.Errorf("why %s: %s, expected %s", path, got, want)
		}
	}
}

// TestWhyUnseen checks that Why lists the rules that apply to a URL that was never found.
func TestWhyUnseen(t *testing.T) {
	site := crawltest.NewHeld(t)
	site.Release()
	dir := filepath.Join(t.TempDir(), "job")
	r := crawltest.Start(t, weft.Options{
		Seeds: []string{site.URL + "/docs/"}, Job: dir, Reach: weft.Reach{Scope: weft.ScopePrefix, Depth: 2, Include: []*regexp.Regexp{regexp.MustCompile("[.]html$")}, Exclude: []*regexp.Regexp{regexp.MustCompile("old")}},
	})
	<-r.Done
	job := crawltest.Open(t, dir)
	const notKept = "unseen: links that are not followed are not kept, and a link to it is not followed: "
	for u, want := range map[string]string{
		site.URL + "/docs/x.html": "unseen: no page that was read is known to link to it\nscope: prefix: inside\ndepth: at most 2 links from a seed are followed; others are not kept\ninclude: [.]html$ matches\nrobots: allowed, as no rule matches\n",
		site.URL + "/docs/old":    notKept + "it is excluded\nscope: prefix: inside\ndepth: at most 2 links from a seed are followed; others are not kept\nexclude: old matches\ninclude: none matches, links to it are not followed\nrobots: allowed, as no rule matches\n",
		site.URL + "/docs/x":      notKept + "it is not included\nscope: prefix: inside\ndepth: at most 2 links from a seed are followed; others are not kept\ninclude: none matches, links to it are not followed\nrobots: allowed, as no rule matches\n",
		site.URL + "/private":     notKept + "it is outside the scope\nscope: prefix: outside, links to it are not followed\ndepth: at most 2 links from a seed are followed; others are not kept\ninclude: none matches, links to it are not followed\nrobots: disallowed by line 3: Disallow: /private\n",
		"http://other.example/":   notKept + "it is outside the scope\nscope: prefix: outside, links to it are not followed\ndepth: at most 2 links from a seed are followed; others are not kept\ninclude: none matches, links to it are not followed\nrobots: robots.txt of http://other.example is not known yet\n",
	} {
		why, err := job.Why(t.Context(), u)
		var got strings.Builder
		for _, s := range why.Steps {
			fmt.Fprintf(&got, "%s: %s\n", s.What, s.Text)
		}
		if err != nil || why.State != weft.URLUnseen || got.String() != want {
			t.Errorf("%s: %s\nexpected %s", u, got.String(), want)
		}
	}
	if _, err := job.Why(t.Context(), "/docs"); err == nil {
		t.Error("Why accepts a path")
	}
	for _, err := range job.URLs(t.Context(), weft.URLFilter{State: "odd"}) {
		if err == nil || !strings.Contains(err.Error(), "expected pending") {
			t.Errorf("URLs of an unknown state: %v", err)
		}
	}
}

// TestWhyRobotsElsewhere checks that Why explains a URL whose host's robots.txt redirects to a host
// that is backing off: what the URL waits for, and until when.
func TestWhyRobotsElsewhere(t *testing.T) {
	t.Parallel() // it waits for the crawl
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, port, _ := strings.Cut(r.Host, ":"); host != "rules.test" {
			http.Redirect(w, r, "http://rules.test:"+port+"/robots.txt", http.StatusFound)
			return
		}
		w.Header().Set("Retry-After", "1800")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer site.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(site.URL, "http://"), ":")
	home := "http://a.test:" + port
	r := crawltest.Start(t, weft.Options{Seeds: []string{home}, Job: filepath.Join(t.TempDir(), "job"), HTTP: weft.HTTP{Resolve: crawltest.Overrides(t, "*:"+port+":127.0.0.1")}})
	r.Inspect()
	want := "next: try 1; its host waits: its robots.txt redirects to http://rules.test:" + port + "/robots.txt, which is requested at its turn; the host there waits: 503, Retry-After 1800 s\n"
	r.Await("waiting for the other host", func(weft.Status) bool { return strings.Contains(crawltest.WhyText(t, r.Job, home, "/"), want) })
	why, err := r.Job.Why(t.Context(), home)
	if until := why.Steps[len(why.Steps)-1].At; err != nil || time.Until(until) < 20*time.Minute || time.Until(until) > 30*time.Minute {
		t.Errorf("waits until %v, error %v, expected half an hour from now", until, err)
	}
	r.End()
	<-r.Done
}

// TestWhyAfterRecrawl checks that Why still explains an unfollowed link when the recrawl did not
// parse its page again.
func TestWhyAfterRecrawl(t *testing.T) {
	s := crawltest.NewChanging(t)
	s.Show(map[string]crawltest.Response{"/": {Body: "<a href=/no rel=nofollow>"}})
	dir := filepath.Join(t.TempDir(), "job")
	for n := range 3 {
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Job: dir, Rerun: weft.Rerun{Update: n > 0}})
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := c.Run(t.Context()); err != nil || sum.Unchanged != min(n, 1) {
			t.Fatalf("visit %d: %+v, %v", n+1, sum, err)
		}
	}
	j, err := weft.OpenJob(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	why, err := j.Why(t.Context(), s.URL+"/no")
	if err != nil || !strings.Contains(why.Steps[0].Text, "links with rel=nofollow (1)") {
		t.Errorf("steps %+v, error %v", why.Steps, err)
	}
}

// TestSitemapWhy checks that Why names the sitemap that a URL was found in, and where a sitemap
// itself comes from.
func TestSitemapWhy(t *testing.T) {
	w := crawltest.Web{"http://a.test/": "", "http://a.test/sitemap.xml": crawltest.URLSet("/1"), "http://a.test/1": ""}
	dir := filepath.Join(t.TempDir(), "job")
	w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Sitemaps: true}, Job: dir})
	job, err := weft.OpenJob(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	for u, want := range map[string][]string{
		"http://a.test/1":           {"in the sitemap http://a.test/sitemap.xml, 1 link from a seed"},
		"http://a.test/sitemap.xml": {"as a sitemap of the host of http://a.test/robots.txt, 1 link from a seed", "host: does not apply to sitemaps"},
	} {
		why, err := job.Why(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !slices.ContainsFunc(why.Steps, func(s weft.Step) bool { return s.Text == text }) {
				t.Errorf("%s: no step %q in %+v", u, text, why.Steps)
			}
		}
	}
}
