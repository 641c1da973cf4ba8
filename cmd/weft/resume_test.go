package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// TestResume: output and requests of a second crawl of a job, three of whose four URLs are done,
// by its flags and by the state of the job.
func TestResume(t *testing.T) {
	const asBegun, adds = ", as the job began with", ": use --amend to add to them, --fresh to start over, or --job for another job\n"
	const others = ": use --fresh to start over, or --job for another job\n"
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
		edit    func(t *testing.T, job string)
		args    string // URL stands for the site
		code    int
		printed string // its only line; empty: the job is resumed or starts over
		asked   string // by both crawls
	}{
		"the same":              {nil, "URL", exitDone, "", "/ /a /b /c"},
		"no URL":                {nil, "", exitDone, "", "/ /a /b /c"},
		"fresh":                 {nil, "--fresh URL", exitDone, "", "/ / /a /a /b /b /c"},
		"fresh, without a URL":  {nil, "--fresh", exitUsage, "crawl: no URL given, expected one such as https://example.org/, or -i FILE\n", "/ /a /b"},
		"another scope":         {nil, "--scope any URL", exitUsage, `--scope "any": expected host` + asBegun + others, "/ /a /b"},
		"another scope, amend":  {nil, "--scope any --amend URL", exitUsage, `--scope "any": expected host` + asBegun + others, "/ /a /b"},
		"another scope, fresh":  {nil, "--scope any --fresh URL", exitDone, "", "/ / /a /a /b /b /c"},
		"another depth":         {nil, "-d 3 URL", exitUsage, `--depth "3": expected any number` + asBegun + others, "/ /a /b"},
		"links":                 {nil, "--links URL", exitUsage, `--links "true": expected false` + asBegun + others, "/ /a /b"},
		"another seed":          {nil, "URL/x", exitUsage, "URL/x: expected URL/" + asBegun + adds, "/ /a /b"},
		"a further seed":        {nil, "URL URL/x", exitUsage, "URL/ URL/x: expected URL/" + asBegun + adds, "/ /a /b"},
		"a further seed, amend": {nil, "--amend URL/x", exitDone, "", "/ /a /b /c /x"},
		"an exclusion":          {nil, "--exclude /c$ URL", exitUsage, `--exclude "/c$": expected none` + asBegun + adds, "/ /a /b"},
		"an exclusion, amend":   {nil, "--amend --exclude /c$ URL", exitDone, "", "/ /a /b"},

		"records lost":     {edit("pages.jsonl", cut), "URL", exitError, `--job "job": job/pages.jsonl: 10 bytes, expected at least the N that were committed` + others, "/ /a /b"},
		"records gone":     {edit("pages.jsonl", os.Remove), "URL", exitError, `--job "job": job/pages.jsonl: 0 bytes, expected at least the N that were committed` + others, "/ /a /b"},
		"another version":  {edit("state", setFormat), "URL", exitError, `--job "job": job/state: written by another version of Weft, in format 7; this one reads format 5` + others, "/ /a /b"},
		"a newer version":  {edit("state/marker.format-version*", newer), "URL", exitError, `--job "job": job/state: written by a newer version of Weft; this one reads format 5` + others, "/ /a /b"},
		"state cut":        {edit("state/MANIFEST-*", cut), "URL", exitError, `--job "job": job/state: damaged: `, "/ /a /b"},
		"state gone":       {edit("state/MANIFEST-*", os.Remove), "URL", exitError, `--job "job": job/state: damaged: `, "/ /a /b"},
		"damage, fresh":    {edit("state/MANIFEST-*", os.Remove), "--fresh URL", exitDone, "", "/ / /a /a /b /b /c"},
		"no job, but full": {edit("state", os.RemoveAll), "URL", exitUsage, `--job "job": already exists, and is not that of a job, expected a new folder: remove this one, or name another` + "\n", "/ /a /b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAsked(t, false, star)
			first := weftRun(t, "crawl", "--job", "job", "--limit", "3", "-c", "1", s.URL)
			if first.code != exitLimit {
				t.Fatalf("%+v", first)
			}
			job := filepath.Join(first.dir, "job")
			records := first.file("job/pages.jsonl")
			if c.edit != nil {
				c.edit(t, job)
			}
			e := weftIn(t, first.dir, append([]string{"crawl", "--job", "job"}, strings.Fields(strings.ReplaceAll(c.args, "URL", s.URL))...)...)
			if e.code != c.code || s.paths() != c.asked {
				t.Errorf("exit %d, requested %s; expected %d, %s", e.code, s.paths(), c.code, c.asked)
			}
			resuming := "weft: job: resuming: 3 URLs done, 1 left\n"
			if strings.Contains(c.args, "--fresh") == strings.HasPrefix(e.stderr, resuming) && c.printed == "" {
				t.Errorf("printed %q", e.stderr)
			}
			if c.code == exitDone && !strings.Contains(c.args, "--fresh") && !strings.HasPrefix(e.file("job/pages.jsonl"), records) {
				t.Errorf("records %q, expected first %q", e.file("job/pages.jsonl"), records)
			}
			printed := strings.NewReplacer(s.URL, "URL", strconv.Itoa(len(records)), "N").Replace(strings.TrimPrefix(e.stderr, "weft: "))
			if c.printed != "" && (!strings.HasPrefix(printed, c.printed) || strings.HasSuffix(c.printed, "\n") && printed != c.printed || strings.Count(printed, "\n") != 1) {
				t.Errorf("printed %q, expected %q", printed, c.printed)
			}
		})
	}
}

// TestFailedJob: a job that has fetched no seed says so, and the same command tries again.
func TestFailedJob(t *testing.T) {
	first := weftRun(t, "crawl", "--retries", "0", "--job", "job", "http://127.0.0.1:1/")
	if first.code != exitError || !strings.Contains(first.stderr, "no seed could be fetched") {
		t.Fatalf("exit %d: %s", first.code, first.stderr)
	}
	if status := weftIn(t, first.dir, "status", "job").stdout; !strings.HasPrefix(status, "job: failed, no seed was fetched") {
		t.Errorf("status: %s", status)
	}
	again := weftIn(t, first.dir, "crawl", "--retries", "0", "--job", "job")
	if again.code != exitError || strings.Contains(again.stderr, "finished") || strings.Count(again.file("job/pages.jsonl"), "\n") != 1 {
		t.Errorf("exit %d: %s\nrecords %s", again.code, again.stderr, again.file("job/pages.jsonl"))
	}
}

// TestFinished: for a finished job, the command prints the same report again, and changes nothing.
func TestFinished(t *testing.T) {
	s := newAsked(t, false, star)
	first := weftRun(t, "crawl", "--retries", "0", "--job", "job", s.URL)
	_, table, _ := strings.Cut(first.stderr, "\n") // skip the elapsed time, which is not saved to the end
	records, status := first.file("job/pages.jsonl"), weftIn(t, first.dir, "status", "--json", "job").stdout
	if first.code != exitDone || records == "" || status == "" {
		t.Fatalf("%+v: records %q, status %s", first, records, status)
	}
	asked, robots := len(s.got()), s.forRobots()
	for _, args := range []string{"crawl --job job " + s.URL, "crawl --job job", "crawl --job job -o out " + s.URL} {
		e := weftIn(t, first.dir, strings.Fields(args)...)
		line, rest, _ := strings.Cut(e.stderr, "\n")
		if _, again, _ := strings.Cut(rest, "\n"); e.code != exitDone || line != "weft: job is finished; use --update to recrawl it, --fresh to start over, --amend to add URLs" || again != table {
			t.Errorf("%s: exit %d, %q\nexpected exit %d, a line, and then %q", args, e.code, e.stderr, exitDone, table)
		}
	}
	if len(s.got()) != asked || s.forRobots() != robots || first.file("job/pages.jsonl") != records {
		t.Errorf("it was crawled again")
	}
	if now := weftIn(t, first.dir, "status", "--json", "job").stdout; now != status {
		t.Errorf("status %s, expected as before: %s", now, status)
	}
	if _, err := os.Lstat(filepath.Join(first.dir, "out")); err == nil {
		t.Errorf("an empty output is left")
	}
	if e := weftIn(t, first.dir, "crawl", "--job", "job", "--amend", s.URL+"/more"); e.code != exitDone || !strings.HasPrefix(e.stderr, "weft: job: resuming: ") {
		t.Errorf("with another URL: %+v", e)
	}
}

// TestOtherList: a URL that is new in a job's list is a usage error, without a report.
func TestOtherList(t *testing.T) {
	s := newAsked(t, false, star)
	dir := t.TempDir()
	crawl := func(urls string, args ...string) ended {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "list"), []byte(urls), 0o666); err != nil {
			t.Fatal(err)
		}
		return weftIn(t, dir, append([]string{"crawl", "--job", "job", "-i", "list"}, args...)...)
	}
	if e := crawl(s.URL + "\n"); e.code != exitDone {
		t.Fatalf("%+v", e)
	}
	more := s.URL + "\n" + s.URL + "/x\n"
	e := crawl(more)
	if _, printed, _ := strings.Cut(e.stderr, "\n"); e.code != exitUsage || !strings.HasPrefix(printed, `weft: --input`) || strings.Count(printed, "\n") != 1 ||
		!strings.HasSuffix(printed, " as the job began with: use --amend to add to them, --fresh to start over, or --job for another job\n") {
		t.Errorf("exit %d, printed %q", e.code, e.stderr)
	}
	if e := crawl(more, "--amend"); e.code != exitDone || s.paths() != "/ /a /b /c /x" {
		t.Errorf("with --amend: requested %s: %+v", s.paths(), e)
	}
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
	answer, asks := make(chan bool), make(chan bool, 10)
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		asks <- true
		<-answer
		star(w, r)
	})
	cmd, stderr := weftCommand(t, "crawl", "--job", "job", s.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asks
	for _, args := range [][]string{{}, {"--fresh"}, {"--amend"}} {
		e := weftIn(t, cmd.Dir, append([]string{"crawl", "--job", "job", s.URL}, args...)...)
		if want := "weft: --job \"job\": in use by another process: another crawl or command\n"; e.code != exitUsage || e.stderr != want {
			t.Errorf("%s: exit %d, printed %q, expected %q", args, e.code, e.stderr, want)
		}
	}
	close(answer)
	if code := exitCode(cmd.Wait()); code != exitDone || s.paths() != "/ /a /b /c" {
		t.Errorf("exit %d, requested %s: %s", code, s.paths(), stderr)
	}
	b, err := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
	if err != nil || strings.Count(string(b), "\n") != 4 {
		t.Errorf("records %q, %v", b, err)
	}
}
