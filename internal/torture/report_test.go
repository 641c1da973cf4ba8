package torture_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// instant says when a run is killed: after a time, or earlier, with a request that the
// server gets, or when pages.jsonl has grown.
type instant struct {
	what     string
	after    time.Duration // since its start
	requests int           // 0: any number
	bytes    int64         // 0: any number
}

// draw draws the instant of the next of so many kills: a quarter in the time that a
// run takes to begin or to go on; the others so that all of them together reach from the
// crawl's beginning to its end.
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

// run is one run of the command.
type run struct {
	began time.Time // before
	asked int       // requests the server had got before
}

// kill is how a run has ended.
type kill struct {
	instant
	after   time.Duration // since the start of the run
	records int           // of all runs that were committed then
}

// result is what a crawl has come to, that was killed now and then.
type result struct {
	seed     uint64
	runs     []run
	kills    []kill
	urls     int
	requests int
	took     time.Duration
}

// report is a page about all of them.
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
	fmt.Fprintf(&b, "A crawl that nobody kills takes %.1f s and %d requests.\n\n", r.calm.took.Seconds(), r.calm.requests)

	b.WriteString("What the kills waited for:\n\n| a kill at | kills |\n|---|---:|\n")
	for _, w := range []struct{ what, words string }{
		{"start", "a time drawn from the first 100 ms of a run"},
		{"time", "a time drawn from the run's share of the crawl"},
		{"request", "a request that the server gets"},
		{"record", "a byte of pages.jsonl"},
	} {
		n := 0
		for _, k := range kills {
			if k.what == w.what {
				n++
			}
		}
		fmt.Fprintf(&b, "| %s | %d |\n", w.words, n)
	}

	b.WriteString("\nWhere they met the crawl:\n\n| URLs finished | kills |\n|---|---:|\n")
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

	b.WriteString("\nAnd how long after the start of a run:\n\n| | kills |\n|---|---:|\n")
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
