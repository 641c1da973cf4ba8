package view_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/frontier/store"
)

// TestInspectJob inspects a crawl that waits for one page, and the same job after it has ended.
// Both report the same about URLs that were done before.
func TestInspectJob(t *testing.T) {
	aiotest.CheckLeaks(t)
	site := crawltest.NewHeld(t)
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "job")
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL}, Job: dir, Pace: weft.Pace{Retries: 1}, Reach: weft.Reach{Exclude: []*regexp.Regexp{regexp.MustCompile("/skip")}}})
	r.Inspect()
	s := r.Await("waiting for the last page", func(s weft.Status) bool { return s.InFlight == 1 && s.Pending == 0 && s.Done == 7 })
	if s.State != weft.JobRunning || s.Runs != 1 || s.Refused != 1 || s.Failed != 1 || s.Statuses[200] != 5 || s.Redirects != 1 ||
		s.Errors[weft.KindRobots] != 1 || s.NotFollowed["exclude"] != 1 || s.Hosts != 1 || s.URLsPerSecond <= 0 || s.Bytes == 0 {
		t.Errorf("status %+v", s)
	}
	h := crawltest.Collect(t, r.Job.Hosts(t.Context()))
	if len(h) != 1 || h[0].Host != site.URL || h[0].Done != 7 || h[0].InFlight != 1 || h[0].Pending != 0 || h[0].Robots != "known" || h[0].Asked.IsZero() {
		t.Errorf("hosts: %+v", h)
	}
	if got := crawltest.WhyText(t, r.Job, site.URL, "/held"); !strings.HasSuffix(got, "next: try 1 is in flight\n") {
		t.Errorf("/held: %s", got)
	}
	r.Await("saved", func(weft.Status) bool {
		return len(crawltest.Collect(t, r.Job.URLs(t.Context(), weft.URLFilter{State: weft.URLDone}))) == 7
	})
	ended := func(job *weft.Job, done string) {
		t.Helper()
		for state, want := range map[weft.URLState]string{weft.URLPending: "", weft.URLDone: done, weft.URLFailed: "/broken", weft.URLRefused: "/private"} {
			if got := crawltest.Paths(t, job, state); got != want {
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
			if got := crawltest.WhyText(t, job, site.URL, path); got != want {
				t.Errorf("%s: %s\nexpected %s", path, got, want)
			}
		}
		if got := crawltest.WhyText(t, job, site.URL, "/broken"); !strings.HasPrefix(got, "failed\n") || strings.Count(got, "try: ") != 2 {
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
	ended(r.Job, "/ /a /b /broken /busy /moved /target")
	if got := crawltest.Paths(t, r.Job, weft.URLLeased); got != "/held" {
		t.Errorf("leased: %s, expected /held", got)
	}
	tasks, err := r.Job.Tasks(t.Context())
	if err != nil || !slices.ContainsFunc(tasks, func(t weft.TaskStatus) bool { return strings.HasPrefix(t.Task, "worker") }) ||
		!slices.ContainsFunc(tasks, func(t weft.TaskStatus) bool { return t.Loop == "coordinator" }) {
		t.Errorf("tasks %+v, error %v; expected a worker and the coordinator", tasks, err)
	}

	site.Release()
	<-r.Done
	job := crawltest.Open(t, dir)
	if s := crawltest.Status(t, job); job.Running() || s.State != weft.JobFinished || s.Done != 8 || s.InFlight != 0 || s.Ended.Before(s.Begun) || s.URLsPerSecond != 0 || s.Disk["records"] == 0 || s.Disk["state"] == 0 {
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

// TestStatusAfterCancel checks that a canceled crawl saves that it was interrupted, and when.
func TestStatusAfterCancel(t *testing.T) {
	site := crawltest.NewHeld(t)
	dir := filepath.Join(t.TempDir(), "job")
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL + "/held"}, Job: dir})
	r.Inspect()
	r.Await("waiting", func(s weft.Status) bool { return s.InFlight == 1 && s.Robots == 1 })
	r.End()
	if s := crawltest.Status(t, crawltest.Open(t, dir)); s.State != weft.JobInterrupted || s.Pending != 1 || s.InFlight != 0 || s.Ended.IsZero() {
		t.Errorf("status %+v", s)
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
	site := crawltest.NewHeld(t)
	site.Release()
	dir = filepath.Join(dir, "job")
	<-crawltest.Start(t, weft.Options{Seeds: []string{site.URL + "/a"}, Job: dir}).Done
	// Two callers may open a job at once: the second waits for the first.
	one := crawltest.Open(t, dir)
	var inspecting sync.WaitGroup
	inspecting.Go(func() {
		two := crawltest.Open(t, dir)
		if s := crawltest.Status(t, two); s.State != weft.JobFinished {
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

// TestListWhileCrawlEnds: the lists of a running crawl are those of one moment, and are whole even
// if the crawl ends meanwhile; nothing stays of them.
func TestListWhileCrawlEnds(t *testing.T) {
	site := crawltest.NewHeld(t)
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Retries: -1}})
	r.Inspect()
	r.Await("held", func(s weft.Status) bool { return s.InFlight == 1 && s.Pending == 0 && s.Done == 8 })
	done := weft.URLFilter{State: weft.URLDone}
	r.Await("saved", func(weft.Status) bool { return len(crawltest.Collect(t, r.Job.URLs(t.Context(), done))) == 8 })
	var all []string
	for u, err := range r.Job.URLs(t.Context(), weft.URLFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, strings.TrimPrefix(u.URL, site.URL)+" "+string(u.State)); len(all) == 1 {
			for h, err := range r.Job.Hosts(t.Context()) {
				if site.Release(); err != nil || h.InFlight != 1 || h.Done != 8 {
					t.Errorf("%+v, %v", h, err)
				}
			}
			<-r.Done
		}
	}
	const want = "/held leased, / done, /a done, /b done, /broken failed, /busy done, /moved done, /private refused, /skipped done, /target done"
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir, "state/looks/*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestWaits: a crawl that runs says what its hosts wait for, with how many URLs, and until when.
func TestWaits(t *testing.T) {
	site := crawltest.NewHeld(t)
	r := crawltest.Start(t, weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{Delay: time.Hour}})
	r.Inspect()
	s := r.Await("waiting for its delay", func(s weft.Status) bool { return s.Done == 1 && s.InFlight == 0 })
	if len(s.Waits) != 1 || s.Waits[0].For != inspect.ByPace || s.Waits[0].Hosts != 1 || s.Waits[0].Pending != 7 || s.Waits[0].Example != site.URL || time.Until(s.Waits[0].Until) < 50*time.Minute {
		t.Errorf("%+v", s.Waits)
	}
	r.End()
	if s := crawltest.Status(t, crawltest.Open(t, r.Dir)); len(s.Waits) > 0 {
		t.Errorf("of a crawl that does not run: %+v", s.Waits)
	}
}
