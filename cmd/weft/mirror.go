package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/mirror"
)

// mirrorFlags are the options of weft mirror: those of a crawl, and its own.
type mirrorFlags struct {
	crawl   crawlFlags
	options mirror.Options
	dir     string
	from    string // the folder of a job
}

func mirrorCommand() *cobra.Command {
	var f mirrorFlags
	cmd := &cobra.Command{
		Use:     "mirror [flags] URL...|JOB",
		Short:   "Copy a site to files that open without a network",
		GroupID: sectionCrawl,
		Long: `Crawl the given URLs as weft crawl does, with all that pages need to be shown,
and write them as files whose links lead to one another.`,
		Annotations: detailed(`
Files have the names of their URLs, DIR/HOST/PATH, or without -o HOST/PATH, with
the extension of their type. Links to pages that were not fetched lead to the
Web, and pages load only files of the mirror. DIR/.weft keeps the crawl: a job
with an archive, and the list of the files.

After an interruption, the same command continues. When the mirror is complete,
the same command brings it up to date: it requests the pages again, with
conditional requests, and writes only files that change. It leaves alone files
that you change, and files that the mirror did not write. Files of pages that
are gone stay, unless --delete is given.

With JOB, nothing is requested: it is one of weft crawl --warc.

Exit status: 0 done, 1 error or no seed could be fetched, 3 usage error, 4
stopped by --limit or --max-time with what was fetched written, 5 interrupted.`),
		Example: `  weft mirror https://example.org/ -o copy
  weft mirror --scope prefix -d 3 --delete https://example.org/docs/
  weft mirror example.org.weft -o copy`,
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(args) },
		ValidArgsFunction: nothing,
	}
	cmd.Annotations[takesURLs] = "yes"
	define(cmd, f.groups()...)
	return cmd
}

// groups returns all options: what a crawl writes and where has no place here.
func (f *mirrorFlags) groups() []group {
	all := []group{{"Mirror", f.mirrorOptions()}}
	for _, g := range f.crawl.groups() {
		g.options = slices.DeleteFunc(g.options, func(o option) bool {
			return slices.Contains([]string{"check-external", "job", "update", "retry-failed", "status", "error", "where", "older-than"}, o.name)
		})
		if g.title == "Output" {
			g.options = slices.DeleteFunc(g.options, func(o option) bool {
				return !slices.Contains([]string{"quiet", "verbose", "log-format", "log-interval", "warc-size", "warc-digest"}, o.name)
			})
		}
		all = append(all, g)
	}
	for _, g := range all[1:] {
		for i := range g.options {
			o := &g.options[i]
			o.advanced = o.advanced || !slices.Contains([]string{"scope", "depth", "include", "exclude", "limit", "max-time", "delay", "fresh", "quiet", "verbose"}, o.name)
			switch o.name {
			case "assets":
				o.bare, o.def, o.more = "", "any", "All that pages need to be shown, wherever it is; scope: in scope or on its hosts only; none: nothing."
			case "max-url-length":
				o.def = strconv.Itoa(mirror.LongestURL)
			}
		}
	}
	return all
}

func (f *mirrorFlags) mirrorOptions() []option {
	return []option{
		{name: "output", short: "o", arg: "DIR", Value: to(&f.dir, some("a folder")),
			help: "write to DIR", def: "./HOST"},
		{name: "from", arg: "JOB", Value: to(&f.from, some("the folder of a job")), hidden: true,
			help: "write what JOB has, and fetch nothing"},
		{name: "delete", Value: on(&f.options.Delete),
			help: "remove files of pages that are gone"},
		{name: "windows", Value: on(&f.options.Windows),
			help: "give files names that Windows allows",
			more: "No device has such a name, and paths in DIR have at most 180 bytes. Files that are there keep theirs."},
	}
}

func (f *mirrorFlags) run(args []string) error {
	if f.from == "" && len(args) == 1 && holdsJob(args[0]) {
		f.from, args = args[0], nil
	}
	if f.from != "" {
		return f.ofJob(args)
	}
	for _, arg := range args {
		if isFolder(filepath.Join(arg, mirror.Hidden)) {
			return usage("mirror: %.128q: a mirror, expected a URL: -o %[1]s brings it up to date", arg)
		}
	}
	if err := noFiles("mirror", args); err != nil {
		return err
	}
	if err := f.named(args); err != nil {
		return err
	}
	f.crawl.mirror = f.dir
	p, err := f.crawl.prepare(args)
	if err != nil {
		return err
	}
	defer p.close()
	stopped := error(nil)
	err = f.write(p.con, func(ctx context.Context) (*mirror.Report, error) {
		return mirror.Site(ctx, f.dir, mirror.SiteOptions{
			Options: f.options, Crawl: p.options, NoAssets: f.crawl.noAssets,
			Run: func(_ context.Context, o weft.Options) (weft.Summary, error) {
				// The mirror takes its own signals.
				s, err := p.crawl(o)
				var e *exit
				if errors.As(err, &e) && e.code == exitLimit {
					stopped, err = err, nil
				}
				return s, err
			},
		})
	})
	return cmp.Or(err, stopped)
}

// named gives the mirror a folder.
func (f *mirrorFlags) named(args []string) error {
	if f.dir != "" {
		return nil
	}
	if len(args) == 0 {
		return usage("mirror: no URL given, expected one such as https://example.org/, or the folder of a mirror, -o DIR")
	}
	s, err := weft.ReadSeed(args[0])
	if err != nil {
		return &exit{exitUsage, err}
	}
	f.dir, f.options.Flat = strings.TrimSuffix(weft.JobName(s.URL), ".weft"), true
	return nil
}

// ofJob writes what a job has.
func (f *mirrorFlags) ofJob(args []string) error {
	if len(args) > 0 {
		return usage("mirror: %.128q and %.128q: expected a job or URLs", f.from, args[0])
	}
	if !holdsJob(f.from) {
		return usage("mirror: %.128q: expected the folder of a job", f.from)
	}
	if f.dir == "" {
		f.dir, f.options.Flat = strings.TrimSuffix(filepath.Clean(f.from), ".weft"), true
		if f.dir == filepath.Clean(f.from) {
			return usage("mirror: %.128q: expected a folder to write to, too: -o DIR", f.from)
		}
	}
	return f.write(newConsole(f.crawl.console, ""), func(ctx context.Context) (*mirror.Report, error) {
		return mirror.Write(ctx, f.from, f.dir, f.options)
	})
}

// write makes a mirror, and says what came of it.
func (f *mirrorFlags) write(con *console, make func(context.Context) (*mirror.Report, error)) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a crawl goes on to take signals
	if !con.quiet {
		f.options.Progress = con.written()
	}
	r, err := make(ctx)
	var e *exit
	var wrong *weft.OptionError
	switch {
	case errors.As(err, &e): // of the crawl
		return err
	case errors.Is(err, mirror.ErrNoJob):
		return usage("mirror: no URL given, and %.128q has no job: expected a URL such as https://example.org/, or a JOB", f.dir)
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		con.warn("interrupted; the same command goes on")
		return &exit{exitInterrupted, nil}
	case errors.As(err, &wrong):
		return &exit{exitError, fmt.Errorf("job %.128q: %w", wrong.Value, wrong.Err)}
	case err != nil:
		return f.failed(err)
	}
	if !con.quiet {
		con.mirrored(f.dir, r)
	}
	if r.Lost > 0 {
		return &exit{exitError, fmt.Errorf("%s: %s without a file: %w", f.dir, plural(r.Lost, "page"), r.Unread[0])}
	}
	return nil
}

// written returns a function that prints how many files are written.
func (c *console) written() func(done, of int) {
	var next time.Time
	return func(done, of int) {
		now := time.Now()
		if c.every < 0 || !next.IsZero() && now.Before(next) {
			return
		}
		if !next.IsZero() {
			c.say(fmt.Sprintf("writing: %s of %s", count(done), plural(of, "file")))
		}
		next = now.Add(cmp.Or(c.every, printEvery))
	}
}

// failed returns an error of writing files.
func (f *mirrorFlags) failed(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
		return misused("output", f.dir, reason(err))
	}
	return &exit{exitError, fmt.Errorf("%s: %w", f.dir, err)}
}

// mirrored prints what a mirror has.
func (c *console) mirrored(dir string, r *mirror.Report) {
	if v, ok := c.voice.(jsonVoice); ok {
		v.log.Info("mirror", "folder", dir, "start", r.Start, "files", r.Files, "bytes", r.Bytes, "written", r.Written,
			"removed", r.Removed, "gone", r.Gone, "left_alone", r.Left, "posts", r.Posts, "not_loaded", r.Misses, "need_scripts", r.NeedScripts)
		return
	}
	var b strings.Builder
	out := &sheet{Writer: &b, width: titleWidth}
	files := fmt.Sprintf("%s, %s: %s written", plural(r.Files, "file"), volume(r.Bytes), count(r.Written))
	if r.Removed > 0 {
		files += fmt.Sprintf(", %s removed", count(r.Removed))
	}
	out.line("mirror", "%s", files)
	if r.Gone > 0 {
		out.line("gone", "%s of pages that are gone; --delete removes them", plural(r.Gone, "file"))
	}
	if r.Posts > 0 {
		out.line("left out", "%s of POST requests: no link leads there", plural(r.Posts, "result"))
	}
	for _, name := range r.Foreign {
		out.line("left alone", "%s: it is not as weft mirror wrote it", filepath.Join(dir, name))
	}
	if n := r.Left - len(r.Foreign); n > 0 {
		out.line("left alone", "%s", plural(n, "other"))
	}
	if r.Crawl.NeedScripts == 0 { // else the report of the crawl says so
		out.some("empty", needingScripts(r.ScriptCounts))
	}
	for _, url := range r.Missing {
		out.line("not loaded", "%s: it was not fetched", url)
	}
	if n := r.Misses - len(r.Missing); n > 0 {
		out.line("not loaded", "%s", plural(n, "other mention"))
	}
	if r.Start != "" {
		out.line("open", "%s", filepath.Join(dir, r.Start))
	}
	fmt.Fprint(os.Stderr, elided(b.String(), os.Stderr))
}
