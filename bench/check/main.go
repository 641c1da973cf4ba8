//go:build linux

// Check measures weft check beside other link checkers, and writes docs/bench/check.md.
//
//	check [-o FILE] [-runs N] [-most D] [-weft FILE] [-linkchecker FILE] [-linkinator FILE]
//	    [-command TEXT]
//
// The sites are the documentation in Debian's python3.11-doc and libboost1.81-doc, served by an
// nginx that the program starts, and the faults of internal/webtest. A checker that is not there is
// left out.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/bench/origin"
	"github.com/weftcrawl/weft/internal/process"
)

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench-check", "command to name on the page")
	weft := flag.String("weft", "", "the command to measure")
	linkchecker := flag.String("linkchecker", "linkchecker", "of Debian")
	linkinator := flag.String("linkinator", "linkinator", "of npm")
	runs := flag.Int("runs", 3, "runs of each")
	most := flag.Duration("most", 10*time.Minute, "end a run after that time")
	flag.Parse()
	page, err := measure(*weft, *linkinator, *linkchecker, *runs, *most, *command)
	machine.Publish("check", *out, page, err)
}

func measure(weft, linkinator, linkchecker string, runs int, most time.Duration, command string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "weft-check.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	all, err := checkers(dir, weft, linkinator, linkchecker)
	if err != nil {
		return nil, err
	}
	sites := []origin.Site{
		{Name: "small", Root: origin.Small, Field: linkcheckerField + " yes"},
		{Name: "medium", Root: origin.Medium, Field: linkcheckerField + " yes"},
	}
	stop, err := origin.Serve(dir, sites)
	if err != nil {
		return nil, err
	}
	defer stop()
	var b bytes.Buffer
	// The sentences are to be reviewed whenever the page is measured again.
	fmt.Fprintf(&b, `# Link checks

weft check takes a fifth of linkinator's CPU time, and between a twentieth and a fortieth of
linkchecker's, for the same broken URLs. Of the planted faults it reports all, linkinator and
linkchecker four in five.

## How it was measured

`+"`%s`"+` at commit %s, with %s on %d cores. CPU is user and system time; memory is the
largest resident size.

| checker | arguments on both sites |
|---|---|
%s
linkinator is 7.6.1, the last one for Node 20; linkchecker is Debian's 10.2.1. linkchecker asks a
server for at most 10 pages a second, unless responses have the field `+"`LinkChecker`"+` and its file
sets `+"`maxrequestspersecond`"+`: here, both do. Its AnchorCheck is left out on the sites, where it did
not end within 20 minutes, so it reports no fragments there. The second URL of linkinator on the
small site is beyond it.

## Two sites

Each checker reads every page, style and script of the site and requests nothing beyond it. Small is
the documentation of Python, medium that of Boost. Medians of %d runs in turns; of linkchecker, one.
Other programs ran meanwhile, so CPU time counts.

| site | checker | time, s | CPU, s | peak memory, MB | broken URLs | missing fragments |
|---|---|---|---|---|---|---|
`, command, machine.Commit(), runtime.Version(), runtime.NumCPU(), argumentsOf(all, dir), runs)
	for _, s := range sites {
		if err := compare(&b, s, all, runs, most); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if err := planted(&b, all, runs, most); err != nil {
		return nil, fmt.Errorf("planted faults: %w", err)
	}
	return b.Bytes(), nil
}

// argumentsOf returns the rows of a table.
func argumentsOf(all []checker, dir string) string {
	var rows strings.Builder
	for _, c := range all {
		args := strings.ReplaceAll(strings.Join(slices.Concat(c.args, c.within), " "), dir+"/", "")
		fmt.Fprintf(&rows, "| %s | `%s` |\n", c.name, strings.ReplaceAll(args, "|", "\\|"))
	}
	return rows.String()
}

// cost is that of a run.
type cost struct {
	took, cpu time.Duration
	peak      int64 // bytes
}

// compare writes a line of the table for each checker.
func compare(b *bytes.Buffer, s origin.Site, all []checker, runs int, most time.Duration) error {
	costs := make([][]cost, len(all))
	found := make([][]report, len(all))
	endless := make([]bool, len(all))
	for n := range runs {
		for i, c := range all {
			if !c.installed() || endless[i] || c.once && n > 0 {
				continue
			}
			one, reports, err := c.run(s.URL, c.within, most)
			if endless[i] = errors.Is(err, errEndless); err != nil && !endless[i] {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(os.Stderr, "%s %s: %.0f s, CPU %.0f s\n", s.Name, c.name, one.took.Seconds(), one.cpu.Seconds())
			costs[i], found[i] = append(costs[i], one), reports
		}
	}
	for i, c := range all {
		if costs[i] == nil {
			fmt.Fprintf(b, "| %s | %s | not installed | | | | |\n", s.Name, c.name)
			continue
		}
		urls, fragments := count(found[i])
		if endless[i] {
			urls, fragments = "did not end", ""
		}
		fmt.Fprintf(b, "| %s | %s | %.1f | %.1f | %.0f | %s | %s |\n", s.Name, c.name,
			median(costs[i], func(c cost) float64 { return c.took.Seconds() }),
			median(costs[i], func(c cost) float64 { return c.cpu.Seconds() }),
			median(costs[i], func(c cost) float64 { return float64(c.peak) / 1e6 }), urls, fragments)
	}
	return nil
}

// count returns how many URLs are reported as broken, and how many of pages that lack the fragment.
func count(reports []report) (urls, fragments string) {
	broken, lacking := make(map[string]bool), make(map[string]bool)
	for _, r := range reports {
		switch {
		case r.what == whatBroken && !strings.HasPrefix(r.url, "mailto:"):
			broken[withoutFragment(r.url)] = true
		case r.what == whatFragment:
			lacking[r.url] = true
		}
	}
	return strconv.Itoa(len(broken)), strconv.Itoa(len(lacking))
}

var errEndless = errors.New("it did not end")

// run checks a site with more arguments. After a time it is ended, with errEndless. The report goes
// to a file: linkinator ends before a pipe has taken it all.
func (c *checker) run(url string, more []string, most time.Duration) (cost, []report, error) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	out, err := os.CreateTemp("", "weft-check.")
	if err != nil {
		return cost{}, nil, err
	}
	defer func() { _ = errors.Join(out.Close(), os.Remove(out.Name())) }()
	began := time.Now()
	args := slices.Concat([]string{"-c", `exec "$@" >"$0"`, out.Name(), c.program}, c.args, more, []string{url})
	p, err := process.Run(ctx, process.Options{}, "sh", args...)
	if p == nil {
		return cost{}, nil, err
	}
	if ctx.Err() != nil {
		return cost{time.Since(began), p.CPU(), p.Peak()}, nil, errEndless
	}
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() <= 2 { // broken links
		err = nil
	}
	one := cost{time.Since(began), p.CPU(), p.Peak()}
	if err != nil {
		return one, nil, err
	}
	reports, err := c.read(out)
	return one, reports, err
}

func median(all []cost, of func(cost) float64) float64 {
	var values []float64
	for _, c := range all {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
