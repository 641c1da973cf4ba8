package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func whyCommand() *cobra.Command {
	var f clusterFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "why [flags] JOB URL",
		Short:   "Explain what happened to a URL",
		GroupID: sectionJob,
		Long: `Show where a URL was found, what the scope, the expressions and robots.txt say
about it, how each try ended and when the next one is due, and which pages link
to it. For a URL that the crawl has not found, show what the rules say.` + jobExit,
		Example: `  weft why example.org.weft https://example.org/a
  weft why --json example.org.weft https://example.org/a | jq .referrers`,
		Args:              f.arguments("JOB URL", 2),
		ValidArgsFunction: completeFirst(completeJob),
		RunE: func(_ *cobra.Command, args []string) error {
			url := args[len(args)-1]
			if _, err := weft.ReadListedSeed(url); err != nil {
				return usage("why: %w", err)
			}
			return f.look(args, func(ctx context.Context, job looked) error {
				why, err := job.Why(ctx, url)
				if err != nil {
					return err
				}
				return printOne(why, asJSON, writeWhy)
			})
		},
	}
	define(cmd, group{"Several machines", f.options(false)}, group{"Output", []option{jsonOption(&asJSON, "print a JSON object")}})
	return cmd
}

// stepTable is time, kind and text of a step.
var stepTable = table{{"", -22}, {"", -10}, {"", 0}}

func writeWhy(w io.Writer, why weft.Why) {
	fmt.Fprintf(w, "%s: %s\n", printable(why.URL), why.State)
	way := &sheet{Writer: w, width: 20}
	for _, u := range why.Way {
		way.line("by way of", "%s", u)
	}
	for _, s := range why.Steps {
		text := s.Text
		if s.What != "robots" { // of which the URL's own error says the same
			text = advised(text)
		}
		stepTable.row(w, "  "+moment(s.At), s.What, text)
	}
	if why.Status == http.StatusUnauthorized {
		stepTable.row(w, "  "+moment(time.Time{}), "log in", logsIn)
	}
	way.referrers(why.Referrers)
}

// mostReferrers is the number of pages that link to a URL and are printed; JSON has 1,000.
const mostReferrers = 20

// referrers lists pages that link to a URL.
func (s *sheet) referrers(r weft.Referrers) {
	shown := r.Pages[:min(len(r.Pages), mostReferrers)]
	for _, p := range shown {
		line := p.URL
		if p.By != "" {
			line += ", a " + string(p.By)
		}
		s.line("linked from", "%s", line)
	}
	if n := r.Total - len(shown); n > 0 {
		s.line("linked from", "%s", plural(n, "other"))
	}
	if r.Cut {
		s.line("linked from", "and perhaps others: links of later pages are not kept, as there are too many")
	}
}
