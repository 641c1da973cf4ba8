package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// newFailing returns a site whose pages /broken and /cut fail until works is set; /lost is never
// there.
func newFailing(t *testing.T) (s *wefttest.Asked, works *atomic.Bool) {
	works = new(atomic.Bool)
	return wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/":
			wefttest.HTML(w, "/well", "/broken", "/cut", "/lost")
		case path == "/lost":
			http.NotFound(w, r)
		case path == "/well" || works.Load():
			wefttest.HTML(w)
		case path == "/cut":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}), works
}

// TestRetryFailed: output, requests and exit status of --retry-failed, of a server that fails first
// and then works.
func TestRetryFailed(t *testing.T) {
	t.Parallel()
	s, works := newFailing(t)
	dir := weftRun(t, "crawl", "--job", "job", "--retries", "0", "-c", "1", s.URL).dir
	lines := 5
	for _, step := range []struct {
		args  string
		code  int
		says  []string // each in what it prints
		asked int      // now
		works bool
	}{
		{"crawl --retry-failed job --retries 0", exitDone, []string{"weft: job: asking again for what failed: 5 URLs done, 0 left\n", "early-end"}, 2, false},
		{"urls --status 200 --only-urls job", exitDone, []string{"URL/\nURL/well\n"}, 0, false},
		{"crawl --retry-failed job --retries 0 -c 1 --limit 4", exitLimit, []string{"1 URL, stopped by --limit"}, 1, true},
		{"status job", exitDone, []string{"job: stopped by --limit"}, 0, true},
		{"crawl --retry-failed job", exitDone, []string{"5 URLs in ", "status        200                                   4"}, 1, true},
		{"urls --status 200 --only-urls job", exitDone, []string{"URL/\nURL/broken\nURL/cut\nURL/well\n"}, 0, true},
		{"crawl --retry-failed job", exitDone, []string{"weft: no record of the job is selected: nothing is asked again\n"}, 0, true},
		{"crawl --job job", exitDone, []string{"weft: job is finished;", "404 Not Found\n                  URL/lost\n"}, 0, true},
		{"crawl --retry-failed job --status 404,500..599", exitDone, nil, 1, true},
		{"crawl --retry-failed job --error dns", exitDone, []string{"nothing is asked again"}, 0, true},
		{"crawl --retry-failed job --where status==200&&depth>0", exitDone, nil, 3, true},
		{"crawl --retry-failed job --where 1%status==0", exitDone, []string{"nothing is asked again"}, 0, true},
		{"crawl --retry-failed job --where statsu==200", exitUsage, []string{"did you mean status"}, 0, true},
		{"crawl --job job --status 404", exitUsage, []string{"weft: --status, --error and --where: expected together with --retry-failed or --update\n"}, 0, true},
		{"crawl --retry-failed job --depth 3", exitUsage, []string{"  weft crawl --retry-failed job   retries it with its own options\n"}, 0, true},
		{"crawl --retry-failed none", exitUsage, []string{`weft: --retry-failed "none": no job, expected the folder of a job`}, 0, true},
		{"crawl --retry-failed job --update job", exitUsage, []string{"weft: --retry-failed and --update: expected one of them\n"}, 0, true},
		{"crawl --retry-failed job --job job", exitUsage, []string{"weft: --retry-failed and --job: expected one of them\n"}, 0, true},
		{"crawl --retry-failed job --fresh", exitUsage, []string{"weft: --retry-failed and --fresh: expected one of them\n"}, 0, true},
	} {
		works.Store(step.works)
		before := len(s.Got())
		e := weftIn(t, dir, strings.Fields(strings.ReplaceAll(step.args, "URL", s.URL))...)
		printed := strings.ReplaceAll(e.stderr+e.stdout, s.URL, "URL")
		lines += step.asked
		if n, got := len(s.Got())-before, strings.Count(e.file("job/pages.jsonl"), "\n"); e.code != step.code || n != step.asked || got != lines {
			t.Fatalf("weft %s: exit %d, %d requests, %d records; expected %d, %d, %d: %s", step.args, e.code, n, got, step.code, step.asked, lines, printed)
		}
		for _, want := range step.says {
			if !strings.Contains(printed, want) {
				t.Errorf("weft %s: printed\n%sexpected\n%s", step.args, printed, want)
			}
		}
	}
}

// TestRetryKilled: the same command continues a retry that was killed, and each URL gets one
// further record.
func TestRetryKilled(t *testing.T) {
	t.Parallel()
	var retries atomic.Int32 // requests of the first retry
	var first atomic.Bool
	stuck := make(chan struct{})
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			var pages []string
			for i := range 20 {
				pages = append(pages, fmt.Sprintf("/%d", i))
			}
			wefttest.HTML(w, pages...)
		case first.Load() && retries.Add(1) == 11:
			close(stuck)
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	dir := weftRun(t, "crawl", "--job", "job", s.URL).dir
	first.Store(true)
	cmd, stderr := weftCommand(t, "crawl", "--retry-failed", "job", "-c", "1")
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-stuck:
		_ = cmd.Process.Kill()
		<-ended
	case err := <-ended:
		t.Fatalf("%v: %s", err, stderr)
	}
	first.Store(false)
	e := weftIn(t, dir, "crawl", "--retry-failed", "job")
	if n := strings.Count(e.file("job/pages.jsonl"), "\n"); e.code != exitDone || n != 41 || !strings.Contains(e.stderr, "21 URLs in ") {
		t.Errorf("exit %d, %d records, expected 41: %s", e.code, n, e.stderr)
	}
}
