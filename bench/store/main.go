//go:build linux

// Store measures frontier/store and writes docs/bench/store.md: the cost of a commit, and the time
// that a crawl of millions of URLs takes to resume.
//
//	store [-o FILE] [-disk DIR] [-memory DIR] [-urls N] [-command TEXT]
//
// Each figure comes from a process of its own.
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

	"github.com/weftcrawl/weft/bench/machine"
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
	command := flag.String("command", "make bench-store", "command to name on the page")
	disk := flag.String("disk", "", "folder on a disk; empty: measure in memory only")
	memory := flag.String("memory", "/dev/shm", "folder in memory")
	urls := flag.Int("urls", 10_000_000, "URLs of the largest crawl to resume")
	flag.Parse()
	page, err := write(*command, []place{{"memory", *memory}, {"disk", *disk}}, *urls)
	machine.Publish("store", *out, page, err)
}

// place is a folder for jobs, with its name.
type place struct{ name, dir string }

// task is the measurement of a child process.
type task struct {
	What  string // "commit", "fill" or "restart"
	Dir   string // the job
	Group int    // of commit: pages or URLs per batch
	Links int    // of commit: new URLs per page; 0: items are URLs
	URLs  int    // of fill
	Hosts int    // of fill
	Cold  bool   // of restart: drop the files from the page cache first
}

// result is the measurement.
type result struct {
	Items   int     // pages or URLs
	Wall    float64 // seconds
	CPU     float64 // seconds of user and system time, of all threads
	Written float64 // bytes, to any file
	Stored  float64 // bytes in the job's folder

	Open, Restore, First float64 // of restart: seconds until store, frontier, first URL are there
	Peak                 float64 // largest resident size, in bytes
	Heap                 float64 // bytes in use by the frontier and the store, after a collection
}

// The prose of the page. The conclusions in take are to be reviewed whenever it is measured again.
const (
	take = `A batch makes commits cheap: beyond 100 URLs or pages per batch, a URL costs about 8 µs of CPU
time and a page with 10 new links some 90 µs, in memory as on a disk. A crawl of 10 million URLs
resumes within seconds when its files are cached; cold, from a disk, it takes up to half a minute
on a busy machine.`

	aboutCommits = `An item is a URL found, committed as pending; or a page done, committed with an output line of
500 bytes and 10 new URLs of its host. Each batch also holds its host's state. CPU is user and
system time of the process. Written counts all bytes written to files: output, log, tables and
their compactions.`

	aboutResuming = `Half of the URLs are done, half are pending. The columns give the time until the store is open,
until the frontier is restored with 100 URLs per host in memory, and until it leases a URL. On a
disk, no file is in the page cache at the start. CPU covers all of it, closing included. Heap is
what the restored frontier and the store hold; peak is the largest resident size of the process.`
)

func write(command string, places []place, most int) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The frontier's store\n\n%s\n\n## How it was measured\n\n`make bench-store` runs it: %s\n\n",
		take, "bench/store measures each figure in a process of its own and\nwrites this page.")
	fmt.Fprintf(&b, "| | |\n|---|---|\n| machine | %s, %d cores, %s |\n| Go | %s |\n| commit | %s |\n| date | %s |\n| command | `%s` |\n",
		machine.CPU(), runtime.NumCPU(), machine.Kernel(), runtime.Version(), machine.Commit(), time.Now().Format(time.DateOnly), command)
	fmt.Fprintf(&b, "\n## Commits\n\n%s\n\n", aboutCommits)
	fmt.Fprintf(&b, "| in | batch | batches/s | items/s | CPU per item | written per item |\n|---|---|---|---|---|---|\n")
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
	fmt.Fprintf(&b, "\n## Resuming\n\n%s\n\n", aboutResuming)
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

// run measures in a process of its own. The result is nil for a place without a folder.
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
