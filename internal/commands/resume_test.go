package commands_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/weburl"
)

// TestResume: output and requests of a second crawl of a job, three of whose four URLs are done,
// by its flags and by the state of the job.
func TestResume(t *testing.T) {
	t.Parallel()
	const others = ": use --fresh to start over, or --job job-2 for another job\n"
	holds := func(how, amend string) string {
		return "job holds another crawl (" + how + ")\n  weft crawl --job job   resumes it\n" + amend +
			"  --job job-2            crawls beside it\n  --fresh                crawls in its place\n"
	}
	const adds = "  --amend                adds to it\n"
	edit := func(pattern string, fn func(path string) error) func(*testing.T, string) {
		return func(t *testing.T, job string) {
			t.Helper()
			names, err := filepath.Glob(filepath.Join(job, pattern))
			if err != nil || len(names) != 1 {
				t.Fatalf("%s: %q, %v", pattern, names, err)
			}
			if err := fn(names[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := func(path string) error { return os.Truncate(path, 10) }
	newer := func(path string) error {
		return os.Rename(path, filepath.Join(filepath.Dir(path), "marker.format-version.000099.999"))
	}
	for name, c := range map[string]struct {
		edit func(t *testing.T, job string)
		args string // URL stands for the site
		code int
		// The output, or the beginning of its only line; empty: the job is resumed or starts over.
		printed string
		asked   string // by both crawls
	}{
		"the same":              {nil, "URL", wefttest.Done, "", "/ /a /b /c"},
		"no URL":                {nil, "", wefttest.Done, "", "/ /a /b /c"},
		"fresh":                 {nil, "--fresh URL", wefttest.Done, "", "/ / /a /a /b /b /c"},
		"fresh, without a URL":  {nil, "--fresh", wefttest.Misused, "crawl: no URL given, expected one such as https://example.org/, or -i FILE\n", "/ /a /b"},
		"another scope":         {nil, "--scope any URL", wefttest.Misused, holds("scope: host, not any", ""), "/ /a /b"},
		"another scope, amend":  {nil, "--scope any --amend URL", wefttest.Misused, holds("scope: host, not any", ""), "/ /a /b"},
		"another scope, fresh":  {nil, "--scope any --fresh URL", wefttest.Done, "", "/ / /a /a /b /b /c"},
		"another depth":         {nil, "-d 3 URL", wefttest.Misused, holds("links from a seed: any number, not 3", ""), "/ /a /b"},
		"links":                 {nil, "--links URL", wefttest.Misused, holds("links: not saved", ""), "/ /a /b"},
		"several":               {nil, "--bodies --canon sort-query URL/x", wefttest.Misused, holds("canonical rules: none, not sort-query; bodies: not saved; seeds: URL/, not URL/x", ""), "/ /a /b"},
		"another seed":          {nil, "URL/x", wefttest.Misused, holds("seeds: URL/, not URL/x", adds), "/ /a /b"},
		"a further seed":        {nil, "URL URL/x", wefttest.Misused, holds("seeds: URL/, not URL/ URL/x", adds), "/ /a /b"},
		"a further seed, amend": {nil, "--amend URL/x", wefttest.Done, "", "/ /a /b /c /x"},
		"an exclusion":          {nil, "--exclude /c$ URL", wefttest.Misused, holds("exclusions: none, not /c$", adds), "/ /a /b"},
		"an exclusion, amend":   {nil, "--amend --exclude /c$ URL", wefttest.Done, "", "/ /a /b"},

		"records lost":     {edit("pages.jsonl", cut), "URL", wefttest.Failed, `--job "job": job/pages.jsonl: 10 bytes, expected at least the N that were committed` + others, "/ /a /b"},
		"records gone":     {edit("pages.jsonl", os.Remove), "URL", wefttest.Failed, `--job "job": job/pages.jsonl: missing or empty, expected the N bytes that were committed` + others, "/ /a /b"},
		"another version":  {edit("state", setFormat), "URL", wefttest.Failed, `--job "job": job/state: written by another version of Weft, in format 7; this one reads format 5` + others, "/ /a /b"},
		"a newer version":  {edit("state/marker.format-version*", newer), "URL", wefttest.Failed, `--job "job": job/state: written by a newer version of Weft; this one reads format 5` + others, "/ /a /b"},
		"state cut":        {edit("state/MANIFEST-*", cut), "URL", wefttest.Failed, `--job "job": job/state: damaged: `, "/ /a /b"},
		"state gone":       {edit("state/MANIFEST-*", os.Remove), "URL", wefttest.Failed, `--job "job": job/state: damaged: `, "/ /a /b"},
		"killed in fresh":  {edit("state", clearing), "URL", wefttest.Done, "", "/ / /a /a /b /b /c"},
		"damage, fresh":    {edit("state/MANIFEST-*", os.Remove), "--fresh URL", wefttest.Done, "", "/ / /a /a /b /b /c"},
		"no job, but full": {edit("state", os.RemoveAll), "URL", wefttest.Misused, `--job "job": already exists, and is not that of a job, expected a new folder: name another with --job` + "\n", "/ /a /b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := wefttest.NewAsked(t, false, wefttest.Star)
			first := wefttest.Run(t, "crawl", "--job", "job", "--limit", "3", "-c", "1", s.URL)
			if first.Code != wefttest.Limited {
				t.Fatalf("%+v", first)
			}
			job := filepath.Join(first.Dir, "job")
			records := first.File("job/pages.jsonl")
			if c.edit != nil {
				c.edit(t, job)
			}
			e := wefttest.In(t, first.Dir, append([]string{"crawl", "--job", "job"}, strings.Fields(strings.ReplaceAll(c.args, "URL", s.URL))...)...)
			if e.Code != c.code || s.Paths() != c.asked {
				t.Errorf("exit %d, requested %s; expected %d, %s", e.Code, s.Paths(), c.code, c.asked)
			}
			resuming := "weft: job: resuming: 3 URLs done, 1 left\n"
			over := strings.HasPrefix(c.asked, "/ / ")
			if over == strings.HasPrefix(e.Stderr, resuming) && c.printed == "" {
				t.Errorf("printed %q", e.Stderr)
			}
			if c.code == wefttest.Done && !over && !strings.HasPrefix(e.File("job/pages.jsonl"), records) {
				t.Errorf("records %q, expected first %q", e.File("job/pages.jsonl"), records)
			}
			printed := strings.NewReplacer(s.URL, "URL", strconv.Itoa(len(records)), "N").Replace(strings.TrimPrefix(e.Stderr, "weft: "))
			if c.printed != "" && (!strings.HasPrefix(printed, c.printed) || strings.HasSuffix(c.printed, "\n") && printed != c.printed || strings.Count(printed, "\n") > max(1, strings.Count(c.printed, "\n"))) {
				t.Errorf("printed %q, expected %q", printed, c.printed)
			}
		})
	}
}

// TestOtherCrawl: what a user types who tries the examples one after the other in one folder. The
// message names the folder and what to type, and no flag that was not typed.
func TestOtherCrawl(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	dir := t.TempDir()
	folder := weft.JobName(mustSeed(t, s.URL))
	text := strings.NewReplacer("HOST", strings.TrimSuffix(folder, ".weft"), "SITE", s.URL)
	var b strings.Builder
	for _, c := range []struct {
		args string // SITE and HOST stand for the site
		code int
	}{
		{"SITE", wefttest.Done},
		{"--links SITE", wefttest.Misused},
		{"--links --job HOST-2.weft SITE", wefttest.Done},
		{"-d 1 --links SITE", wefttest.Misused},
		{"--update HOST.weft --links", wefttest.Misused},
		{"--fresh --limit 1 SITE", wefttest.Limited},
		{"--bodies SITE", wefttest.Misused},
		{"SITE/other", wefttest.Misused},
		{"--job HOST.weft", wefttest.Done},
	} {
		e := wefttest.In(t, dir, append([]string{"crawl"}, strings.Fields(text.Replace(c.args))...)...)
		if e.Code != c.code {
			t.Errorf("%s: exit %d, expected %d", c.args, e.Code, c.code)
		}
		if c.code == wefttest.Misused {
			host := strings.NewReplacer(s.URL, "http://example.org", strings.TrimSuffix(folder, ".weft"), "example.org")
			site := strings.NewReplacer("HOST", "example.org", "SITE", "http://example.org")
			fmt.Fprintf(&b, "$ weft crawl %s\n%s\n", site.Replace(c.args), host.Replace(e.Stderr))
		}
	}
	golden.Equal(t, "testdata/other-crawl.txt", regexp.MustCompile(`   +`).ReplaceAllString(b.String(), "   "))
}

// TestDefaultFolder: a message about a folder that the command chose does not name --job as if it
// had been typed.
func TestDefaultFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "example.org.weft", "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	const want = "weft: example.org.weft: already exists, and is not that of a job, expected a new folder: name another with --job\n"
	if e := wefttest.In(t, dir, "crawl", "https://example.org/"); e.Code != wefttest.Misused || e.Stderr != want {
		t.Errorf("exit %d, %q, expected %q", e.Code, e.Stderr, want)
	}
}

func mustSeed(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weft.ParseSeed(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestFailedJob: a job that has fetched no seed says so, and the same command tries again.
func TestFailedJob(t *testing.T) {
	t.Parallel()
	first := wefttest.Run(t, "crawl", "--retries", "0", "--job", "job", "http://127.0.0.1:1/")
	if first.Code != wefttest.Failed || !strings.Contains(first.Stderr, "no seed could be fetched") {
		t.Fatalf("exit %d: %s", first.Code, first.Stderr)
	}
	if status := wefttest.In(t, first.Dir, "status", "job").Stdout; !strings.HasPrefix(status, "job: failed, no seed was fetched, weft crawl --job job tries again\n") {
		t.Errorf("status: %s", status)
	}
	again := wefttest.In(t, first.Dir, "crawl", "--retries", "0", "--job", "job")
	if again.Code != wefttest.Failed || strings.Contains(again.Stderr, "finished") || strings.Count(again.File("job/pages.jsonl"), "\n") != 1 {
		t.Errorf("exit %d: %s\nrecords %s", again.Code, again.Stderr, again.File("job/pages.jsonl"))
	}
}

// TestFinished: for a finished job, the command prints the same report again, and changes nothing.
func TestFinished(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	first := wefttest.Run(t, "crawl", "--retries", "0", "--job", "job", s.URL)
	// The elapsed time is not saved to the end.
	_, table, _ := strings.Cut(first.Stderr, "\n")
	records, status := first.File("job/pages.jsonl"), wefttest.In(t, first.Dir, "status", "--json", "job").Stdout
	if first.Code != wefttest.Done || records == "" || status == "" {
		t.Fatalf("%+v: records %q, status %s", first, records, status)
	}
	asked, robots := len(s.Got()), s.ForRobots()
	for _, args := range []string{"crawl --job job " + s.URL, "crawl --job job", "crawl --job job -o out " + s.URL} {
		e := wefttest.In(t, first.Dir, strings.Fields(args)...)
		line, rest, _ := strings.Cut(e.Stderr, "\n")
		if _, again, _ := strings.Cut(rest, "\n"); e.Code != wefttest.Done || line != "weft: job is finished; weft crawl --update job recrawls it, --fresh starts over, --amend adds URLs" || again != table {
			t.Errorf("%s: exit %d, %q\nexpected exit %d, a line, and then %q", args, e.Code, e.Stderr, wefttest.Done, table)
		}
	}
	if len(s.Got()) != asked || s.ForRobots() != robots || first.File("job/pages.jsonl") != records {
		t.Errorf("it was crawled again")
	}
	// The store tidies its files when it is opened.
	unsized := func(status string) string { before, _, _ := strings.Cut(status, `,"disk":`); return before }
	if now := wefttest.In(t, first.Dir, "status", "--json", "job").Stdout; unsized(now) != unsized(status) {
		t.Errorf("status %s, expected as before: %s", now, status)
	}
	if _, err := os.Lstat(filepath.Join(first.Dir, "out")); err == nil {
		t.Errorf("an empty output is left")
	}
	if e := wefttest.In(t, first.Dir, "crawl", "--job", "job", "--amend", s.URL+"/more"); e.Code != wefttest.Done || !strings.HasPrefix(e.Stderr, "weft: job: resuming: ") {
		t.Errorf("with another URL: %+v", e)
	}
}

// TestOtherList: a URL that is new in a job's list is a usage error, without a report.
func TestOtherList(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	dir := t.TempDir()
	crawl := func(urls string, args ...string) wefttest.Ended {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "list"), []byte(urls), 0o666); err != nil {
			t.Fatal(err)
		}
		return wefttest.In(t, dir, append([]string{"crawl", "--job", "job", "-i", "list"}, args...)...)
	}
	if e := crawl(s.URL + "\n"); e.Code != wefttest.Done {
		t.Fatalf("%+v", e)
	}
	more := s.URL + "\n" + s.URL + "/x\n"
	e := crawl(more)
	if _, printed, _ := strings.Cut(e.Stderr, "\n"); e.Code != wefttest.Misused || !strings.HasPrefix(printed, "weft: job: the list of seeds: ") || strings.Count(printed, "\n") != 1 ||
		!strings.HasSuffix(printed, " as the job began with: use --amend to add to it, --fresh to start over, or --job job-2 for another job\n") {
		t.Errorf("exit %d, printed %q", e.Code, e.Stderr)
	}
	if e := crawl(more, "--amend"); e.Code != wefttest.Done || s.Paths() != "/ /a /b /c /x" {
		t.Errorf("with --amend: requested %s: %+v", s.Paths(), e)
	}
}

// clearing makes a job one whose --fresh was killed.
func clearing(state string) error {
	return errors.Join(os.WriteFile(filepath.Join(state, "clearing"), []byte("pages.jsonl\nreferrers.bin\nlinks.jsonl\nbodies\narchive"), 0o666),
		os.Remove(filepath.Join(state, "../pages.jsonl")))
}

// setFormat makes a state one of another version.
func setFormat(state string) error {
	db, err := pebble.Open(state, &pebble.Options{Logger: speechless{}})
	if err != nil {
		return err
	}
	if err := db.Set([]byte("v"), []byte{7}, pebble.Sync); err != nil {
		return err
	}
	return db.Close()
}

type speechless struct{}

func (speechless) Infof(string, ...any)  {}
func (speechless) Errorf(string, ...any) {}
func (speechless) Fatalf(string, ...any) {}

// TestJobInUse: while a crawl runs, another process can neither resume its job nor start it over.
func TestJobInUse(t *testing.T) {
	t.Parallel()
	answer, asks := make(chan bool), make(chan bool, 10)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		asks <- true
		<-answer
		wefttest.Star(w, r)
	})
	cmd, stderr := wefttest.Command(t, "crawl", "--job", "job", s.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asks
	for _, args := range [][]string{{}, {"--fresh"}, {"--amend"}} {
		e := wefttest.In(t, cmd.Dir, append([]string{"crawl", "--job", "job", s.URL}, args...)...)
		if want := fmt.Sprintf("weft: --job \"job\": in use by process %d (weft)\n", cmd.Process.Pid); e.Code != wefttest.Misused || e.Stderr != want {
			t.Errorf("%s: exit %d, printed %q, expected %q", args, e.Code, e.Stderr, want)
		}
	}
	close(answer)
	if code := wefttest.ExitCode(cmd.Wait()); code != wefttest.Done || s.Paths() != "/ /a /b /c" {
		t.Errorf("exit %d, requested %s: %s", code, s.Paths(), stderr)
	}
	b, err := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
	if err != nil || strings.Count(string(b), "\n") != 4 {
		t.Errorf("records %q, %v", b, err)
	}
}
