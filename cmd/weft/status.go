package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [flags] JOB",
		Short: "Tell where a job is",
		Long: `Status tells how far the crawl in a job's folder has come, of all its runs
together: while it runs, and after.

Exit status: 0 told, 1 the job cannot be read, 3 wrong usage or no job.`,
		Example: `  weft status example.org.weft
  weft status --json example.org.weft | jq .pending`,
		Args: oneJob(),
		RunE: func(_ *cobra.Command, args []string) error {
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error {
				s, err := job.Status(ctx)
				if err != nil {
					return err
				}
				return lines(func(yield func(weft.Status, error) bool) { yield(s, nil) }, 1, asJSON, writeStatus)
			})
		},
	}
	g := &groups{cmd: cmd}
	g.group("Output", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as an object of JSON (default a table)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

// stateInWords is a state that does not say by itself what holds.
var stateInWords = map[weft.JobState]string{
	weft.JobStarting:    "starting, it reads what its last run has left",
	weft.JobEnding:      "ending, what is under way is finished",
	weft.JobInterrupted: "interrupted, weft crawl --job goes on with it",
	weft.JobKilled:      "killed or ended by an error, weft crawl --job goes on with it",
}

func writeStatus(w io.Writer, s weft.Status) {
	state := string(s.State)
	if words := stateInWords[s.State]; words != "" {
		state = words
	}
	switch s.State {
	case weft.JobPaused:
		state += ": " + strings.Join(s.Reasons, ", ")
	case weft.JobStopped:
		state += " by --" + strings.Join(s.Reasons, ", ") + ", weft crawl --job goes on with it"
	}
	line := func(title, format string, args ...any) {
		fmt.Fprintf(w, "  %-13s %s\n", title, printable(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(w, "%s: %s\n", printable(s.Job), printable(state))
	line("begun", "%s, %s, %s of crawling", moment(s.Begun), plural(s.Runs, "run"), clock(time.Duration(s.Seconds*float64(time.Second))))
	if !s.Ended.IsZero() {
		line("ended", "%s", moment(s.Ended))
	}
	if s.Visit > 1 {
		line("visit", "%d: %s", s.Visit, changes(s.Unchanged, s.Changed, s.Gone, s.New))
	}
	line("seeds", "%s, scope %s", seedsOf(s), s.Scope)
	line("done", "%s: %s, %s, %s failed", plural(s.Done, "URL"), plural(s.Pages, "page"), plural(s.Redirects, "redirect"), count(s.Failed))
	line("refused", "%s", count(s.Refused))
	if s.OverLimit > 0 {
		line("cut", "%s, by --limit-per-host", count(s.OverLimit))
	}
	if s.OverVariants > 0 {
		line("cut", "%s, by --max-variants", count(s.OverVariants))
	}
	line("waiting", "%s", count(s.Pending))
	line("in flight", "%s", count(s.InFlight))
	line("hosts", "%s", count(s.Hosts))
	line("received", "%s", volume(s.Bytes))
	if s.BytesSaved > 0 {
		line("spared", "%s that had not changed", volume(s.BytesSaved))
	}
	if s.Memory > 0 {
		line("memory", "%s of %s", humanize.IBytes(uint64(s.Memory)), humanize.IBytes(uint64(s.MaxMemory)))
	}
	if s.URLsPerSecond > 0 {
		line("rate", "%s/s, %s/s", perSecond(s.URLsPerSecond), volume(int64(s.BytesPerSecond)))
		line("left", "at least %s", clock(time.Duration(min(s.SecondsLeft, 1e9)*float64(time.Second))))
	}
	title := "status"
	for _, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		line(title, "%-28d %10s", status, count(s.Statuses[status]))
		title = ""
	}
	for _, table := range []struct {
		title string
		of    map[string]int
	}{{"error", s.Errors}, {"not followed", s.NotFollowed}} {
		title := table.title
		for _, name := range slices.Sorted(maps.Keys(table.of)) {
			line(title, "%-28s %10s", name, count(table.of[name]))
			title = ""
		}
	}
	if s.FirstError != "" {
		line("first error", "%s", s.FirstError)
	}
}

// seedsOf is the first seed, and how many others there are.
func seedsOf(s weft.Status) string {
	switch s.Seeds {
	case 0:
		return "a list"
	case 1:
		return s.First
	}
	return fmt.Sprintf("%s and %s more", s.First, count(s.Seeds-1))
}
