package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/bench/lab"
	"github.com/weftcrawl/weft/bench/measure"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/sys/unix"
)

const waysHelp = `
Measure every way to fetch many pages, side by side.

Usage:
  weft-lab [flags] [URL]       fetch the same pages by each way
  weft-lab latency [flags]     measure basic operations; see weft-lab latency --help

Each way fetches the same pages, as many at once as it can. The table shows wall time, CPU
time, peak memory, threads, context switches and the speed-up over blocking. Times and
switches are medians of all rounds. Ways take turns, each in its own process, after a round
that does not count. Memory includes the program, which is the same for all. To keep the
machine usable, the lab runs at most 100 processes and 4,000 threads at once.

The pages come from a server that the lab starts in its own process. On loopback the kernel
completes every connection at once, so --connect-delay is the time that the server waits
before it reads a request: the client waits for the response as long as for both.

With an http URL, the pages are the first ones of that site: the given page and those it leads
to on its host, except what robots.txt disallows. Each way requests all of them in each round,
--pages at a time: consider whose site it is.

With --connections N, each way holds N slow connections at once, to a server that responds
when all are there. The table shows memory and CPU time per connection, the CPU in use while
nothing happens, and where and why a way stops. Memory is the process's, without the kernel's.
With few connections, most of it belongs to the first one.

The ways, by how they wait:
@WAYS@
Exit status: 0 measured, and all ways agree; 1 they disagree, a way failed or the output broke
off; 3 wrong usage; 5 interrupted.

Examples:
  weft-lab
  weft-lab --ways blocking,goroutines --rounds 3 --chart lab.svg
  weft-lab --connections 15000
  weft-lab http://localhost:8080/
`

// waysRun is a run of weft-lab without a sub-command.
type waysRun struct {
	url                         weburl.URL // zero: a server of the lab's
	ways                        []lab.Way
	rounds, pages               int
	connectDelay, responseDelay time.Duration
	connections                 int // 0: fetch pages
	chart                       string
	json                        bool
}

func (r *waysRun) flags() *pflag.FlagSet {
	*r = waysRun{
		ways: lab.Ways, rounds: 10, pages: 10,
		connectDelay: 25 * time.Millisecond, responseDelay: 100 * time.Millisecond,
	}
	f := newFlags("weft-lab", strings.ReplaceAll(waysHelp, "@WAYS@", wayLines()))
	f.Func("ways", "measure only these `NAME,...` (default: all)", set(&r.ways, readWays))
	f.Func("rounds", "have each way fetch all pages `N` times (default: 10; 1 with a URL)",
		set(&r.rounds, readNumber))
	f.Func("pages", "fetch `N` pages (default: 10)", set(&r.pages, readNumber))
	f.Func("connect-delay", "wait `D` before the server reads a request (default: 25ms)",
		set(&r.connectDelay, readDelay))
	f.Func("response-delay", "wait `D` before the server responds (default: 100ms)",
		set(&r.responseDelay, readDelay))
	f.Func("connections", "hold `N` slow connections at once (default: fetch pages)",
		set(&r.connections, readNumber))
	f.Func("chart", "draw times, or memory per connection, as SVG to `FILE` (default: no chart)",
		set(&r.chart, readName))
	f.BoolVar(&r.json, "json", false, "print one JSON object (default: a table)")
	return f
}

func runWays(ctx context.Context, args []string) error {
	var r waysRun
	f := r.flags()
	if err := parse(f, args); err != nil {
		return err
	}
	switch f.NArg() {
	case 0:
	case 1:
		var err error
		if r.url, err = readURL(f.Arg(0)); err != nil {
			return usage("%w", err)
		}
	default:
		return usage("%s given, expected at most one URL", plural(f.NArg(), "argument"))
	}
	if err := r.check(f); err != nil {
		return err
	}
	if r.connections > 0 {
		return r.hold(ctx)
	}
	return r.compare(ctx)
}

// check refuses flags that would have no effect, and sizes that no machine could handle.
func (r *waysRun) check(f *pflag.FlagSet) error {
	var without []string
	with := ""
	switch {
	case r.connections > 0:
		with = "--connections"
		without = []string{"rounds", "pages", "connect-delay", "response-delay"}
	case !r.url.IsZero():
		with, without = "a URL", []string{"connect-delay", "response-delay"}
	}
	for _, name := range without {
		if f.Changed(name) {
			return usage("--%s has no effect with %s: expected one of them", name, with)
		}
	}
	most := measure.MaxConnections()
	for _, n := range []struct {
		flag  string
		value int
	}{{"connections", r.connections}, {"pages", r.pages}} {
		if n.value > most {
			return usage("--%s \"%d\": expected at most %d, as a server needs a descriptor for each"+
				" (ulimit -n)", n.flag, n.value, most)
		}
	}
	if r.connections > 0 && !r.url.IsZero() {
		return usage("--connections: expected without a URL: only the lab's server can hold them")
	}
	if !r.url.IsZero() && !f.Changed("rounds") {
		r.rounds = 1
	}
	if r.chart != "" {
		if err := writable(r.chart); err != nil {
			return usage("--chart %.128q: %w, expected a file that can be written", r.chart, fileReason(err))
		}
	}
	return nil
}

// writable reports, without opening anything, whether a file can be written: measuring takes
// minutes, and what the file holds stays until there is a chart to replace it.
func writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK)
	case err != nil:
		return err
	case info.IsDir():
		return unix.EISDIR
	}
	return unix.Access(path, unix.W_OK)
}

func (r *waysRun) compare(ctx context.Context) error {
	c := measure.Comparison{
		Ways: r.ways, Rounds: r.rounds, Pages: r.pages,
		ConnectDelay: r.connectDelay, ResponseDelay: r.responseDelay,
		Begin: func(n int) {
			if n == 0 {
				fmt.Fprintln(os.Stderr, "measuring all ways: warm-up round")
				return
			}
			fmt.Fprintf(os.Stderr, "measuring all ways: round %d of %d\n", n, r.rounds)
		},
	}
	if !r.url.IsZero() {
		var err error
		if c.URLs, err = measure.Site(ctx, r.url, r.pages, weft.DefaultUserAgent); err != nil {
			return fmt.Errorf("%.256q: %w", weft.WithoutSecrets(r.url.String()), err)
		}
	}
	found, err := measure.Compare(ctx, c)
	if err != nil {
		return err
	}
	if err := r.printCompared(found); err != nil {
		return err
	}
	if err := r.drawCompared(found); err != nil {
		return err
	}
	if !found.Agree {
		return errors.New("some ways lack pages, or fetched other ones")
	}
	return nil
}

func (r *waysRun) hold(ctx context.Context) error {
	held, err := measure.Hold(ctx, measure.Holding{
		Ways: r.ways, Connections: r.connections, For: 500 * time.Millisecond,
		Begin: func(w lab.Way) {
			fmt.Fprintf(os.Stderr, "measuring %s: %s\n", w.Name, plural(r.connections, "connection"))
		},
	})
	if err != nil {
		return err
	}
	if err := r.printHeld(held); err != nil {
		return err
	}
	return r.drawHeld(held)
}

// wayLines lists the ways for the help.
func wayLines() string {
	var b strings.Builder
	for _, w := range lab.Ways {
		fmt.Fprintf(&b, "  %-12s %s\n", w.Name, w.About)
	}
	return b.String()
}

// readWays reads names of ways, separated by commas.
func readWays(s string) ([]lab.Way, error) {
	names := make([]string, len(lab.Ways))
	for i, w := range lab.Ways {
		names[i] = w.Name
	}
	var ways []lab.Way
	for name := range strings.SplitSeq(s, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("%.64q is not a way, expected some of %s, separated by commas",
				name, strings.Join(names, ","))
		}
		if slices.ContainsFunc(ways, func(w lab.Way) bool { return w.Name == name }) {
			return nil, fmt.Errorf("%s is repeated, expected each way once", name)
		}
		ways = append(ways, lab.Ways[i])
	}
	return ways, nil
}

func readURL(s string) (weburl.URL, error) {
	u, err := weft.ParseSeed(s)
	if err == nil && u.Scheme() != "http" {
		err = fmt.Errorf("URL %.128q: scheme %s, expected http: the ways do not speak TLS",
			weft.WithoutSecrets(s), u.Scheme())
	}
	return u, err
}

func readNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("expected a whole number, 1 or more")
	}
	return n, nil
}

func readDelay(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New("expected a duration, such as 0s, 500ms or 2s")
	}
	return d, nil
}

func readName(s string) (string, error) {
	if s == "" {
		return "", errors.New("expected the name of a file or folder")
	}
	return s, nil
}
