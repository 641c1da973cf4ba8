package commands_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestUpdateLimited: a visit that --limit has ended is over for a recrawl with the same limit; with
// a higher one it goes on.
func TestUpdateLimited(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	dir := wefttest.Run(t, "crawl", "--job", "job", "--limit", "2", "-c", "1", s.URL).Dir
	for _, step := range []struct{ args, says string }{
		{"crawl --update job --limit 2", "visit 2\n"},
		{"status job", "2: 2 unchanged, 0 changed, 0 gone, 0 new\n"},
		{"crawl --update job --limit 3", "resuming visit 2: 2 URLs done, 2 left\n"},
		{"crawl --update job --limit 3 --where depth==0", "visit 3\n"},
	} {
		if e := wefttest.In(t, dir, strings.Fields(step.args)...); !strings.Contains(e.Stderr+e.Stdout, step.says) {
			t.Errorf("%s: %s%s, expected %s", step.args, e.Stderr, e.Stdout, step.says)
		}
	}
}

// TestUpdate: output and requests of --update by the state of the job: an unfinished crawl or
// recrawl is resumed; otherwise the next recrawl starts.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		wefttest.Star(w, r)
	})
	dir := wefttest.Run(t, "crawl", "--job", "job", "--limit", "3", "-c", "1", s.URL).Dir
	for _, step := range []struct {
		args  string
		code  int
		says  []string // each in what it prints
		asked int      // by then
		lines int      // records
	}{
		{"crawl --update job", wefttest.Done, []string{"weft: job: resuming: 3 URLs done, 1 left\n"}, 4, 4},
		{"crawl --update job", wefttest.Done, []string{"weft: job: recrawling: visit 2\n", "  visit         2: 4 unchanged, 0 changed, 0 gone, 0 new\n", ", unchanged\n"}, 8, 8},
		{"crawl --job job", wefttest.Done, []string{"weft: job is finished; weft crawl --update job recrawls it"}, 8, 8},
		{"crawl --update job --limit 3 -c 1 URL", wefttest.Limited, []string{"weft: job: recrawling: visit 3\n"}, 11, 11},
		{"status job", wefttest.Done, []string{"job: stopped by --limit", "  visit         3: 3 unchanged, 0 changed, 0 gone, 0 new\n"}, 11, 11},
		{"crawl --job job", wefttest.Done, []string{"weft: job: resuming visit 3: 3 URLs done, 1 left\n"}, 12, 12},
		{"urls --state unchanged job", wefttest.Done, []string{"304          URL/\n304          URL/a\n304          URL/b\n304          URL/c\n"}, 12, 12},
		{"urls --state new job", wefttest.Done, nil, 12, 12},
		{"crawl --update job --amend URL/x", wefttest.Done, []string{"4 unchanged, 0 changed, 0 gone, 1 new"}, 17, 17},
		{"crawl --update job -o - --format urls -q", wefttest.Done, []string{"URL/\n"}, 22, 22},
		{"crawl --update job --log-format json", wefttest.Done, []string{`"visit":6,"unchanged":5,"changed":0,"gone":0,"new":0,"bytes_saved":`}, 27, 27},
		{"why job URL/a", wefttest.Done, []string{`  visit      6: unchanged, status 200, as since 20`, `ETag "1"`}, 27, 27},
		{"crawl --update job --where nothing>1", wefttest.Misused, []string{"unknown field nothing"}, 27, 27},
		{"crawl --update job --where depth==0", wefttest.Done, []string{"weft: job: recrawling: visit 7\n", "  visit         7: 2 unchanged, 0 changed, 0 gone, 0 new, 3 not asked\n"}, 29, 29},
		{"status job", wefttest.Done, []string{"job: finished", "  visit         7: 2 unchanged, 0 changed, 0 gone, 0 new, 3 not asked\n", "done          2 URLs"}, 29, 29},
		{"crawl --update job --older-than 1d", wefttest.Done, []string{"no URL of the job is chosen", "0 new, 5 not asked\n"}, 29, 29},
		{"crawl --update job --status 200 --older-than 1ns", wefttest.Done, []string{"visit         9: 0 unchanged", "5 not asked"}, 29, 29},
		{"crawl --update job --status 304 --older-than 1ns", wefttest.Done, []string{"visit         10: 5 unchanged, 0 changed, 0 gone, 0 new\n"}, 34, 34},
		{"crawl --older-than 1d URL", wefttest.Misused, []string{"--older-than: expected together with --update"}, 34, 34},
		{"crawl --where depth==0 URL", wefttest.Misused, []string{"expected together with --retry-failed or --update"}, 34, 34},
		{"crawl --update job --older-than soon", wefttest.Misused, []string{"expected a time above 0, such as 12h, 7d or 4w"}, 34, 34},
		{"crawl --update job URL/y", wefttest.Misused, []string{"weft: job holds another crawl (seeds: URL/ URL/x, not URL/y)\n", "  --amend                   adds to it\n"}, 34, 34},
		{"crawl --update job --depth 3", wefttest.Misused, []string{"weft: job holds another crawl (links from a seed: any number, not 3)\n  weft crawl --update job   recrawls it with its own options\n"}, 34, 34},
		{"crawl --update job/pages.jsonl", wefttest.Misused, []string{`--update "job/pages.jsonl": a file, expected the folder of a job, such as example.org.weft` + "\n"}, 34, 34},
		{"crawl --update none", wefttest.Misused, []string{`weft: --update "none": no job, expected the folder of a job, such as example.org.weft` + "\n"}, 34, 34},
		{"crawl --update job --job job", wefttest.Misused, []string{"weft: --update and --job: expected one of them\n"}, 34, 34},
		{"crawl --update job --fresh URL", wefttest.Misused, []string{"weft: --update and --fresh: expected one of them\n"}, 34, 34},
	} {
		e := wefttest.In(t, dir, strings.Fields(strings.ReplaceAll(step.args, "URL", s.URL))...)
		printed := strings.ReplaceAll(e.Stderr+e.Stdout, s.URL, "URL")
		if lines := strings.Count(e.File("job/pages.jsonl"), "\n"); e.Code != step.code || len(s.Got()) != step.asked || lines != step.lines {
			t.Fatalf("weft %s: exit %d, %d requests, %d records; expected %d, %d, %d: %s", step.args, e.Code, len(s.Got()), lines, step.code, step.asked, step.lines, printed)
		}
		for _, want := range step.says {
			if !strings.Contains(printed, want) {
				t.Errorf("weft %s: printed\n%sexpected\n%s", step.args, printed, want)
			}
		}
		if step.says == nil && printed != "" {
			t.Errorf("weft %s: printed %q", step.args, printed)
		}
	}

	state := filepath.Join(dir, "job", "state")
	manifests, _ := filepath.Glob(filepath.Join(state, "MANIFEST-*"))
	for _, name := range manifests {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if e := wefttest.In(t, dir, "crawl", "--update", "job"); e.Code != wefttest.Failed || !strings.HasPrefix(e.Stderr, `weft: --update "job": job/state: damaged: `) || !strings.HasSuffix(e.Stderr, ": use --job with --fresh to start over\n") {
		t.Errorf("of a damaged job: %+v", e)
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if e := wefttest.In(t, dir, "crawl", "--update", "job"); e.Code != wefttest.Misused || e.Stderr != `weft: --update "job": already exists, and is not that of a job, expected the folder of a job`+"\n" {
		t.Errorf("of another folder: %+v", e)
	}
}
