//go:build linux

// Frontier measures what a URL costs the frontier and its store as a crawl grows, and
// writes a page of it, with a curve.
//
//	frontier [-o FILE] [-dir DIR] [-urls N,N,…] [-hosts N] [-memory BYTES] [-tenth] [-command TEXT]
//
// One process makes a crawl: its URLs are found in batches, added to a frontier that tells a
// store on disk, and committed in groups as the desk makes them. At each number of URLs it
// lets the store come to rest, and checks URLs, 70 % of them known and any of the crawl's, in
// batches of 256, as the desk does it: what the table in memory cannot tell is looked up in the
// store. The page is written anew after each. With -tenth another process opens the store that
// is left, and checks with a tenth of the memory that a table of all fingerprints takes.
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

	"github.com/weftcrawl/weft/internal/bench/machine"
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
	out := flag.String("o", "", "file to write, and beside it one of the curve, .svg; empty: standard output, and no curve")
	dir := flag.String("dir", os.TempDir(), "folder for the store: 100 bytes a URL, and 2 GB")
	urls := flag.String("urls", "1000000,2000000,5000000,10000000", "numbers of URLs to measure at, ascending")
	hosts := flag.Int("hosts", 1_000_000, "hosts")
	memory := flag.Int("memory", 1<<30, "what --memory says")
	tenth := flag.Bool("tenth", true, "check with a tenth of the memory too")
	command := flag.String("command", "make bench-frontier", "how the figures were made")
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

// task is what a process is asked to measure.
type task struct {
	Dir    string
	Marks  []int // URLs of the crawl to measure at
	Hosts  int
	Memory int
	Seen   int  // bytes for fingerprints
	Only   bool // checks, in the store of another process

	Profile string // file for a CPU profile; empty: none
}

// result is what it answers, at one number of URLs. CPU is seconds of user and system time, of all
// threads.
type result struct {
	URLs    int
	Since   int     // URLs that were found since the last result
	CPU     float64 // of finding these, until the store has come to rest
	Wall    float64
	All     float64 // CPU of finding all
	Checks  int     // and how many of them the store was asked about
	Asked   int
	Check   float64 // CPU of the checks
	Looked  float64 // their wall time
	Stored  float64 // bytes
	Written float64 // bytes since the last result, to whatever file
	Peak    float64 // bytes of the process at its largest, so far
	Table   int     // bytes of fingerprints
}

// page is what is written.
type page struct {
	command, out string
	task         task
	rows         []result
	tenth        *result // nil: not yet
}

// measure makes the rows, and writes the page after each.
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

// bytesOfURL is what a fingerprint takes in a table of all.
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

func (p *page) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Frontier and store, by the size of the crawl\n\nWritten by internal/bench/frontier, which says what each line measures.\n\n")
	fmt.Fprintf(&b, "| | |\n|---|---|\n| machine | %s, %d cores, %s |\n| Go | %s |\n| commit | %s |\n| date | %s |\n| command | `%s` |\n| hosts | %s |\n| `--memory` | %d MiB |\n",
		machine.CPU(), runtime.NumCPU(), machine.Kernel(), runtime.Version(), machine.Commit(), time.Now().Format(time.DateOnly), p.command, machine.Thousands(float64(p.task.Hosts)), p.task.Memory>>20)
	fmt.Fprintf(&b, "\nOne crawl, as it grows. New URLs and checks are for one second of CPU time of the whole process, compactions and garbage collection included; new URLs are those since the line above, and those of the whole crawl. Asked is the part of the checks that the store was asked about.\n\n")
	fmt.Fprintf(&b, "| URLs | new URLs | of the whole crawl | checks | asked | table | peak of the process | files | written for a URL |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range p.rows {
		fmt.Fprintf(&b, "| %s | %s/s | %s/s | %s/s | %.0f %% | %.0f MB | %.0f MB | %.0f MB | %.0f B |\n", machine.Thousands(float64(r.URLs)), machine.Thousands(float64(r.Since)/r.CPU), machine.Thousands(float64(r.URLs)/r.All),
			machine.Thousands(float64(r.Checks)/r.Check), 100*float64(r.Asked)/float64(r.Checks), float64(r.Table)/1e6, r.Peak/1e6, r.Stored/1e6, r.Written/float64(r.Since))
	}
	if p.out != "" {
		fmt.Fprintf(&b, "\n![microseconds of CPU time by URLs of the crawl](%s.svg)\n", strings.TrimSuffix(filepath.Base(p.out), filepath.Ext(p.out)))
	}
	if r := p.tenth; r != nil {
		fmt.Fprintf(&b, "\nWith a table of a tenth of the memory that all fingerprints take, in a process that opens the store of %s URLs:\n\n", machine.Thousands(float64(r.URLs)))
		fmt.Fprintf(&b, "| table | checks | asked | peak of the process |\n|---|---|---|---|\n| %.0f MB | %s/s | %.0f %% | %.0f MB |\n",
			float64(r.Table)/1e6, machine.Thousands(float64(r.Checks)/r.Check), 100*float64(r.Asked)/float64(r.Checks), r.Peak/1e6)
	}
	return b.Bytes()
}
