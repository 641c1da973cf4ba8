package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/measure"
)

// labs runs weft lab with two ways and args, and expects a code.
func labs(t *testing.T, code int, args ...string) ended {
	t.Helper()
	e := weftRun(t, append([]string{"lab", "--ways", "blocking,goroutines"}, args...)...)
	if e.code != code {
		t.Fatalf("%q: exit %d, expected %d: %s%s", args, e.code, code, e.stdout, e.stderr)
	}
	return e
}

// labEffects is what each flag of weft lab changes.
var labEffects = map[string]func(t *testing.T){
	"ways": func(t *testing.T) {
		e := weftRun(t, "lab", "--ways", "goroutines", "--pages", "2", "--rounds", "1")
		if e.code != exitDone || !strings.Contains(e.stdout, "\ngoroutines ") || strings.Contains(e.stdout, "\nblocking ") {
			t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
		}
	},
	"rounds": func(t *testing.T) {
		s := newAsked(t, false, star)
		labs(t, exitDone, s.URL+"/a")
		expect(t, "asked for by default: once to look at it, once by each way", s.paths(), "/a /a /a")
		labs(t, exitDone, "--pages", "1", "--rounds", "2", s.URL+"/b")
		expect(t, "asked for in two rounds", s.paths(), "/a /a /a /b /b /b /b")
	},
	"pages": func(t *testing.T) {
		s := newAsked(t, false, star)
		labs(t, exitDone, "--pages", "2", s.URL)
		expect(t, "asked for, the first once more to read its links", s.paths(), "/ / / /a /a")
	},
	"connect-delay":  func(t *testing.T) { late(t, "--connect-delay", "--response-delay") },
	"response-delay": func(t *testing.T) { late(t, "--response-delay", "--connect-delay") },
	"connections": func(t *testing.T) {
		e := labs(t, exitDone, "--connections", "3", "--json")
		var told struct {
			Connections int
			Ways        []measure.Held
		}
		if err := json.Unmarshal([]byte(e.stdout), &told); err != nil || told.Connections != 3 || len(told.Ways) != 2 {
			t.Fatalf("%v: %s", err, e.stdout)
		}
		if one, all := told.Ways[0], told.Ways[1]; one.Held != 1 || one.Stopped == "" || all.Held != 3 || all.Stopped != "" {
			t.Errorf("%+v, %+v", one, all)
		}
	},
	"chart": func(t *testing.T) {
		e := labs(t, exitDone, "--pages", "1", "--rounds", "1", "--chart", "lab.svg")
		if svg := e.file("lab.svg"); !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, ">goroutines</text>") || !strings.Contains(svg, "1 page: wall time of a round") {
			t.Errorf("%s", svg)
		}
		e = labs(t, exitDone, "--connections", "3", "--chart", "held.svg")
		if svg := e.file("held.svg"); !strings.Contains(svg, ">blocking: 1</text>") || !strings.Contains(svg, ">goroutines</text>") {
			t.Errorf("who held fewer is to say so: %s", svg)
		}
		s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" && r.ProtoMajor*10+r.ProtoMinor == 11 { // that of net/http
				fmt.Fprint(w, time.Now().UnixNano())
			}
		})
		e = labs(t, exitError, "--rounds", "2", "--chart", "failed.svg", s.URL)
		if svg := e.file("failed.svg"); !strings.Contains(svg, ">blocking</text>") || strings.Contains(svg, "goroutines") {
			t.Errorf("who failed has no time: %s", svg)
		}
		e = labs(t, exitUsage, "--chart", "none/lab.svg")
		expect(t, "told", e.stderr, "weft: --chart \"none/lab.svg\": no such file or directory, expected a file that can be written\n")
	},
	"json": func(t *testing.T) {
		e := labs(t, exitDone, "--pages", "1", "--rounds", "1", "--json")
		var told struct {
			Machine labMachine
			measure.Compared
		}
		if err := json.Unmarshal([]byte(e.stdout), &told); err != nil || !told.Agree || told.Machine.CPUs == 0 || len(told.Ways) != 2 || told.Ways[0].WallMS < 125 {
			t.Errorf("%v: %s", err, e.stdout)
		}
	},
	"help": func(t *testing.T) {
		if e := labs(t, exitDone, "--help"); !strings.Contains(e.stdout, "Usage:") {
			t.Errorf("%s", e.stdout)
		}
	},
}

// late expects the time that a flag says, of a page.
func late(t *testing.T, flag, other string) {
	t.Helper()
	e := labs(t, exitDone, "--pages", "1", "--rounds", "1", flag, "80ms", other, "0s", "--json")
	var told measure.Compared
	if err := json.Unmarshal([]byte(e.stdout), &told); err != nil || told.Ways[0].WallMS < 80 {
		t.Errorf("%s: %v, %s", flag, err, e.stdout)
	}
}

// TestLabDisagreement: a site that tells each visitor something else is no ground to stand on.
func TestLabDisagreement(t *testing.T) {
	n := 0
	s := newAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
		n++ // of one at a time
		fmt.Fprintf(w, "\x1b[2J%d", n)
	})
	e := labs(t, exitError, s.URL)
	if !strings.Contains(e.stdout, "NOT all ways have all pages, and the same:\n  goroutines: "+s.URL+"/: status 200, 5 bytes, SHA-256 ") ||
		strings.Contains(e.stdout, "\x1b") || !strings.HasSuffix(e.stderr, "\nweft: lab: not all ways have all pages, and the same\n") {
		t.Errorf("%s%s", e.stdout, e.stderr)
	}
}

func TestLabMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"a b":                           "lab: 2 arguments given, expected one URL, or none",
		"example.org":                   `lab: URL "example.org": no scheme, expected http or https`,
		"https://example.org/":          `lab: URL "https://example.org/": scheme https, expected http: the ways speak no TLS`,
		"--ways blocking,none":          `--ways "blocking,none": "none" is no way, expected some of blocking`,
		"--ways blocking,blocking":      `--ways "blocking,blocking": blocking twice, expected each way once`,
		"--connections 1000000000":      `--connections "1000000000": expected at most `,
		"--connections 2 --pages 3":     "--pages: expected without --connections, which it does not concern",
		"--connect-delay 1s http://a/":  "--connect-delay: expected without a URL, which it does not concern",
		"--connections 2 http://a.test": "--connections: expected without a URL: ",
		"--pages 1000000000":            `--pages "1000000000": expected at most `,
		"--pages -1":                    `--pages "-1": expected a whole number, 1 or more`,
		"latency a":                     `weft lab latency: argument "a", expected none`,
		"latency --dir /dev/null":       `--dir "/dev/null": no folder, expected one where files can be written`,
	} {
		e := weftRun(t, append([]string{"lab"}, strings.Fields(args)...)...)
		if e.code != exitUsage || !strings.HasPrefix(e.stderr, "weft: "+want) || e.stdout != "" {
			t.Errorf("weft lab %s: exit %d, %s; expected %s", args, e.code, e.stderr, want)
		}
	}
}

// TestLabInterrupted: it ends at once, and prints nothing.
func TestLabInterrupted(t *testing.T) {
	cmd, _ := weftCommand(t, "lab", "--ways", "aio,goroutines", "--pages", "2", "--response-delay", "1h", "--chart", "none.svg")
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
	for lines.Scan() { // to the end: children hold it open as long as they live
		if strings.HasPrefix(lines.Text(), "measuring ") {
			_ = cmd.Process.Signal(os.Interrupt)
		} else {
			t.Errorf("told: %s", lines.Text())
		}
	}
	if code := exitCode(cmd.Wait()); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit %d: %s", code, &stdout)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "none.svg")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a chart of nothing: %v", err)
	}
}

func TestLabLatency(t *testing.T) {
	dir := t.TempDir()
	e := weftRun(t, "lab", "latency", "--fast", "--json", "--dir", dir)
	var told struct {
		Machine   labMachine
		Latencies []measure.Latency
	}
	if err := json.Unmarshal([]byte(e.stdout), &told); err != nil || e.code != exitDone || len(told.Latencies) == 0 || told.Latencies[0].NS <= 0 {
		t.Errorf("exit %d, %v: %s%s", e.code, err, e.stdout, e.stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// TestLabTables: what people read.
func TestLabTables(t *testing.T) {
	m := labMachine{"A Processor", 8, "linux 6.1", "go1.26.0"}
	faster := func(n float64) *float64 { return &n }
	var out strings.Builder
	r := labRun{connectDelay: 25 * time.Millisecond, responseDelay: 100 * time.Millisecond}
	ways := []measure.Result{
		{Name: "blocking", WallMS: 1265.3, CPUMS: 3.28, Memory: 9830400, Threads: 5, Switches: 90, Faster: faster(1)},
		{Name: "goroutines", WallMS: 129.15, CPUMS: 0.371, Memory: 14995456, Threads: 1200, Switches: 12345, Faster: faster(9.797)},
	}
	r.writeCompared(&out, &measure.Compared{Pages: 10, Rounds: 10, Ways: ways, Agree: true}, m)
	fmt.Fprintln(&out, "----")
	ways[1] = measure.Result{Name: "goroutines", Error: "EMFILE: too many\x1b open files"}
	r.writeCompared(&out, &measure.Compared{Pages: 10, Rounds: 1, Ways: ways, Disagreements: []string{"goroutines: EMFILE: too many\x1b open files"}}, m)
	fmt.Fprintln(&out, "----")
	ways[0].AtOnce, ways[0].Bound = 1, "it asks for the next when it has the answer"
	ways[1] = measure.Result{Name: "processes", WallMS: 3000, CPUMS: 1500, Memory: 259e6, Threads: 406, Switches: 12345, Faster: faster(83.3), AtOnce: 100, Bound: "the lab's bound: each is a whole program"}
	r.writeCompared(&out, &measure.Compared{Pages: 2000, Rounds: 1, Ways: ways, Agree: true}, m)
	fmt.Fprintln(&out, "----")
	writeHeld(&out, 15000, []measure.Held{
		{Name: "blocking", Held: 1, Memory: 9314304, PerConnection: 81920, CPUPer: 394, Threads: 5, Stopped: "it asks for the next when it has the answer"},
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
	golden.Equal(t, "testdata/lab.txt", out.String())
}

func TestHumanScale(t *testing.T) {
	for seconds, want := range map[float64]string{0.3125: "0.312 s", 1: "1 s", 112.4: "112 s", 122: "2.03 minutes", 7200: "2 hours", 86400 * 9.25: "9.25 days", 4e8: "12.7 years"} {
		if got := humanScale(seconds); got != want {
			t.Errorf("%v: %s, expected %s", seconds, got, want)
		}
	}
}
