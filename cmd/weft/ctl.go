package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

func ctlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ctl [flags] JOB ORDER [ARG...]",
		Short: "Steer a crawl that runs",
		Long: `Ctl tells the crawl that runs in a job's folder what to do, and prints what has
come of it. Orders are:

  pause              begin no more URLs, until resume
  resume             go on
  stop               finish what is under way and end, as Ctrl-C does
  set NAME=VALUE...  delay=D, per-host=N or rate-limit=N, as the flags of weft crawl;
                     for this run
  exclude RE...      no URLs that match, those that wait neither; for later runs too
  add URL...         more seeds; for later runs too
  tasks              print what each task of its event loops waits for

Exit status: 0 done, 1 no crawl is running, 3 wrong usage or no job.`,
		Example: `  weft ctl example.org.weft pause
  weft ctl example.org.weft set delay=2s per-host=1
  weft ctl example.org.weft exclude '/calendar/'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("%s: %s given, expected JOB and an ORDER such as pause", cmd.CommandPath(), plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if args[1] == "tasks" {
				if len(args) > 2 {
					return usage("ctl: tasks: %.64q, expected no argument", args[2])
				}
				return inJob(args[0], printTasks)
			}
			order, err := weft.ParseOrder(args[1:]...)
			switch {
			case errors.Is(err, weft.ErrOrder):
				return usage("ctl: %w; or tasks", err)
			case err != nil:
				return usage("ctl: %w", err)
			}
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error { return obeyed(ctx, job, order) })
		},
	}
	cmd.Flags().SetInterspersed(false) // what is behind JOB may begin with a dash
	g := &groups{cmd: cmd}
	g.group("Output", func(f *pflag.FlagSet) {
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

// obeyed has the crawl carry out an order, and prints what it says.
func obeyed(ctx context.Context, job *weft.Job, order weft.Order) error {
	said, err := job.Do(ctx, order)
	out := newPrinter()
	for _, line := range said {
		fmt.Fprintln(out, printable(line))
	}
	return errors.Join(err, standardOutput(out.Flush()))
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

func writeTasks(w io.Writer, now time.Time, tasks []weft.TaskStatus) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LOOP\tTASK\tPARENT\tSTATE\tFOR\tWAITS FOR")
	for _, t := range tasks {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(t.Loop), printable(t.Task), printable(t.Parent), printable(t.State),
			seconds(max(0, now.Sub(t.Since).Seconds())), printable(t.Waits))
	}
	_ = table.Flush() // out keeps its error
}
