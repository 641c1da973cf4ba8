package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/where"
	"github.com/weftcrawl/weft/results"
)

// urlStates are the values of --state.
var urlStates = []weft.URLState{
	weft.URLPending, weft.URLLeased, weft.URLDone, weft.URLFailed, weft.URLRefused,
	weft.URLState(weft.ChangeUnchanged), weft.URLState(weft.ChangeChanged),
	weft.URLState(weft.ChangeGone), weft.URLState(weft.ChangeNew),
}

func stateNames() []string {
	names := make([]string, len(urlStates))
	for i, s := range urlStates {
		names[i] = string(s)
	}
	return names
}

func urlsCommand() *cobra.Command {
	var f clusterFlags
	var asJSON, only bool
	var limit int
	var filter weft.URLFilter
	var condition *urlCondition
	cmd := &cobra.Command{
		Use:     "urls [flags] JOB",
		Short:   "List a job's URLs",
		GroupID: sectionJob,
		Long: `List the URLs of a job, one per line: what came of it, the URL, and for one that
is broken the page that links to it. The states are:

  pending    waits; by host, in the order of fetching
  leased     is being fetched
  done       has a record
  failed     done, with an error
  refused    by robots.txt, by an unreachable one, or by a later exclusion
  unchanged, changed, gone, new
             done, as found by the last recrawl (weft crawl --update)

Of several filters, all apply. A CONDITION is over the fields of --json, those
of pages.jsonl, and host, in the language of https://expr-lang.org.` + jobExit,
		Example: `  weft urls --status 404 example.org.weft
  weft urls --error dns --json example.org.weft | jq -r '[.url, .from] | @tsv'
  weft urls --where 'status >= 400 && host == "example.org"' example.org.weft
  weft urls --status 5xx --only-urls example.org.weft | weft crawl -i - -o -`,
		Args:              f.arguments("JOB", 1),
		ValidArgsFunction: completeFirst(completeJob),
		RunE: func(_ *cobra.Command, args []string) error {
			write := writeURL
			if only {
				write = func(w io.Writer, u weft.URLStatus) { fmt.Fprintln(w, printable(u.URL)) }
			}
			if f.any() && condition.needsRecords() {
				return usage("--where: %w", condition.lacks)
			}
			return f.look(args, func(ctx context.Context, job looked) error {
				urls := job.URLs(ctx, filter)
				if condition.needsRecords() {
					records, err := results.OpenIndex(ctx, args[0], "")
					if err != nil {
						return err
					}
					defer records.Close()
					condition.records = records
				}
				return printAll(selected(urls, condition), limit, asJSON, write)
			})
		},
	}
	define(cmd,
		group{"Filters", []option{
			{name: "state", arg: "STATE", Value: to(&filter.State, oneOf(urlStates...)), words: stateNames(),
				help: "list the URLs in STATE", def: "all"},
			{name: "status", arg: "STATUS", Value: to(&filter.Status, inspect.ParseStatuses),
				help: "list URLs by status: 404, 4xx, 500..599 or 404,410"},
			{name: "error", arg: "KIND", Value: to(&filter.ErrorKind, errorKind), words: errorKinds(),
				help: "list URLs by error kind: see weft kinds"},
			{name: "where", arg: "CONDITION", Value: to(&condition, compileURLs),
				help: "list URLs for which CONDITION holds"},
		}},
		group{"Several machines", f.options(false)},
		group{"Output", []option{
			limitOption(&limit, "URLs"),
			{name: "only-urls", Value: on(&only), help: "print nothing but the URLs"},
			jsonOption(&asJSON, "print JSON, with depth, tries, error and more"),
		}},
	)
	return cmd
}

// urlTable is outcome and URL.
var urlTable = table{{"", -12}, {"", 0}}

func writeURL(w io.Writer, u weft.URLStatus) {
	outcome := string(u.State)
	switch u.State {
	case weft.URLDone, weft.URLFailed, weft.URLRefused:
		outcome = cmp.Or(u.ErrorKind, strconv.Itoa(u.Status))
	}
	line := u.URL
	if u.Role != "" {
		line += "  " + string(u.Role)
	}
	if u.From != "" && (u.ErrorKind != "" || u.Status >= 400) {
		line += "  from " + u.From
	}
	urlTable.row(w, outcome, line)
}

// urlCondition is a condition on URLs of a job; nil holds for all.
type urlCondition struct {
	alone   *where.Filter[weft.URLStatus] // on the state of a URL; nil: see both
	lacks   error                         // the error of alone
	both    *where.Filter[recordedURL]    // on its record, too; nil with alone
	records *results.Index                // of the job; nil with alone
}

// recordedURL is a URL and its last record. A field that both have is that of the URL.
type recordedURL struct {
	weft.URLStatus
	ofURL
}

// ofURL has the record one level deeper than the state of the URL.
type ofURL struct{ weft.Record }

// compileURLs reads a condition on URLs.
func compileURLs(condition string) (*urlCondition, error) {
	c := new(urlCondition)
	if c.alone, c.lacks = where.Compile[weft.URLStatus](condition); c.lacks == nil {
		return c, comparesValues(condition)
	}
	var err error
	c.both, err = where.Compile[recordedURL](condition)
	return c, cmp.Or(err, comparesValues(condition))
}

// needsRecords reports whether the condition names what only records have. Those of a crawl on
// several machines are with its nodes.
func (c *urlCondition) needsRecords() bool { return c != nil && c.both != nil }

func (c *urlCondition) holds(u *weft.URLStatus) (bool, error) {
	if c == nil {
		return true, nil
	}
	if c.both == nil {
		return c.alone.Matches(u)
	}
	r, err := c.records.Find(u.URL)
	if err != nil {
		return false, err
	}
	both := recordedURL{URLStatus: *u}
	if r != nil {
		both.Record = *r
	}
	return c.both.Matches(&both)
}

// selected yields the URLs for which a condition holds.
func selected(urls iter.Seq2[weft.URLStatus, error], condition *urlCondition) iter.Seq2[weft.URLStatus, error] {
	return func(yield func(weft.URLStatus, error) bool) {
		for u, err := range urls {
			holds := err != nil
			if err == nil {
				if holds, err = condition.holds(&u); err != nil {
					err = &exit{exitError, fmt.Errorf("--where: %w", err)}
				}
			}
			if (holds || err != nil) && !yield(u, err) {
				return
			}
		}
	}
}
