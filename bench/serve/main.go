//go:build linux

// Serve measures weft serve: its memory when idle, its start, the latency of single pages beside a
// plain server of net/http, tools of agents, and what viewers cost a crawl. It writes
// docs/bench/serve.md.
//
//	serve [-o FILE] [-runs N] [-jobs DIR] [-weft FILE] [-command TEXT]
//
// The sites are documentation of Debian, served by an nginx that the program starts.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/bench/origin"
)

// Marks.
const (
	markIdle    = 40   // MB resident
	markMedian  = 15   // ms for a page of 95 KB by 64 clients
	markLate    = 50   // ms, the 99th percentile
	markViewers = 1.01 // CPU time of a crawl with three viewers, of that without
)

const clients = 64

func main() {
	if len(os.Args) > 1 && os.Args[1] == asPeer {
		machine.Exit(asPeer, peer())
		return
	}
	machine.Main("serve", 5, measure)
}

// bench is one making of the page.
type bench struct {
	weft, dir string
	sites     []origin.Site
	runs      int
	page      bytes.Buffer
}

func measure(m machine.Measurement) ([]byte, error) {
	dir, err := os.MkdirTemp(m.Jobs, "weft-serve.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sites := []origin.Site{{Name: "small", Root: origin.Small}}
	for i := range 12 {
		sites = append(sites, origin.Site{Name: fmt.Sprint("medium", i), Root: origin.Medium})
	}
	stop, err := origin.Serve(dir, sites)
	if err != nil {
		return nil, err
	}
	defer stop()
	b := &bench{weft: m.Weft, dir: dir, sites: sites, runs: m.Runs}
	// The first paragraph is to be reviewed whenever the page is measured again.
	fmt.Fprintf(&b.page, `# Crawls as a service

A page at `+"`/v1/scrape`"+` takes half the CPU time of a plain server of net/http and go-readability.
Three viewers cost a crawl of 11,000 URLs a second nothing that can be measured. An idle server has
33 MB resident, of which 6 are its own: the rest is its program. A call of `+"`read`"+` takes 0.3 ms of
CPU for a known page; for a fresh one 9, nine tenths of them in parsing, main content and Markdown.
Clients that ask without a pause wait for each other: the median of 64 is the time that 64 calls
take on two cores, 11 ms with a known page, and 340 with fresh ones, which misses its mark.

`+"`%s`"+`, at commit %s, with %s on %d cores,
%s.

`, m.Command, machine.Commit(), runtime.Version(), runtime.NumCPU(), machine.Load())
	for _, step := range []func() error{b.idle, b.pages, b.agents, b.viewers} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.page.Bytes(), nil
}

// mark says whether a figure is within its mark.
func mark(figure, most float64) string {
	if figure <= most {
		return "met"
	}
	return "missed"
}
