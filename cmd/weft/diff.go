package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/diff"
)

// diffFlags are the options of weft diff.
type diffFlags struct {
	visits         [2]int
	churn          bool
	output, format string
	json, exitCode bool
	limit          int
	from, to       string

	include, exclude []*regexp.Regexp
}

func diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:     "diff [flags] JOB | OLD NEW",
		Short:   "Say what has changed between visits, jobs or archives",
		GroupID: sectionJob,
		Long: `Say what has changed between the last two visits of a job, or between two jobs
or archives (WARC, ARC, WACZ): pages that are new, gone, moved or changed, with
the words, links, statuses, header fields and structured data that differ.

It does not compare bytes: what differs each time, such as dates, tokens,
counters and adverts, is found by comparing pages and left out, and so is the
order of lists.`,
		Annotations: detailed(`
The second visit of a job is made by weft crawl --update JOB. The words that
differ need bodies: weft crawl --warc or --bodies. Without them, records are
compared: status, title, description, h1, canonical URL, hash of the text.

An error says nothing about a page: it is not gone, but not compared.

--from reads what --format json has written, to write it in another format.

Exit status: 0 done, 1 something cannot be read or written, 2 something has
changed (with --exit-code), 3 usage error, 5 interrupted.`),
		Example: `  weft diff example.org.weft
  weft diff --visits 2..5 -o changes.html example.org.weft
  weft diff old.wacz new.warc.gz
  weft diff --from changes.json --format atom`,
		Args: arguments(0, 2, "argument", "a JOB, or two jobs or archives: OLD NEW"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, group{"Comparison", f.comparisonOptions()}, group{"Output", f.outputOptions()})
	return cmd
}

func (f *diffFlags) comparisonOptions() []option {
	return []option{
		{name: "visits", arg: "A..B", Value: to(&f.visits, twoVisits),
			help: "compare visits A and B of a JOB", def: "the last two"},
		{name: "include", arg: "RE", Value: appended(&f.include, expression), help: "compare only URLs that match RE; repeatable"},
		{name: "exclude", arg: "RE", Value: appended(&f.exclude, expression), help: "compare no URLs that match RE; repeatable"},
		{name: "churn", Value: on(&f.churn), help: "report what differs each time, too"},
	}
}

func (f *diffFlags) outputOptions() []option {
	var names []string
	for _, format := range diff.Formats() {
		names = append(names, format.Name)
	}
	return []option{
		{name: "output", short: "o", arg: "FILE", Value: to(&f.output, some("a FILE, or - for standard output")),
			help: "write to FILE, when it is complete (-: stdout)"},
		{name: "format", arg: "FORMAT", Value: to(&f.format, oneOf(names...)), words: names,
			help: strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1],
			more: "By default the ending of FILE says it; otherwise it is text."},
		jsonOption(&f.json, "the same as --format json"),
		{name: "limit", arg: "N", Value: to(&f.limit, number(1)),
			help: "list at most N changes of each kind",
			more: "In atom of all kinds together; json has all. Default: 100 on a terminal, 50 in mail, 5,000 in html, 500 in atom; otherwise all."},
		{name: "to", arg: "ADDRESS", Value: to(&f.to, addresses),
			help: "set the recipient of mail, for sendmail -t"},
		{name: "from", arg: "FILE", Value: to(&f.from, some("a FILE, or - for standard input")),
			help: "read changes that --format json has written"},
		{name: "exit-code", Value: on(&f.exitCode), help: "exit with 2 if something has changed"},
	}
}

// addresses checks addresses of mail.
func addresses(s string) (string, error) {
	if _, err := mail.ParseAddressList(s); err != nil {
		return "", errors.New("expected an address, such as someone@example.org")
	}
	return s, nil
}

// twoVisits reads 2..5.
func twoVisits(s string) (v [2]int, err error) {
	a, b, found := strings.Cut(s, "..")
	old, errA := strconv.Atoi(a)
	new, errB := strconv.Atoi(b)
	if !found || errA != nil || errB != nil || old < 1 || new <= old {
		return v, errors.New("expected the numbers of two visits, the earlier one first, such as 2..5")
	}
	return [2]int{old, new}, nil
}

func (f *diffFlags) run(args []string) error {
	if f.json {
		if f.format != "" && f.format != "json" {
			return usage("--json and --format %s: expected one of them", f.format)
		}
		f.format = "json"
	}
	format, err := diff.FormatOf(f.format, f.output)
	if err != nil {
		return misused("output", f.output, fmt.Errorf("%w: --format names one", err))
	}
	if f.to != "" && format.Name != "mail" {
		return usage("--to: expected with --format mail")
	}
	ctx, stop := untilInterrupted(context.Background())
	defer stop()
	limitMemory(0)
	makesTrees.Store(true)
	report, err := f.report(ctx, args)
	var e *exit
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return &exit{exitInterrupted, errors.New("interrupted: nothing was written")}
	case errors.As(err, &e):
		return err
	default:
		return &exit{exitError, err}
	}
	defer report.Close()
	if err := f.write(format, report); err != nil {
		return err
	}
	if f.exitCode && report.Summary.Differs() {
		return &exit{exitBroken, nil}
	}
	return nil
}

// temp is the folder for what does not fit into memory: that of the output.
func (f *diffFlags) temp() string {
	if info, err := os.Stat(f.output); f.output == "" || f.output == "-" || err == nil && !info.Mode().IsRegular() {
		return ""
	}
	return filepath.Dir(f.output)
}

// report compares what the arguments name, or reads a report.
func (f *diffFlags) report(ctx context.Context, args []string) (*diff.Report, error) {
	o := diff.Options{Churn: f.churn, Temp: f.temp(), Include: f.include, Exclude: f.exclude}
	switch {
	case f.from != "" && len(args) > 0:
		return nil, usage("diff: %.128q and --from: expected one of them", args[0])
	case f.from != "" && (f.churn || f.visits[1] > 0 || f.include != nil || f.exclude != nil):
		return nil, usage("diff: --from reads a report that was made: expected it without --visits, --churn, --include and --exclude")
	case f.from == "-":
		return givenReport(diff.Read(os.Stdin, o.Temp))("standard input")
	case f.from != "":
		in, err := os.Open(f.from)
		if err != nil {
			return nil, misused("from", f.from, reason(err))
		}
		defer in.Close()
		return givenReport(diff.Read(in, o.Temp))(f.from)
	case len(args) == 0:
		return nil, usage("diff: nothing given, expected a JOB, or two jobs or archives: OLD NEW")
	}
	for _, arg := range args {
		if err := mayBeCompared(arg); err != nil {
			return nil, err
		}
	}
	if len(args) == 2 {
		if f.visits[1] > 0 {
			return nil, usage("--visits %d..%d: expected with one JOB", f.visits[0], f.visits[1])
		}
		return diff.Compare(ctx, diff.Source{Path: args[0]}, diff.Source{Path: args[1]}, o)
	}
	visits, err := f.ofJob(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return diff.Compare(ctx, diff.Source{Path: args[0], Visit: visits[0]}, diff.Source{Path: args[0], Visit: visits[1]}, o)
}

// givenReport names what a report was read from in an error.
func givenReport(r *diff.Report, err error) func(string) (*diff.Report, error) {
	return func(name string) (*diff.Report, error) {
		if err != nil {
			return nil, &exit{exitError, fmt.Errorf("--from %.128q: %w", name, err)}
		}
		return r, nil
	}
}

// ofJob returns the visits of a job that are compared.
func (f *diffFlags) ofJob(ctx context.Context, dir string) ([2]int, error) {
	if !isFolder(dir) {
		return f.visits, usage("diff: %.128q: one archive, expected a second one, or a JOB with two visits", dir)
	}
	last, err := diff.Visits(ctx, dir)
	switch {
	case err != nil:
		return f.visits, &exit{exitError, fmt.Errorf("job %.128q: %w", dir, reason(err))}
	case f.visits[1] > last:
		return f.visits, misused("visits", fmt.Sprintf("%d..%d", f.visits[0], f.visits[1]), fmt.Errorf("the job has had %s", plural(last, "visit")))
	case f.visits[1] > 0:
		return f.visits, nil
	case last < 2:
		return f.visits, usage("diff: %.128q: the job has had %s, expected two: weft crawl --update makes the next", dir, plural(last, "visit"))
	}
	return [2]int{last - 1, last}, nil
}

// mayBeCompared refuses what is neither a job nor a file.
func mayBeCompared(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil && hasScheme(path):
		return usage("diff: %.128q: a URL, expected a JOB or an archive", weft.WithoutSecrets(path))
	case errors.Is(err, fs.ErrNotExist):
		return usage("diff: %.128q: no such file, expected a JOB, or a WARC, ARC or WACZ file", path)
	case err == nil && info.IsDir() && !holdsJob(path):
		return noJob(path, "no job")
	}
	return nil
}

// write writes a report to --output. Text cleans itself, and has colors on a terminal.
func (f *diffFlags) write(format diff.Format, r *diff.Report) error {
	style := diff.Style{Limit: f.limit, To: f.to}
	if isTerminal(f.output) && format.Name == "text" {
		style.Clean = printable
		style.Color = term.IsTerminal(os.Stdout.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if f.limit == 0 {
			style.Limit = 100
		}
		return standardOutput(format.Write(os.Stdout, r, style))
	}
	return writeOutput(context.Background(), f.output, func(_ context.Context, to io.Writer) error { return format.Write(to, r, style) })
}
