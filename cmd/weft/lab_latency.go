package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/measure"
)

func labLatencyCommand() *cobra.Command {
	l := measure.Latencies{Dir: os.TempDir(), File: 64 << 20}
	var asJSON, fast bool
	cmd := &cobra.Command{
		Use:   "latency [flags]",
		Short: "Measure how long things take for a CPU",
		Long: `Latency measures on this machine how long an instruction takes, a read from each
cache and from memory, a mutex, switching between coroutines, goroutines and threads,
a system call, a byte over loopback and back, and the disk; and prints each beside a
human scale, on which a nanosecond is a second. Each is the least of fifty measurements,
as what else the machine does can only add to it. The disk is that of --dir: a file of
64 MiB is written there and removed.

Exit status: 0 measured; 1 the output broke off; 3 wrong usage; 5 interrupted. What this
machine does not let one measure is told in its line.`,
		Example: `  weft lab latency
  weft lab latency --dir /var/tmp`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
				if err == nil {
					err = errors.New("no folder")
				}
				return misused("dir", l.Dir, fmt.Errorf("%w, expected one where files can be written", reason(err)))
			}
			l.Least, l.Begin = 2*time.Millisecond, func(name string) { fmt.Fprintf(os.Stderr, "measuring %s\n", name) }
			if fast {
				l.Least, l.Memory, l.File = 50*time.Microsecond, 64<<20, 1<<20
			}
			// An interrupted measurement is ended as usual: it removes its file.
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			found, err := l.Measure(ctx)
			if err != nil {
				return labError(ctx, err)
			}
			out := newPrinter()
			if asJSON {
				err = out.json.Encode(struct {
					Machine   labMachine        `json:"machine"`
					Latencies []measure.Latency `json:"latencies"`
				}{thisMachine(), found})
			} else {
				writeLatencies(out, found, thisMachine())
			}
			return standardOutput(errors.Join(err, out.Flush()))
		},
	}
	g := &groups{cmd: cmd}
	g.group("What is measured", func(f *pflag.FlagSet) {
		flag(f, &l.Dir, "dir", "", "DIR", "", some("a folder"), "folder on the disk that is measured (default the system's for temporary files)")
		f.BoolVar(&fast, "fast", false, "in a second, less exactly (default not)")
	})
	g.group("Output", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as one JSON object (default a table)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

func writeLatencies(out io.Writer, found []measure.Latency, m labMachine) {
	fmt.Fprintf(out, "%-17s %9s  %s\n", "", "TAKES", "IF 1 ns WAS 1 s")
	for _, l := range found {
		if l.Error != "" {
			fmt.Fprintf(out, "%-17s %9s  %-15s  %s\n", l.Name, "-", "-", printable(l.Error))
			continue
		}
		fmt.Fprintf(out, "%-17s %9s  %-15s  %s\n", l.Name, brief(l.NS), humanScale(l.NS), printable(l.What))
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
