// Table reads the output of the benchmarks of a page (pages.go), run several times, and writes the
// page, which compares their medians with the marks.
//
//	table [-o FILE] PAGE < output
//
// In addition to the lines of go test it reads "commit: ", the commit of the binary, and "load: ",
// the load averages before. It fails if a benchmark failed, is missing or ran too few times: a page
// is complete or is not written. A missed mark is a line on the page, not a failure.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// repetitions is the least number of values for a median.
const repetitions = 5

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	flag.Parse()
	if err := run(os.Stdin, *out, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out, name string) error {
	p, ok := pages[name]
	if !ok {
		return fmt.Errorf("no page %q", name)
	}
	r, err := parse(in)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	r.writeHead(&text, p, "make bench-"+name)
	if err := r.writeTables(&text, p); err != nil {
		return err
	}
	if out == "" {
		_, err = text.WriteTo(os.Stdout)
		return err
	}
	return os.WriteFile(out, text.Bytes(), 0o644)
}

// results holds the values of all repetitions.
type results struct {
	cpu    string // model
	commit string
	load   string // averages
	values map[key][]float64
}

type key struct {
	name  string // without "Benchmark"
	cores int
	unit  string
}

// parse reads the format of golang.org/design/14313-benchmark-format.
func parse(in io.Reader) (*results, error) {
	r := &results{cpu: "unknown", commit: "unknown", load: "unknown", values: make(map[key][]float64)}
	about := map[string]*string{"cpu": &r.cpu, "commit": &r.commit, "load": &r.load}
	for lines := bufio.NewScanner(in); ; {
		if !lines.Scan() {
			return r, lines.Err()
		}
		line := lines.Text()
		if name, value, ok := strings.Cut(line, ": "); ok && about[name] != nil {
			*about[name] = value
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

// sample is a median with its range.
type sample struct{ median, min, max float64 }

func (r *results) sample(name string, cores int, unit string) (sample, error) {
	vs := slices.Sorted(slices.Values(r.values[key{name, cores, unit}]))
	if len(vs) < repetitions {
		return sample{}, fmt.Errorf("%s at %d cores: %d figures in %s, expected at least %d", name, cores, len(vs), unit, repetitions)
	}
	n := len(vs)
	return sample{(vs[(n-1)/2] + vs[n/2]) / 2, vs[0], vs[n-1]}, nil
}

func (r *results) writeHead(w io.Writer, p page, command string) {
	fmt.Fprintf(w, `# %s

%s

## How it was measured

%s

| | |
|---|---|
| machine | %s, %d cores, %s %s |
| load before | %s |
| Go | %s |
| commit | %s |
| date | %s |
| command | %s |

Figures are medians of the repetitions, with (least–most). CPU time is user and system time of
all threads of the measured process. Other work on the machine is not in it, but shares the
caches: see the load. Cores is GOMAXPROCS. Ratio is ours / peer's in the unit of the row; wall is
the same ratio of wall time, where less is better.

## Figures

`, p.title, p.take, p.about, r.cpu, runtime.NumCPU(), runtime.GOOS, kernel(), r.load, runtime.Version(), r.commit,
		time.Now().UTC().Format(time.DateOnly), "`"+command+"`")
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

func (r *results) writeTables(w io.Writer, p page) error {
	fmt.Fprintf(w, "| what | cores | %s | peer | ratio | wall | mark | |\n", p.ours)
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, row := range p.rows {
		for _, cores := range p.cores {
			if err := r.writeRow(w, row, cores); err != nil {
				return err
			}
		}
	}
	if p.costs != nil {
		r.writeCosts(w, p.costs)
	}
	return nil
}

func (r *results) writeCosts(w io.Writer, c *costs) {
	fmt.Fprintf(w, "\n%s\n\n| %s |\n%s|\n", c.about, strings.Join(c.heads, " | "), strings.Repeat("|---", len(c.heads)))
	for _, l := range c.lines {
		line := "| " + l.what
		for _, unit := range c.units {
			cell := "–" // not measurable, or the peer is absent
			if s, err := r.sample(l.name, c.cores, unit); err == nil {
				cell = s.in(unit)
			}
			line += " | " + cell
		}
		fmt.Fprintln(w, line, "|")
	}
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
	} else if row.peer != "" && !row.alone {
		return err
	}
	if a, err := r.sample(row.ours, cores, "ns/op"); err == nil && !strings.HasPrefix(row.unit, "mallocs/") {
		if b, err := r.sample(row.peer, cores, "ns/op"); err == nil {
			wall = fmt.Sprintf("%.2f", a.median/b.median)
		}
	}
	mark, verdict := row.judge(figure)
	_, err = fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %s | %s |\n",
		row.what, cores, ours.in(row.unit), theirs, ratio, wall, mark, verdict)
	return err
}

// judge returns the mark and whether a figure meets it.
func (row row) judge(figure float64) (mark, verdict string) {
	if row.mark == 0 {
		return "–", "–"
	}
	sign, met := "≤", figure <= row.mark
	if row.least {
		sign, met = "≥", figure >= row.mark
	}
	switch {
	case !row.alone:
		mark = fmt.Sprintf("%s %g×", sign, row.mark)
	case strings.HasSuffix(row.unit, "B/op"):
		mark = fmt.Sprintf("%s %g KB", sign, row.mark/1024)
	case strings.HasPrefix(row.unit, "cpu-ns/"):
		mark = fmt.Sprintf("%s %g ns", sign, row.mark)
	default:
		mark = fmt.Sprintf("%s %g", sign, row.mark)
	}
	if met {
		return mark, "met"
	}
	return mark, "**missed**"
}

// in formats a sample in its unit.
func (s sample) in(unit string) string {
	switch {
	case unit == "echoes/cpu-s":
		return fmt.Sprintf("%.0f k/s (%.0f–%.0f)", s.median/1e3, s.min/1e3, s.max/1e3)
	case unit == "MB/cpu-s":
		return fmt.Sprintf("%.0f MB/s (%.0f–%.0f)", s.median, s.min, s.max)
	case strings.HasPrefix(unit, "mallocs/"):
		return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median, s.min, s.max)
	case strings.HasSuffix(unit, "B/op"):
		return fmt.Sprintf("%.0f B (%.0f–%.0f)", s.median, s.min, s.max)
	case s.median >= 2000:
		return fmt.Sprintf("%.1f µs (%.1f–%.1f)", s.median/1e3, s.min/1e3, s.max/1e3)
	}
	return fmt.Sprintf("%.0f ns (%.0f–%.0f)", s.median, s.min, s.max)
}
