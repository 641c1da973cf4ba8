package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/internal/atomicfile"
)

// checkFlags are the options of weft check: those of a crawl, and its own.
type checkFlags struct {
	crawl         crawlFlags
	options       check.Options
	without       []string // rules
	output        string
	format        string
	baseline      string
	writeBaseline string
	internal      bool // links out of scope are not checked
	hugeBytes     int
	sitemaps      bool // --rules names a rule on them

	typed   []string // the options of a crawl on the command line
	signals *interrupts
	stopped error // the exit status of a crawl that has not come to its end; or nil
	resumes bool  // the same command goes on with it
}

func checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:     "check [flags] URL...|JOB|PATH...",
		Short:   "Find broken links, and what else is wrong with pages",
		GroupID: sectionCrawl,
		Long: `Crawl the given URLs, or read a finished job, or files and folders of HTML and
Markdown, and check every link of every page.`,
		Annotations: detailed(`
With URLs, crawl the pages in scope as weft crawl does, with images, styles and
scripts, and request each link out of scope once, with HEAD, or with GET where
HEAD fails. Nothing is kept, unless --job names a folder.

With JOB, request nothing. A job of weft crawl --warc --assets --check-external
has all that a check needs; without --warc and --bodies, lines, elements and
fragments are unknown.

Three verdicts: a link is ok; broken; or unknown, where the server may treat
crawlers differently, or is overloaded, or too slow: 401, 403, 429, 503, 999,
challenge pages, robots.txt, timeouts. Unknown is an error only on hosts of the
seeds, unless robots.txt says so, and with --no-rule own-unknown nowhere.

Rules. Those of links, down to not-read, apply by default; the others with
--rules site or all. Findings of level e are broken; w and n are advice.

` + ruleList() + `
Exit status: 0 nothing is broken, 1 error or nothing could be checked, 2
something is broken, 3 usage error, 4 its crawl was stopped by --limit or
--max-time with nothing broken so far, 5 interrupted.

Ctrl-C ends the crawl and reports what was checked until then, as a part; a
second one while the report is made ends without it. With --job, the same
command goes on.`),
		Example: `  weft check https://example.org/
  weft check --format github docs/
  weft check --accept 200..299,403 --ignore '//twitter[.]com/' example.org.weft`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.typed = f.typedFor(cmd)
			return f.run(args)
		},
	}
	cmd.Annotations[takesURLs] = "yes"
	define(cmd, f.groups()...)
	return cmd
}

// ruleList lists the rules for the help.
func ruleList() string {
	var b strings.Builder
	for _, r := range check.Rules() {
		fmt.Fprintf(&b, "  %s %-21s %s\n", r.Level[:1], r.Name, r.Doc)
	}
	return b.String()
}

// groups returns all options: what a crawl writes has no place here.
func (f *checkFlags) groups() []group {
	all := []group{{"Check", f.checkOptions()}, {"Output", f.outputOptions()}}
	for _, g := range f.crawl.groups() {
		if g.title != "Output" {
			g.options = slices.DeleteFunc(g.options, func(o option) bool { return o.name == "assets" || o.name == "check-external" })
			all = append(all, g)
		}
	}
	for _, g := range all[2:] {
		for i := range g.options {
			o := &g.options[i]
			o.advanced = !slices.Contains([]string{"depth", "exclude", "limit", "delay", "job", "update"}, o.name)
			if o.name == "job" {
				o.help, o.def = "keep the crawl in DIR", ""
			}
		}
	}
	return all
}

func (f *checkFlags) checkOptions() []option {
	o := &f.options
	return []option{
		{name: "accept", arg: "STATUS", Value: to(&o.Accept, check.ParseRanges),
			help: "statuses that are ok", def: "200..299",
			more: "Statuses and ranges, separated by commas: 200..299,403."},
		{name: "ignore", arg: "RE", Value: appended(&o.Ignore, regexp.Compile),
			help: "do not check links whose URL matches RE; repeatable"},
		{name: "no-external", Value: on(&f.internal),
			help: "do not check links that lead out of scope"},
		{name: "external-fragments", Value: on(&o.ExternalFragments),
			help: "check fragments of links out of scope, too",
			more: "Requests each such page once more, with GET, and reads up to 4 MiB of it."},
		{name: "rules", arg: "NAMES", Value: to(&o.Rules, f.readRules),
			help: "apply these rules", def: "links",
			more: "Names, links, site or all, separated by commas; those with - in front are left out. " +
				"The name of a rule on sitemaps turns --sitemaps on."},
		{name: "no-rule", arg: "NAME", Value: appended(&f.without, some("a rule")),
			help: "do not apply a rule; repeatable"},
		{name: "baseline", arg: "FILE", Value: to(&f.baseline, some("a FILE")),
			help: "leave out the findings that FILE lists"},
		{name: "write-baseline", arg: "FILE", Value: to(&f.writeBaseline, some("a FILE")),
			help: "write the findings to FILE, for --baseline"},
		{name: "deep", arg: "N", Value: to(&o.Depth, number(1)), advanced: true,
			help: "rule deep: pages more than N links from the start", def: "5"},
		{name: "slow", arg: "MS", Value: to(&o.SlowMS, number(1)), advanced: true,
			help: "rule slow: pages that take more than MS milliseconds", def: "3000"},
		{name: "huge", arg: "SIZE", Value: to(&f.hugeBytes, size), advanced: true,
			help: "rule huge: pages larger than SIZE", def: "2MiB"},
	}
}

// readRules reads --rules. Who names a rule on sitemaps wants them read; site and all are also for
// those who do not, as more is crawled then, and pages have another depth.
func (f *checkFlags) readRules(list string) (check.RuleSet, error) {
	f.sitemaps = slices.ContainsFunc(check.Rules(), func(r check.Rule) bool {
		return r.NeedsSitemaps() && slices.ContainsFunc(strings.Split(list, ","), func(word string) bool { return strings.TrimSpace(word) == r.Name })
	})
	return check.ParseRules(list)
}

func (f *checkFlags) outputOptions() []option {
	var formats []string
	for _, format := range check.Formats() {
		formats = append(formats, format.Name)
	}
	return append([]option{
		{name: "output", short: "o", arg: "FILE", Value: to(&f.output, some("a FILE, or - for standard output")),
			help: "write the report to FILE", def: "standard output"},
		{name: "format", arg: "FORMAT", words: formats,
			Value: to(&f.format, oneOf(formats...)),
			help:  "write the report as FORMAT",
			more:  "text, html, csv, json, junit, sarif, markdown or github. Default: by the end of FILE: html, csv, json, xml, sarif, md; otherwise text."},
		{name: "sort", arg: "ORDER", words: []string{"problem", "page", "target"},
			Value: to(&f.options.Order, oneOf(check.ByProblem, check.ByPage, check.ByTarget)),
			help:  "sort by problem, page or target", def: "problem",
			more: "In text, html and markdown. The other formats have all findings, by page or target; github has problems of a site."},
	}, f.crawl.console.options()...)
}

// run checks until signals end it.
func (f *checkFlags) run(args []string) error {
	f.signals = takeInterrupts()
	defer f.signals.release()
	f.options.Stop = f.signals.first
	err := f.check(f.signals, args)
	var e *exit
	if errors.As(err, &e) && errors.Is(e.err, context.Canceled) {
		return &exit{exitInterrupted, errors.New("interrupted: no report was written")}
	}
	return err
}

func (f *checkFlags) check(ctx context.Context, args []string) error {
	format, err := check.FormatOf(f.format, f.output)
	if err != nil {
		if f.format == "" {
			return usage("--output: %w: --format names one", err)
		}
		return usage("--format: %w", err)
	}
	if err := f.complete(); err != nil {
		return err
	}
	if c := &f.crawl; len(args) == 0 && c.again() == "" && c.options.Job == "" && c.input == "" {
		return usage("check: nothing given, expected URLs, a job, or files and folders")
	}
	if len(args) == 1 && holdsJob(args[0]) {
		if err := f.checksJob(args[0]); err != nil {
			return err
		}
		r, err := check.Job(ctx, args[0], f.options)
		return f.report(format, r, err)
	}
	files, err := areFiles(args)
	if err != nil {
		return err
	}
	if err := mayWrite(f.output); err != nil {
		return err
	}
	var r *check.Report
	if files {
		if err := f.checksFiles(); err != nil {
			return err
		}
		r, err = f.files(ctx, args)
	} else {
		r, err = f.site(ctx, args)
	}
	err = f.report(format, r, err)
	return cmp.Or(err, f.stopped)
}

// typedFor returns the options of a crawl that the command line has. Those of a configuration file
// may be meant for other commands.
func (f *checkFlags) typedFor(cmd *cobra.Command) (names []string) {
	for _, g := range f.groups()[2:] {
		for _, o := range g.options {
			if typed(cmd, o.name) {
				names = append(names, o.name)
			}
		}
	}
	return names
}

// ofReading are the options of a crawl that the reading of pages needs, too.
var ofReading = []string{"user-agent", "canon"}

// ofJobs are the options that name a job to crawl.
var ofJobs = []string{"job", "update", "retry-failed"}

// ofSelection are the options that select URLs of a job that is crawled again.
var ofSelection = []string{"older-than", "status", "error", "where"}

// ofSeeds are the options without a meaning where links of files are the seeds: nothing is
// followed.
var ofSeeds = []string{"input", "strict", "post-data", "post-form", "post-type", "scope", "depth", "include", "sitemaps", "prune-duplicates"}

// checksJob refuses a folder that is no job, and options of a crawl beside a job, whose check
// requests nothing.
func (f *checkFlags) checksJob(dir string) error {
	for _, name := range f.typed {
		switch {
		case slices.Contains(ofReading, name):
		case slices.Contains(ofJobs, name):
			return usage("--%s and %.128q: expected one of them", name, dir)
		case slices.Contains(ofSelection, name):
			return usage("--%s: expected with --update or --retry-failed: the check of a job is of all that it has", name)
		default:
			return usage("--%s: an option of a crawl, expected with URLs, --update or --retry-failed: the check of a job requests nothing", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pages.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return noJob(dir, "no such job")
	}
	return mayBeJob(dir)
}

// checksFiles refuses options of a crawl that mean nothing beside files.
func (f *checkFlags) checksFiles() error {
	for _, name := range f.typed {
		switch {
		case slices.Contains(ofSeeds, name):
			return usage("--%s: expected with URLs: the check of files requests each link to the Web once", name)
		case f.internal && !slices.Contains(ofReading, name):
			return usage("--%s: expected without --no-external: the check of files requests nothing with it", name)
		}
	}
	return nil
}

// site checks what the seeds lead to, or a job that is crawled again.
func (f *checkFlags) site(ctx context.Context, seeds []string) (*check.Report, error) {
	o, p, err := f.prepare(seeds)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return check.Site(ctx, o)
}

// files checks files, and their links to the Web.
func (f *checkFlags) files(ctx context.Context, paths []string) (*check.Report, error) {
	if f.internal { // nothing is crawled
		return check.Files(ctx, paths, check.SiteOptions{Options: f.options, NoExternal: true})
	}
	f.crawl.ofFiles = true
	o, p, err := f.prepare(nil)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return check.Files(ctx, paths, o)
}

// prepare reads the options of a check that crawls.
func (f *checkFlags) prepare(seeds []string) (check.SiteOptions, *prepared, error) {
	f.crawl.forCheck = true
	if len(seeds) > 0 || f.crawl.input != "" { // else the options of the job hold
		on := &f.crawl.options.Reach.Sitemaps
		*on = *on || f.sitemaps && !slices.Contains(f.typed, "sitemaps")
		if f.options.Hints.Sitemaps = "--sitemaps reads them"; *on {
			f.options.Hints.Sitemaps = ""
		}
	}
	p, err := f.crawl.prepare(seeds)
	if err != nil {
		return check.SiteOptions{}, nil, err
	}
	p.options.Job = cmp.Or(f.crawl.again(), f.crawl.options.Job) // a node's has no other name
	f.resumes = p.options.Job != ""
	return check.SiteOptions{
		Options: f.options, Crawl: p.options, NoExternal: f.internal,
		Run: func(_ context.Context, o weft.Options) (weft.Summary, error) { return f.crawled(p, o) },
	}, p, nil
}

// crawled crawls. Signals end the crawl, and so does a limit; the report is on what it has. After a
// signal that came before, there is neither.
func (f *checkFlags) crawled(p *prepared, o weft.Options) (weft.Summary, error) {
	f.signals.crawling.Store(true)
	if f.signals.first.Err() != nil {
		return weft.Summary{}, &exit{exitInterrupted, errors.New("interrupted: nothing was checked")}
	}
	s, err := p.crawl(o)
	f.signals.crawling.Store(false)
	var e *exit
	errors.As(err, &e)
	limited, interrupted := e != nil && e.code == exitLimit, e != nil && e.code == exitInterrupted
	s.Interrupted = interrupted || f.signals.crawl.Load() > 0
	if limited {
		s.Stopped = cmp.Or(s.Stopped, "limit")
	}
	if f.stopped = nil; limited || interrupted {
		f.stopped, err = err, nil
	}
	return s, err
}

// areFiles reports whether arguments are files or folders; all of them or none.
func areFiles(args []string) (bool, error) {
	found, other := 0, ""
	for _, arg := range args {
		if _, err := os.Stat(arg); err == nil {
			found++
		} else {
			other = arg
		}
	}
	if found == 0 && other != "" && !strings.Contains(other, ":") {
		return false, usage("check: %.128q: no such file or job, and no URL such as https://example.org/", other)
	}
	if found > 0 && other != "" {
		return false, usage("check: %.128q: no such file, expected URLs, or files and folders, not both", weft.WithoutSecrets(other))
	}
	return found > 0, nil
}

// complete reads what the flags name.
func (f *checkFlags) complete() (err error) {
	for _, name := range f.without {
		if f.options.Rules, err = f.options.Rules.Without(name); err != nil {
			return misused("no-rule", name, err)
		}
	}
	f.options.Hints = check.Hints{Login: "--auth logs in", Private: privateHint, Sitemaps: "a crawl with --sitemaps reads them"}
	f.options.HugeBytes = int64(f.hugeBytes)
	f.options.Agent, f.options.Canon = f.crawl.client.UserAgent, f.crawl.options.Reach.Canon
	if f.baseline == "" {
		return nil
	}
	in, err := os.Open(f.baseline)
	if err != nil {
		return misused("baseline", f.baseline, reason(err))
	}
	defer in.Close()
	if f.options.Baseline, err = check.ReadBaseline(in); err != nil {
		return misused("baseline", f.baseline, err)
	}
	return nil
}

// report writes a report, if there is one, and returns the exit status.
func (f *checkFlags) report(format check.Format, r *check.Report, err error) error {
	var e *exit
	switch {
	case errors.As(err, &e):
		return err
	case err != nil:
		return &exit{exitError, err}
	}
	defer r.Close()
	if r.Interrupted && r.Empty() {
		return &exit{exitInterrupted, errors.New("interrupted: nothing was checked")}
	}
	if f.writeBaseline != "" && !r.Interrupted { // which has to know all
		err := atomicfile.Write(f.writeBaseline, 0o666, func(w io.Writer) error { return check.WriteBaseline(w, r) })
		if err != nil {
			return &exit{exitError, fmt.Errorf("--write-baseline %.128q: %w", f.writeBaseline, err)}
		}
	}
	if err := f.write(format, r); err != nil {
		return err
	}
	switch {
	case r.Interrupted:
		return &exit{exitInterrupted, errors.New("interrupted" + f.whatIsLeft(r))}
	case r.Empty():
		return &exit{exitError, errors.New("nothing was checked: no seed could be fetched, and no file read")}
	case r.Failed():
		return &exit{exitBroken, nil}
	}
	return nil
}

// whatIsLeft says what an interrupted check has not done.
func (f *checkFlags) whatIsLeft(r *check.Report) string {
	text := ""
	if r.Part != "" {
		text = ": only a part was checked"
		if f.resumes {
			text += "; the same command goes on"
		}
	}
	if f.writeBaseline != "" {
		text += fmt.Sprintf("; nothing was written to %.128q", f.writeBaseline)
	}
	return text
}

// write writes a report to --output. Text for people cleans itself, and has colours on a terminal.
func (f *checkFlags) write(format check.Format, r *check.Report) error {
	style := check.Style{Clean: printable}
	if f.output != "" && f.output != "-" {
		err := atomicfile.Write(f.output, 0o666, func(w io.Writer) error { return format.Write(w, r, style) })
		if err != nil || f.crawl.console.quiet {
			return unwritten(f.output, err)
		}
		return f.summarize(r, style)
	}
	out := terminal(os.Stdout)
	if format.Name == "text" {
		out = os.Stdout
		style.Color = term.IsTerminal(os.Stdout.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return standardOutput(format.Write(out, r, style))
}

// summarize says on standard error what is in a report that went to a file. Beside progress as JSON
// there are no lines of text.
func (f *checkFlags) summarize(r *check.Report, style check.Style) error {
	if f.crawl.console.format == "json" {
		return nil
	}
	out := terminal(os.Stderr)
	if err := check.WriteSummary(out, r, style); err != nil {
		return &exit{exitError, fmt.Errorf("standard error: %w", reason(err))}
	}
	fmt.Fprintf(out, "report: %s\n", printable(f.output))
	return nil
}
