//go:build linux

// Frontier measures what a URL costs the frontier and its store as a crawl grows, and writes
// docs/bench/frontier.md with a curve.
//
//	frontier [-o FILE] [-dir DIR] [-urls N,N,…] [-hosts N] [-memory BYTES] [-tenth] [-command TEXT]
//
// One process grows a crawl: it finds URLs in batches, adds them to a frontier with a store on
// disk, and commits as the coordinator does. At each number of URLs it waits until the store is
// at rest, then checks URLs in batches of 256: 70 % are known, drawn from the whole crawl. Checks
// that the table in memory cannot decide reach the store. The page is rewritten after each number.
// With -tenth, another process opens the finished store and checks with a tenth of the memory that
// a table of all fingerprints takes.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
)

func main() {
	if task, ok := process.Task(); ok {
		if err := measure(task); err != nil {
			fmt.Fprintln(os.Stderr, "frontier:", err)
			os.Exit(1)
		}
		return
	}
	out := flag.String("o", "", "file to write, with the curve as .svg next to it; empty: standard output, no curve")
	dir := flag.String("dir", os.TempDir(), "folder for the store: 100 bytes per URL and 2 GB")
	urls := flag.String("urls", "1000000,2000000,5000000,10000000", "numbers of URLs to measure at, ascending")
	hosts := flag.Int("hosts", 1_000_000, "hosts")
	memory := flag.Int("memory", 1<<30, "bytes of --memory")
	tenth := flag.Bool("tenth", true, "also check with a tenth of the memory")
	command := flag.String("command", "make bench-frontier", "command to name on the page")
	flag.Parse()
	marks, err := numbers(*urls)
	if err == nil {
		p := page{command: *command, out: *out, task: task{Marks: marks, Hosts: *hosts, Memory: *memory, Seen: *memory/5 + max(0, *memory-128<<20)/5*2}}
		err = p.measure(*dir, *tenth)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "frontier:", err)
		os.Exit(1)
	}
}

func numbers(list string) (all []int, err error) {
	for _, field := range strings.Split(list, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n <= 0 || len(all) > 0 && n <= all[len(all)-1] {
			return nil, fmt.Errorf("urls: %q: expected ascending numbers", list)
		}
		all = append(all, n)
	}
	return all, nil
}

// task is the measurement of a child process.
type task struct {
	Dir    string
	Marks  []int // URLs of the crawl to measure at
	Hosts  int
	Memory int
	Seen   int  // bytes for fingerprints
	Only   bool // check only, in the store of another process

	Profile string // file for a CPU profile; empty: none
}

// result is the measurement at one number of URLs. CPU times are seconds of user and system time,
// of all threads.
type result struct {
	URLs    int
	Since   int     // URLs found since the last result
	CPU     float64 // of finding these, until the store is at rest
	Wall    float64
	All     float64 // CPU of finding all
	Checks  int
	Asked   int     // checks that reached the store
	Check   float64 // CPU of the checks
	Looked  float64 // wall time of the checks
	Stored  float64 // bytes
	Written float64 // bytes since the last result, to any file
	Peak    float64 // largest resident size so far, in bytes
	Table   int     // bytes of fingerprints
}

// page is docs/bench/frontier.md.
type page struct {
	command, out string
	task         task
	rows         []result
	tenth        *result // nil: not yet
}

// measure measures the rows, and writes the page after each.
func (p *page) measure(dir string, tenth bool) error {
	dir, err := os.MkdirTemp(dir, "weft-bench-frontier")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p.task.Dir = filepath.Join(dir, "job")
	err = process.Results(context.Background(), p.task, func(r result) error {
		p.rows = append(p.rows, r)
		return p.write(false)
	})
	if err == nil && tenth {
		t := p.task
		last := p.rows[len(p.rows)-1]
		t.Only, t.Marks, t.Seen = true, []int{last.URLs}, int(float64(last.URLs)*bytesOfURL/10)
		err = process.Results(context.Background(), t, func(r result) error {
			p.tenth = &r
			return nil
		})
	}
	if err != nil {
		return err
	}
	return p.write(true)
}

// bytesOfURL is the size of a fingerprint in a table of all.
const bytesOfURL = 9.6

func (p *page) write(last bool) error {
	if p.out == "" {
		if last {
			_, err := os.Stdout.Write(p.text())
			return err
		}
		return nil
	}
	curve := strings.TrimSuffix(p.out, filepath.Ext(p.out)) + ".svg"
	if err := os.WriteFile(curve, drawing(p.rows), 0o666); err != nil {
		return err
	}
	return os.WriteFile(p.out, p.text(), 0o666)
}

// The prose of the page. The conclusions in take are to be reviewed whenever it is measured again.
const (
	take = `The cost of a new URL grows slowly with the crawl: about four times as much at 100 million URLs
as at one million, most of it compaction. Checks for known URLs stay in memory while the table of
fingerprints fits. With a tenth of the memory for fingerprints, most checks reach the store and
cost some twenty times as much.`

	about = `A child process of bench/frontier grows one crawl: it finds URLs in batches, adds them
to a frontier with a store on disk, and commits as the coordinator does. At each size it waits
until the store is at rest, then checks URLs in batches of 256, 70 % of them known. Rates are per
second of CPU time of the whole process, compactions and garbage collection included; new URLs
are those since the line above, then those of the whole crawl. Asked is the share of checks that
reached the store.`

	aboutTenth = `With a tenth of the memory that all fingerprints take, in a process that opens the finished store:`
)

func (p *page) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Frontier and store, by the size of the crawl\n\n%s\n\n## How it was measured\n\n%s\n\n", take, about)
	fmt.Fprintf(&b, "| | |\n|---|---|\n| machine | %s, %d cores, %s |\n| Go | %s |\n| commit | %s |\n| date | %s |\n| command | `%s` |\n| hosts | %s |\n| `--memory` | %d MiB |\n",
		machine.CPU(), runtime.NumCPU(), machine.Kernel(), runtime.Version(), machine.Commit(), time.Now().Format(time.DateOnly), p.command, machine.Thousands(float64(p.task.Hosts)), p.task.Memory>>20)
	fmt.Fprintf(&b, "\n## Figures\n\n")
	fmt.Fprintf(&b, "| URLs | new URLs | of the whole crawl | checks | asked | table | peak memory | files | written per URL |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range p.rows {
		fmt.Fprintf(&b, "| %s | %s/s | %s/s | %s/s | %.0f %% | %.0f MB | %.0f MB | %.0f MB | %.0f B |\n", machine.Thousands(float64(r.URLs)), machine.Thousands(float64(r.Since)/r.CPU), machine.Thousands(float64(r.URLs)/r.All),
			machine.Thousands(float64(r.Checks)/r.Check), 100*float64(r.Asked)/float64(r.Checks), float64(r.Table)/1e6, r.Peak/1e6, r.Stored/1e6, r.Written/float64(r.Since))
	}
	if p.out != "" {
		fmt.Fprintf(&b, "\n![microseconds of CPU time by URLs of the crawl](%s.svg)\n", strings.TrimSuffix(filepath.Base(p.out), filepath.Ext(p.out)))
	}
	if r := p.tenth; r != nil {
		fmt.Fprintf(&b, "\n%s\n\n", aboutTenth)
		fmt.Fprintf(&b, "| table | checks | asked | peak memory |\n|---|---|---|---|\n| %.0f MB | %s/s | %.0f %% | %.0f MB |\n",
			float64(r.Table)/1e6, machine.Thousands(float64(r.Checks)/r.Check), 100*float64(r.Asked)/float64(r.Checks), r.Peak/1e6)
	}
	return b.Bytes()
}
