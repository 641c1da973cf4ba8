package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/near"
)

// orders are the orders of weft ctl, for help and completion. weft.ParseOrder reads them
// all but tasks.
var orders = []struct{ name, args, does string }{
	{"pause", "", "start no more fetches until resume"},
	{"resume", "", "continue after pause"},
	{"stop", "", "finish the fetches that have started, then exit"},
	{"set", "NAME=VALUE...", "concurrency, delay, limit, max-time, per-host, rate-limit"},
	{"exclude", "RE...", "drop URLs that match, in later runs too"},
	{"add", "URL...", "add seeds, for later runs too"},
	{"tasks", "", "print what each task of the event loops waits for"},
}

// settings begin the arguments of set, for completion.
var settings = []string{"concurrency=", "delay=", "limit=", "max-time=", "per-host=", "rate-limit="}

func orderLines() string {
	var b strings.Builder
	for _, o := range orders {
		fmt.Fprintf(&b, "  %-17s  %s\n", strings.TrimSpace(o.name+" "+o.args), o.does)
	}
	return b.String()
}

func ctlCommand() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:     "ctl JOB ORDER [ARG...]",
		Short:   "Pause, stop or adjust a running crawl",
		GroupID: sectionJob,
		Long: `Send an order to the crawl that runs in a job's folder, and print the result:

` + orderLines() + `
With --cluster, all nodes carry it out; all orders but stop hold for nodes that
join later, too.

Exit status: 0 done, 1 no crawl is running, 3 usage error or no job.`,
		Example: `  weft ctl example.org.weft pause
  weft ctl example.org.weft set delay=2s per-host=1
  weft ctl example.org.weft exclude '/calendar/'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.any() {
				return arguments(1, math.MaxInt, "argument", "an ORDER such as pause")(cmd, args)
			}
			if len(args) > 0 && isOrder(args[0]) {
				if _, err := os.Stat(args[0]); err != nil {
					return usage("ctl: no JOB before %s, expected the folder of a job, such as example.org.weft", args[0])
				}
			}
			return arguments(2, math.MaxInt, "argument", "JOB and an ORDER such as pause")(cmd, args)
		},
		ValidArgsFunction: completeOrder,
		RunE: func(_ *cobra.Command, args []string) error {
			if f.any() {
				return f.control(args)
			}
			return control(args[0], args[1:])
		},

		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SetInterspersed(false) // arguments after JOB may start with a dash
	define(cmd, group{"Several machines", f.options(false)})
	return cmd
}

func isOrder(name string) bool {
	return slices.ContainsFunc(orders, func(o struct{ name, args, does string }) bool { return o.name == name })
}

// misspelt refuses the name of an order or of a setting that is nearly right, and says which.
func misspelt(order []string) error {
	var names []string
	for _, o := range orders {
		names = append(names, o.name)
	}
	if meant := near.Word(order[0], names); meant != "" && meant != order[0] {
		return usage("ctl: order %.64q: did you mean %s?", order[0], meant)
	}
	if order[0] != "set" {
		return nil
	}
	for _, arg := range order[1:] {
		name, _, _ := strings.Cut(arg, "=")
		if meant := near.Word(name, settings); meant != "" && meant != name+"=" {
			return usage("ctl: set: %.64q: did you mean %s?", arg, strings.TrimSuffix(meant, "="))
		}
	}
	return nil
}

// control carries out an order.
func control(job string, order []string) error {
	if order[0] == "tasks" {
		if len(order) > 1 {
			return usage("ctl: tasks: %.64q, expected no argument", order[1])
		}
		return inJob(job, printTasks)
	}
	if err := misspelt(order); err != nil {
		return err
	}
	parsed, err := weft.ParseOrder(order...)
	switch {
	case errors.Is(err, weft.ErrOrder):
		return usage("ctl: %w; or tasks", err)
	case err != nil:
		return usage("ctl: %w", err)
	}
	return inJob(job, func(ctx context.Context, job *weft.Job) error {
		results, err := job.Do(ctx, parsed)
		out := newPrinter()
		for _, line := range results {
			fmt.Fprintln(out, printable(line))
		}
		return errors.Join(err, standardOutput(out.Flush()))
	})
}

func printTasks(ctx context.Context, job *weft.Job) error {
	tasks, err := job.Tasks(ctx)
	if err != nil {
		return err
	}
	out := newPrinter()
	writeTasks(out, time.Now(), tasks)
	return standardOutput(out.Flush())
}

var taskTable = table{
	{"LOOP", -12}, {"TASK", -11}, {"PARENT", -7}, {"STATE", -8}, {"FOR", -6}, {"WAITS FOR", 0},
}

func writeTasks(w io.Writer, now time.Time, tasks []weft.TaskStatus) {
	taskTable.header(w)
	for _, t := range tasks {
		since := seconds(max(0, now.Sub(t.Since).Seconds()))
		taskTable.row(w, t.Loop, t.Task, t.Parent, t.State, since, t.Waits)
	}
}
