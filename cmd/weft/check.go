package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/check"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/atomicfile"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
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

	signals     *interrupts
	interrupted bool // the crawl
	resumes     bool // the same command goes on with it
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
something is broken, 3 usage error, 4 stopped by --limit or --max-time with
nothing broken so far, 5 interrupted.

Ctrl-C ends the crawl and reports what was checked until then, as a part; a
second one while the report is made ends without it. With --job, the same
command goes on.`),
		Example: `  weft check https://example.org/
  weft check --format github docs/
  weft check --accept 200..299,403 --ignore '//twitter[.]com/' example.org.weft`,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
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
		{name: "rules", arg: "NAMES", Value: to(&o.Rules, check.ParseRules),
			help: "apply these rules", def: "links",
			more: "Names, links, site or all, separated by commas; those with - in front are left out."},
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
			help:  "text, html, json, junit, sarif, markdown or github",
			more:  "Default: by the extension of FILE: html, json, xml, sarif, md; otherwise text."},
		{name: "sort", arg: "ORDER", words: []string{"page", "target"},
			Value: to(&f.options.Order, oneOf(check.ByPage, check.ByTarget)),
			help:  "sort by page or target", def: "page"},
	}, f.crawl.console.options()...)
}

// run checks until signals end it.
func (f *checkFlags) run(args []string) error {
	f.signals = takeInterrupts()
	defer f.signals.release()
	f.options.Stop = f.signals.came
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
		return usage("--format: %w", err)
	}
	if err := f.complete(); err != nil {
		return err
	}
	if c := &f.crawl; len(args) == 0 && c.again() == "" && c.options.Job == "" && c.input == "" {
		return usage("check: nothing given, expected URLs, a job, or files and folders")
	}
	if len(args) == 1 && holdsJob(args[0]) {
		f.ofJob(args[0])
		return f.report(format, func(o check.Options) (*check.Report, error) { return check.Job(ctx, args[0], o) })
	}
	files, err := areFiles(args)
	if err != nil {
		return err
	}
	seeds := args
	if files { // whoever wrote them is not the user
		f.crawl.options.Scope, f.crawl.options.Distrust = weft.ScopePage, true
		if seeds, err = f.offSite(ctx, args); err != nil {
			return &exit{exitError, reason(err)}
		}
	}
	if err := mayWrite(f.output); err != nil {
		return err
	}
	dir, stopped := "", error(nil)
	if !files {
		seeds = append(slices.Clip(seeds), madeUp(seeds)...)
	}
	if (!files || len(seeds) > 0) && !f.signals.came() {
		var remove func()
		if dir, remove, stopped = f.crawled(seeds, files); remove != nil {
			defer remove()
		}
		if stopped == nil && !files && f.options.ExternalFragments {
			stopped = f.readExternal(ctx, dir)
		}
	}
	var e *exit
	if stopped != nil && (!errors.As(stopped, &e) || e.code != exitLimit && e.code != exitInterrupted) {
		return stopped
	}
	f.ofJob(dir)
	err = f.report(format, func(o check.Options) (*check.Report, error) {
		if files {
			return check.Files(ctx, args, dir, o)
		}
		r, err := check.Job(ctx, dir, o)
		if err == nil {
			r.Subject = cmp.Or(strings.Join(args, " "), dir)
		}
		return r, err
	})
	return cmp.Or(err, stopped)
}

// holdsJob reports whether a folder is that of a job, perhaps without its state.
func holdsJob(path string) bool {
	_, err := os.Stat(filepath.Join(path, "pages.jsonl"))
	return err == nil || isJob(path)
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

// madeUp returns URLs that no site has, one for each seed.
func madeUp(seeds []string) (all []string) {
	for _, seed := range seeds {
		s, err := weft.ReadSeed(seed)
		if err != nil {
			continue // the crawl says so
		}
		if u, err := check.MadeUp(s.URL); err == nil && !slices.Contains(all, u.String()) {
			all = append(all, u.String())
		}
	}
	return all
}

// withMadeUp yields seeds of a list, and beside the first one of each host a URL that no site has.
// As the list may be long, that holds for its first hosts.
func withMadeUp(seeds iter.Seq2[string, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		const most = 10_000
		known := make(map[string]bool)
		for seed, err := range seeds {
			if !yield(seed, err) {
				return
			}
			s, bad := weft.ReadSeed(seed)
			if err != nil || bad != nil || len(known) == most || known[s.URL.Origin()] {
				continue
			}
			known[s.URL.Origin()] = true
			if u, err := check.MadeUp(s.URL); err == nil && !yield(u.String(), nil) {
				return
			}
		}
	}
}

// offSite returns the links of files to the Web that are to be checked.
func (f *checkFlags) offSite(ctx context.Context, files []string) ([]string, error) {
	if f.internal {
		return nil, nil
	}
	all, err := check.OffSite(ctx, files, f.options)
	return slices.DeleteFunc(all, func(link string) bool {
		u, err := weburl.Parse(link)
		return err != nil || guard.BlocksPort(u.EffectivePort())
	}), err
}

// complete reads what the flags name.
func (f *checkFlags) complete() (err error) {
	for _, name := range f.without {
		if f.options.Rules, err = f.options.Rules.Without(name); err != nil {
			return misused("no-rule", name, err)
		}
	}
	f.options.HugeBytes = int64(f.hugeBytes)
	f.crawl.options.ExternalHTTPS = f.options.Rules.Has(check.HTTPSAvailable)
	if ignore := f.options.Ignore; len(ignore) > 0 {
		f.crawl.options.Hooks.OnLink = func(_ weburl.URL, l links.Link) (v weft.Verdict) {
			url, _, _ := strings.Cut(l.URL.String(), "#") // a page is one for all of its fragments
			if slices.ContainsFunc(ignore, func(re *regexp.Regexp) bool { return re.MatchString(url) }) {
				v = weft.Verdict{Decision: weft.Drop, Reason: "ignored"}
			}
			return v
		}
	}
	f.options.Agent = cmp.Or(f.crawl.client.UserAgent, weft.DefaultUserAgent)
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

// crawled crawls into a job, and returns its folder, and what removes one that is not to be kept. A
// job without seeds is one that has its own, and its own options.
func (f *checkFlags) crawled(seeds []string, files bool) (dir string, remove func(), err error) {
	c := f.crawl
	c.forCheck = true
	o := &c.options
	if len(seeds) > 0 || c.input != "" {
		o.Archive, o.External, o.Assets = true, !f.internal && !files, weft.AssetsScope
	}
	o.CheckAll = !files
	if o.Job == "" && c.again() == "" {
		temporary, err := os.MkdirTemp("", "weft-check-*")
		if err != nil {
			return "", nil, &exit{exitError, err}
		}
		remove = func() { os.RemoveAll(temporary) }
		o.Job = filepath.Join(temporary, "job")
	}
	dir = cmp.Or(c.again(), o.Job)
	f.resumes = remove == nil
	return dir, remove, f.crawlOn(&c, seeds)
}

// crawlOn crawls, and notes whether a signal ended that.
func (f *checkFlags) crawlOn(c *crawlFlags, seeds []string) error {
	f.signals.crawling.Store(true)
	err := c.run(seeds)
	f.signals.crawling.Store(false)
	var e *exit
	f.interrupted = f.signals.crawl.Load() > 0 || errors.As(err, &e) && e.code == exitInterrupted
	return err
}

// readExternal has a job read the external pages that links name a place on.
func (f *checkFlags) readExternal(ctx context.Context, dir string) error {
	f.ofJob(dir)
	unread, err := check.Unread(ctx, dir, f.options)
	if err != nil {
		return &exit{exitError, err}
	}
	if len(unread) == 0 || f.signals.came() {
		return nil
	}
	c := f.crawl
	c.forCheck, c.input, c.update = true, "", ""
	c.options.Job, c.options.Fresh, c.options.Update, c.options.ExternalBody = "", false, false, check.ExternalBody
	c.retry = retryFlags{dir: dir, only: func(r *weft.Record) bool { return unread[r.URL] }}
	return f.crawlOn(&c, nil)
}

// ofJob takes the rules by which a job knows its URLs, and whether it has more to crawl. If it
// cannot say, the rules of the flags hold.
func (f *checkFlags) ofJob(dir string) {
	f.options.Canon = f.crawl.options.Canon
	if dir == "" {
		return
	}
	job, err := weft.OpenJob(context.Background(), dir)
	if err != nil {
		return
	}
	defer job.Close()
	if s, err := job.Status(context.Background()); err == nil {
		f.options.Canon, _ = weburl.ParseRules(s.Canon)
		f.options.Part = partOf(&s)
	}
}

// partOf says why a job has only a part of what it is to crawl; "": it has all.
func partOf(s *weft.Status) string {
	if s.State == weft.JobFinished || s.State == weft.JobFailed {
		return ""
	}
	left := s.Pending + s.InFlight
	return fmt.Sprintf("the crawl is %s, %s left", s.State, plural(left, "URL"))
}

// mayWrite refuses an output that cannot be written, before a crawl that would be in vain.
func mayWrite(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // whoever reads it would see its end
	}
	out, err := openOutput(path)
	if err == nil {
		out.discard()
	}
	return err
}

// report makes a report and writes it.
func (f *checkFlags) report(format check.Format, make func(check.Options) (*check.Report, error)) error {
	r, err := make(f.options)
	if err != nil {
		return &exit{exitError, err}
	}
	defer r.Close()
	interrupted := f.interrupted || f.signals.came()
	if interrupted && r.Empty() {
		return &exit{exitInterrupted, errors.New("interrupted: nothing was checked")}
	}
	if f.writeBaseline != "" && !interrupted { // which has to know all
		err := atomicfile.Write(f.writeBaseline, 0o666, func(w io.Writer) error { return check.WriteBaseline(w, r) })
		if err != nil {
			return &exit{exitError, fmt.Errorf("--write-baseline %.128q: %w", f.writeBaseline, err)}
		}
	}
	if err := f.write(format, r); err != nil {
		return err
	}
	switch {
	case interrupted:
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
		return unwritten(f.output, atomicfile.Write(f.output, 0o666, func(w io.Writer) error { return format.Write(w, r, style) }))
	}
	out := terminal(os.Stdout)
	if format.Name == "text" {
		out = os.Stdout
		style.Color = term.IsTerminal(os.Stdout.Fd()) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return standardOutput(format.Write(out, r, style))
}
