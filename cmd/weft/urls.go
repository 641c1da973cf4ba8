package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

// urlStates are the values of --state.
var urlStates = []weft.URLState{
	weft.URLPending, weft.URLLeased, weft.URLDone, weft.URLFailed, weft.URLRefused,
	weft.URLState(weft.ChangeUnchanged), weft.URLState(weft.ChangeChanged),
	weft.URLState(weft.ChangeGone), weft.URLState(weft.ChangeNew),
}

func urlsCommand() *cobra.Command {
	var asJSON bool
	state := weft.URLPending
	cmd := &cobra.Command{
		Use:     "urls [flags] JOB",
		Short:   "List a job's URLs by state",
		GroupID: sectionJob,
		Long: `List the URLs of a job in one state, one per line:

  pending    waits; by host, in the order of fetching
  leased     is being fetched
  done       has a record
  failed     done, with an error
  refused    by robots.txt, by a missing one, or by a later exclusion
  unchanged, changed, gone, new
             done, as found by the last recrawl (weft crawl --update)` + jobExit,
		Example: `  weft urls example.org.weft
  weft urls --state failed --json example.org.weft | jq -r .error_kind`,
		Args:              jobArguments("JOB", 1),
		ValidArgsFunction: completeFirst(completeJob),
		RunE: func(_ *cobra.Command, args []string) error {
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error {
				return printAll(job.URLs(ctx, state), 0, asJSON, func(w io.Writer, u weft.URLStatus) {
					fmt.Fprintln(w, printable(u.URL))
				})
			})
		},
	}
	names := make([]string, len(urlStates))
	for i, s := range urlStates {
		names[i] = string(s)
	}
	define(cmd, group{"Output", []option{
		{name: "state", arg: "STATE", Value: to(&state, oneOf(urlStates...)), words: names,
			help: "list the URLs in STATE", def: "pending"},
		jsonOption(&asJSON, "print JSON, with depth, tries, error and more"),
	}})
	return cmd
}
