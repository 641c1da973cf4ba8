package control_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestAddBareSeed: a seed without a scheme that is added while the crawl runs is fetched by http
// where https does not answer, and stays a guess in the plan.
func TestAddBareSeed(t *testing.T) {
	s := crawltest.NewHeld(t)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	r := crawltest.Start(t, weft.Options{
		Seeds: []string{s.URL + "/held"}, Job: filepath.Join(t.TempDir(), "job"), HTTP: weft.HTTP{AllowPrivate: true, Resolve: crawltest.Overrides(t, "*:80:127.0.0.1:"+port, "*:443:"+closed)}, Pace: weft.Pace{Retries: -1},
		Reach: weft.Reach{Scope: weft.ScopePage},
	})
	r.Inspect()
	r.Await("held", func(now weft.Status) bool { return now.InFlight == 1 })
	if got := r.Do("add", "b.test/a"); !slices.Equal(got, []string{"added: https://b.test/a"}) {
		t.Errorf("%q", got)
	}
	r.Await("by http", func(now weft.Status) bool { return now.Statuses[200] == 1 })
	s.Release()
	<-r.Done
	if got := crawltest.Records(t, r.Dir)["http://b.test/a"]; got.Status != 200 || got.From != "https://b.test/a" {
		t.Errorf("%+v", got)
	}
	job := crawltest.Open(t, r.Dir)
	if why, err := job.Why(t.Context(), "b.test/a"); err != nil || why.URL != "http://b.test/a" {
		t.Errorf("%+v, %v", why, err)
	}
}

// TestAddSitemaps checks that a seed added to a running crawl brings the sitemaps of its host,
// whether robots.txt is read or not.
func TestAddSitemaps(t *testing.T) {
	for _, noRobots := range []bool{false, true} {
		s, other := crawltest.NewHeld(t), crawltest.NewHeld(t)
		r := crawltest.Start(t, weft.Options{Seeds: []string{s.URL + "/held"}, Job: filepath.Join(t.TempDir(), "job"), Reach: weft.Reach{Sitemaps: true, NoRobots: noRobots, Scope: weft.ScopeHost}})
		r.Inspect()
		r.Await("held", func(now weft.Status) bool { return now.InFlight == 1 && now.Pending == 0 && now.Done == 2 })
		r.Do("add", other.URL+"/b")
		s.Release()
		sum := <-r.Done
		all := crawltest.Records(t, r.Dir)
		if got := all[other.URL+"/mapped"]; !sum.Finished || got.Status != 200 || got.From != other.URL+"/sitemap.xml" {
			t.Errorf("NoRobots %t: record %+v of %d, expected one from the sitemap", noRobots, got, len(all))
		}
	}
}

// TestOrders pauses a crawl of a synthetic web, changes its exclusions, seeds and pace, and stops
// it. The next run keeps the exclusions and seeds.
func TestOrders(t *testing.T) {
	aiotest.CheckLeaks(t)
	served := webtest.Start(t, webtest.Config{Seed: 5, Hosts: 5, Pages: 60, Clean: true, Latency: 2 * time.Millisecond})
	other := crawltest.NewHeld(t)
	defer other.Close()
	other.Release()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40), "job")
	o := weft.Options{
		Seeds: []string{served.Web.Home(0)}, Job: dir, Reach: weft.Reach{Scope: weft.ScopeAny}, HTTP: weft.HTTP{DNS: crawltest.NameServer(served)}, Pace: weft.Pace{Delay: 20 * time.Millisecond},
	}
	var log []string // of the coordinator's loop, until the end
	o.Hooks.OnWarning = func(err error) { log = append(log, err.Error()) }
	r := crawltest.Start(t, o)
	o.Hooks.OnWarning = nil
	r.Inspect()
	r.Await("partly done", func(s weft.Status) bool { return s.Done > 5 && s.Pending > 5 })
	r.Do("pause")
	s := r.Await("idle", func(s weft.Status) bool { return s.InFlight == 0 && s.State == weft.JobPaused })
	if !slices.Equal(s.Reasons, []string{"by hand"}) {
		t.Errorf("status %+v", s)
	}
	var waits []weft.URLStatus
	r.Await("saved", func(weft.Status) bool {
		waits = crawltest.Collect(t, r.Job.URLs(t.Context(), weft.URLFilter{State: weft.URLPending}))
		return len(waits) == s.Pending
	})
	victim := waits[len(waits)-1].URL
	replies := r.Do("exclude", "^"+regexp.QuoteMeta(victim)+"$", "^nothing$")
	replies = append(replies, r.Do("exclude", "^nothing$")...)
	replies = append(replies, r.Do("add", other.URL+"/b", other.URL+"/b")...)
	replies = append(replies, r.Do("set", "delay=0", "per-host=8", "rate-limit=0", "concurrency=3")...)
	replies = append(replies, r.Do("set", "concurrency=100000")...)
	replies = append(replies, r.Do("set", "concurrency=0")...)
	want := "excluded: ^" + regexp.QuoteMeta(victim) + "$\nexcluded: ^nothing$\nalready excluded: ^nothing$\nadded: " + other.URL + "/b\nalready known: " +
		other.URL + "/b\ndelay=0 per-host=8 rate-limit=0 concurrency=3, for this run\n" +
		"concurrency=1024 (the most of this run), for this run\nconcurrency=64, for this run"
	if got := strings.Join(replies, "\n"); got != want {
		t.Errorf("replies: %s\nexpected %s", got, want)
	}
	if again := crawltest.Status(t, r.Job); again.Done != s.Done || again.Pending != s.Pending+1 {
		t.Errorf("while paused: %+v, expected the same progress as %+v", again, s)
	}
	r.Await("saved", func(weft.Status) bool {
		return strings.HasPrefix(crawltest.WhyText(t, r.Job, other.URL, "/b"), "pending\nseed: added while")
	})
	if got := crawltest.WhyText(t, r.Job, other.URL, "/b"); !strings.Contains(got, "next: try 1; the crawl is paused: by hand") {
		t.Errorf("why /b: %s", got)
	}
	if got := r.Do("resume"); got[0] != "resumed" {
		t.Errorf("reply to resume: %q", got)
	}
	r.Await("running again", func(now weft.Status) bool { return now.State == weft.JobRunning && now.Done > s.Done })
	r.Do("stop")
	if sum := <-r.Done; !sum.Interrupted || sum.Pending == 0 {
		t.Fatalf("%+v, expected pending URLs", sum)
	}
	if len(log) != 9 || !strings.HasPrefix(log[0], "order pause: paused; ") || !strings.HasPrefix(log[8], "order stop: ending; ") {
		t.Errorf("log %q, expected each order with what came of it", log)
	}
	job := crawltest.Open(t, dir)
	if s := crawltest.Status(t, job); s.State != weft.JobInterrupted || s.Seeds != 2 || s.First != served.Web.Home(0) {
		t.Errorf("status after the stop: %+v", s)
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}

	o.Pace.Delay = 0
	if sum := <-crawltest.Start(t, o).Done; sum.Pending > 0 || sum.Runs != 2 {
		t.Errorf("next run: %+v", sum)
	}
	job = crawltest.Open(t, dir)
	all := crawltest.Records(t, dir)
	if all[victim].ErrorKind != weft.KindExcluded || all[victim].Tries != 0 || all[other.URL+"/b"].Status != 200 {
		t.Errorf("excluded %+v, added %+v", all[victim], all[other.URL+"/b"])
	}
	why, err := job.Why(t.Context(), victim)
	if err != nil || why.State != weft.URLRefused || why.ErrorKind != weft.KindExcluded ||
		!slices.ContainsFunc(why.Steps, func(s weft.Step) bool { return s.What == "exclude" && strings.HasSuffix(s.Text, "matches") }) {
		t.Errorf("why %s: %+v, error %v", victim, why, err)
	}
	done, refused := crawltest.Collect(t, job.URLs(t.Context(), weft.URLFilter{State: weft.URLDone})), crawltest.Collect(t, job.URLs(t.Context(), weft.URLFilter{State: weft.URLRefused}))
	if s := crawltest.Status(t, job); s.State != weft.JobFinished || s.Done != len(done) || s.Refused != len(refused) || len(done)+len(refused) != len(all) {
		t.Errorf("%d done, %d refused, %d records: %+v", len(done), len(refused), len(all), s)
	}
	for _, u := range slices.Concat(done, refused) {
		if r, ok := all[u.URL]; !ok || r.Status != u.Status || r.ErrorKind != u.ErrorKind || r.Tries != u.Tries || r.From != u.From || r.Depth != u.Depth {
			t.Errorf("URL %+v, but record %+v", u, r)
		}
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}
}

// TestExcludeWhatIsFoundLater checks that an exclusion applies to links found after it: on the
// fetch loop, or, if the loop does not have the exclusion yet, when the URL is about to be leased.
func TestExcludeWhatIsFoundLater(t *testing.T) {
	site := crawltest.NewHeld(t)
	dir := filepath.Join(t.TempDir(), "job")
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL + "/waits"}, Job: dir, Loops: 2})
	r.Inspect()
	r.Await("waiting", func(s weft.Status) bool { return s.InFlight == 1 && s.Robots == 1 })
	r.Do("exclude", "/late")
	site.Release()
	if sum := <-r.Done; sum.NotFollowed["exclude"]+sum.Errors[weft.KindExcluded].URLs != 1 || sum.Recorded()-sum.Errors[weft.KindExcluded].URLs != 3 {
		t.Errorf("summary %+v", sum)
	}
	job := crawltest.Open(t, dir)
	if got := crawltest.Paths(t, job, weft.URLDone); got != "/a /b /waits" {
		t.Errorf("done: %s", got)
	}
	if got := crawltest.WhyText(t, job, site.URL, "/late"); !strings.Contains(got, "exclude: /late matches\n") {
		t.Errorf("the exclusion was not saved: %s", got)
	}
}

// TestNoSocket checks that a crawl that cannot create its control socket warns and runs without it.
func TestNoSocket(t *testing.T) {
	site := crawltest.NewHeld(t)
	site.Release()
	o := weft.Options{Seeds: []string{site.URL + "/a"}, Job: filepath.Join(t.TempDir(), "job")}
	<-crawltest.Start(t, o).Done
	if err := os.MkdirAll(filepath.Join(o.Job, "ctl.sock", "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	var warnings []error
	o.Rerun.Fresh, o.Hooks.OnWarning = true, func(err error) { warnings = append(warnings, err) }
	if sum := <-crawltest.Start(t, o).Done; sum.Recorded() != 2 || sum.Runs != 1 {
		t.Errorf("summary %+v", sum)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "ctl.sock") {
		t.Errorf("warnings %v", warnings)
	}
}

// TestSetLimits: a limit that is set ends a crawl that runs, and one that is raised lets it go on.
func TestSetLimits(t *testing.T) {
	for _, c := range []struct {
		limit       int
		order, want string // the limit that stops it; "": none
	}{{0, "limit=1", "limit"}, {0, "max-time=1ns", "max-time"}, {1, "limit=2", ""}, {1, "limit=0", ""}, {0, "max-time=1h", ""}} {
		s := crawltest.NewHeld(t)
		second := s.URL
		if c.limit > 0 { // a host of which nothing is in flight
			second = crawltest.NewHeld(t).URL
		}
		r := crawltest.Start(t, weft.Options{
			Seeds: []string{s.URL + "/held", second + "/b"}, Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: c.limit},
			Reach: weft.Reach{Scope: weft.ScopePage, NoRobots: true}, Pace: weft.Pace{PerHost: 1},
		})
		r.Inspect()
		r.Await("held", func(now weft.Status) bool { return now.InFlight == 1 && now.Pending == 1 })
		if got := r.Do("set", c.order); !slices.Equal(got, []string{c.order + ", for this run"}) {
			t.Errorf("%q", got)
		}
		s.Release()
		if sum := <-r.Done; sum.Stopped != c.want || sum.Finished != (c.want == "") {
			t.Errorf("%s: stopped by %q, %+v", c.order, sum.Stopped, sum)
		}
	}
}

func TestParseOrder(t *testing.T) {
	for _, c := range []struct{ order, want string }{
		{"", `order "", expected pause`},
		{"dance", `order "dance", expected pause`},
		{"pause now", `pause: "now", expected no argument`},
		{"set", "set: expected one such as delay=2s"},
		{"set delay", `set: delay without a value, expected delay=VALUE`},
		{"set delay=-1s", `set: delay "-1s", expected a time`},
		{"set per-host=x", `set: per-host "x", expected a whole number`},
		{"set rate-limit=NaN", `set: rate-limit "NaN", expected a number`},
		{"set limit=-1", `set: limit "-1", expected a whole number`},
		{"set max-time=soon", `set: max-time "soon", expected a time`},
		{"set depth=3", `set: "depth=3", expected concurrency=N, delay=D, limit=N, max-time=D, per-host=N or rate-limit=N`},
		{"set concurrency=x", `set: concurrency "x", expected a whole number`},
		{"exclude", "exclude: expected an expression"},
		{"exclude (", `exclude: "(": missing closing ), expected an expression`},
		{"add", "add: none, expected a URL"},
		{"add example", `add: URL "example": no scheme`},
	} {
		if _, err := weft.ParseOrder(strings.Fields(c.order)...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %s", c.order, err, c.want)
		}
	}
}
