package main

import (
	"cmp"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
)

func crawlCommand() *cobra.Command {
	var f crawlFlags
	cmd := &cobra.Command{
		Use:     "crawl [flags] URL...",
		Short:   "Crawl the given URLs and the pages they link to",
		GroupID: sectionCrawl,
		Long: `Fetch the given URLs and the pages they link to, each once. Records go to
JOB/pages.jsonl. The same command resumes an interrupted crawl.`,
		Annotations: detailed(`
Ctrl-C finishes the fetches that have started, then exits; a second Ctrl-C
stops at once. However a crawl ends, kill -9 and power failure included, the
same command resumes it: no URL is lost, and no record is written twice. A URL
list is read again; URLs that are already known are skipped. For a finished
job, the command prints the report and fetches nothing.

--update recrawls a finished job: every URL it knows, with conditional requests
where the site supports them, and newly linked URLs. Records are appended and
say whether each page is unchanged, changed, gone or new. An unfinished recrawl
resumes with the same command, with or without --update.

--retry-failed asks again for what failed in a job and may pass, or for what
--status, --error and --where select, as part of the same visit: the last
record of a URL counts. An unfinished retry resumes with the same command.

--markdown and --text write the pages when the crawl has ended, or was stopped
by a limit: only then weft knows what stands on every page of a site.

More examples:
  weft crawl --update example.org.weft -o - | jq 'select(.change == "new")'
  weft crawl --retry-failed example.org.weft --status 404,500..599
  weft crawl --scope page -i urls.txt -o - | jq -r '[.status, .url] | @tsv'

Exit status: 0 done, 1 error or no seed could be fetched, 3 usage error, 4
stopped by --limit or --max-time, 5 interrupted. weft kinds explains the error
kinds of the records.

` + frozenFlags()),
		Example:           `  weft crawl -d 3 --exclude '[.](zip|iso)$' https://example.org/`,
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(args) },
		ValidArgsFunction: nothing,
	}
	cmd.Annotations[takesURLs] = "yes"
	define(cmd, f.groups()...)
	return cmd
}

// frozenFlags says which flags a job keeps for good.
func frozenFlags() string {
	var names []string
	for _, option := range weft.FrozenOptions() {
		if flag, ok := flagOf()[option]; ok {
			names = append(names, "--"+flag)
		}
	}
	slices.Sort(names)
	text := "A job keeps these: a later run gives them as before, or leaves out all but the folder: " + strings.Join(names, ", ") + "."
	return strings.Join(wrap(text, widestHelp), "\n")
}

// run crawls.
func (f *crawlFlags) run(args []string) error {
	p, err := f.prepare(args)
	if err != nil {
		return err
	}
	defer p.close()
	o := p.options
	if len(args) > 0 || f.input != "" { // otherwise a job has its own
		f.archives(&o)
	}
	if o.Job == "" && (f.output == "" || f.monitor.web.IsValid() || o.Keep.KeepLinks || o.Keep.KeepBodies || o.Keep.Archive || o.Render.Screenshot != "" || o.Render.PDF || len(o.Keep.Extract) > 0 || o.Keep.Structured) {
		first := ""
		switch {
		case len(args) > 0:
			first = args[0]
		case p.seeds != nil:
			first = p.seeds.first
		}
		s, err := weft.ReadSeed(first)
		if err != nil {
			return &exit{exitUsage, err}
		}
		o.Job = weft.JobName(s.URL)
	}
	if err := f.texts.possible(o.Job, f.again() != "" || len(args) == 0 && f.input == ""); err != nil {
		return err
	}
	_, err = p.crawl(o)
	return f.texts.write(p.con, o.Job, err)
}

// prepared is a crawl that the flags ask for.
type prepared struct {
	*crawlFlags
	options weft.Options
	con     *console
	seeds   *list // of --input; or nil
	noURL   bool  // no argument is one
}

// prepare checks the flags together, and reads what they name.
func (f *crawlFlags) prepare(args []string) (*prepared, error) {
	p := &prepared{crawlFlags: f, options: f.options, noURL: len(args) == 0}
	o := &p.options
	if err := f.check(o); err != nil {
		return nil, err
	}
	makesTrees.Store(len(o.Keep.Extract) > 0 || o.Keep.Structured)
	limitMemory(o.Memory)
	p.con = newConsole(f.console, f.output)
	p.con.forCheck, p.con.forOthers = f.forCheck, f.client.Distrust
	// Without seeds, a job says whether pages are rendered.
	if err := f.client.idle(); err != nil && (len(args) > 0 || f.input != "") {
		return nil, err
	}
	f.client.block(p.con.warn)
	o.Render = f.client.render
	if f.anyDepth {
		p.con.warn("--depth 0: no limit, as without it; --scope page fetches only the given URLs")
	}
	if len(args) == 0 && f.input == "" && f.needsURL(o) {
		command := "crawl"
		switch {
		case f.mirror != "":
			command = "mirror"
		case f.forCheck:
			command = "check"
		}
		return nil, usage("%s: no URL given, expected one such as https://example.org/, or -i FILE", command)
	}
	if o.Keep.Archive && !f.forCheck && f.mirror == "" {
		if err := noArchive(args); err != nil {
			return nil, err
		}
	}
	if !f.client.Distrust { // or a stranger would learn of files here
		if err := noFiles("crawl", args); err != nil {
			return nil, err
		}
	}
	if o.Seeds = args; f.post.any() {
		if o.Seeds, o.Posts = nil, f.post.to(args); len(args) == 0 {
			return nil, usage("crawl: --post-data and --post-form: no URL given, expected where to send them")
		}
	}
	switch {
	case f.retry.dir != "":
		o.Rerun.RetryFailed = f.retry.selects(p.con.warn)
	case f.retry.any():
		o.Rerun.UpdateOnly = f.retry.selects(p.con.warn)
	}
	if f.input == "" {
		return p, nil
	}
	var err error
	if p.seeds, err = openList(f.input, f.strict, p.con.warn); err != nil {
		return nil, err
	}
	o.SeedSeq = p.seeds.urls
	return p, nil
}

// needsURL reports whether a URL has to be given: no job knows its seeds.
func (f *crawlFlags) needsURL(o *weft.Options) bool {
	return !f.ofFiles && !f.cluster.any() && (o.Rerun.Fresh || o.Job == "" && !f.namesJob())
}

// close closes what prepare has opened.
func (p *prepared) close() {
	if p.seeds != nil {
		p.seeds.Close()
	}
}

// crawl crawls on the options of p, which others may have completed, and prints what comes of it.
func (p *prepared) crawl(o weft.Options) (weft.Summary, error) {
	con := p.con
	con.job = p.naming(&o)
	out, err := openOutput(p.output)
	if err != nil {
		return weft.Summary{}, err
	}
	if p.seeds != nil && out.is(p.seeds.file) {
		out.discard()
		return weft.Summary{}, misused("output", p.output, errors.New("expected a file other than the one of --input"))
	}
	o.Output = out.Writer
	if r, ok := out.Writer.(*regular); ok {
		r.header = record.Header(record.Form{Format: o.Format, Fields: o.Fields})
	}
	onLink := o.Hooks.OnLink // of check.Site
	o.Hooks = con.hooks()
	o.Hooks.OnLink = onLink
	if con.monitor, err = p.monitor.start(con, &o); err != nil {
		out.discard()
		return weft.Summary{}, err
	}
	defer con.monitor.close()
	c, err := con.start(o, out, p.cluster.joins(con))
	if err != nil {
		return weft.Summary{}, p.refused(err, con.job, p.noURL)
	}
	s, err := con.crawl(c, out, o.SeedSeq != nil || o.Rerun.Amend || p.cluster.any())
	if p.forCheck || p.mirror != "" {
		signal.Stop(con.signals) // what follows is not done by the crawl
	}
	return s, err
}

// archives sets the defaults of a crawl with an archive.
func (f *crawlFlags) archives(o *weft.Options) {
	if o.Keep.Archive && !f.forCheck {
		o.Reach.Assets = f.assetsOr(weft.AssetsAny)
	}
	if f.texts.any() && f.again() == "" && !o.Keep.KeepBodies {
		o.Keep.Archive = true
	}
}

// noArchive refuses the name of an archive as a URL: it was meant for --warc.
func noArchive(args []string) error {
	for _, arg := range args {
		name := strings.TrimSuffix(strings.ToLower(arg), ".gz")
		if strings.HasSuffix(name, ".warc") && !hasScheme(arg) {
			return usage("--warc takes no value such as %.128q: the archive is JOB/archive", arg)
		}
	}
	return nil
}

// noFiles refuses arguments that name a file or a job: as URLs without a scheme, both would only
// fail.
func noFiles(command string, args []string) error {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case err != nil:
		case info.Mode().IsRegular():
			return usage("%s: %.128q: a file, expected a URL: -i %[2]s reads URLs from it", command, arg)
		case command == "mirror" && holdsJob(arg):
			return usage("mirror: %.128q: a job, expected URLs, or one JOB", arg)
		case command == "mirror" && info.IsDir():
			return usage("mirror: %.128q: a folder, expected a URL such as https://example.org/", arg)
		case strings.HasSuffix(filepath.Clean(arg), ".weft"), isFolder(filepath.Join(arg, "state")):
			return usage("crawl: %.128q: a job, expected a URL: --job %[1]s resumes it", arg)
		}
	}
	return nil
}

// check completes the options, and refuses flags that exclude each other.
func (f *crawlFlags) check(o *weft.Options) error {
	if err := cmp.Or(f.console.check(), f.monitor.check()); err != nil {
		return err
	}
	var err error
	if o.HTTP, err = f.client.http(); err != nil {
		return err
	}
	if err := f.client.implied(); err != nil {
		return err
	}
	if err := f.cluster.check(o, f.again() != ""); err != nil {
		return err
	}
	if o.Format == "" {
		switch {
		case strings.EqualFold(filepath.Ext(f.output), ".csv"):
			o.Format = weft.FormatCSV
		case strings.EqualFold(filepath.Ext(f.output), ".urls"):
			o.Format = weft.FormatURLs
		case mistakenEnd(f.output, ".jsonl", ".ndjson"):
			return usage("--output %.128q: expected FILE.jsonl or FILE.csv, or --format; weft export and weft read write others from the job", f.output)
		}
	}
	switch {
	case f.post.contentType != "" && len(f.post.data) == 0:
		return misused("post-type", f.post.contentType, errors.New("expected together with --post-data"))
	case f.output == "" && o.Format != "":
		return misused("format", string(o.Format),
			errors.New("expected together with an output, such as -o -"))
	case len(o.Fields) > 0 && o.Format != weft.FormatCSV:
		return misused("fields", strings.Join(o.Fields, ","), errors.New("expected together with CSV, such as -o FILE.csv"))
	case f.retry.dir != "":
		return f.retry.check(f, o)
	case f.update == "" && f.retry.any():
		return usage("--status, --error and --where: expected together with --retry-failed or --update")
	case f.update == "" && o.Rerun.OlderThan > 0:
		return usage("--older-than: expected together with --update")
	case f.update == "":
		return nil
	case o.Job != "":
		return usage("--update and --job: expected one of them")
	case o.Rerun.Fresh:
		return usage("--update and --fresh: expected one of them")
	}
	if err := mayBeJob(f.update); err != nil {
		return usage("--update %w", err)
	}
	o.Job, o.Rerun.Update = f.update, true
	return nil
}

// again is the folder of the job that is crawled again, or in part; empty: none.
func (f *crawlFlags) again() string { return cmp.Or(f.update, f.retry.dir) }

// namesJob reports whether the folder of the job is not that of the first URL's host.
func (f *crawlFlags) namesJob() bool { return f.options.Job != "" || f.forCheck || f.mirror != "" }

// naming says which flag, if any, names the folder of the job.
func (f *crawlFlags) naming(o *weft.Options) naming {
	n := naming{dir: o.Job, command: "weft crawl", mirror: f.mirror}
	if f.forCheck {
		n.command = "weft check"
	}
	switch {
	case o.Rerun.Update:
		n.flag = "update"
	case o.Rerun.RetryFailed != nil:
		n.flag = "retry-failed"
	case f.namesJob():
		n.flag = "job"
	}
	return n
}

// refused returns the error of weft.New in the words of the command.
func (f *crawlFlags) refused(err error, job naming, noURL bool) error {
	var wrong *weft.OptionError
	var plan *weft.PlanError
	var missing *render.NotFoundError
	switch {
	case f.cluster.any() && errors.As(err, &plan):
		return &exit{exitUsage, otherBeginning(plan, &f.cluster)}
	case errors.Is(err, cluster.ErrLimit):
		return &exit{exitLimit, err}
	case errors.As(err, &missing):
		return &exit{exitError, missing}
	case errors.Is(err, weft.ErrNoBrowser):
		return &exit{exitError, weft.ErrNoBrowser}
	case errors.Is(err, weft.ErrJobUnusable):
		return &exit{exitError, byFlag(err, job)}
	case errors.Is(err, cluster.ErrAbsent):
		return &exit{exitError, err}
	case errors.As(err, &wrong) && wrong.Option == "Seeds" && noURL && f.input == "":
		return usage(
			"crawl: no URL given, expected one such as https://example.org/, or the folder of a job")
	}
	return &exit{exitUsage, byFlag(err, job)}
}
