package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/export"
	"github.com/weftcrawl/weft/internal/near"
	"github.com/weftcrawl/weft/record"
)

// exportFlags are the options of weft export.
type exportFlags struct {
	export.Options
	output string
}

func exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:     "export [flags] JOB -o FILE",
		Short:   "Write a job's pages or links as CSV, SQLite or Parquet",
		GroupID: sectionJob,
		Long: `Write what a job knows in the format of another tool, which the name of FILE
says: FILE.csv, .jsonl, .parquet, .sqlite (all tables, with indexes and views),
.graphml or .edges (the link graph). -o - writes to standard output.

Of a URL, the last record counts. Links need a job of weft crawl --links.
A CONDITION is over the fields of the table and host, in the language of
https://expr-lang.org, such as 'status >= 400 && depth < 3'.`,
		Annotations: detailed(`
FILE is replaced when the export is complete, never in part. The job may be
running: what it has done so far is written. With sqlite and graphml the filters
concern pages, with edges --where concerns links.

Exit status: 0 done; 1 the job cannot be read, has no links, or FILE cannot be
written; 3 usage error or no job; 5 interrupted.`),
		Example: `  weft export example.org.weft -o pages.csv --fields url,status,title
  weft export example.org.weft -o site.sqlite
  weft export example.org.weft -o - --format jsonl --where 'total_ms > 1000'`,
		Args:              jobArguments("JOB", 1),
		ValidArgsFunction: completeFirst(completeJob),
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(args[0]) },
	}
	define(cmd, group{"Output", f.outputOptions()}, group{"Filters", f.filterOptions()})
	return cmd
}

func (f *exportFlags) outputOptions() []option {
	return []option{
		{name: "output", short: "o", arg: "FILE", Value: to(&f.output, some("a FILE, or - for standard output")),
			help: "write to FILE, when it is complete (-: stdout)"},
		{name: "format", arg: "FORMAT", Value: to(&f.Format, oneOf(export.Formats()...)), words: export.Formats(),
			help: "csv, jsonl, parquet, sqlite, graphml or edges",
			more: "By default the ending of FILE says it; of -, it is jsonl."},
		{name: "table", arg: "TABLE", Value: to(&f.Table, oneOf(export.Tables()...)), words: export.Tables(),
			help: "links, hosts, redirects or errors", def: "pages"},
		{name: "fields", arg: "NAMES", Value: to(&f.Fields, fieldNames),
			help: "fields, in this order: url,status", def: "all"},
	}
}

func (f *exportFlags) filterOptions() []option {
	return []option{
		{name: "where", arg: "CONDITION", Value: to(&f.Where, someCondition),
			help: "write rows for which CONDITION holds"},
		{name: "state", arg: "STATE", Value: to(&f.State, oneOf(urlStates...)), words: stateNames(),
			help: "write pages in STATE: see weft urls",
			more: "Without it, all but pending and leased ones."},
		{name: "visit", arg: "N", Value: to(&f.Visit, visitNumber), words: []string{"latest"},
			help: "write records and links of visit N", def: "latest"},
	}
}

// someCondition checks what does not depend on the table.
func someCondition(s string) (string, error) {
	if s == "" {
		return "", errors.New("expected a CONDITION, such as 'status >= 400'")
	}
	return s, nil
}

// fieldNames reads url,status.
func fieldNames(s string) (names []string, err error) {
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, errors.New("expected names of fields, such as url,status,title")
		}
		names = append(names, name)
	}
	return names, nil
}

// headerFields reads names of header fields.
func headerFields(s string) ([]string, error) {
	names, err := fieldNames(s)
	if err != nil {
		return nil, err
	}
	return record.HeaderNames(names)
}

// csvFields reads names of columns of a crawl's CSV.
func csvFields(s string) ([]string, error) {
	names, err := fieldNames(s)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if meant := near.Word(name, record.Columns()); meant != "" && !slices.Contains(record.Columns(), name) {
			return nil, fmt.Errorf("unknown field %.64q: did you mean %s?", name, meant)
		}
	}
	return names, record.CheckFields(names)
}

// visitNumber reads the number of a visit; 0 is the latest of each URL.
func visitNumber(s string) (int, error) {
	if s == "latest" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("expected the number of a visit, from 1, or latest")
	}
	return n, nil
}

func (f *exportFlags) run(dir string) error {
	if err := f.check(dir); err != nil {
		return err
	}
	e, err := export.New(f.Options)
	var wrong *export.OptionError
	if errors.As(err, &wrong) {
		return misused(wrong.Option, wrong.Value, wrong.Err)
	}
	return inResults(dir, func(ctx context.Context, job *weft.Job) error {
		if err := hasVisit(ctx, job, f.Visit); err != nil {
			return err
		}
		err := writeOutput(ctx, f.output, func(ctx context.Context, to io.Writer) error { return e.Write(ctx, dir, job, to) })
		var e *exit
		switch {
		case err == nil || errors.As(err, &e):
			return err
		case errors.As(err, &wrong): // for a value that is found on the way
			return &exit{exitError, fmt.Errorf("--%s %.128q: %w", wrong.Option, wrong.Value, wrong.Err)}
		case errors.Is(err, export.ErrNoLinks), errors.Is(err, export.ErrNoItems), errors.Is(err, export.ErrNoState):
			return &exit{exitError, fmt.Errorf("%s: %w", dir, err)}
		}
		return &exit{exitError, err}
	})
}

// hasVisit returns an error for a visit that a job has not had; 0 is the latest. Without its state,
// a job does not say.
func hasVisit(ctx context.Context, job *weft.Job, visit int) error {
	if job == nil || visit <= 1 {
		return nil
	}
	s, err := job.Status(ctx)
	if had := max(1, s.Visit); err == nil && visit > had {
		err = misused("visit", strconv.Itoa(visit), fmt.Errorf("the job has had %s", plural(had, "visit")))
	}
	return err
}

// check settles format and folder, and refuses what cannot be written.
func (f *exportFlags) check(dir string) error {
	if f.output == "" {
		return usage("no --output, expected the FILE to write, such as -o pages.csv, or - for standard output")
	}
	if err := comparesValues(f.Where); f.Table != "items" && err != nil {
		return misused("where", f.Where, err)
	}
	byName := export.FormatOf(f.output)
	if f.output == "-" {
		byName = "jsonl"
	}
	if f.Format = cmp.Or(f.Format, byName); f.Format == "" {
		return usage("--output %.128q: no known ending, expected --format with one of %s",
			f.output, strings.Join(export.Formats(), ", "))
	}
	for _, name := range []string{"pages.jsonl", "links.jsonl"} {
		if sameFile(f.output, filepath.Join(dir, name)) {
			return usage("--output %.128q: the job's own records, expected another FILE", f.output)
		}
	}
	switch {
	case f.isStream() && !export.IsText(f.Format):
		return usage("--output %.128q: no regular file, expected one for %s", f.output, f.Format)
	case !f.isStream():
		f.Temp = filepath.Dir(f.output)
	}
	return nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// isStream reports whether the output is not a file that can be replaced.
func (f *exportFlags) isStream() bool {
	info, err := os.Stat(f.output)
	return f.output == "-" || err == nil && !info.Mode().IsRegular()
}
