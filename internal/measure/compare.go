package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/lab"
)

// Comparison is what Compare does.
type Comparison struct {
	Ways   []lab.Way
	Rounds int

	URLs []string // that are fetched; nil: of a server that is started

	// Of that server.
	Pages         int
	ConnectDelay  time.Duration // from connection to reading the request
	ResponseDelay time.Duration // from the request to the answer

	Begin func(lab.Way) // is called before each way
}

// Compared is what came of it.
type Compared struct {
	Server          string   `json:"server,omitempty"`
	Pages           int      `json:"pages"`
	Rounds          int      `json:"rounds"`
	ConnectDelayMS  float64  `json:"connect_delay_ms,omitempty"`
	ResponseDelayMS float64  `json:"response_delay_ms,omitempty"`
	Ways            []Result `json:"ways"`
	Agree           bool     `json:"agree"`    // all have got all pages, and the same
	Disagreements   []string `json:"disagree"` // where they do not
}

// Result is what a round of a way took, the median of all its rounds; memory and threads are the
// most of all rounds.
type Result struct {
	Name     string   `json:"way"`
	About    string   `json:"about"`
	WallMS   float64  `json:"wall_ms"`
	CPUMS    float64  `json:"cpu_ms"`
	Memory   int64    `json:"memory_bytes"`
	Threads  int      `json:"threads"`
	Switches int64    `json:"context_switches"`
	Faster   *float64 `json:"times_faster"` // than the way "blocking", if that ran
	Error    string   `json:"error,omitempty"`
}

// roundTimeout bounds a round, beside the time that the server lets all its pages wait.
const roundTimeout = 60 * time.Second

// Compare has each way fetch the same pages, and says what that took. The error is that
// something could not be started, or that of ctx; what goes wrong in a way is told of it.
func Compare(ctx context.Context, c Comparison) (*Compared, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &Compared{Pages: len(c.URLs), Rounds: c.Rounds, Disagreements: []string{}}
	urls := c.URLs
	if urls == nil {
		s, err := startServer(ctx, serverTask{ConnectDelay: c.ConnectDelay, ResponseDelay: c.ResponseDelay})
		if err != nil {
			return nil, err
		}
		defer s.close()
		urls = s.urls(c.Pages)
		r.Server, r.Pages, r.ConnectDelayMS, r.ResponseDelayMS = s.addr, c.Pages, ms(c.ConnectDelay), ms(c.ResponseDelay)
	}
	timeout := roundTimeout + time.Duration(len(urls))*(c.ConnectDelay+c.ResponseDelay)
	var first []digest // that the others' are compared with
	var whose string
	for _, way := range c.Ways {
		c.Begin(way)
		res, pages, err := measureWay(ctx, way, wayTask{way.Name, urls, len(urls), c.Rounds, timeout})
		if err != nil {
			return nil, err
		}
		r.Ways = append(r.Ways, res)
		if res.Error != "" {
			r.Disagreements = append(r.Disagreements, fmt.Sprintf("%s: %s", way.Name, res.Error))
			continue
		}
		if first == nil {
			first, whose = pages, way.Name
		}
		r.Disagreements = append(r.Disagreements, differences(way.Name, whose, urls, pages, first)...)
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

// measureWay runs a way in a process of its own.
func measureWay(ctx context.Context, way lab.Way, t wayTask) (Result, []digest, error) {
	r := Result{Name: way.Name, About: way.About}
	p, err := start(ctx, wayName, t)
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w", way.Name, err)
	}
	defer p.close()
	done, most := make(chan struct{}), make(chan look, 1)
	go watch(p.cmd.Process.Pid, done, most)
	var o outcome
	if err = p.hear(ctx, new(before)); err == nil {
		err = p.hear(ctx, &o)
	}
	close(done)
	seen := <-most
	switch {
	case ctx.Err() != nil:
		return r, nil, context.Cause(ctx)
	case err != nil: // it has died
		r.Error = err.Error()
		return r, nil, nil
	}
	r.Error = o.Error
	if r.Error == "" && o.Unsteady > 0 {
		r.Error = fmt.Sprintf("%d pages were not the same in each round", o.Unsteady)
	}
	r.WallMS = median(o.Rounds, func(r round) float64 { return ms(r.Wall) })
	r.CPUMS = median(o.Rounds, func(r round) float64 { return ms(r.CPU) })
	r.Switches = int64(median(o.Rounds, func(r round) float64 { return float64(r.Switches) }))
	r.Memory = o.MaxResident + seen.children
	r.Threads = seen.threads
	return r, o.Pages, nil
}

// differences tells of each page that a way has not, or not as the first way has it.
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

// median is that of an even number of values, too: the middle of the two in the middle.
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
