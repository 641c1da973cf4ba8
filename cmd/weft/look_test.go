package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// lookedAt is the time of these tests, local like the times printed.
var lookedAt = time.Date(2030, 1, 2, 12, 0, 0, 0, time.Local)

func TestWriteStatus(t *testing.T) {
	full := weft.Status{
		Job: "example.org.weft", State: weft.JobRunning, Version: "1", Begun: lookedAt.Add(-26 * time.Hour), Runs: 3, Seconds: 4000,
		Seeds: 3, First: "https://example.org/", Scope: weft.ScopeDomain,
		Counters: weft.Counters{Pending: 56789, InFlight: 64, Done: 12345, Refused: 12, OverLimit: 5, OverVariants: 4321, Failed: 45, Pages: 12000, Redirects: 200, Hosts: 230, Robots: 230, Bytes: 83e6},
		Statuses: map[int]int{200: 12000, 404: 100}, Errors: map[string]int{"robots": 12, "timeout": 45},
		NotFollowed: map[string]int{"scope": 400}, FirstError: "https://example.org/\x1b[31m: timeout: late",
		Disk:    map[string]int64{"records": 12e6, "state": 30e6, "archive": 0},
		Outlook: weft.Outlook{URLsPerSecond: 120.4, BytesPerSecond: 8.3e6, SecondsLeft: 473.4},
		Waits:   []weft.Waiting{{For: "pace", Hosts: 120, Pending: 50000}, {For: "back-off", Hosts: 1, Pending: 12}},
	}
	var b strings.Builder
	writeStatus(&b, full)
	fmt.Fprintln(&b, "----")
	writeStatus(&b, weft.Status{Job: "empty", State: weft.JobKilled, Begun: lookedAt, Scope: weft.ScopeHost})
	for _, s := range []weft.Status{
		{State: weft.JobStarting}, {State: weft.JobPaused, Reasons: []string{"by hand", "the disk is full"}}, {State: weft.JobEnding}, {State: weft.JobEnding, EndsIn: 7.2},
		{State: weft.JobFinished}, {State: weft.JobInterrupted}, {State: weft.JobStopped, Reasons: []string{"max-time"}},
	} {
		var one strings.Builder
		s.Job = "job"
		writeStatus(&one, s)
		first, _, _ := strings.Cut(one.String(), "\n")
		fmt.Fprintf(&b, "----\n%s\n", first)
	}
	golden.Equal(t, "testdata/status.txt", b.String())
}

func TestWriteHosts(t *testing.T) {
	var b strings.Builder
	hostTable.header(&b)
	for _, h := range []weft.HostStatus{
		{Host: "https://example.org", Done: 1234, Pending: 56789, InFlight: 2, TookMS: 45.2, Pace: 2, Robots: "known"},
		{Host: "https://slow.example", Done: 1, Pending: 9, TookMS: 3100, Pace: 1, DelayMS: 10000, Robots: "known", Waits: "delay", WaitsUntil: lookedAt.Add(4100 * time.Millisecond)},
		{Host: "http://busy.example:8080", Done: 7, Pending: 3, Pace: 1, Robots: "known", Waits: "overloaded", WaitsUntil: lookedAt.Add(time.Hour)},
		{Host: "http://127.0.0.1:8080", Robots: "off"},
		{Host: "http://down.example", Pending: 3, Pace: 2, Robots: "unreachable", Waits: "no robots.txt, connect", WaitsUntil: lookedAt.Add(time.Minute)},
		{Host: "http://full.example", Done: 10, Pace: 2, Robots: "known", Waits: "it reached its limit"},
	} {
		writeHost(&b, lookedAt, h)
	}
	golden.Equal(t, "testdata/hosts.txt", b.String())
}

func TestWriteWhy(t *testing.T) {
	var b strings.Builder
	writeWhy(&b, weft.Why{
		URLStatus: weft.URLStatus{URL: "https://example.org/a", State: weft.URLPending},
		Way:       []string{"https://example.org/", "https://example.org/list"},
		Steps: []weft.Step{
			{At: lookedAt, What: "found", Text: "on https://example.org/list, 2 links from a seed"},
			{What: "scope", Text: "host: inside"},
			{At: lookedAt, What: "robots", Text: "allowed by line 3: Allow: /\x1b]0;title\a"},
			{At: lookedAt.Add(time.Second), What: "try", Text: "1: status 503"},
			{At: lookedAt.Add(time.Minute), What: "next", Text: "try 2; its host waits: overloaded"},
		},
		Referrers: weft.Referrers{Total: 1234, Cut: true, Pages: []weft.Referrer{
			{URL: "https://example.org/list"}, {URL: "https://example.org/old?\x1b]0;title\a", By: "redirect"}, {URL: "https://example.org/sitemap.xml", By: "sitemap"},
		}},
	})
	golden.Equal(t, "testdata/why.txt", b.String())
}

func TestWriteTasks(t *testing.T) {
	var b strings.Builder
	writeTasks(&b, lookedAt, []weft.TaskStatus{
		{Loop: "coordinator", ID: 1, Task: "main", State: "parked", Waits: "an event", Since: lookedAt.Add(-2 * time.Minute)},
		{Loop: "fetch 1", ID: 3, Task: "worker 0.1", Parent: "main", State: "running", Since: lookedAt},
	})
	golden.Equal(t, "testdata/tasks.txt", b.String())
}

// TestLookAtKilledCrawl reads a running job from other processes, steers and kills the crawl,
// reads the job again, and resumes it.
func TestLookAtKilledCrawl(t *testing.T) {
	t.Parallel()
	var once sync.Once
	asked, answer := make(chan bool), make(chan bool)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			wefttest.HTML(w, "/a", "/b", "/secret")
		case "/a":
			once.Do(func() { close(asked); <-answer })
		}
		wefttest.HTML(w)
	})
	defer s.CloseClientConnections()
	cmd, stderr := weftCommand(t, "crawl", "--job", "job", "--per-host", "1", "-q", s.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	run := func(want int, args ...string) ended {
		t.Helper()
		e := weftIn(t, cmd.Dir, args...)
		if e.code != want || (want == exitDone) != (e.stderr == "") || strings.Count(e.stderr, "\n") > 1 {
			t.Errorf("%v: exit %d, expected %d: %s%s", args, e.code, want, e.stdout, e.stderr)
		}
		return e
	}
	says := func(e ended, want string) {
		t.Helper()
		if !strings.Contains(e.stdout+e.stderr, want) {
			t.Errorf("%q, expected %q in it", e.stdout+e.stderr, want)
		}
	}

	says(run(exitDone, "ctl", "job", "exclude", "/secret"), "excluded: /secret\n")
	says(run(exitDone, "ctl", "job", "add", s.URL+"/more"), "added: "+s.URL+"/more\n")
	says(run(exitDone, "ctl", "job", "pause"), "paused; 1 in flight\n")
	says(run(exitDone, "ctl", "job", "tasks"), "\nfetch 1      worker")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { says(run(exitDone, "status", "job"), "job: paused: by hand\n") })
	}
	both.Wait()
	awaitSaved(t, cmd.Dir, s.URL+"/more") // and what came before it: hosts are read from the disk
	says(run(exitDone, "hosts", "job"), "  "+s.URL+"\n")
	says(run(exitDone, "hosts", "--json", "--limit", "1", "job"), `"in_flight":1`)
	says(run(exitDone, "urls", "--state", "leased", "job"), s.URL+"/a\n")
	says(run(exitDone, "why", "job", s.URL+"/a"), "try 1 is in flight\n")
	says(run(exitDone, "why", "job", s.URL+"/b"), "all concurrent requests to its host are in flight;")

	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	close(answer)
	if stderr.Len() > 0 {
		t.Errorf("the crawl printed %s", stderr)
	}
	if info, err := os.Lstat(filepath.Join(cmd.Dir, "job", "ctl.sock")); err != nil || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("socket after the kill: %v, %v", info, err)
	}
	says(run(exitDone, "status", "job"), "job: killed")
	says(run(exitDone, "status", "--json", "job"), `"state":"killed"`)
	says(run(exitDone, "urls", "job"), s.URL+"/a\n")
	says(run(exitDone, "why", "job", s.URL+"/b"), "the crawl is not running (killed)")
	says(run(exitError, "ctl", "job", "pause"), "weft: job \"job\": the crawl is not running, expected a running one\n")

	if e := run(exitDone, "crawl", "--job", "job", "-q", s.URL); e.stdout != "" {
		t.Errorf("the next run printed %s", e.stdout)
	}
	says(run(exitDone, "status", "job"), "job: finished\n")
	says(run(exitDone, "urls", "--state", "refused", "job"), s.URL+"/secret  from "+s.URL+"/\n")
	says(run(exitDone, "urls", "--state", "done", "job"), s.URL+"/more\n")
	if _, err := os.Lstat(filepath.Join(cmd.Dir, "job", "ctl.sock")); err == nil {
		t.Error("a socket is left")
	}
}

// TestLookAtStoppedProcess: a crawl that is stopped, as by Ctrl-Z, does not block other commands.
func TestLookAtStoppedProcess(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan bool, 10), make(chan bool)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-answer
		wefttest.HTML(w)
	})
	cmd, stderr := weftCommand(t, "crawl", "--job", "job", "-q", s.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	if _, err := syscall.Wait4(cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		// It has stopped.
		t.Fatal(err)
	}
	began := time.Now()
	var looks sync.WaitGroup
	for _, args := range []string{"status job", "hosts --json job", "urls job", "why job " + s.URL, "ctl job stop", "ctl job tasks"} {
		looks.Go(func() {
			e := weftIn(t, cmd.Dir, strings.Fields(args)...)
			if e.code != exitError || e.stdout != "" || e.stderr != "weft: job \"job\": the crawl does not respond; is it stopped?\n" {
				t.Errorf("%s: %+v", args, e)
			}
		})
	}
	looks.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to say so, expected 5 s", took)
	}
	_ = cmd.Process.Signal(syscall.SIGCONT)
	close(answer)
	if err := cmd.Wait(); exitCode(err) != exitDone && exitCode(err) != exitInterrupted {
		// The order may arrive after all.
		t.Errorf("%v: %s", err, stderr)
	}
}

// awaitSaved waits until a URL is in the job.
func awaitSaved(t *testing.T, dir, u string) {
	t.Helper()
	for range 100 {
		if strings.Contains(weftIn(t, dir, "urls", "job").stdout, u+"\n") {
			return
		}
	}
	t.Fatalf("%s is not saved", u)
}

// TestStopByControl: weft ctl stop ends a crawl as Ctrl-C does.
func TestStopByControl(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan bool, 100), make(chan bool)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		wefttest.HTML(w, "/a", "/b")
		asked <- true
		<-answer
	})
	cmd, stderr := weftCommand(t, "crawl", "--job", "job", s.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if e := weftIn(t, cmd.Dir, "ctl", "job", "stop"); e.code != exitDone || e.stdout != "ending; 1 in flight\n" {
		t.Errorf("%+v", e)
	}
	if e := weftIn(t, cmd.Dir, "status", "job"); !strings.HasPrefix(e.stdout, "job: ending") {
		t.Errorf("%+v", e)
	}
	close(answer)
	if code := exitCode(cmd.Wait()); code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if e := weftIn(t, cmd.Dir, "status", "job"); !strings.HasPrefix(e.stdout, "job: interrupted") {
		t.Errorf("%+v", e)
	}
}

func TestLookMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args, want string
	}{
		{"no job", "status", "weft: status: 0 arguments given, expected JOB\n"},
		{"no URL", "why job", "weft: why: 1 argument given, expected JOB URL\n"},
		{"no order", "ctl job", "weft: ctl: 1 argument given, expected JOB and an ORDER such as pause\n"},
		{"no folder", "status none", `weft: "none": no job, expected the folder of a job`},
		{"no job in it", "hosts .", `weft: ".": no job`},
		{"no URL's form", "why . example", `weft: why: URL "example": no scheme`},
		{"no state", "urls --state odd .", `weft: --state "odd": expected one of pending, leased, done, failed, refused`},
		{"no field", "urls --where statu==404 .", `weft: --where "statu==404": unknown field statu: did you mean status?` + "\n"},
		{"no condition", "urls --where status .", `weft: --where "status": expected bool, but got int64`},
		{"no number", "hosts --limit 0 .", `weft: --limit "0": expected a whole number, 1 or more`},
		{"no such order", "ctl . dance", `weft: ctl: order "dance", expected pause, resume, stop, set, exclude or add; or tasks` + "\n"},
		{"too much to ask", "ctl . tasks all", `weft: ctl: tasks: "all", expected no argument` + "\n"},
		{"no expression", "ctl . exclude (", `weft: ctl: exclude: "("`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := weftRun(t, strings.Fields(c.args)...); e.code != exitUsage || e.stdout != "" || !strings.Contains(e.stderr, c.want) || strings.Count(e.stderr, "\n") != 1 {
				t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
			}
		})
	}
	damaged := t.TempDir()
	if err := os.MkdirAll(filepath.Join(damaged, "job", "state"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "job", "state", "000001.sst"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if e := weftIn(t, damaged, "status", "job"); e.code != exitError || !strings.Contains(e.stderr, "damaged") || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("a damaged job: %+v", e)
	}
}

// weftIn runs weft in a folder.
func weftIn(t *testing.T, dir string, args ...string) ended {
	t.Helper()
	cmd, stderr := weftCommand(t, args...)
	cmd.Path, cmd.Dir = unraced(), dir
	out, err := cmd.Output()
	return ended{exitCode(err), string(out), stderr.String(), dir}
}
