//go:build linux

// Check measures weft check beside other link checkers, and writes docs/bench/check.md.
//
//	check [-o FILE] [-runs N] [-weft FILE] [-linkchecker FILE] [-linkinator FILE] [-command TEXT]
//
// The sites are the documentation in Debian's python3.11-doc and libboost1.81-doc, served by an nginx
// that the program starts. A checker that is not there is left out.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
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

	"github.com/weftcrawl/weft/internal/bench/machine"
	"github.com/weftcrawl/weft/internal/bench/origin"
	"github.com/weftcrawl/weft/internal/process"
)

// checker is a program that checks all links of a site.
type checker struct {
	name    string
	program string
	args    func(url string) []string
	broken  func(out io.Reader) (map[string]bool, error) // the URLs that it reports
}

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench-check", "command to name on the page")
	weft := flag.String("weft", "", "the command to measure")
	linkchecker := flag.String("linkchecker", "linkchecker", "of Debian")
	linkinator := flag.String("linkinator", "linkinator", "of npm")
	runs := flag.Int("runs", 3, "runs of each")
	most := flag.Duration("most", 5*time.Minute, "end a run after that time")
	flag.Parse()
	all := []checker{
		{"weft check", *weft, func(url string) []string {
			return []string{"check", "-q", "--no-config", "--no-external", "-c", "64", "--format", "json", url}
		}, weftBroken},
		{"linkinator", *linkinator, func(url string) []string {
			return []string{url, "--recurse", "--format", "json", "--concurrency", "64", "--skip", "^https?://(?!127[.]0[.]0[.]1:)"}
		}, linkinatorBroken},
		{"linkchecker", *linkchecker, func(url string) []string {
			return []string{"--no-robots", "--no-status", "--no-warnings", "-o", "csv", "-t", "10", url}
		}, linkcheckerBroken},
	}
	page, err := measure(all, *runs, *most, *command)
	machine.Publish("check", *out, page, err)
}

func measure(all []checker, runs int, most time.Duration, command string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "weft-check.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sites := []origin.Site{{Name: "small", Root: origin.Small}, {Name: "medium", Root: origin.Medium}}
	stop, err := origin.Serve(dir, sites)
	if err != nil {
		return nil, err
	}
	defer stop()
	var b bytes.Buffer
	// The first paragraph is to be reviewed whenever the page is measured again.
	fmt.Fprintf(&b, `# Link checks

weft check finds the broken URLs that linkinator finds, in 22 to 37 %% of the time and 23 to 29 %% of
the CPU time. (The second URL of linkinator on the small site is beyond it.) linkchecker takes
minutes; it was ended.

## How it was measured

`+"`%s`"+`, at commit %s, with %s on %d cores;
medians of %d runs, in turns. Each checks every link within the site, pages, images, styles and
scripts, and none beyond it. Small is the documentation of Python, medium that of Boost.
CPU is user and system time; linkchecker is Debian's, linkinator npm's. A run of a checker that
does not end is ended after %s, and the checker is not run again.

| site | checker | time, s | CPU, s | peak memory, MB | broken URLs |
|---|---|---|---|---|---|
`, command, machine.Commit(), runtime.Version(), runtime.NumCPU(), runs, most)
	for _, s := range sites {
		if err := compare(&b, s, all, runs, most); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return b.Bytes(), nil
}

// cost is that of a run.
type cost struct {
	took, cpu time.Duration
	peak      int64 // bytes
}

// compare writes a line of the table for each checker.
func compare(b *bytes.Buffer, s origin.Site, all []checker, runs int, most time.Duration) error {
	costs := make([][]cost, len(all))
	found := make([]map[string]bool, len(all))
	endless := make([]bool, len(all))
	for range runs {
		for i, c := range all {
			if _, err := exec.LookPath(c.program); err != nil || endless[i] {
				continue
			}
			one, broken, err := c.run(s.URL, most)
			if endless[i] = errors.Is(err, errEndless); err != nil && !endless[i] {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			costs[i], found[i] = append(costs[i], one), broken
		}
	}
	for i, c := range all {
		if costs[i] == nil {
			fmt.Fprintf(b, "| %s | %s | not installed | | | |\n", s.Name, c.name)
			continue
		}
		broken := strconv.Itoa(len(found[i]))
		if endless[i] {
			broken = "did not end"
		}
		fmt.Fprintf(b, "| %s | %s | %.1f | %.1f | %.0f | %s |\n", s.Name, c.name,
			median(costs[i], func(c cost) float64 { return c.took.Seconds() }),
			median(costs[i], func(c cost) float64 { return c.cpu.Seconds() }),
			median(costs[i], func(c cost) float64 { return float64(c.peak) / 1e6 }), broken)
	}
	return nil
}

var errEndless = errors.New("it did not end")

// run checks a site once. After a time it is ended, with errEndless.
func (c *checker) run(url string, most time.Duration) (cost, map[string]bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	began := time.Now()
	p, err := process.Start(ctx, process.Options{Pipes: true}, c.program, c.args(url)...)
	if err != nil {
		return cost{}, nil, err
	}
	broken, readErr := c.broken(p.Out)
	_, _ = io.Copy(io.Discard, p.Out)
	err = p.Wait()
	if ctx.Err() != nil {
		return cost{time.Since(began), p.CPU(), p.Peak()}, nil, errEndless
	}
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() <= 2 { // broken links
		err = nil
	}
	return cost{time.Since(began), p.CPU(), p.Peak()}, broken, cmp.Or(err, readErr)
}

func median(all []cost, of func(cost) float64) float64 {
	var values []float64
	for _, c := range all {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// withoutFragment makes one URL of all that differ in their fragment.
func withoutFragment(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}

func weftBroken(out io.Reader) (map[string]bool, error) {
	var report struct {
		Findings []struct{ Rule, URL string }
	}
	err := json.NewDecoder(out).Decode(&report)
	broken := make(map[string]bool)
	for _, f := range report.Findings {
		if f.Rule == "broken-link" {
			broken[withoutFragment(f.URL)] = true
		}
	}
	return broken, err
}

func linkinatorBroken(out io.Reader) (map[string]bool, error) {
	text, err := io.ReadAll(out)
	if err != nil {
		return nil, err
	}
	var report struct{ Links []struct{ URL, State string } }
	if at := bytes.IndexByte(text, '{'); at >= 0 {
		err = json.Unmarshal(text[at:], &report)
	}
	broken := make(map[string]bool)
	for _, l := range report.Links {
		if l.State == "BROKEN" {
			broken[withoutFragment(l.URL)] = true
		}
	}
	return broken, err
}

// linkcheckerBroken reads CSV whose lines are links; those of comments begin with #.
func linkcheckerBroken(out io.Reader) (map[string]bool, error) {
	in := csv.NewReader(out)
	in.Comma, in.Comment, in.FieldsPerRecord, in.LazyQuotes = ';', '#', -1, true
	broken := make(map[string]bool)
	column := -1
	for {
		line, err := in.Read()
		if err == io.EOF {
			return broken, nil
		}
		if err != nil {
			return nil, err
		}
		if at := slices.Index(line, "url"); column < 0 && at >= 0 {
			column = at
		} else if column >= 0 && column < len(line) {
			broken[withoutFragment(line[column])] = true
		}
	}
}
