package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
)

func statusCommand() *cobra.Command {
	var f clusterFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status [flags] JOB",
		Short:   "Show a job's progress",
		GroupID: sectionJob,
		Long: `Show the state of a job and the totals of all its runs, while the crawl runs
and after.` + jobExit,
		Example: `  weft status example.org.weft
  weft status --json example.org.weft | jq .pending`,
		Args:              f.arguments("JOB", 1),
		ValidArgsFunction: completeFirst(completeJob),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.any() {
				return f.ask(func(ctx context.Context, c *cluster.Client) error {
					s, err := c.Status(ctx)
					if err != nil {
						return err
					}
					return printOne(s, asJSON, writeCluster)
				})
			}
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error {
				s, err := job.Status(ctx)
				if err != nil {
					return err
				}
				return printOne(s, asJSON, writeStatus)
			})
		},
	}
	define(cmd, group{"Several machines", f.options(false)}, group{"Output", []option{jsonOption(&asJSON, "print a JSON object")}})
	return cmd
}

// stateInWords explains states whose names do not. JOB stands for the job's folder.
var stateInWords = map[weft.JobState]string{
	weft.JobStarting:    "starting, reading the state of its last run",
	weft.JobFailed:      "failed, no seed was fetched, weft crawl --job JOB tries again",
	weft.JobInterrupted: "interrupted, weft crawl --job JOB resumes it",
	weft.JobKilled:      "killed or ended by an error, weft crawl --job JOB resumes it",
}

// titleWidth is the width of the titles of status and report, in cells.
const titleWidth = 13

func writeStatus(w io.Writer, s weft.Status) {
	again := "--job " + s.Job
	if cluster.IsNode(s.Job) {
		again = "--cluster"
	}
	words := strings.Replace(stateInWords[s.State], "--job JOB", again, 1)
	state := cmp.Or(words, string(s.State))
	switch s.State {
	case weft.JobPaused:
		state += ": " + strings.Join(s.Reasons, ", ")
	case weft.JobEnding:
		state += ", finishing the fetches that have started"
		if s.EndsIn > 0 {
			state += ", for at most " + clock(roundUp(fromSeconds(s.EndsIn)))
		}
		if len(s.Reasons) > 0 {
			state += "; paused: " + strings.Join(s.Reasons, ", ")
		}
	case weft.JobStopped:
		state += " by --" + strings.Join(s.Reasons, ", ") + ", weft crawl " + again + " resumes it"
	}
	fmt.Fprintf(w, "%s: %s\n", printable(s.Job), printable(state))
	out := &sheet{Writer: w, width: titleWidth}
	out.line("started", "%s, %s, %s of crawling",
		moment(s.Begun), plural(s.Runs, "run"), clock(fromSeconds(s.Seconds)))
	if !s.Ended.IsZero() {
		out.line("ended", "%s", moment(s.Ended))
	}
	if s.Visit > 1 {
		out.line("visit", "%d: %s", s.Visit, changes(&s.Counters))
	}
	out.line("seeds", "%s, scope %s", seedsOf(s), s.Scope)
	out.line("done", "%s: %s, %s, %s failed", plural(s.Done, "URL"), plural(s.Pages, "page"),
		plural(s.Redirects, "redirect"), count(s.Failed))
	out.some("also", beyond(s.Counters))
	out.line("refused", "%s", count(s.Refused))
	out.cuts(s.OverLimit, s.OverVariants)
	out.traps(s.Traps, s.MoreTraps)
	out.line("waiting", "%s", count(s.Pending))
	out.line("in flight", "%s", count(s.InFlight))
	out.line("hosts", "%s", count(s.Hosts))
	out.line("received", "%s", volume(s.Bytes))
	out.saved(s.BytesSaved)
	out.some("disk", diskInWords(s.Job, s.Disk))
	if keepsItems(s.Job, s.Items) {
		out.line("items", "%s", itemsInWords(s.ItemCounts, s.Visit))
	}
	out.some("rendered", rendered(s.ScriptCounts))
	out.unrendered(s.Unrendered)
	out.some("empty", needingScripts(s.ScriptCounts))
	if s.Memory > 0 {
		used, most := humanize.IBytes(uint64(s.Memory)), humanize.IBytes(uint64(s.MaxMemory))
		out.line("memory", "%s of %s", used, most)
	}
	if s.URLsPerSecond > 0 {
		out.line("rate", "%s/s, %s/s", perSecond(s.URLsPerSecond), volume(int64(s.BytesPerSecond)))
	}
	out.some("estimate", inWords(weft.Estimate{
		Left: fromSeconds(s.SecondsLeft), Bound: s.LeftBound, NewPerURL: s.NewPerURL, Growing: s.Growing,
	}))
	for _, w := range s.Waits {
		out.line("hosts wait", "%s: %s with %s", w.For, plural(w.Hosts, "host"), plural(w.Pending, "URL"))
	}
	for _, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		out.figure("status", fmt.Sprint(status), s.Statuses[status], "")
	}
	out.figures("error", s.Errors)
	out.figures("not followed", s.NotFollowed)
	out.some("first error", advised(s.FirstError))
}

// diskInWords is the size of a job's files by part; "": it is not known.
func diskInWords(job string, parts map[string]int64) string {
	var all int64
	var words []string
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		if n := parts[part]; n > 0 {
			all += n
			words = append(words, part+" "+volume(n))
		}
	}
	if all == 0 {
		return ""
	}
	text := volume(all) + ": " + strings.Join(words, ", ")
	for _, kind := range []string{"bodies", "screenshots", "pdf"} {
		if isFolder(filepath.Join(job, kind)) {
			return text + ", without saved bodies and pictures"
		}
	}
	return text
}

// seedsOf is the first seed, and the number of others.
func seedsOf(s weft.Status) string {
	switch s.Seeds {
	case 0:
		return "a list"
	case 1:
		return s.First
	}
	return fmt.Sprintf("%s and %s more", s.First, count(s.Seeds-1))
}
