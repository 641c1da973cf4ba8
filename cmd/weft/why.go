package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
)

func whyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why [flags] JOB URL",
		Short: "Tell what has become of a URL, and why",
		Long: `Why tells where a URL came from, what scope, expressions and robots.txt say of it,
how each try has ended and when the next one is due. Of a URL that nothing has led
to it tells what the rules say.

Exit status: 0 told, 1 the job cannot be read, 3 wrong usage or no job.`,
		Example: `  weft why example.org.weft https://example.org/a
  weft why --json example.org.weft https://example.org/a | jq -r .state`,
		Args: oneJob("URL"),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := weft.ParseSeed(args[1]); err != nil {
				return usage("why: %w", err)
			}
			return inJob(args[0], func(ctx context.Context, job *weft.Job) error {
				why, err := job.Why(ctx, args[1])
				if err != nil {
					return err
				}
				return lines(func(yield func(weft.Why, error) bool) { yield(why, nil) }, 1, asJSON, writeWhy)
			})
		},
	}
	g := &groups{cmd: cmd}
	g.group("Output", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as an object of JSON (default lines)")
		f.BoolP("help", "h", false, "print this and exit (default not)")
	})
	g.help()
	return cmd
}

func writeWhy(w io.Writer, why weft.Why) {
	fmt.Fprintf(w, "%s: %s\n", printable(why.URL), why.State)
	title := "by way of"
	for _, u := range why.Way {
		fmt.Fprintf(w, "  %-20s %s\n", title, printable(u))
		title = ""
	}
	for _, s := range why.Steps {
		fmt.Fprintf(w, "  %s  %-10s %s\n", moment(s.At), printable(s.What), printable(s.Text))
	}
}
