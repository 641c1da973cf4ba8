package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/bench/measure"
)

const latencyHelp = `
Measure how long basic operations take on this machine.

Usage:
  weft-lab latency [flags]

Measures an instruction, a read from each cache and from memory, a mutex, switches between
coroutines, goroutines and threads, a system call, a byte over loopback and back, and the disk.
Next to each time stands a human scale on which a nanosecond lasts a second. Each is the least
of fifty measurements, as other work on the machine can only add to it. The disk is the one
of --dir: the lab writes a file of 64 MiB there and removes it.

The line of an operation that cannot be measured on this machine says why.

Exit status: 0 measured; 1 the output broke off; 3 wrong usage; 5 interrupted.

Examples:
  weft-lab latency
  weft-lab latency --dir /var/tmp
`

// latencyRun is a run of weft-lab latency.
type latencyRun struct {
	dir        string
	fast, json bool
}

func (r *latencyRun) flags() *pflag.FlagSet {
	*r = latencyRun{dir: os.TempDir()}
	f := newFlags("weft-lab latency", latencyHelp)
	f.Func("dir", "measure the disk that holds `DIR` (default: the folder for temporary files)",
		set(&r.dir, readName))
	f.BoolVar(&r.fast, "fast", false, "finish within a second, less exactly (default: no)")
	f.BoolVar(&r.json, "json", false, "print one JSON object (default: a table)")
	return f
}

func runLatency(ctx context.Context, args []string) error {
	var r latencyRun
	f := r.flags()
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usage("latency: argument %.128q, expected none", f.Arg(0))
	}
	info, err := os.Stat(r.dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return usage("--dir %.128q: %w, expected a folder where files can be written", r.dir, fileReason(err))
	}
	l := measure.Latencies{
		Dir: r.dir, Least: 2 * time.Millisecond, File: 64 << 20,
		Begin: func(name string) { fmt.Fprintf(os.Stderr, "measuring %s\n", name) },
	}
	if r.fast {
		l.Least, l.Memory, l.File = 50*time.Microsecond, 64<<20, 1<<20
	}
	found, err := l.Measure(ctx)
	if err != nil {
		return err
	}
	return print(r.json, struct {
		Machine   where             `json:"machine"`
		Latencies []measure.Latency `json:"latencies"`
	}{here(), found}, func(out io.Writer) { writeLatencies(out, found, here()) })
}

func writeLatencies(out io.Writer, found []measure.Latency, m where) {
	fmt.Fprintf(out, "%-17s %9s  %s\n", "", "TAKES", "IF 1 ns WAS 1 s")
	for _, l := range found {
		takes, scaled, note := "-", "-", l.Error
		if l.Error == "" {
			takes, scaled, note = brief(l.NS), humanScale(l.NS), l.What
		}
		fmt.Fprintf(out, "%-17s %9s  %-15s  %s\n", l.Name, takes, scaled, printable(note))
	}
	fmt.Fprintf(out, "\n%s\n", m)
}

// humanScale is a number of seconds in a unit that one can imagine.
func humanScale(s float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{365.25 * 86400, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}} {
		if s >= 2*unit.seconds {
			return fmt.Sprintf("%.3g %s", s/unit.seconds, unit.name)
		}
	}
	return fmt.Sprintf("%.3g s", s)
}
