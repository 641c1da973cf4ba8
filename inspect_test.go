package weft_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/webtest"
)

// held is a site whose pages /held and /waits respond only after release, and whose page /busy
// fails once.
type held struct {
	*httptest.Server
	release func()
}

func newHeld(t *testing.T) *held {
	released := make(chan struct{})
	var busy sync.Once
	s := &held{release: sync.OnceFunc(func() { close(released) })}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nAllow: /a\nDisallow: /private\n")
		case "/":
			fmt.Fprint(w, `<a href=a><a href=moved><a href=held><a href=private><a href=broken><a href=busy><a href=skipped>`)
		case "/a":
			fmt.Fprint(w, `<a href=b>`)
		case "/moved":
			http.Redirect(w, r, "/target", http.StatusFound)
		case "/held":
			<-released
		case "/sitemap.xml":
			fmt.Fprint(w, `<urlset><url><loc>/mapped</loc></url></urlset>`)
		case "/waits":
			<-released
			fmt.Fprint(w, `<a href=late><a href=a>`)
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/busy":
			busy.Do(func() { w.WriteHeader(http.StatusBadGateway) })
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.release)
	return s
}

// running is a crawl in progress, and the job that inspects it.
type running struct {
	t    *testing.T
	dir  string
	job  *weft.Job
	done chan weft.Summary
	end  func() // cancels the crawl and waits for it
}

func start(t *testing.T, o weft.Options) *running {
	t.Helper()
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, dir: o.Job, done: make(chan weft.Summary, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s, err := c.Run(ctx)
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		r.done <- s
	}()
	r.end = func() { cancel(); <-ended }
	t.Cleanup(r.end)
	return r
}

// inspect opens the job of the running crawl.
func (r *running) inspect() {
	r.t.Helper()
	r.job = open(r.t, r.dir)
	if !r.job.Running() {
		r.t.Fatal("the crawl does not respond")
	}
}

func open(t *testing.T, dir string) *weft.Job {
	t.Helper()
	job, err := weft.OpenJob(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = job.Close() })
	return job
}

// await polls the status until cond holds.
func (r *running) await(what string, cond func(weft.Status) bool) weft.Status {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 4000 {
		s := status(r.t, r.job)
		if cond(s) {
			return s
		}
		<-tick.C
	}
	r.t.Fatalf("the crawl was never %s: %+v", what, status(r.t, r.job))
	return weft.Status{}
}

func (r *running) do(words ...string) []string {
	r.t.Helper()
	o, err := weft.ParseOrder(words...)
	if err != nil {
		r.t.Fatal(err)
	}
	replies, err := r.job.Do(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return replies
}

func status(t *testing.T, job *weft.Job) weft.Status {
	t.Helper()
	s, err := job.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func collect[T any](t *testing.T, values iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for v, err := range values {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// paths returns the paths of the URLs in a state.
func paths(t *testing.T, job *weft.Job, state weft.URLState) string {
	t.Helper()
	var all []string
	for _, u := range collect(t, job.URLs(t.Context(), weft.URLFilter{State: state})) {
		if u.State != state && state != weft.URLDone {
			t.Errorf("%s is %s, but is listed as %s", u.URL, u.State, state)
		}
		path := u.URL[strings.LastIndexByte(u.URL, '/'):]
		all = append(all, path)
	}
	return strings.Join(all, " ")
}

// whyText returns the state and steps that Why reports, without times and without the site's
// address.
func whyText(t *testing.T, job *weft.Job, site, path string) string {
	t.Helper()
	why, err := job.Why(t.Context(), site+path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", why.State)
	for _, s := range why.Steps {
		fmt.Fprintf(&b, "%s: %s\n", s.What, s.Text)
	}
	text := strings.ReplaceAll(b.String(), site, "SITE")
	return regexp.MustCompile(`127\.0\.0\.1:\d+(->127\.0\.0\.1:\d+)?`).ReplaceAllString(text, "ADDR")
}

// TestInspectJob inspects a crawl that waits for one page, and the same job after it has ended.
// Both report the same about URLs that were done before.
func TestInspectJob(t *testing.T) {
	aiotest.CheckLeaks(t)
	site := newHeld(t)
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "job")
	r := start(t, weft.Options{Seeds: []string{site.URL}, Job: dir, Retries: 1, Exclude: []*regexp.Regexp{regexp.MustCompile("/skip")}})
	r.inspect()
	s := r.await("waiting for the last page", func(s weft.Status) bool { return s.InFlight == 1 && s.Pending == 0 && s.Done == 7 })
	if s.State != weft.JobRunning || s.Runs != 1 || s.Refused != 1 || s.Failed != 1 || s.Statuses[200] != 5 || s.Redirects != 1 ||
		s.Errors[weft.KindRobots] != 1 || s.NotFollowed["exclude"] != 1 || s.Hosts != 1 || s.URLsPerSecond <= 0 || s.Bytes == 0 {
		t.Errorf("status %+v", s)
	}
	h := collect(t, r.job.Hosts(t.Context()))
	if len(h) != 1 || h[0].Host != site.URL || h[0].Done != 7 || h[0].InFlight != 1 || h[0].Pending != 0 || h[0].Robots != "known" || h[0].Asked.IsZero() {
		t.Errorf("hosts: %+v", h)
	}
	if got := whyText(t, r.job, site.URL, "/held"); !strings.HasSuffix(got, "next: try 1 is in flight\n") {
		t.Errorf("/held: %s", got)
	}
	r.await("saved", func(weft.Status) bool {
		return len(collect(t, r.job.URLs(t.Context(), weft.URLFilter{State: weft.URLDone}))) == 7
	})
	ended := func(job *weft.Job, done string) {
		t.Helper()
		for state, want := range map[weft.URLState]string{weft.URLPending: "", weft.URLDone: done, weft.URLFailed: "/broken", weft.URLRefused: "/private"} {
			if got := paths(t, job, state); got != want {
				t.Errorf("%s: %s, expected %s", state, got, want)
			}
		}
		for path, want := range map[string]string{
			"/":        "done\nseed: given\nscope: host: does not apply to seeds and the targets of their redirects\nrobots: allowed, as no rule matches\ntry: 1: status 200\ndone: its record is in pages.jsonl\n",
			"/b#x":     "done\nfound: on SITE/a, 2 links from a seed\nscope: host: inside\nrobots: allowed, as no rule matches\ntry: 1: status 200\ndone: its record is in pages.jsonl\n",
			"/a":       "done\nfound: on SITE/, 1 link from a seed\nscope: host: inside\nrobots: allowed by line 2: Allow: /a\ntry: 1: status 200\ndone: its record is in pages.jsonl\n",
			"/busy":    "done\nfound: on SITE/, 1 link from a seed\nscope: host: inside\nrobots: allowed, as no rule matches\ntry: 1: status 502\ntry: 2: status 200\ndone: its record is in pages.jsonl\n",
			"/moved":   "done\nfound: on SITE/, 1 link from a seed\nscope: host: inside\nrobots: allowed, as no rule matches\ntry: 1: status 302, leads to SITE/target\ndone: its record is in pages.jsonl\n",
			"/target":  "done\nredirected: from SITE/moved, 1 link from a seed\nscope: host: inside\nrobots: allowed, as no rule matches\ntry: 1: status 200\ndone: its record is in pages.jsonl\n",
			"/private": "refused\nfound: on SITE/, 1 link from a seed\nscope: host: inside\nrobots: disallowed by line 3: Disallow: /private\nrefused: robots: line 3: Disallow: /private\n",
			"/skipped": "unseen\nunseen: links that are not followed are not kept, and a link to it is not followed: it is excluded\nscope: host: inside\nexclude: /skip matches\nrobots: allowed, as no rule matches\n",
		} {
			if got := whyText(t, job, site.URL, path); got != want {
				t.Errorf("%s: %s\nexpected %s", path, got, want)
			}
		}
		if got := whyText(t, job, site.URL, "/broken"); !strings.HasPrefix(got, "failed\n") || strings.Count(got, "try: ") != 2 {
			t.Errorf("/broken: %s", got)
		}
		why, err := job.Why(t.Context(), site.URL+"/target")
		if err != nil || !slices.Equal(why.Way, []string{site.URL + "/", site.URL + "/moved"}) || !slices.IsSortedFunc(why.Steps, func(a, b weft.Step) int {
			if a.At.IsZero() || b.At.IsZero() || a.What == "robots" || b.What == "robots" {
				return 0
			}
			return a.At.Compare(b.At)
		}) || why.At.IsZero() {
			t.Errorf("why /target: %+v, error %v", why, err)
		}
	}
	ended(r.job, "/ /a /b /broken /busy /moved /target")
	if got := paths(t, r.job, weft.URLLeased); got != "/held" {
		t.Errorf("leased: %s, expected /held", got)
	}
	tasks, err := r.job.Tasks(t.Context())
	if err != nil || !slices.ContainsFunc(tasks, func(t weft.TaskStatus) bool { return strings.HasPrefix(t.Task, "worker") }) ||
		!slices.ContainsFunc(tasks, func(t weft.TaskStatus) bool { return t.Loop == "coordinator" }) {
		t.Errorf("tasks %+v, error %v; expected a worker and the coordinator", tasks, err)
	}

	site.release()
	<-r.done
	job := open(t, dir)
	if s := status(t, job); job.Running() || s.State != weft.JobFinished || s.Done != 8 || s.InFlight != 0 || s.Ended.Before(s.Begun) || s.URLsPerSecond != 0 {
		t.Errorf("status after the end: %+v", s)
	}
	ended(job, "/ /a /b /broken /busy /held /moved /target")
	o, _ := weft.ParseOrder("pause")
	if _, err := job.Do(t.Context(), o); !errors.Is(err, weft.ErrNotRunning) {
		t.Errorf("order after the end: %v, expected ErrNotRunning", err)
	}
	if _, err := job.Tasks(t.Context()); !errors.Is(err, weft.ErrNotRunning) {
		t.Errorf("tasks after the end: %v, expected ErrNotRunning", err)
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}
}

// TestWhyUnseen checks that Why lists the rules that apply to a URL that was never found.
func TestWhyUnseen(t *testing.T) {
	site := newHeld(t)
	site.release()
	dir := filepath.Join(t.TempDir(), "job")
	r := start(t, weft.Options{
		Seeds: []string{site.URL + "/docs/"}, Job: dir, Scope: weft.ScopePrefix, Depth: 2,
		Include: []*regexp.Regexp{regexp.MustCompile("[.]html$")}, Exclude: []*regexp.Regexp{regexp.MustCompile("old")},
	})
	<-r.done
	job := open(t, dir)
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
	r := start(t, weft.Options{Seeds: []string{home}, Job: filepath.Join(t.TempDir(), "job"), Resolve: overrides(t, "*:"+port+":127.0.0.1")})
	r.inspect()
	want := "next: try 1; its host waits: its robots.txt redirects to http://rules.test:" + port + "/robots.txt, which is requested at its turn; the host there waits: 503, Retry-After 1800 s\n"
	r.await("waiting for the other host", func(weft.Status) bool { return strings.Contains(whyText(t, r.job, home, "/"), want) })
	why, err := r.job.Why(t.Context(), home)
	if until := why.Steps[len(why.Steps)-1].At; err != nil || time.Until(until) < 20*time.Minute || time.Until(until) > 30*time.Minute {
		t.Errorf("waits until %v, error %v, expected half an hour from now", until, err)
	}
	r.end()
	<-r.done
}

// TestAddSitemaps checks that a seed added to a running crawl brings the sitemaps of its host,
// whether robots.txt is read or not.
func TestAddSitemaps(t *testing.T) {
	for _, noRobots := range []bool{false, true} {
		s, other := newHeld(t), newHeld(t)
		r := start(t, weft.Options{Seeds: []string{s.URL + "/held"}, Job: filepath.Join(t.TempDir(), "job"), Sitemaps: true, NoRobots: noRobots, Scope: weft.ScopeHost})
		r.inspect()
		r.await("held", func(now weft.Status) bool { return now.InFlight == 1 && now.Pending == 0 && now.Done == 2 })
		r.do("add", other.URL+"/b")
		s.release()
		sum := <-r.done
		all := records(t, r.dir)
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
	other := newHeld(t)
	defer other.Close()
	other.release()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40), "job")
	o := weft.Options{
		Seeds: []string{served.Web.Home(0)}, Job: dir, Scope: weft.ScopeAny, DNS: serverAt(served), Delay: 20 * time.Millisecond,
	}
	r := start(t, o)
	r.inspect()
	r.await("partly done", func(s weft.Status) bool { return s.Done > 5 && s.Pending > 5 })
	r.do("pause")
	s := r.await("idle", func(s weft.Status) bool { return s.InFlight == 0 && s.State == weft.JobPaused })
	if !slices.Equal(s.Reasons, []string{"by hand"}) {
		t.Errorf("status %+v", s)
	}
	var waits []weft.URLStatus
	r.await("saved", func(weft.Status) bool {
		waits = collect(t, r.job.URLs(t.Context(), weft.URLFilter{State: weft.URLPending}))
		return len(waits) == s.Pending
	})
	victim := waits[len(waits)-1].URL
	replies := r.do("exclude", "^"+regexp.QuoteMeta(victim)+"$", "^nothing$")
	replies = append(replies, r.do("exclude", "^nothing$")...)
	replies = append(replies, r.do("add", other.URL+"/b", other.URL+"/b")...)
	replies = append(replies, r.do("set", "delay=0", "per-host=8", "rate-limit=0")...)
	want := "excluded: ^" + regexp.QuoteMeta(victim) + "$\nexcluded: ^nothing$\nalready excluded: ^nothing$\nadded: " + other.URL + "/b\nalready known: " +
		other.URL + "/b\ndelay=0 per-host=8 rate-limit=0, for this run"
	if got := strings.Join(replies, "\n"); got != want {
		t.Errorf("replies: %s\nexpected %s", got, want)
	}
	if again := status(t, r.job); again.Done != s.Done || again.Pending != s.Pending+1 {
		t.Errorf("while paused: %+v, expected the same progress as %+v", again, s)
	}
	r.await("saved", func(weft.Status) bool {
		return strings.HasPrefix(whyText(t, r.job, other.URL, "/b"), "pending\nseed: added while")
	})
	if got := whyText(t, r.job, other.URL, "/b"); !strings.Contains(got, "next: try 1; the crawl is paused: by hand") {
		t.Errorf("why /b: %s", got)
	}
	if got := r.do("resume"); got[0] != "resumed" {
		t.Errorf("reply to resume: %q", got)
	}
	r.await("running again", func(now weft.Status) bool { return now.State == weft.JobRunning && now.Done > s.Done })
	r.do("stop")
	if sum := <-r.done; !sum.Interrupted || sum.Pending == 0 {
		t.Fatalf("%+v, expected pending URLs", sum)
	}
	job := open(t, dir)
	if s := status(t, job); s.State != weft.JobInterrupted || s.Seeds != 2 || s.First != served.Web.Home(0) {
		t.Errorf("status after the stop: %+v", s)
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}

	o.Delay = 0
	if sum := <-start(t, o).done; sum.Pending > 0 || sum.Runs != 2 {
		t.Errorf("next run: %+v", sum)
	}
	job = open(t, dir)
	all := records(t, dir)
	if all[victim].ErrorKind != weft.KindExcluded || all[victim].Tries != 0 || all[other.URL+"/b"].Status != 200 {
		t.Errorf("excluded %+v, added %+v", all[victim], all[other.URL+"/b"])
	}
	why, err := job.Why(t.Context(), victim)
	if err != nil || why.State != weft.URLRefused || why.ErrorKind != weft.KindExcluded ||
		!slices.ContainsFunc(why.Steps, func(s weft.Step) bool { return s.What == "exclude" && strings.HasSuffix(s.Text, "matches") }) {
		t.Errorf("why %s: %+v, error %v", victim, why, err)
	}
	done, refused := collect(t, job.URLs(t.Context(), weft.URLFilter{State: weft.URLDone})), collect(t, job.URLs(t.Context(), weft.URLFilter{State: weft.URLRefused}))
	if s := status(t, job); s.State != weft.JobFinished || s.Done != len(done) || s.Refused != len(refused) || len(done)+len(refused) != len(all) {
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
	site := newHeld(t)
	dir := filepath.Join(t.TempDir(), "job")
	r := start(t, weft.Options{Seeds: []string{site.URL + "/waits"}, Job: dir, Loops: 2})
	r.inspect()
	r.await("waiting", func(s weft.Status) bool { return s.InFlight == 1 && s.Robots == 1 })
	r.do("exclude", "/late")
	site.release()
	if sum := <-r.done; sum.NotFollowed["exclude"]+sum.Errors[weft.KindExcluded].URLs != 1 || sum.Recorded()-sum.Errors[weft.KindExcluded].URLs != 3 {
		t.Errorf("summary %+v", sum)
	}
	job := open(t, dir)
	if got := paths(t, job, weft.URLDone); got != "/a /b /waits" {
		t.Errorf("done: %s", got)
	}
	if got := whyText(t, job, site.URL, "/late"); !strings.Contains(got, "exclude: /late matches\n") {
		t.Errorf("the exclusion was not saved: %s", got)
	}
}

// TestStatusAfterCancel checks that a canceled crawl saves that it was interrupted, and when.
func TestStatusAfterCancel(t *testing.T) {
	site := newHeld(t)
	dir := filepath.Join(t.TempDir(), "job")
	r := start(t, weft.Options{Seeds: []string{site.URL + "/held"}, Job: dir})
	r.inspect()
	r.await("waiting", func(s weft.Status) bool { return s.InFlight == 1 && s.Robots == 1 })
	r.end()
	if s := status(t, open(t, dir)); s.State != weft.JobInterrupted || s.Pending != 1 || s.InFlight != 0 || s.Ended.IsZero() {
		t.Errorf("status %+v", s)
	}
}

// TestNoSocket checks that a crawl that cannot create its control socket warns and runs without it.
func TestNoSocket(t *testing.T) {
	site := newHeld(t)
	site.release()
	o := weft.Options{Seeds: []string{site.URL + "/a"}, Job: filepath.Join(t.TempDir(), "job")}
	<-start(t, o).done
	if err := os.MkdirAll(filepath.Join(o.Job, "ctl.sock", "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	var warnings []error
	o.Fresh, o.Hooks.OnWarning = true, func(err error) { warnings = append(warnings, err) }
	if sum := <-start(t, o).done; sum.Recorded() != 2 || sum.Runs != 1 {
		t.Errorf("summary %+v", sum)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "ctl.sock") {
		t.Errorf("warnings %v", warnings)
	}
}

func TestOpenJob(t *testing.T) {
	dir := t.TempDir()
	if _, err := weft.OpenJob(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder without a job: %v", err)
	}
	if _, err := weft.OpenJob(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	site := newHeld(t)
	site.release()
	dir = filepath.Join(dir, "job")
	<-start(t, weft.Options{Seeds: []string{site.URL + "/a"}, Job: dir}).done
	// Two callers may open a job at once: the second waits for the first.
	one := open(t, dir)
	var inspecting sync.WaitGroup
	inspecting.Go(func() {
		two := open(t, dir)
		if s := status(t, two); s.State != weft.JobFinished {
			t.Errorf("status %+v", s)
		}
	})
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	inspecting.Wait()
}

// TestOpenLockedJob opens a job that is in use by a process that does not respond.
func TestOpenLockedJob(t *testing.T) {
	t.Parallel() // it waits for seconds
	dir := filepath.Join(t.TempDir(), "job")
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := weft.OpenJob(t.Context(), dir); !errors.Is(err, store.ErrLocked) {
		t.Errorf("error %v, expected ErrLocked", err)
	}
}

func TestParseOrder(t *testing.T) {
	for _, c := range []struct{ order, want string }{
		{"", `order "", expected pause`},
		{"dance", `order "dance", expected pause`},
		{"pause now", `pause: "now", expected no argument`},
		{"set", "set: expected one such as delay=2s"},
		{"set delay", `set: delay "", expected a time`},
		{"set delay=-1s", `set: delay "-1s", expected a time`},
		{"set per-host=x", `set: per-host "x", expected a whole number`},
		{"set rate-limit=NaN", `set: rate-limit "NaN", expected a number`},
		{"set depth=3", `set: "depth=3", expected delay=D, per-host=N or rate-limit=N`},
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
