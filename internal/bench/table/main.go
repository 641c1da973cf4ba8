// Table reads the output of the benchmarks in internal/bench, run several times, and
// writes a page that compares their medians with the marks.
//
//	table [-o FILE] [-command TEXT] < output
//
// It fails if a benchmark failed, or if one is missing or was run too seldom: a page
// is complete or is not written. A missed mark is a line on the page, not a failure.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// row is a mark. Peers are absent where the mark is a number.
type row struct {
	what  string
	ours  string
	peer  string
	unit  string
	mark  float64 // of ours / peer, or of ours if alone
	least bool    // mark is the least, else the most
	alone bool    // the mark is for our figure itself; the peer is there to compare
}

var rows = []row{
	{what: "10,000 in turn: a turn", ours: "RoundRobin/tasks", peer: "RoundRobin/goroutines", unit: "cpu-ns/op", mark: 0.7},
	{what: "token round a ring of 10,000 (Lot): a hop", ours: "Ring/lots", peer: "Ring/channels", unit: "cpu-ns/op", mark: 0.7},
	{what: "token round a ring of 10,000 (Event): a hop", ours: "Ring/events", peer: "Ring/channels", unit: "cpu-ns/op", mark: 0.7},
	{what: "two hot tasks (Lot): there and back", ours: "PingPong/lots", peer: "PingPong/channels", unit: "cpu-ns/op", mark: 0.4},
	{what: "two hot tasks (Yield): there and back", ours: "PingPong/yield", peer: "PingPong/channels", unit: "cpu-ns/op", mark: 0.4},
	{what: "keep-alive GET of 4 KB, 64 at a time", ours: "Get/http1", peer: "Get/nethttp", unit: "cpu-ns/op", mark: 0.45},
	{what: "memory of a request that waits, beside net/http", ours: "Memory/http1", peer: "Memory/nethttp", unit: "rss-B/op", mark: 6 << 10, alone: true},
	{what: "the same, beside aiohttp", ours: "Memory/http1", peer: "Memory/aiohttp", unit: "rss-B/op", mark: 6 << 10, alone: true},
	{what: "echoes per CPU second, 1,000 clients", ours: "Echo/tasks", peer: "Echo/goroutines", unit: "echoes/cpu-s", mark: 1.1, least: true},
	{what: "set a timer, up to 1,000,000 pending", ours: "Timers/set/aio", peer: "Timers/set/runtime", unit: "cpu-ns/op", mark: 1},
	{what: "cancel one", ours: "Timers/cancel/aio", peer: "Timers/cancel/runtime", unit: "cpu-ns/op", mark: 1},
	{what: "fire one", ours: "Timers/fire/aio", peer: "Timers/fire/runtime", unit: "cpu-ns/op", mark: 1},
}

// memory is the second table: what waits, and where its bytes are.
var memory = []struct{ what, name string }{
	{"iter.Pull coroutine", "Memory/coroutine"},
	{"goroutine", "Memory/goroutine"},
	{"task", "Memory/task"},
	{"task with a Conn", "Memory/conn"},
	{"task in http1.Client.Get", "Memory/http1"},
	{"net/http", "Memory/nethttp"},
	{"aiohttp", "Memory/aiohttp"},
}

// repetitions is the least number that a median is taken of.
const repetitions = 5

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench", "how the figures were made")
	flag.Parse()
	if err := run(os.Stdin, *out, *command); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out, command string) error {
	r, err := parse(in)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	writeHead(&page, r.cpu, command)
	if err := r.writeTables(&page); err != nil {
		return err
	}
	if out == "" {
		_, err = page.WriteTo(os.Stdout)
		return err
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}

// results are the values of all repetitions.
type results struct {
	cpu    string // model
	values map[key][]float64
}

type key struct {
	name  string // without "Benchmark"
	cores int
	unit  string
}

// parse reads the format of golang.org/design/14313-benchmark-format.
func parse(in io.Reader) (*results, error) {
	r := &results{values: make(map[key][]float64)}
	for lines := bufio.NewScanner(in); ; {
		if !lines.Scan() {
			return r, lines.Err()
		}
		line := lines.Text()
		if cpu, ok := strings.CutPrefix(line, "cpu: "); ok {
			r.cpu = cpu
		}
		if strings.HasPrefix(strings.TrimSpace(line), "--- FAIL") || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "panic:") {
			return nil, fmt.Errorf("a benchmark failed: %s", line)
		}
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name, cores := strings.TrimPrefix(f[0], "Benchmark"), 1
		if i := strings.LastIndexByte(name, '-'); i >= 0 { // GOMAXPROCS, if it is not 1
			if n, err := strconv.Atoi(name[i+1:]); err == nil {
				name, cores = name[:i], n
			}
		}
		for i := 2; i+1 < len(f); i += 2 { // after the name and b.N: value, unit
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%q, expected a number: %s", f[i], line)
			}
			k := key{name, cores, f[i+1]}
			r.values[k] = append(r.values[k], v)
		}
	}
}

// sample is the median of some values, and their spread.
type sample struct{ median, min, max float64 }

func (r *results) sample(name string, cores int, unit string) (sample, error) {
	vs := slices.Sorted(slices.Values(r.values[key{name, cores, unit}]))
	if len(vs) < repetitions {
		return sample{}, fmt.Errorf("%s at %d cores: %d figures in %s, expected at least %d", name, cores, len(vs), unit, repetitions)
	}
	n := len(vs)
	return sample{(vs[(n-1)/2] + vs[n/2]) / 2, vs[0], vs[n-1]}, nil
}

func writeHead(w io.Writer, cpu, command string) {
	commit := output("git", "rev-parse", "--short", "HEAD")
	if output("git", "status", "--porcelain", "--untracked-files=no") != "" {
		commit += ", with changes"
	}
	fmt.Fprintf(w, `# The event loop beside its peers

Written by internal/bench/table from the benchmarks in internal/bench, which say what each line measures.

| | |
|---|---|
| machine | %s, %d cores, %s %s |
| Go | %s |
| commit | %s |
| date | %s |
| command | %s |

Figures are medians of the repetitions, with (least–most). CPU time is user and system time of all threads of the
process under test; whoever is at the other end of a connection is another process. Cores is GOMAXPROCS.
Ratio is ours / peer's; wall is the same ratio for wall time.

`, cpu, runtime.NumCPU(), runtime.GOOS, kernel(), runtime.Version(), commit, time.Now().UTC().Format(time.DateOnly), "`"+command+"`")
}

// output runs a command; what is not known is not on the page.
func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

func (r *results) writeTables(w io.Writer) error {
	fmt.Fprintln(w, "| what | cores | aio | peer | ratio | wall | mark | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, row := range rows {
		for _, cores := range []int{1, 2} {
			if err := r.writeRow(w, row, cores); err != nil {
				return err
			}
		}
	}
	fmt.Fprintln(w, "\nWhat one of 10,000 costs that wait, in bytes (2 cores): growth of the process, and what of it is left after a collection.")
	fmt.Fprintln(w, "\n| waits | process | heap | stacks |\n|---|---|---|---|")
	for _, m := range memory {
		line := "| " + m.what
		for _, unit := range []string{"rss-B/op", "heap-B/op", "stack-B/op"} {
			cell := "–" // not known of other languages, or the peer is not there
			if s, err := r.sample(m.name, 2, unit); err == nil {
				cell = s.in(unit)
			}
			line += " | " + cell
		}
		fmt.Fprintln(w, line, "|")
	}
	return nil
}

func (r *results) writeRow(w io.Writer, row row, cores int) error {
	ours, err := r.sample(row.ours, cores, row.unit)
	if err != nil {
		return err
	}
	theirs, ratio, wall := "–", "–", "–"
	figure := ours.median
	if peer, err := r.sample(row.peer, cores, row.unit); err == nil {
		theirs = peer.in(row.unit)
		ratio = fmt.Sprintf("%.2f", ours.median/peer.median)
		if !row.alone {
			figure = ours.median / peer.median
		}
	} else if !row.alone {
		return err
	}
	if a, err := r.sample(row.ours, cores, "ns/op"); err == nil {
		if b, err := r.sample(row.peer, cores, "ns/op"); err == nil {
			wall = fmt.Sprintf("%.2f", a.median/b.median)
		}
	}
	mark := fmt.Sprintf("%g×", row.mark)
	if row.alone {
		mark = fmt.Sprintf("%g KB", row.mark/1024)
	}
	sign, met := "≤", figure <= row.mark
	if row.least {
		sign, met = "≥", figure >= row.mark
	}
	verdict := "**missed**"
	if met {
		verdict = "met"
	}
	_, err = fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %s %s | %s |\n",
		row.what, cores, ours.in(row.unit), theirs, ratio, wall, sign, mark, verdict)
	return err
}

// in writes a sample the way people read its unit.
func (s sample) in(unit string) string {
	switch {
	case unit == "echoes/cpu-s":
		return fmt.Sprintf("%.0f k/s (%.0f–%.0f)", s.median/1e3, s.min/1e3, s.max/1e3)
	case strings.HasSuffix(unit, "B/op"):
		return fmt.Sprintf("%.0f B (%.0f–%.0f)", s.median, s.min, s.max)
	case s.median >= 2000:
		return fmt.Sprintf("%.1f µs (%.1f–%.1f)", s.median/1e3, s.min/1e3, s.max/1e3)
	}
	return fmt.Sprintf("%.0f ns (%.0f–%.0f)", s.median, s.min, s.max)
}
