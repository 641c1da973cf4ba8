package torture_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// instant is the moment to kill a run: after a time, or earlier, at a request to the server or when
// pages.jsonl has grown.
type instant struct {
	what     string
	after    time.Duration // since its start
	requests int           // 0: any number
	bytes    int64         // 0: any number
}

// draw draws the instant of the next kill: a quarter of them while a run starts or resumes, the
// others so that together they cover the crawl from its start to its end.
func (v *victim) draw(kills int) instant {
	share := func(of float64) float64 { return v.rng.Float64() * 3 * of / float64(kills) }
	calm := v.calm.result
	patience := 2 * calm.took / time.Duration(kills)
	switch v.rng.IntN(8) {
	case 0, 1:
		return instant{what: "start", after: time.Duration(v.rng.Int64N(int64(100 * time.Millisecond)))}
	case 2, 3:
		return instant{what: "request", after: patience, requests: 1 + int(share(float64(calm.requests)))}
	case 4, 5:
		return instant{what: "record", after: patience, bytes: 1 + int64(share(float64(calm.urls*500)))}
	}
	return instant{what: "time", after: time.Duration(share(float64(calm.took)))}
}

// run is a run of the command.
type run struct {
	began time.Time // before
	asked int       // requests that the server had received before
}

// kill is the end of a run.
type kill struct {
	instant
	after   time.Duration // since the start of the run
	records int           // of all runs, committed by then
}

// result is the outcome of a crawl of several runs.
type result struct {
	seed     uint64
	runs     []run
	kills    []kill
	urls     int
	requests int
	took     time.Duration
}

// report is the part of docs/proof/torture.md about kills.
type report struct {
	calm    result
	results []result
}

func (r report) String() string {
	var b strings.Builder
	var kills []kill
	for _, one := range r.results {
		kills = append(kills, one.kills...)
	}
	fmt.Fprintf(&b, "%d crawls of %d URLs, killed %d times; %d cores, %s.\n", len(r.results), r.calm.urls, len(kills), runtime.NumCPU(), runtime.Version())
	fmt.Fprintf(&b, "An undisturbed crawl takes %.1f s and %d requests.\n\n", r.calm.took.Seconds(), r.calm.requests)

	b.WriteString("The kills waited for:\n\n| a kill at | kills |\n|---|---:|\n")
	for _, w := range []struct{ what, words string }{
		{"start", "a random time in the first 100 ms of a run"},
		{"time", "a random time in the run's share of the crawl"},
		{"request", "a random request at the server"},
		{"record", "a random size of pages.jsonl"},
	} {
		n := 0
		for _, k := range kills {
			if k.what == w.what {
				n++
			}
		}
		fmt.Fprintf(&b, "| %s | %d |\n", w.words, n)
	}

	b.WriteString("\nProgress of the crawl at a kill:\n\n| URLs finished | kills |\n|---|---:|\n")
	const parts = 10
	var met [parts]int
	none := 0
	for _, k := range kills {
		if k.records == 0 {
			none++
		} else {
			met[min(parts-1, k.records*parts/r.calm.urls)]++
		}
	}
	fmt.Fprintf(&b, "| none | %d |\n", none)
	for i, n := range met {
		fmt.Fprintf(&b, "| %d–%d %% | %d |\n", i*100/parts, (i+1)*100/parts, n)
	}

	b.WriteString("\nTime from the start of the run to its kill:\n\n| | kills |\n|---|---:|\n")
	limits := []time.Duration{10, 20, 40, 60, 100, 200, 500, 1000, 2000, 5000}
	before := 0
	slices.SortFunc(kills, func(a, b kill) int { return int(a.after - b.after) })
	for _, limit := range limits {
		n, _ := slices.BinarySearchFunc(kills, limit*time.Millisecond, func(k kill, limit time.Duration) int { return int(k.after - limit) })
		fmt.Fprintf(&b, "| below %d ms | %d |\n", limit, n-before)
		before = n
	}
	if len(kills) > before {
		fmt.Fprintf(&b, "| later | %d |\n", len(kills)-before)
	}

	b.WriteString("\nThe crawls:\n\n| seed | kills | URLs finished at each | time | requests | outcome |\n|---:|---:|---|---:|---:|---|\n")
	for _, one := range r.results {
		at := make([]string, len(one.kills))
		for i, k := range one.kills {
			at[i] = fmt.Sprint(k.records)
		}
		fmt.Fprintf(&b, "| %d | %d | %s | %.1f s | %d | whole |\n", one.seed, len(one.kills), strings.Join(at, " "), one.took.Seconds(), one.requests)
	}
	return b.String()
}
