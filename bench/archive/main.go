//go:build linux

// Archive measures what an archive costs a crawl, and how fast records are written and read, and
// writes docs/bench/archive.md.
//
//	archive [-o FILE] [-runs N] [-jobs DIR] [-weft FILE] [-command TEXT]
//
// The site is the documentation in Debian's libboost1.81-doc, served by an nginx that the program
// starts.
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/bench/origin"
	"github.com/weftcrawl/weft/internal/process"
)

// Marks: CPU time relative to a crawl without an archive, and rates of one core.
const (
	markCoded   = 1.15
	markPlain   = 1.5
	markPages   = 10_000 // small pages a second, written
	markWritten = 300    // MB of compressed bodies a second
	markRecords = 15_000 // gzip records a second, read
	markRead    = 300    // MB of uncompressed records a second
)

func main() { machine.Main("archive", 25, measure) }

// bench is one making of the page.
type bench struct {
	weft, dir, url string
	runs           int
	page           bytes.Buffer
}

func measure(m machine.Measurement) ([]byte, error) {
	dir, err := os.MkdirTemp(m.Jobs, "weft-archive.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	site := []origin.Site{{Name: "medium", Root: origin.Medium, Validators: true}}
	stop, err := origin.Serve(dir, site)
	if err != nil {
		return nil, err
	}
	defer stop()
	b := &bench{weft: m.Weft, dir: dir, url: site[0].URL, runs: m.Runs}
	// The first paragraph is to be reviewed whenever the page is measured again.
	fmt.Fprintf(&b.page, `# The archive

An archive of bodies that come compressed costs a crawl 13 to 14 %% of its CPU time, and of plain
ones 46 to 47 %%, by two series each of 15 to 25 pairs on a quiet machine. All marks are met, these
two by little: single pairs are on either side.

Of plain bodies perf attributes half of the difference to deflate, which takes 760 MB/s of such
pages with codes that are known beforehand (internal/deflate; klauspost's fastest level takes 260
to 320), and a sixth to SHA-256 of the block. Of compressed bodies it is SHA-256 of block and
payload (22 %%), writing to the file (12 %%), placing records and their lines in the index (10 %%),
then fields, keys and allocations. Tried without gain: parsing and encoding apart (0.9x), stepping
by two bytes (archives grow by 8 %%), tables of half the size, huge pages for the heap.

## How it was measured

`+"`%s`"+`, at commit %s, with %s on %d cores;
%d pairs of crawls, in turns. All figures are CPU time, user and system. The site is the medium one:
3,903 pages of 15 KB, 1,219 dead links. Jobs are in memory (%s).

`, m.Command, machine.Commit(), runtime.Version(), runtime.NumCPU(), m.Runs, m.Jobs)
	for _, step := range []func() error{b.crawls, b.writing, b.reading} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.page.Bytes(), nil
}

// plainly asks for bodies without content coding.
var plainly = []string{"-H", "Accept-Encoding: identity"}

// job is the folder of the crawls with an archive, whose bodies came with or without coding.
func (b *bench) job(coded bool) string {
	if coded {
		return filepath.Join(b.dir, "coded")
	}
	return filepath.Join(b.dir, "plain")
}

// cost is that of a process.
type cost struct {
	cpu  time.Duration
	peak int64 // bytes
}

// run runs a program that crawls the site.
func run(program string, args ...string) (cost, error) {
	p, err := process.Run(context.Background(), process.Options{}, program, args...)
	if err != nil {
		return cost{}, err
	}
	return cost{p.CPU(), p.Peak()}, nil
}

// crawls compares crawls with and without an archive, and a crawl of wget.
func (b *bench) crawls() error {
	fmt.Fprintf(&b.page, "## Crawls\n\nCPU and peak memory are medians; the ratio is the median of the pairs'.\n\n"+
		"| bodies | off: CPU s, MB | on: CPU s, MB | ratio of CPU | mark |\n|---|---|---|---|---|\n")
	for _, coded := range []bool{true, false} {
		name, mark, args := "gzip", markCoded, []string{"crawl", "-c", "64", "-q", b.url}
		if !coded {
			name, mark, args = "plain", markPlain, append(args, plainly...)
		}
		var off, on []cost
		var ratios []float64
		for range b.runs {
			without := filepath.Join(b.dir, "without")
			if err := cmp.Or(os.RemoveAll(without), os.RemoveAll(b.job(coded))); err != nil {
				return err
			}
			x, err := run(b.weft, append(args, "--job", without)...)
			if err != nil {
				return err
			}
			y, err := run(b.weft, append(args, "--warc", "--assets=none", "--job", b.job(coded))...)
			if err != nil {
				return err
			}
			off, on, ratios = append(off, x), append(on, y), append(ratios, y.cpu.Seconds()/x.cpu.Seconds())
		}
		ratio := machine.Median(ratios)
		fmt.Fprintf(&b.page, "| %s | %s | %s | %.2f (%.2f–%.2f) | %s |\n", name, figures(off), figures(on),
			ratio, slices.Min(ratios), slices.Max(ratios), verdict(ratio <= mark, fmt.Sprintf("≤ %.2f", mark)))
	}
	return b.wget()
}

// wget crawls the site once with GNU Wget, which asks for no coding.
func (b *bench) wget() error {
	var all []cost
	for range min(b.runs, 3) {
		dir, err := os.MkdirTemp(b.dir, "wget.")
		if err != nil {
			return err
		}
		p, err := process.Run(context.Background(), process.Options{Dir: dir}, "wget", "-q", "-r", "-l", "inf", "-e", "robots=off",
			"--delete-after", "--warc-file="+filepath.Join(dir, "wget"), b.url)
		const deadLinks = 8 // exit status: the server issued an error response
		if err != nil && (p == nil || p.ExitCode() != deadLinks) {
			return err
		}
		all = append(all, cost{p.CPU(), p.Peak()})
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b.page, "\n`wget -r --warc-file` takes %s MB for the plain ones (CPU s, peak memory; median of %d).\n", figures(all), len(all))
	return nil
}

// figures are the medians of CPU seconds and peak memory.
func figures(all []cost) string {
	var cpu, peak []float64
	for _, c := range all {
		cpu, peak = append(cpu, c.cpu.Seconds()), append(peak, float64(c.peak)/1e6)
	}
	return fmt.Sprintf("%.2f, %.0f", machine.Median(cpu), machine.Median(peak))
}

func verdict(met bool, mark string) string {
	if met {
		return mark + ", met"
	}
	return mark + ", **missed**"
}
