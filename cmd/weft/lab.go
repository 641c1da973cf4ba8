package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/bench/machine"
	"github.com/weftcrawl/weft/internal/measure"
	"github.com/weftcrawl/weft/lab"
	"github.com/weftcrawl/weft/weburl"
)

// labRun is what weft lab is asked for.
type labRun struct {
	url                         weburl.URL // zero: a server of its own
	ways                        []lab.Way
	rounds, pages               int
	connectDelay, responseDelay time.Duration
	connections                 int // 0: none are held
	chart                       string
	json                        bool
}

func labCommand() *cobra.Command {
	run := labRun{ways: lab.Ways, rounds: 10, pages: 10, connectDelay: 25 * time.Millisecond, responseDelay: 100 * time.Millisecond}
	cmd := &cobra.Command{
		Use:   "lab [flags] [URL]",
		Short: "Measure every way to fetch many pages, side by side",
		Long: `Lab has each way to fetch many pages, from one blocking socket after the other to
coroutines, fetch the same pages, all at once if it can, and prints what a round took:
wall time, CPU time, the most memory, threads, context switches, and how many times
faster than blocking it was. Of times and switches it is the median of all rounds.
Ways take turns, each in a process of its own, after a round that does not count;
memory is with that of the program, which is the same for all. So that the machine
survives it, lab has at most 100 processes at once, and 4,000 threads. The code is in
the folder lab of Weft's source.

The pages are those of a server that lab starts, in a process of its own. On loopback
the kernel makes a connection at once, whatever the server does: nobody can delay that
there but the administrator of the machine. So --connect-delay is a time for which the
server leaves a new connection alone before it reads the request. The client is
connected by then: what it waits for is the answer, as long as for both.

With an http URL they are the first pages of that site: that page, and what it leads to
on its host. What its robots.txt disallows is left out. Each way asks for all of them
in each round, --pages of them at once: think of whose site it is.

With --connections N each way holds N slow connections at once, to a server that answers
when all are there, and lab prints the memory and the CPU time of each connection, the
CPU in use while nothing happens, and where and why a way stops. Memory is that of the
process, not the kernel's. With few connections most of it is what a first one needs.

  weft lab latency prints how long things take for a CPU: see weft lab latency --help.

The ways, by how they wait:
` + wayLines() + `
Exit status: 0 measured, and all ways have all pages, and the same; 1 they have not, a
way failed, or the output broke off; 3 wrong usage; 5 interrupted.`,
		Example: `  weft lab
  weft lab --ways blocking,goroutines --rounds 3 --chart lab.svg
  weft lab --connections 15000
  weft lab http://localhost:8080/`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("lab: %s given, expected one URL, or none", plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				var err error
				if run.url, err = plainURL(args[0]); err != nil {
					return usage("lab: %w", err)
				}
			}
			if err := run.check(cmd.Flags()); err != nil {
				return err
			}
			return run.do()
		},
	}
	cmd.AddCommand(labLatencyCommand())
	g := &groups{cmd: cmd}
	g.group("What is measured", func(f *pflag.FlagSet) {
		flag(f, &run.ways, "ways", "", "NAME,...", "", waysOf, "of the ways, these (default all)")
		flag(f, &run.rounds, "rounds", "", "N", "", number(1), "times that each way fetches all pages (default 10, of a URL 1)")
		flag(f, &run.pages, "pages", "", "N", "10", number(1), "pages that are fetched, at once if a way can")
		flag(f, &run.connectDelay, "connect-delay", "", "D", "25ms", durationOrZero, "from a connection until the server reads the request")
		flag(f, &run.responseDelay, "response-delay", "", "D", "100ms", durationOrZero, "from the request until the server answers")
		flag(f, &run.connections, "connections", "", "N", "", number(1), "slow connections to hold at once (default none: pages are fetched)")
	})
	g.group("Output", func(f *pflag.FlagSet) {
		flag(f, &run.chart, "chart", "", "FILE", "", some("a file"), "SVG to draw the wall times to, or the memory of each connection (default none)")
		f.BoolVar(&run.json, "json", false, "as one JSON object (default a table)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

func wayNames() []string {
	names := make([]string, len(lab.Ways))
	for i, w := range lab.Ways {
		names[i] = w.Name
	}
	return names
}

// wayLines tells the ways, as the help has them.
func wayLines() string {
	var b strings.Builder
	for _, w := range lab.Ways {
		fmt.Fprintf(&b, "  %-12s %s\n", w.Name, w.About)
	}
	return b.String()
}

// waysOf reads names of ways, with commas between.
func waysOf(s string) ([]lab.Way, error) {
	var ways []lab.Way
	for name := range strings.SplitSeq(s, ",") {
		i := slices.Index(wayNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("%.64q is no way, expected some of %s, with commas between", name, strings.Join(wayNames(), ","))
		}
		if slices.ContainsFunc(ways, func(w lab.Way) bool { return w.Name == name }) {
			return nil, fmt.Errorf("%s twice, expected each way once", name)
		}
		ways = append(ways, lab.Ways[i])
	}
	return ways, nil
}

// plainURL reads an http URL.
func plainURL(s string) (weburl.URL, error) {
	u, err := weft.ParseSeed(s)
	if err == nil && u.Scheme() != "http" {
		err = fmt.Errorf("URL %.128q: scheme %s, expected http: the ways speak no TLS", weft.WithoutSecrets(s), u.Scheme())
	}
	return u, err
}

// check refuses flags that would have no effect, and what no machine could do.
func (r *labRun) check(f *pflag.FlagSet) error {
	var without []string
	of := ""
	switch {
	case r.connections > 0:
		of, without = "--connections", []string{"rounds", "pages", "connect-delay", "response-delay"}
	case !r.url.IsZero():
		of, without = "a URL", []string{"connect-delay", "response-delay"}
	}
	for _, name := range without {
		if f.Changed(name) {
			return usage("--%s: expected without %s, which it does not concern", name, of)
		}
	}
	switch {
	case r.connections > 0 && !r.url.IsZero():
		return usage("--connections: expected without a URL: they are held by a server that knows of it")
	case r.connections > measure.MaxConnections():
		return tooMany("connections", r.connections)
	case r.pages > measure.MaxConnections():
		return tooMany("pages", r.pages)
	case !r.url.IsZero() && !f.Changed("rounds"):
		r.rounds = 1
	}
	return nil
}

func tooMany(flag string, n int) error {
	return misused(flag, fmt.Sprint(n), fmt.Errorf("expected at most %d, as a server has a descriptor for each (ulimit -n)", measure.MaxConnections()))
}

func (r *labRun) do() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var chart *os.File // is opened before minutes of measuring
	if r.chart != "" {
		_, before := os.Lstat(r.chart)
		if chart, err = os.OpenFile(r.chart, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			return misused("chart", r.chart, fmt.Errorf("%w, expected a file that can be written", reason(err)))
		}
		defer func() {
			if info, _ := chart.Stat(); errors.Is(before, fs.ErrNotExist) && info != nil && info.Size() == 0 {
				_ = os.Remove(r.chart) // nothing was drawn
			}
			if closed := chart.Close(); err == nil && closed != nil {
				err = &exit{exitError, fmt.Errorf("--chart %.128q: %w", r.chart, reason(closed))}
			}
		}()
	}
	if r.connections > 0 {
		return r.hold(ctx, chart)
	}
	return r.compare(ctx, chart)
}

func (r *labRun) compare(ctx context.Context, chart *os.File) error {
	c := measure.Comparison{
		Ways: r.ways, Rounds: r.rounds, Pages: r.pages, ConnectDelay: r.connectDelay, ResponseDelay: r.responseDelay,
		Begin: func(n int) {
			if n == 0 {
				begin("all ways", "a round to warm up")
				return
			}
			begin("all ways", fmt.Sprintf("round %d of %d", n, r.rounds))
		},
	}
	if !r.url.IsZero() {
		var err error
		if c.URLs, err = measure.Site(ctx, r.url, r.pages, weft.DefaultUserAgent); err != nil {
			return labError(ctx, fmt.Errorf("%.256q: %w", weft.WithoutSecrets(r.url.String()), err))
		}
	}
	found, err := measure.Compare(ctx, c)
	if err != nil {
		return labError(ctx, err)
	}
	out := newPrinter()
	if r.json {
		err = out.json.Encode(struct {
			Machine labMachine `json:"machine"`
			*measure.Compared
		}{thisMachine(), found})
	} else {
		r.writeCompared(out, found, thisMachine())
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return standardOutput(err)
	}
	if chart != nil {
		title := fmt.Sprintf("%s: wall time of a round", plural(found.Pages, "page"))
		measured := slices.DeleteFunc(slices.Clone(found.Ways), func(w measure.Result) bool { return w.Error != "" })
		err := draw(chart, title, measured, func(r measure.Result) (string, float64) { return r.Name, r.WallMS / 1000 }, seconds)
		if err != nil {
			return err
		}
	}
	if !found.Agree {
		return &exit{exitError, errors.New("lab: not all ways have all pages, and the same")}
	}
	return nil
}

func (r *labRun) writeCompared(out io.Writer, found *measure.Compared, m labMachine) {
	fmt.Fprintf(out, "%-12s %9s %9s %9s %8s %9s %9s\n", "WAY", "WALL", "CPU", "MEMORY", "THREADS", "SWITCHES", "FASTER")
	for _, w := range found.Ways {
		if w.Error != "" {
			fmt.Fprintf(out, "%-12s %s\n", w.Name, printable(w.Error))
			continue
		}
		faster := "-"
		if w.Faster != nil {
			faster = fmt.Sprintf("%.1f x", *w.Faster)
		}
		fmt.Fprintf(out, "%-12s %9s %9s %9s %8s %9s %9s\n", w.Name, brief(w.WallMS*1e6), brief(w.CPUMS*1e6), volume(w.Memory), count(w.Threads), count(int(w.Switches)), faster)
	}
	of := fmt.Sprintf("a server that waits %v, reads the request, waits %v and answers", r.connectDelay, r.responseDelay)
	if !r.url.IsZero() {
		of = printable(weft.WithoutSecrets(r.url.String()))
	}
	fmt.Fprintf(out, "\n%s of %s\n%s a way: the median of each; of memory and threads the most\n%s\n",
		plural(found.Pages, "page"), of, plural(found.Rounds, "round"), m)
	for _, w := range found.Ways {
		if w.Bound != "" && w.AtOnce > 1 { // but of the way whose point it is to have one
			fmt.Fprintf(out, "%s: %s at once: %s\n", w.Name, count(w.AtOnce), w.Bound)
		}
	}
	if found.Agree {
		fmt.Fprintln(out, "all ways agree on what they fetched")
		return
	}
	fmt.Fprintln(out, "NOT all ways have all pages, and the same:")
	const most = 20
	for i, d := range found.Disagreements {
		if i == most {
			fmt.Fprintf(out, "  and %d more\n", len(found.Disagreements)-most)
			break
		}
		fmt.Fprintf(out, "  %s\n", printable(d))
	}
}

func (r *labRun) hold(ctx context.Context, chart *os.File) error {
	held, err := measure.Hold(ctx, measure.Holding{
		Ways: r.ways, Connections: r.connections, For: 500 * time.Millisecond,
		Begin: func(w lab.Way) { begin(w.Name, plural(r.connections, "connection")) },
	})
	if err != nil {
		return labError(ctx, err)
	}
	out := newPrinter()
	if r.json {
		err = out.json.Encode(struct {
			Machine     labMachine     `json:"machine"`
			Connections int            `json:"connections"`
			Ways        []measure.Held `json:"ways"`
		}{thisMachine(), r.connections, held})
	} else {
		writeHeld(out, r.connections, held, thisMachine())
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return standardOutput(err)
	}
	if chart != nil {
		title := fmt.Sprintf("memory of each of %s", plural(r.connections, "connection"))
		some := slices.DeleteFunc(slices.Clone(held), func(h measure.Held) bool { return h.Held == 0 })
		return draw(chart, title, some, func(h measure.Held) (string, float64) {
			name := h.Name
			if h.Held < r.connections {
				name += ": " + count(h.Held)
			}
			return name, max(0, h.PerConnection)
		}, func(n float64) string { return volume(int64(n)) })
	}
	return nil
}

func writeHeld(out io.Writer, n int, held []measure.Held, m labMachine) {
	fmt.Fprintf(out, "%-12s %8s %9s %11s %9s %9s %8s  %s\n", "WAY", "HELD", "MEMORY", "MEMORY EACH", "CPU EACH", "CPU IDLE", "THREADS", "STOPPED BY")
	for _, h := range held {
		each, cpu, idle, stopped := "-", "-", "-", "-"
		if h.Held > 0 {
			each, cpu, idle = volume(int64(h.PerConnection)), brief(h.CPUPer*1e3), fmt.Sprintf("%.0f %%", h.Idle)
		}
		if h.Stopped != "" {
			stopped = printable(h.Stopped)
		}
		fmt.Fprintf(out, "%-12s %8s %9s %11s %9s %9s %8s  %s\n", h.Name, count(h.Held), volume(h.Memory), each, cpu, idle, count(h.Threads), stopped)
	}
	fmt.Fprintf(out, "\n%s asked for at once; memory is what the processes of a way have resident\n%s\n", plural(n, "connection"), m)
}

// begin says on standard error what is measured now.
func begin(name, what string) { fmt.Fprintf(os.Stderr, "measuring %s: %s\n", name, what) }

// labError is why there is nothing to print.
func labError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exit{exitInterrupted, nil}
	}
	return &exit{exitError, fmt.Errorf("lab: %w", err)}
}

// draw draws a chart to a file.
func draw[T any](to *os.File, title string, all []T, of func(T) (string, float64), format func(float64) string) error {
	names, values := make([]string, len(all)), make([]float64, len(all))
	for i, v := range all {
		names[i], values[i] = of(v)
	}
	svg, err := measure.Chart(title, names, values, format)
	if err == nil {
		_ = to.Truncate(0) // what was in the file stayed until now; a pipe has no length
		_, err = to.Write(svg)
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("--chart %.128q: %w", to.Name(), reason(err))}
	}
	return nil
}

// brief is a time in ns with two or three digits and its unit.
func brief(ns float64) string {
	for _, unit := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}} {
		if n := ns / unit.ns; n >= 1 || unit.ns == 1 {
			digits := 2
			switch {
			case n >= 100:
				digits = 0
			case n >= 10:
				digits = 1
			}
			return fmt.Sprintf("%.*f %s", digits, n, unit.name)
		}
	}
	return ""
}

// labMachine is where it was measured.
type labMachine struct {
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

func thisMachine() labMachine {
	return labMachine{machine.CPU(), runtime.NumCPU(), machine.Kernel(), runtime.Version()}
}

func (m labMachine) String() string {
	return printable(fmt.Sprintf("%s, %s, %s, %s", m.CPU, plural(m.CPUs, "CPU"), m.Kernel, m.Go))
}
