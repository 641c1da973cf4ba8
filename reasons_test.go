package weft_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestWhyReasons checks that Why explains every URL that is not fetched: each reason, each error
// kind that is not a failed fetch, and each limit.
func TestWhyReasons(t *testing.T) {
	t.Parallel()
	home := func(html string) web { return web{"http://a.test/": html} }
	res := func(s string) []*regexp.Regexp { return []*regexp.Regexp{regexp.MustCompile(s)} }
	deep := "/1/2/3/4/5"
	cases := []struct {
		reason string
		web    web
		o      weft.Options
		again  func(o *weft.Options) // changes the options for a second run; nil: one run
		path   string
		want   string // state and steps, with gaps marked by …
	}{
		{reason: "scope", web: home(a("http://b.test/x")), path: "http://b.test/x",
			want: "unseen … a link to it is not followed: it is outside the scope … scope: host: outside, links to it are not followed"},
		{reason: "blocked-port", web: home(a("http://a.test:25/x")), o: weft.Options{Scope: weft.ScopeDomain}, path: "http://a.test:25/x",
			want: "unseen … a link to it is not followed: its port is blocked … port: 25 is blocked"},
		{reason: "blocked-port", web: home("302 http://a.test:6379/x"), path: "http://a.test:6379/x", want: "unseen … port: 6379 is blocked"},
		{reason: "blocked-port", web: web{"http://a.test/": a(), "http://a.test/robots.txt": "Sitemap: http://a.test:25/s.xml"}, o: weft.Options{Sitemaps: true}, path: "http://a.test:25/s.xml",
			want: "unseen … port: 25 is blocked"},
		{reason: "depth", web: home(a("/x")), o: weft.Options{Depth: -1}, path: "/x",
			want: "unseen … a link to it is not followed: no links are followed … depth: at most 0 links from a seed are followed"},
		{reason: "depth", web: web{"http://a.test/": a("/x"), "http://a.test/x": a("/y")}, o: weft.Options{Depth: 1}, path: "/y",
			want: "unseen … depth: at most 1 link from a seed are followed; others are not kept"},
		{reason: "exclude", web: home(a("/x")), o: weft.Options{Exclude: res("/x$")}, path: "/x", want: "unseen … it is excluded … exclude: /x$ matches"},
		{reason: "include", web: home(a("/x")), o: weft.Options{Include: res("/y$")}, path: "/x", want: "unseen … it is not included … include: none matches"},
		{reason: "too-long", web: home(a("/long")), o: weft.Options{MaxURLLength: 17}, path: "/long",
			want: "unseen … a link to it is not followed: it looks like a trap … trap: it is 18 bytes long, and at most 17 are followed"},
		{reason: "too-deep", web: home(a(deep)), o: weft.Options{MaxPathDepth: 4}, path: deep,
			want: "unseen … it looks like a trap … trap: its path has 5 segments, and at most 4 are followed"},
		{reason: "repeats", web: home(a("/x/x")), o: weft.Options{MaxRepeats: 1}, path: "/x/x",
			want: "unseen … it looks like a trap … trap: a segment of its path repeats 2 times, and at most 1 are followed"},
		{reason: "repeats", web: web{"http://a.test/": a("/go"), "http://a.test/go": "302 /x/x/x/x"}, path: "/x/x/x/x",
			want: "unseen … trap: a segment of its path repeats 4 times"},
		{reason: "repeats", web: home("302 /x/x/x/x"), path: "/x/x/x/x", want: "unseen … trap: a segment of its path repeats 4 times"},
		{reason: "too-many", web: home(strings.Repeat("<a href=/>", 100_001) + a("/x")), path: "/x",
			want: "unseen … not kept: the last links of pages with too many (1)"},
		{reason: "nofollow", web: home(`<meta name=robots content=nofollow>` + a("/x")), path: "/x",
			want: "unseen … not kept: links of pages that say nofollow (1)"},
		{reason: "nofollow", web: home(`<meta name=robots content=none><meta http-equiv=refresh content="0; /x"><iframe src=/x></iframe>`), path: "/x",
			want: "unseen … not kept: links of pages that say nofollow (2)"},
		{reason: "rel-nofollow", web: home(`<a rel="ugc NoFollow" href=/x>`), path: "/x",
			want: "unseen … not kept: links with rel=nofollow (1)"},
		{reason: "dropped", web: home(a("/x")), path: "/x", o: weft.Options{Hooks: weft.Hooks{OnLink: func(weburl.URL, links.Link) weft.Verdict {
			return weft.Verdict{Decision: weft.Drop}
		}}}, want: "unseen … not kept: links that a hook dropped (1)"},
		{reason: "limit-per-host", web: home(a("/x", "/y")), o: weft.Options{LimitPerHost: 2}, path: "/y",
			want: "dropped … dropped: its host reached its limit of 2 URLs"},
		{reason: "limit-per-host", web: home(a("/x", "/y")), o: weft.Options{LimitPerHost: 2}, path: "/z",
			want: "unseen … limit: its host reached its limit of 2 URLs"},
		{reason: "max-variants", web: home(a("/x?1", "/x?2")), o: weft.Options{MaxVariants: 1}, path: "/x?2",
			want: "dropped … dropped: its path reached its limit of 1 URLs that differ only after the first ; or ?"},
		{reason: "max-variants", web: home(a("/x?1", "/x?2")), o: weft.Options{MaxVariants: 1}, path: "/x?3",
			want: "unseen … limit: its path reached its limit of 1 URLs that differ only after the first ; or ?"},

		{reason: "duplicate", web: web{"http://a.test/": a("/1/", "/2/"), "http://a.test/1/": essay("maze") + a("in"), "http://a.test/2/": essay("maze") + a("in")}, o: weft.Options{PruneDuplicates: true, Concurrency: 1}, path: "/2/in",
			want: "unseen … not kept: links of pages that are duplicates (1)"},
		{reason: "broken-sitemap", web: web{"http://a.test/": a(), "http://a.test/sitemap.xml": "<urlset><url><loc>/1</loc></url><url><loc>/x"}, o: weft.Options{Sitemaps: true}, path: "/x",
			want: "unseen … not kept: URLs in sitemaps that are broken (1)"},

		{reason: "unclosed", web: home("<script>" + a("/x")), path: "/x",
			want: "unseen … not kept: links that pages hide in an unclosed tag, comment, script or the like (1)"},

		{reason: weft.KindRobots, web: web{"http://a.test/": a("/x"), "http://a.test/robots.txt": "User-agent: *\nDisallow: /x"}, path: "/x",
			want: "refused … robots: disallowed by line 2: Disallow: /x … refused: robots: "},
		{reason: weft.KindNoRobots, web: web{"http://a.test/robots.txt": "503"}, path: "/",
			want: "refused … refused: robots-unreachable: robots.txt: status 503"},
		{reason: weft.KindExcluded, web: home(a("/x")), o: weft.Options{Limit: 1}, path: "/x",
			again: func(o *weft.Options) { o.Limit, o.Amend, o.Exclude = 0, true, res("/x$") }, want: "refused … exclude: /x$ matches … refused: excluded: /x$"},
		{reason: weft.KindRefused, web: home(a("/x")), path: "/x", o: weft.Options{Hooks: weft.Hooks{OnRequest: func(r *weft.Request) error {
			if r.From != "" {
				return errors.New("not today")
			}
			return nil
		}}}, want: "failed … try: 1: refused: not today"},
		{reason: "blocked-address", web: home(a("http://127.0.0.1/x")), o: weft.Options{Scope: weft.ScopeAny}, path: "http://127.0.0.1/x",
			want: "refused … refused: blocked-address: 127.0.0.1 is loopback"},
		{reason: weft.KindRedirects, web: web{"http://a.test/": "302 /1", "http://a.test/1": "302 /x"}, o: weft.Options{MaxRedirects: 1}, path: "/1",
			want: "failed … redirects: a redirect beyond the limit of 1"},
		{reason: weft.KindLocation, web: home("302 mailto:x@a.test"), path: "/", want: "failed … location: leads to scheme \"mailto\", expected http or https"},
		{reason: "limit", web: home(a("/x")), o: weft.Options{Limit: 1}, path: "/x", want: "pending … next: try 1; the crawl is not running (stopped by the limit limit)"},
	}
	covered := make(map[string]bool)
	for _, c := range cases {
		covered[c.reason] = true
		t.Run(c.reason+c.path, func(t *testing.T) {
			c.o.Seeds, c.o.Retries, c.o.Job = []string{"http://a.test/"}, -1, filepath.Join(t.TempDir(), "job")
			_, sum, seen := c.web.crawl(t, c.o)
			if c.again != nil {
				c.again(&c.o)
				_, sum, seen = c.web.crawl(t, c.o)
			}
			site, path := "http://a.test", c.path
			if !strings.HasPrefix(path, "/") {
				site, path = path, ""
			}
			got := whyText(t, open(t, c.o.Job), site, path)
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
					if v.url == site+path {
						t.Errorf("%s was fetched", v.url)
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
		{"no limit", weft.Options{Seeds: []string{"http://a.test/"}, MaxRepeats: -1}, "1 link from a seed\nscope: host: inside\nrobots: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Job = filepath.Join(t.TempDir(), "job")
			got, _, _ := web{"http://a.test/": a("/x/x/x/x"), trap: "a page"}.crawl(t, c.o)
			if got[trap].Status != 200 {
				t.Errorf("the trap was not fetched: %v", got)
			}
			if text := whyText(t, open(t, c.o.Job), "http://a.test", "/x/x/x/x"); !strings.Contains(text, c.want) {
				t.Errorf("%sexpected it to contain %s", text, c.want)
			}
		})
	}
}

// TestRedirectIgnoresNofollow checks that X-Robots-Tag: nofollow on a redirect does not stop the
// crawl from following it: the tag is about links.
func TestRedirectIgnoresNofollow(t *testing.T) {
	netw := web{
		"http://a.test/":      a("/moved"),
		"http://a.test/moved": "302 /x\r\nX-Robots-Tag: nofollow",
		"http://a.test/x":     "a page",
	}
	got, sum, _ := netw.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
	if got["http://a.test/x"].Status != 200 || len(sum.NotFollowed) > 0 {
		t.Errorf("fetched %v; not followed: %v", fetched(got), sum.NotFollowed)
	}
}
