//go:build linux

// Store measures frontier/store and writes a page of it: what a commit costs, and how
// long a crawl of millions of URLs takes to go on.
//
//	store [-o FILE] [-disk DIR] [-memory DIR] [-urls N] [-command TEXT]
//
// Each figure is from a process of its own, begun for it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/weftcrawl/weft/internal/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
)

func main() {
	if task, ok := process.Task(); ok {
		if err := measure(task); err != nil {
			fmt.Fprintln(os.Stderr, "store:", err)
			os.Exit(1)
		}
		return
	}
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench-store", "how the figures were made")
	disk := flag.String("disk", "", "folder on a disk; empty: no such figures")
	memory := flag.String("memory", "/dev/shm", "folder in memory")
	urls := flag.Int("urls", 10_000_000, "URLs of the largest crawl that goes on")
	flag.Parse()
	page, err := write(*command, []place{{"memory", *memory}, {"disk", *disk}}, *urls)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, page, 0o666)
	} else if err == nil {
		_, err = os.Stdout.Write(page)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

// place is where a job is.
type place struct{ name, dir string }

// task is what a process is asked to measure.
type task struct {
	What  string // "commit", "fill" or "restart"
	Dir   string // the job
	Group int    // of commit: pages or URLs in a group
	Links int    // of commit: new URLs of a page; 0: there are no pages
	URLs  int    // of fill
	Hosts int    // of fill
	Cold  bool   // of restart: the files are not in the system's cache
}

// result is what it answers.
type result struct {
	Items   int     // pages, or URLs where there are none
	Wall    float64 // seconds
	CPU     float64 // seconds of user and system time, of all threads
	Written float64 // bytes, to whatever file
	Stored  float64 // bytes that the job's folder takes

	Open, Restore, First float64 // of restart: seconds until the store is open, the frontier restored, a URL leased
	Peak                 float64 // bytes of the process at its largest
	Heap                 float64 // bytes in use by the frontier and the store, after a collection
}

func write(command string, places []place, most int) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The frontier's store\n\nWritten by internal/bench/store, which says what each line measures.\n\n")
	fmt.Fprintf(&b, "| | |\n|---|---|\n| machine | %s, %d cores, %s |\n| Go | %s |\n| commit | %s |\n| date | %s |\n| command | `%s` |\n",
		machine.CPU(), runtime.NumCPU(), machine.Kernel(), runtime.Version(), machine.Commit(), time.Now().Format(time.DateOnly), command)
	fmt.Fprintf(&b, "\n## Commits\n\nA URL that is found is told as pending. A page is done, with a line of 500 bytes and 10 new URLs of its host; each group tells its host too.\n"+
		"CPU is user and system time of the process; written is all that it wrote to files: output, log, tables and their compactions.\n\n")
	fmt.Fprintf(&b, "| in | group | groups/s | items/s | CPU of an item | written for it |\n|---|---|---|---|---|---|\n")
	for _, p := range places {
		for _, c := range []struct {
			links, group int
			what         string
		}{{0, 1, "1 URL"}, {0, 100, "100 URLs"}, {0, 1000, "1,000 URLs"}, {10, 1, "1 page"}, {10, 100, "100 pages"}, {10, 1000, "1,000 pages"}} {
			r, err := p.run(task{What: "commit", Group: c.group, Links: c.links})
			if err != nil {
				return nil, err
			}
			if r == nil {
				continue
			}
			n := float64(r.Items)
			fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %.1f µs | %.0f B |\n", p.name, c.what, n/float64(c.group)/r.Wall, machine.Thousands(n/r.Wall), 1e6*r.CPU/n, r.Written/n)
		}
	}
	fmt.Fprintf(&b, "\n## Going on\n\nHalf of the URLs are done, half pending. Time until the store is open, the frontier is restored with 100 URLs of a host in memory, and a URL is leased.\n"+
		"On disk the files are not in the system's cache when that begins. CPU is that of all of it, and of closing the store. Heap is what the restored frontier and the store hold; peak is the process.\n\n")
	fmt.Fprintf(&b, "| in | URLs | hosts | files | filled at | open | restored | leased | CPU | heap | peak |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range places {
		for _, urls := range []int{most / 10, most} {
			for _, hosts := range []int{1, urls / 100} {
				job := filepath.Join(p.dir, "weft-bench-store")
				filled, err := p.run(task{What: "fill", URLs: urls, Hosts: hosts})
				if err != nil {
					return nil, err
				}
				if filled == nil {
					continue
				}
				r, err := p.run(task{What: "restart", Cold: p.name == "disk"})
				os.RemoveAll(job)
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %.0f MB | %s URLs/s | %.2f s | %.2f s | %.2f s | %.2f s | %.0f MB | %.0f MB |\n", p.name, machine.Thousands(float64(urls)),
					machine.Thousands(float64(hosts)), filled.Stored/1e6, machine.Thousands(float64(urls)/filled.Wall), r.Open, r.Restore, r.First, r.CPU, r.Heap/1e6, r.Peak/1e6)
			}
		}
	}
	return b.Bytes(), nil
}

// run measures in a process of its own. There is no result for a place that was not named.
func (p place) run(t task) (*result, error) {
	if p.dir == "" {
		return nil, nil
	}
	t.Dir = filepath.Join(p.dir, "weft-bench-store")
	if t.What != "restart" {
		if err := os.RemoveAll(t.Dir); err != nil {
			return nil, err
		}
	}
	if t.What == "commit" {
		defer os.RemoveAll(t.Dir)
	}
	var r *result
	err := process.Results(context.Background(), t, func(one result) error {
		r = &one
		return nil
	})
	if err == nil && r == nil {
		err = errors.New("its process measured nothing")
	}
	return r, err
}
