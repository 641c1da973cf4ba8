package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

func urlsCommand() *cobra.Command {
	var asJSON bool
	state := weft.URLPending
	states := []weft.URLState{weft.URLPending, weft.URLLeased, weft.URLDone, weft.URLFailed, weft.URLRefused,
		weft.URLState(weft.ChangeUnchanged), weft.URLState(weft.ChangeChanged), weft.URLState(weft.ChangeGone), weft.URLState(weft.ChangeNew)}
	cmd := &cobra.Command{
		Use:   "urls [flags] JOB",
		Short: "Print the URLs of a job",
		Long: `Urls prints the URLs of a job that are in a state, one a line: pending, leased
(under way), done, failed (of these, with an error), or refused (by robots.txt, for
want of it, or by an exclusion that came later). Where weft crawl --update has visited
the job again, unchanged, changed, gone and new are those done that it has found so.
Pending ones come by host, in the order in which they are fetched; others by URL.

Exit status: 0 told, 1 the job cannot be read, 3 wrong usage or no job.`,
		Example: `  weft urls example.org.weft
  weft urls --state failed --json example.org.weft | jq -r '[.error_kind, .url] | @tsv'`,
		Args: oneJob(),
		RunE: func(_ *cobra.Command, args []string) error {
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error {
				return lines(job.URLs(ctx, state), 0, asJSON, func(w io.Writer, u weft.URLStatus) { fmt.Fprintln(w, printable(u.URL)) })
			})
		},
	}
	g := &groups{cmd: cmd}
	g.group("Output", func(f *pflag.FlagSet) {
		flag(f, &state, "state", "", "STATE", "pending", oneOf(states...), "one of these states")
		f.BoolVar(&asJSON, "json", false, "as JSON, with depth, tries, error and more (default the URL)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	var words []string
	for _, s := range states {
		words = append(words, string(s))
	}
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
