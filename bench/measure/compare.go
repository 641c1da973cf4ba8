package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/lab"
)

// Comparison configures Compare.
type Comparison struct {
	Ways   []lab.Way
	Rounds int

	URLs []string // to fetch; nil: those of a server that Compare starts

	// Options of that server.
	Pages         int
	ConnectDelay  time.Duration // from connection to reading the request
	ResponseDelay time.Duration // from the request to the response

	Begin func(round int) // called before each round, from 1; 0 is the warm-up
}

// Compared is the result of Compare.
type Compared struct {
	Server          string   `json:"server,omitempty"`
	Pages           int      `json:"pages"`
	Rounds          int      `json:"rounds"`
	ConnectDelayMS  float64  `json:"connect_delay_ms,omitempty"`
	ResponseDelayMS float64  `json:"response_delay_ms,omitempty"`
	Ways            []Result `json:"ways"`
	Agree           bool     `json:"agree"`    // all ways fetched all pages, and the same ones
	Disagreements   []string `json:"disagree"` // the differences
}

// Result is the cost of a round of a way: medians of all its rounds; memory is the maximum of all
// rounds, threads the maximum of the first.
type Result struct {
	Name     string   `json:"way"`
	About    string   `json:"about"`
	WallMS   float64  `json:"wall_ms"`
	CPUMS    float64  `json:"cpu_ms"`
	Memory   int64    `json:"memory_bytes"`
	Threads  int      `json:"threads"`
	Switches int64    `json:"context_switches"`
	Faster   *float64 `json:"times_faster"`    // than "blocking", if that ran
	AtOnce   int      `json:"at_once"`         // concurrent pages
	Bound    string   `json:"bound,omitempty"` // the reason why not all
	Error    string   `json:"error,omitempty"`
}

// roundTimeout bounds a round, in addition to the delays of the server for all its pages.
const roundTimeout = 60 * time.Second

// Compare has each way fetch the same pages. Ways take turns, round by round, so that other work on
// the machine affects all alike. It fails if a process does not start or ctx ends; failures of a
// way are in its result.
func Compare(ctx context.Context, c Comparison) (*Compared, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &Compared{Pages: len(c.URLs), Rounds: c.Rounds, Disagreements: []string{}}
	urls, first := c.URLs, 1
	if urls == nil {
		s, err := startServer(ctx, serverTask{ConnectDelay: c.ConnectDelay, ResponseDelay: c.ResponseDelay})
		if err != nil {
			return nil, err
		}
		defer s.Kill()
		urls = s.urls(c.Pages)
		first = 0 // a warm-up, except on a stranger's server
		r.Server, r.Pages, r.ConnectDelayMS, r.ResponseDelayMS = s.addr, c.Pages, ms(c.ConnectDelay), ms(c.ResponseDelay)
	}
	timeout := roundTimeout + time.Duration(len(urls))*(c.ConnectDelay+c.ResponseDelay)
	runners := make([]*runner, len(c.Ways))
	for i, way := range c.Ways {
		w, err := startRunner(ctx, way, urls, timeout)
		if err != nil {
			return nil, err
		}
		defer w.Kill()
		runners[i] = w
	}
	for n := first; n <= c.Rounds; n++ {
		c.Begin(n)
		for i := range runners {
			w := runners[(n+i)%len(runners)] // no way always follows the same other one
			if w.failed != "" {
				continue
			}
			o := w.round(ctx, n == first)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if n > 0 {
				w.rounds = append(w.rounds, o)
			}
		}
	}
	var of *runner // the first that succeeded, with which the others are compared
	for _, w := range runners {
		r.Ways = append(r.Ways, w.result())
		if failed := r.Ways[len(r.Ways)-1].Error; failed != "" {
			r.Disagreements = append(r.Disagreements, fmt.Sprintf("%s: %s", w.way.Name, failed))
			continue
		}
		if of == nil {
			of = w
		}
		r.Disagreements = append(r.Disagreements, differences(w.way.Name, of.way.Name, urls, w.pages, of.pages)...)
	}
	r.Agree = len(r.Disagreements) == 0
	if i := slices.IndexFunc(r.Ways, func(r Result) bool { return r.Name == "blocking" && r.Error == "" }); i >= 0 {
		blocking := r.Ways[i].WallMS
		for i := range r.Ways {
			if w := &r.Ways[i]; w.Error == "" {
				w.Faster = new(blocking / w.WallMS)
			}
		}
	}
	return r, nil
}

// runner is a way in a process of its own.
type runner struct {
	*child
	way      lab.Way
	atOnce   int
	bound    string       // the reason why not all at once
	rounds   []outcome    // without the warm-up
	pages    []digest     // of its first round
	unsteady map[int]bool // pages that differed in another round
	seen     look         // maxima in its first round
	resident int64
	failed   string
}

func startRunner(ctx context.Context, way lab.Way, urls []string, timeout time.Duration) (*runner, error) {
	n, bound := atOnce(way.Name, len(urls))
	p, err := start(ctx, wayName, wayTask{way.Name, urls, n, timeout})
	if err == nil {
		err = p.receive(ctx, new(before))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", way.Name, err)
	}
	return &runner{child: p, way: way, atOnce: n, bound: bound, unsteady: make(map[int]bool)}, nil
}

// round runs a round of the way. The first is watched, which takes some CPU time; the others have
// the machine for themselves.
func (w *runner) round(ctx context.Context, first bool) (o outcome) {
	done, most := make(chan struct{}), make(chan look, 1)
	if first {
		go watch(w.PID(), done, most)
	}
	_ = w.in.Encode("round") // receive reports why it died
	err := w.receive(ctx, &o)
	if first {
		close(done)
		w.seen = <-most
	}
	if err != nil { // it died
		w.failed = err.Error()
		return o
	}
	w.failed, w.resident = o.Error, o.MaxResident
	if first {
		w.pages = o.Pages
	}
	if w.failed == "" {
		for i, p := range o.Pages {
			if !p.same(w.pages[i]) {
				w.unsteady[i] = true
			}
		}
	}
	return o
}

func (w *runner) result() Result {
	r := Result{Name: w.way.Name, About: w.way.About, AtOnce: w.atOnce, Bound: w.bound, Error: w.failed}
	if r.Error == "" && len(w.unsteady) > 0 {
		r.Error = fmt.Sprintf("%d of %d pages not the same in each round", len(w.unsteady), len(w.pages))
	}
	r.WallMS = median(w.rounds, func(o outcome) float64 { return ms(o.Wall) })
	r.CPUMS = median(w.rounds, func(o outcome) float64 { return ms(o.CPU) })
	r.Switches = int64(median(w.rounds, func(o outcome) float64 { return float64(o.Switches) }))
	r.Memory = w.resident + w.seen.children
	r.Threads = w.seen.threads
	return r
}

// differences lists the pages that a way lacks, or that differ from those of the first way.
func differences(way, first string, urls []string, pages, expected []digest) []string {
	var all []string
	for i, p := range pages {
		switch {
		case !p.same(expected[i]):
			all = append(all, fmt.Sprintf("%s: %s: %v; %s has %v", way, urls[i], p, first, expected[i]))
		case p.Error != "":
			all = append(all, fmt.Sprintf("%s: %s: %v", way, urls[i], p))
		}
	}
	return all
}

// median is the middle value, or the mean of the two in the middle.
func median[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, v := range all {
		values[i] = of(v)
	}
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
