package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

func hostsCommand() *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "hosts [flags] JOB",
		Short: "Tell of each host of a job",
		Long: `Hosts tells of each host, by name: URLs done, waiting and in flight, how long it
takes to answer, requests it may have at once, the delay between them, where its
robots.txt stands, and what it waits for.

Exit status: 0 told, 1 the job cannot be read, 3 wrong usage or no job.`,
		Example: `  weft hosts example.org.weft
  weft hosts --json example.org.weft | jq -r 'select(.waits) | [.host, .waits] | @tsv'`,
		Args: oneJob(),
		RunE: func(_ *cobra.Command, args []string) error {
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error {
				if !asJSON {
					out := newPrinter()
					fmt.Fprintf(out, hostRow, hostTitles...)
					if err := standardOutput(out.Flush()); err != nil {
						return err
					}
				}
				now := time.Now()
				return lines(job.Hosts(ctx), limit, asJSON, func(w io.Writer, h weft.HostStatus) { writeHost(w, now, h) })
			})
		},
	}
	g := &groups{cmd: cmd}
	g.group("Output", func(f *pflag.FlagSet) {
		flag(f, &limit, "limit", "", "N", "", number(1), "hosts told of (default all)")
		f.BoolVar(&asJSON, "json", false, "as JSON, an object a line (default a table)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

// hostRow has the host last, as nobody knows how long it is before all are read.
const hostRow = "%9s %9s %9s %8s %4s %8s  %-11s  %s%s\n"

var hostTitles = []any{"DONE", "WAITING", "IN FLIGHT", "TAKES", "PACE", "DELAY", "ROBOTS.TXT", "HOST", ""}

func writeHost(w io.Writer, now time.Time, h weft.HostStatus) {
	waits := ""
	if h.Waits != "" {
		waits = "  waits: " + h.Waits
	}
	if h.WaitsUntil.After(now) {
		waits += ", for " + clock(h.WaitsUntil.Sub(now)+time.Second-1)
	}
	fmt.Fprintf(w, hostRow, count(h.Done), count(h.Pending), count(h.InFlight), orDash(h.TookMS), orAny(h.Pace), orDash(h.DelayMS),
		printable(h.Robots), printable(h.Host), printable(waits))
}

// orDash is a time in milliseconds, if there is one.
func orDash(ms float64) string {
	if ms == 0 {
		return "-"
	}
	return seconds(ms / 1000)
}

func orAny(n int) string {
	if n == 0 {
		return "any"
	}
	return count(n)
}
