package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func hostsCommand() *cobra.Command {
	var f clusterFlags
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:     "hosts [flags] JOB",
		Short:   "List a job's hosts",
		GroupID: sectionJob,
		Long: `List a job's hosts by name: URLs done, waiting and in flight, response time,
concurrent requests, delay, the state of robots.txt, and what the host waits
for.` + jobExit,
		Example: `  weft hosts example.org.weft
  weft hosts --json example.org.weft | jq -r 'select(.waits).host'`,
		Args:              f.arguments("JOB", 1),
		ValidArgsFunction: completeFirst(completeJob),
		RunE: func(_ *cobra.Command, args []string) error {
			return f.look(args, func(ctx context.Context, job looked) error {
				if !asJSON {
					out := newPrinter()
					hostTable.header(out)
					if err := standardOutput(out.Flush()); err != nil {
						return err
					}
				}
				now := time.Now()
				return printAll(job.Hosts(ctx), limit, asJSON, func(w io.Writer, h weft.HostStatus) {
					writeHost(w, now, h)
				})
			})
		},
	}
	define(cmd, group{"Several machines", f.options(false)}, group{"Output", []option{
		limitOption(&limit, "hosts"),
		jsonOption(&asJSON, "print a JSON object per line"),
	}})
	return cmd
}

// hostTable has the host last: its width is unknown before all are read.
var hostTable = table{
	{"DONE", 9}, {"WAITING", 9}, {"IN FLIGHT", 9}, {"TAKES", 8}, {"PACE", 4}, {"DELAY", 8},
	{"ROBOTS.TXT", -12}, {"HOST", 0},
}

func writeHost(w io.Writer, now time.Time, h weft.HostStatus) {
	host := h.Host
	for _, shape := range h.Traps {
		host += "  trap: " + strings.TrimPrefix(shape, h.Host)
	}
	if h.Waits != "" {
		host += "  waits: " + h.Waits
	}
	if h.WaitsUntil.After(now) {
		host += ", next request in " + clock(roundUp(h.WaitsUntil.Sub(now)))
	}
	hostTable.row(w, count(h.Done), count(h.Pending), count(h.InFlight),
		orDash(h.TookMS), orAny(h.Pace), orDash(h.DelayMS), h.Robots, host)
}

// orDash is a time in milliseconds; a dash for 0.
func orDash(ms float64) string {
	if ms == 0 {
		return "-"
	}
	return seconds(ms / 1000)
}

// orAny is a limit; "any" for 0.
func orAny(n int) string {
	if n == 0 {
		return "any"
	}
	return count(n)
}
