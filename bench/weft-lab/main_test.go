package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/bench/measure"
	"github.com/weftcrawl/weft/internal/golden"
)

// TestMain lets the test binary be the command, so that exit codes and signals are those of a
// process; and the lab's children, which are the command again.
func TestMain(m *testing.M) {
	if os.Getenv("WEFT_TEST_MAIN") == "1" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// labCommand returns weft-lab with arguments, in an empty folder.
func labCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "WEFT_TEST_MAIN=1")
	cmd.Dir = t.TempDir()
	return cmd
}

// ended is a finished command.
type ended struct {
	code           int
	stdout, stderr string
	dir            string
}

func labRun(t *testing.T, args ...string) ended {
	t.Helper()
	cmd := labCommand(t, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return ended{exitCode(err), string(out), stderr.String(), cmd.Dir}
}

// file returns the contents of a file of its folder; empty if there is none.
func (e ended) file(path string) string {
	b, _ := os.ReadFile(filepath.Join(e.dir, path))
	return string(b)
}

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// labs measures two ways, with args, and expects an exit code.
func labs(t *testing.T, code int, args ...string) ended {
	t.Helper()
	e := labRun(t, append([]string{"--ways", "blocking,goroutines"}, args...)...)
	if e.code != code {
		t.Fatalf("%q: exit %d, expected %d: %s%s", args, e.code, code, e.stdout, e.stderr)
	}
	return e
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// site is a server that logs the paths of its requests, except of robots.txt, which it lacks.
type site struct {
	*httptest.Server
	mu struct {
		sync.Mutex
		paths []string
	}
}

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	s := new(site)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		s.mu.Lock()
		s.mu.paths = append(s.mu.paths, r.URL.Path)
		s.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// paths returns the requested paths, sorted.
func (s *site) paths() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(s.mu.paths)), " ")
}

// star is a home page with links to /a, /b and /c.
func star(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	if r.URL.Path == "/" {
		fmt.Fprint(w, "<a href=/a>x</a><a href=/b>x</a><a href=/c>x</a>")
	}
}

// TestFlags: every flag has a test of its effect, and a default in its help.
func TestFlags(t *testing.T) {
	flags := new(waysRun).flags()
	known := 0
	flags.VisitAll(func(f *pflag.Flag) {
		known++
		effect := labEffects[f.Name]
		if effect == nil {
			t.Errorf("--%s has no test of its effect", f.Name)
			return
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			effect(t)
		})
	})
	if known != len(labEffects) {
		t.Errorf("%d flags, and tests for %d", known, len(labEffects))
	}
	for _, set := range []*pflag.FlagSet{flags, new(latencyRun).flags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(f.Usage, "(default: ") {
				t.Errorf("--%s: no default: %s", f.Name, f.Usage)
			}
		})
	}
}

// TestHelp: the help fits a terminal.
func TestHelp(t *testing.T) {
	for name, args := range map[string][]string{"help.txt": {"--help"}, "help-latency.txt": {"latency", "-h"}} {
		e := labRun(t, args...)
		expect(t, "exit code", e.code, exitDone)
		golden.Equal(t, "testdata/"+name, e.stdout)
		for line := range strings.Lines(e.stdout) {
			if n := len([]rune(line)); n > 101 {
				t.Errorf("%s: a line of %d: %s", name, n, line)
			}
		}
	}
}

// TestStandardOutputFull: results that could not be printed are an error.
func TestStandardOutputFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no device that is always full: %v", err)
	}
	defer full.Close()
	cmd := labCommand(t, "latency", "--help")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	if code := exitCode(cmd.Run()); code != exitError || !strings.HasSuffix(stderr.String(), "weft-lab: standard output: no space left on device\n") {
		t.Errorf("exit %d, %s", code, &stderr)
	}
}

// labEffects tests what each flag changes.
var labEffects = map[string]func(t *testing.T){
	"ways": func(t *testing.T) {
		e := labRun(t, "--ways", "goroutines", "--pages", "2", "--rounds", "1")
		if e.code != exitDone || !strings.Contains(e.stdout, "\ngoroutines ") || strings.Contains(e.stdout, "\nblocking ") {
			t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
		}
	},
	"rounds": func(t *testing.T) {
		s := newSite(t, star)
		labs(t, exitDone, s.URL+"/a")
		expect(t, "requested by default: once to explore, once by each way", s.paths(), "/a /a /a")
		labs(t, exitDone, "--pages", "1", "--rounds", "2", s.URL+"/b")
		expect(t, "requested in two rounds", s.paths(), "/a /a /a /b /b /b /b")
	},
	"pages": func(t *testing.T) {
		s := newSite(t, star)
		labs(t, exitDone, "--pages", "2", s.URL)
		expect(t, "requested, the first once more to read its links", s.paths(), "/ / / /a /a")
	},
	"connect-delay":  func(t *testing.T) { late(t, "--connect-delay", "--response-delay") },
	"response-delay": func(t *testing.T) { late(t, "--response-delay", "--connect-delay") },
	"connections": func(t *testing.T) {
		e := labs(t, exitDone, "--connections", "3", "--json")
		var got struct {
			Connections int
			Ways        []measure.Held
		}
		if err := json.Unmarshal([]byte(e.stdout), &got); err != nil || got.Connections != 3 || len(got.Ways) != 2 {
			t.Fatalf("%v: %s", err, e.stdout)
		}
		if one, all := got.Ways[0], got.Ways[1]; one.Held != 1 || one.Stopped == "" || all.Held != 3 || all.Stopped != "" {
			t.Errorf("%+v, %+v", one, all)
		}
	},
	"chart": func(t *testing.T) {
		e := labs(t, exitDone, "--pages", "1", "--rounds", "1", "--chart", "lab.svg")
		if svg := e.file("lab.svg"); !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, ">goroutines</text>") || !strings.Contains(svg, "1 page, fetched by each way") {
			t.Errorf("%s", svg)
		}
		e = labs(t, exitDone, "--connections", "3", "--chart", "held.svg")
		if svg := e.file("held.svg"); !strings.Contains(svg, ">blocking: 1</text>") || !strings.Contains(svg, ">goroutines</text>") {
			t.Errorf("a way that held fewer has no count: %s", svg)
		}
		s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" && r.ProtoMajor*10+r.ProtoMinor == 11 { // the way with net/http
				fmt.Fprint(w, time.Now().UnixNano())
			}
		})
		e = labs(t, exitError, "--rounds", "2", "--chart", "failed.svg", s.URL)
		if svg := e.file("failed.svg"); !strings.Contains(svg, ">blocking</text>") || strings.Contains(svg, "goroutines") {
			t.Errorf("a way that failed has a bar: %s", svg)
		}
		e = labs(t, exitUsage, "--chart", "none/lab.svg")
		expect(t, "message", e.stderr, "weft-lab: --chart \"none/lab.svg\": no such file or directory, expected a file that can be written\n")
	},
	"json": func(t *testing.T) {
		e := labs(t, exitDone, "--pages", "1", "--rounds", "1", "--json")
		var got struct {
			Machine where
			measure.Compared
		}
		if err := json.Unmarshal([]byte(e.stdout), &got); err != nil || !got.Agree || got.Machine.CPUs == 0 || len(got.Ways) != 2 || got.Ways[0].WallMS < 125 {
			t.Errorf("%v: %s", err, e.stdout)
		}
	},
	"help": func(t *testing.T) {
		if e := labs(t, exitDone, "--help"); !strings.Contains(e.stdout, "Usage:") {
			t.Errorf("%s", e.stdout)
		}
	},
}

// late expects a page to take the time of a flag.
func late(t *testing.T, flag, other string) {
	t.Helper()
	e := labs(t, exitDone, "--pages", "1", "--rounds", "1", flag, "80ms", other, "0s", "--json")
	var got measure.Compared
	if err := json.Unmarshal([]byte(e.stdout), &got); err != nil || got.Ways[0].WallMS < 80 {
		t.Errorf("%s: %v, %s", flag, err, e.stdout)
	}
}

// TestDisagreement: a site that sends each visitor another page is an error.
func TestDisagreement(t *testing.T) {
	n := 0
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		n++ // one request at a time
		fmt.Fprintf(w, "\x1b[2J%d", n)
	})
	e := labs(t, exitError, s.URL)
	if !strings.Contains(e.stdout, "the ways DISAGREE on the pages:\n  goroutines: "+s.URL+"/: status 200, 5 bytes, SHA-256 ") ||
		strings.Contains(e.stdout, "\x1b") || !strings.HasSuffix(e.stderr, "\nweft-lab: some ways lack pages, or fetched other ones\n") {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
}

func TestMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"a b":                           "2 arguments given, expected at most one URL",
		"example.org":                   `URL "example.org": no scheme, expected http or https`,
		"https://example.org/":          `URL "https://example.org/": scheme https, expected http: the ways do not speak TLS`,
		"--ways blocking,none":          `--ways "blocking,none": "none" is not a way, expected some of blocking`,
		"--ways blocking,blocking":      `--ways "blocking,blocking": blocking is repeated, expected each way once`,
		"--connections 1000000000":      `--connections "1000000000": expected at most `,
		"--connections 2 --pages 3":     "--pages has no effect with --connections: expected one of them",
		"--connect-delay 1s http://a/":  "--connect-delay has no effect with a URL: expected one of them",
		"--connections 2 http://a.test": "--connections: expected without a URL: ",
		"--pages 1000000000":            `--pages "1000000000": expected at most `,
		"--pages -1":                    `--pages "-1": expected a whole number, 1 or more`,
		"latency a":                     `latency: argument "a", expected none`,
		"latency --dir /dev/null":       `--dir "/dev/null": not a folder, expected a folder where files can be written`,
	} {
		e := labRun(t, strings.Fields(args)...)
		if e.code != exitUsage || !strings.HasPrefix(e.stderr, "weft-lab: "+want) || e.stdout != "" {
			t.Errorf("weft-lab %s: exit %d, %s; expected %s", args, e.code, e.stderr, want)
		}
	}
}

// TestInterrupted: an interrupted run ends at once, prints nothing and leaves files alone.
func TestInterrupted(t *testing.T) {
	cmd := labCommand(t, "--ways", "aio,goroutines", "--pages", "2", "--response-delay", "1h", "--chart", "lab.svg")
	chart := filepath.Join(cmd.Dir, "lab.svg")
	if err := os.WriteFile(chart, []byte("an earlier chart"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() { // to the end: living children hold it open
		if strings.HasPrefix(lines.Text(), "measuring ") {
			_ = cmd.Process.Signal(os.Interrupt)
		} else {
			t.Errorf("message: %s", lines.Text())
		}
	}
	if code := exitCode(cmd.Wait()); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit %d: %s", code, &stdout)
	}
	if kept, err := os.ReadFile(chart); string(kept) != "an earlier chart" {
		t.Errorf("the chart is now %q, %v", kept, err)
	}
}

func TestLatency(t *testing.T) {
	dir := t.TempDir()
	e := labRun(t, "latency", "--fast", "--json", "--dir", dir)
	var got struct {
		Machine   where
		Latencies []measure.Latency
	}
	if err := json.Unmarshal([]byte(e.stdout), &got); err != nil || e.code != exitDone || len(got.Latencies) == 0 || got.Latencies[0].NS <= 0 {
		t.Errorf("exit %d, %v: %s%s", e.code, err, e.stdout, e.stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// TestTables pins the tables.
func TestTables(t *testing.T) {
	m := where{"A Processor", 8, "linux 6.1", "go1.26.0"}
	faster := func(n float64) *float64 { return &n }
	var out strings.Builder
	r := waysRun{connectDelay: 25 * time.Millisecond, responseDelay: 100 * time.Millisecond}
	ways := []measure.Result{
		{Name: "blocking", WallMS: 1265.3, CPUMS: 3.28, Memory: 9830400, Threads: 5, Switches: 90, Faster: faster(1)},
		{Name: "goroutines", WallMS: 129.15, CPUMS: 0.371, Memory: 14995456, Threads: 1200, Switches: 12345, Faster: faster(9.797)},
	}
	r.writeCompared(&out, &measure.Compared{Pages: 10, Rounds: 10, Ways: ways, Agree: true}, m)
	fmt.Fprintln(&out, "----")
	ways[1] = measure.Result{Name: "goroutines", Error: "EMFILE: too many\x1b open files"}
	r.writeCompared(&out, &measure.Compared{Pages: 10, Rounds: 1, Ways: ways, Disagreements: []string{"goroutines: EMFILE: too many\x1b open files"}}, m)
	fmt.Fprintln(&out, "----")
	ways[0].AtOnce, ways[0].Bound = 1, "it fetches one page after the other"
	ways[1] = measure.Result{Name: "processes", WallMS: 3000, CPUMS: 1500, Memory: 259e6, Threads: 406, Switches: 12345, Faster: faster(83.3), AtOnce: 100, Bound: "the lab's limit: each is a whole program"}
	r.writeCompared(&out, &measure.Compared{Pages: 2000, Rounds: 1, Ways: ways, Agree: true}, m)
	fmt.Fprintln(&out, "----")
	writeHeld(&out, 15000, []measure.Held{
		{Name: "blocking", Held: 1, Memory: 9314304, PerConnection: 81920, CPUPer: 394, Threads: 5, Stopped: "it fetches one page after the other"},
		{Name: "busy", Held: 15000, Memory: 429e6, PerConnection: 27934.7, CPUPer: 1129.8, Idle: 99.6, Threads: 6},
		{Name: "threads", Stopped: "EAGAIN: resource\x1b temporarily unavailable"},
	}, m)
	fmt.Fprintln(&out, "----")
	writeLatencies(&out, []measure.Latency{
		{Name: "instruction", What: "an addition", NS: 0.2885},
		{Name: "memory", What: "a read", NS: 112.4},
		{Name: "disk read", What: "4 KiB", Error: "EINVAL: invalid argument"},
		{Name: "disk write", What: "4 KiB", NS: 799633},
	}, m)
	golden.Equal(t, "testdata/tables.txt", out.String())
}

func TestHumanScale(t *testing.T) {
	for seconds, want := range map[float64]string{0.3125: "0.312 s", 1: "1 s", 112.4: "112 s", 122: "2.03 minutes", 7200: "2 hours", 86400 * 9.25: "9.25 days", 4e8: "12.7 years"} {
		if got := humanScale(seconds); got != want {
			t.Errorf("%v: %s, expected %s", seconds, got, want)
		}
	}
}
