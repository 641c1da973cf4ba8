package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestScope checks which links of a page each scope follows.
func TestScope(t *testing.T) {
	all := []string{
		"http://www.example.org/docs/", "http://www.example.org/docs/a", "http://www.example.org/b",
		"http://example.org/", "http://www.example.org:8080/", "http://example.net/",
	}
	w := crawltest.Web{}
	for _, u := range all[1:] {
		w[u] = "a page"
	}
	links := slices.Clone(all)
	links[1] += "#top" // which rules do not see
	w["http://www.example.org/docs/"] = crawltest.Links(links...)
	w["http://www.example.org/docs/a"] = crawltest.Links("http://www.example.org/docs/a/deeper")
	w["http://www.example.org/docs/a/deeper"] = "a page"
	deeper := "http://www.example.org/docs/a/deeper"
	re := regexp.MustCompile
	for _, c := range []struct {
		name string
		o    weft.Options
		want []string
		not  map[string]int
	}{
		{"page", weft.Options{Reach: weft.Reach{Scope: weft.ScopePage}}, all[:1], map[string]int{"scope": 6}},
		{"prefix", weft.Options{Reach: weft.Reach{Scope: weft.ScopePrefix}}, []string{all[0], all[1], deeper}, map[string]int{"scope": 4}},
		{"host", weft.Options{}, []string{all[0], all[1], all[2], deeper}, map[string]int{"scope": 3}},
		{"domain", weft.Options{Reach: weft.Reach{Scope: weft.ScopeDomain}}, []string{all[0], all[1], all[2], all[3], deeper}, map[string]int{"scope": 1}},
		{"any", weft.Options{Reach: weft.Reach{Scope: weft.ScopeAny}}, []string{all[0], all[1], all[2], all[3], all[5], deeper}, nil},
		{"depth 1", weft.Options{Reach: weft.Reach{Depth: 1}}, all[:3], map[string]int{"scope": 3, "depth": 1}},
		{"no depth", weft.Options{Reach: weft.Reach{Depth: -1}}, all[:1], map[string]int{"scope": 3, "depth": 3}},
		{"exclude", weft.Options{Reach: weft.Reach{Exclude: []*regexp.Regexp{re("/a$")}}}, []string{all[0], all[2]}, map[string]int{"scope": 3, "exclude": 1}},
		{"include", weft.Options{Reach: weft.Reach{Include: []*regexp.Regexp{re("docs/a"), re("nothing")}}}, []string{all[0], all[1], deeper}, map[string]int{"scope": 3, "include": 2}},
		{"limit", weft.Options{Limits: weft.Limits{Limit: 2}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Seeds = all[:1]
			got, sum, _ := w.Crawl(t, c.o)
			urls := crawltest.Fetched(got)
			// This port is closed.
			urls = slices.DeleteFunc(urls, func(u string) bool { return strings.Contains(u, ":8080") })
			if c.o.Limits.Limit > 0 {
				if len(urls) != c.o.Limits.Limit || sum.Stopped != "limit" || sum.Pending == 0 || sum.Interrupted {
					t.Errorf("fetched %q with a limit of %d; summary %+v", urls, c.o.Limits.Limit, sum)
				}
				return
			}
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(urls, want) {
				t.Errorf("fetched %q, expected %q", urls, want)
			}
			for reason, n := range c.not {
				if sum.NotFollowed[reason] != n {
					t.Errorf("not followed: %v, expected %v", sum.NotFollowed, c.not)
				}
			}
		})
	}
}

// TestSeedRedirectWidensScope checks that a site that has moved is crawled from its old address,
// and that redirects of other pages do not widen the scope.
func TestSeedRedirectWidensScope(t *testing.T) {
	w := crawltest.Web{
		"http://example.org/":     "301 http://example.net/",
		"http://example.net/":     "301 http://www.example.net/",
		"http://www.example.net/": crawltest.Links("/a", "/out"), "http://www.example.net/a": "a page",
		"http://www.example.net/out": "302 http://elsewhere.test/", "http://elsewhere.test/": "a page",
	}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://example.org/"}})
	if !slices.Equal(sum.Opened, []string{"example.net", "www.example.net"}) {
		t.Errorf("hosts brought into scope: %q", sum.Opened)
	}
	want := []string{"http://example.net/", "http://example.org/", "http://www.example.net/", "http://www.example.net/a", "http://www.example.net/out"}
	if urls := crawltest.Fetched(got); !slices.Equal(urls, want) {
		t.Errorf("fetched %q, expected %q", urls, want)
	}
	if r := got["http://www.example.net/out"]; r.Redirect != "http://elsewhere.test/" {
		t.Errorf("record of the redirect out of scope: %+v", r)
	}
}

// TestOpenedIsBounded checks that the summary names a limited number of hosts that redirects of
// seeds brought into scope, each once, and none that was in scope before.
func TestOpenedIsBounded(t *testing.T) {
	w, seeds := crawltest.Web{"http://a.test/": "a page"}, []string{"http://a.test/"}
	add := func(seed, to string) {
		w[seed], w[to] = "301 "+to, "a page"
		seeds = append(seeds, seed)
	}
	add("http://b.test/", "http://a.test/in")
	for _, c := range "cdefghijklmnopqrstuvwxyz" {
		add("http://"+string(c)+".test/1", "http://www."+string(c)+".test/1")
		add("http://"+string(c)+".test/2", "http://www."+string(c)+".test/2")
	}
	_, sum, _ := w.Crawl(t, weft.Options{Seeds: seeds})
	if n := len(slices.Compact(slices.Sorted(slices.Values(sum.Opened)))); n != 20 || len(sum.Opened) != 20 || slices.Contains(sum.Opened, "a.test") {
		t.Errorf("%d different hosts, expected 20: %q", n, sum.Opened)
	}
}

func TestLimitPerHost(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/": crawltest.Links("/1", "/2", "/3", "http://b.test/"), "http://b.test/": crawltest.Links("/1", "/2"),
	}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, Limits: weft.Limits{LimitPerHost: 2}})
	hosts := make(map[string]int)
	for _, u := range crawltest.Fetched(got) {
		hosts[u[:len("http://a.test")]]++
	}
	if hosts["http://a.test"] != 2 || hosts["http://b.test"] != 2 || sum.OverLimit != 3 || sum.Pending != 0 {
		t.Errorf("fetched by host: %v; summary %+v", hosts, sum)
	}
}

func TestMaxTime(t *testing.T) {
	w := crawltest.Web{}
	var links []string
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		links = append(links, "/"+string(c))
	}
	w["http://a.test/"] = crawltest.Links(links...)
	_, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Pace: weft.Pace{Delay: time.Second}, Limits: weft.Limits{MaxTime: 10 * time.Second}})
	if sum.Stopped != "max-time" || sum.Interrupted || sum.Pending == 0 || sum.Elapsed < 10*time.Second || sum.Elapsed > 11*time.Second {
		t.Errorf("summary %+v", sum)
	}
}

// TestCanon checks that URLs that the rules make equal count as one, that a redirect between two
// such URLs is still followed, and that the job resumes only with the same rules.
func TestCanon(t *testing.T) {
	rules, err := weburl.ParseRules("sort-query,drop-session,strip-www")
	if err != nil {
		t.Fatal(err)
	}
	w := crawltest.Web{
		"http://example.org/": crawltest.Links("http://www.example.org/p?b=1&a=2", "/p?a=2&b=1", "/p?b=1&a=2&PHPSESSID=1f", "/sid", "/p?a=2&b=1#x"),
		// The links as the rules rewrite them, and the redirect.
		"http://example.org/p?a=2&b=1":        "a page",
		"http://example.org/sid":              "302 /sid?PHPSESSID=2f",
		"http://example.org/sid?PHPSESSID=2f": "a page",
	}
	o := weft.Options{Seeds: []string{"http://www.example.org/"}, Reach: weft.Reach{Canon: rules, NoRobots: true}, Job: filepath.Join(t.TempDir(), "job")}
	got, _, _ := w.Crawl(t, o)
	want := slices.Sorted(maps.Keys(w))
	if urls := slices.Sorted(maps.Keys(got)); !slices.Equal(urls, want) {
		t.Errorf("records of %q, expected %q", urls, want)
	}
	job, err := weft.OpenJob(t.Context(), o.Job)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/sid?PHPSESSID=2f", "/sid", "/p?b=1&a=2", "/p?a=2&PHPSESSID=3f&b=1"} {
		if why, err := job.Why(t.Context(), "http://example.org"+path); err != nil || why.State != weft.URLDone || strings.Contains(why.URL, "=3f") {
			t.Errorf("why %s: %s is %s, error %v", path, why.URL, why.State, err)
		} else if path == "/sid?PHPSESSID=2f" && why.URL != "http://example.org"+path {
			t.Errorf("why %s: explains %s instead", path, why.URL)
		}
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	o.Reach.Canon = 0
	if _, err := weft.New(o); !errors.Is(err, weft.ErrPlan) {
		t.Errorf("without the rules: %v, expected %v", err, weft.ErrPlan)
	}
}

// TestNofollow checks that links of a page with a nofollow directive, for all crawlers or for this
// one, are not followed unless a hook follows them or another page has the same link.
func TestNofollow(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/":       crawltest.Links("/meta", "/mine", "/others", "/none"),
		"http://a.test/meta":   `<meta name=robots content="noarchive, NoFollow">` + crawltest.Links("/1", "/4"),
		"http://a.test/mine":   `<meta name=weft content=nofollow>` + crawltest.Links("/2"),
		"http://a.test/others": crawltest.Links("/3", "/4") + `<meta name=otherbot content=nofollow>`,
		"http://a.test/none":   crawltest.Links("/wanted", "/wanted#hook", "/5") + `<meta name=robots content=none>`,
	}
	for _, path := range []string{"1", "2", "3", "4", "5", "wanted"} {
		w["http://a.test/"+path] = "a page"
	}
	follow := func(_ weburl.URL, l links.Link) weft.Verdict {
		if l.URL.Fragment() == "hook" {
			return weft.Verdict{Decision: weft.Follow}
		}
		return weft.Verdict{}
	}
	page := func(paths ...string) (all []string) {
		for _, p := range append([]string{"", "meta", "mine", "none", "others"}, paths...) {
			all = append(all, "http://a.test/"+p)
		}
		return slices.Sorted(slices.Values(all))
	}
	for _, c := range []struct {
		name  string
		o     weft.Options
		want  []string
		links int // number of links not followed
	}{
		{"obeyed", weft.Options{}, page("3", "4"), 6},
		{"overruled by a hook", weft.Options{Hooks: weft.Hooks{OnLink: follow}}, page("3", "4", "wanted"), 5},
		{"ignored with robots.txt", weft.Options{Reach: weft.Reach{NoRobots: true}}, page("1", "2", "3", "4", "5", "wanted"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Seeds = []string{"http://a.test/"}
			got, sum, _ := w.Crawl(t, c.o)
			if urls := crawltest.Fetched(got); !slices.Equal(urls, c.want) || sum.NotFollowed["nofollow"] != c.links {
				t.Errorf("fetched %q, expected %q; not followed: %v, expected %d", urls, c.want, sum.NotFollowed, c.links)
			}
			if robots := got["http://a.test/meta"].Robots; !slices.Equal(robots, []string{"noarchive", "nofollow"}) {
				t.Errorf("robots in the record: %q", robots)
			}
		})
	}
}

// TestScopeAcrossRuns checks that a scope widened by a seed's redirect stays widened in the next
// run.
func TestScopeAcrossRuns(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if len(r.URL.Path) < 5 {
			fmt.Fprintf(w, "<a href='%sx'>", r.URL.Path)
		}
	}))
	defer there.Close()
	here := httptest.NewServer(http.RedirectHandler(there.URL+"/", http.StatusFound))
	defer here.Close()
	job := filepath.Join(t.TempDir(), "job")
	for _, limit := range []int{3, 0} { // first here, there and one more page of it; then the rest
		c, err := weft.New(weft.Options{Seeds: []string{here.URL}, Job: job, Reach: weft.Reach{NoRobots: true}, Limits: weft.Limits{Limit: limit}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := crawltest.Records(t, job); len(got) != 6 || got[there.URL+"/xxxx"].Status != 200 {
		t.Errorf("%d records, expected 6: %+v", len(got), got)
	}
}

// TestSlowExpressions: while slow expressions judge the links of a page, everything else on the
// loop has its turns: each after a bounded number of bytes.
func TestSlowExpressions(t *testing.T) {
	const n, most = 2000, 300 // links, and those between two turns
	letters := strings.Repeat("a", 500)
	var page strings.Builder
	for i := range n {
		fmt.Fprintf(&page, "<a href=/%s%d>", letters, i)
	}
	w := crawltest.Web{"http://a.test/": page.String()}
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})
	var reading aio.Event
	judged, inARow, longest := 0, 0, 0
	c, err := weft.New(weft.Options{
		Seeds: []string{"http://a.test/"}, Job: filepath.Join(t.TempDir(), "job"),
		Reach: weft.Reach{Exclude: []*regexp.Regexp{regexp.MustCompile("(a|aa)*b$"), regexp.MustCompile("(a|aa)*c$"), regexp.MustCompile("a{9}")}},
		Hooks: weft.Hooks{OnLink: func(weburl.URL, links.Link) (v weft.Verdict) {
			reading.Set()
			judged++
			inARow++
			longest = max(longest, inARow)
			return v
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = loop.Run(t.Context(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("web", func(task *aio.Task) error {
				for {
					conn, err := ln.Accept(task)
					if err != nil {
						return crawltest.Ignore(err, aio.ErrClosed)
					}
					g.Go("server", func(task *aio.Task) error { return w.Serve(task, conn, new(crawltest.Requests)) })
				}
			})
			g.Go("others", func(task *aio.Task) error {
				err := reading.Wait(task)
				for ; err == nil && judged < n; err = task.Yield() {
					inARow = 0
				}
				return err
			})
			defer ln.Close()
			_, err = c.RunOn(task)
			return err
		})
	})
	if err != nil || judged != n || longest > most {
		t.Errorf("%d links, %d of them in one turn, expected %d and at most %d; error %v", judged, longest, n, most, err)
	}
}
