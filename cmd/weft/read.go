package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/sniff"
	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
)

// readFlags are the options of weft read.
type readFlags struct {
	options        read.Options
	client         clientFlags
	markdown, llms bool
	output, format string
	explain, base  string
	redirects      int
}

// Formats of weft read.
const (
	formatFiles = "files"
	formatJSONL = "jsonl"
)

func readCommand() *cobra.Command {
	f := readFlags{redirects: 10}
	cmd := &cobra.Command{
		Use:     "read [flags] JOB|URL|FILE|-",
		Short:   "Write pages as Markdown or text",
		GroupID: sectionJob,
		Long: `Write the main content of pages as Markdown: of all pages of a job, a file each
in JOB/markdown, or of one page, to standard output.

Menus, and whatever else stands on most pages of a site, are left out. That
takes a job: with one page, only the page itself shows what is no content.`,
		Annotations: detailed(`
A job must have bodies: weft crawl --markdown, --warc or --bodies. It may
be running. Reading it again writes the files whose text has changed, removes
those of pages that are gone, and counts both. index.jsonl lists the files.

-o FILE.jsonl, or --format jsonl, writes a line of JSON a page instead, with its
text; if FILE is there, each line says what has changed since it was written.

With JOB and URL, print the page as it would be written.

Exit status: 0 done; 1 a page or the job cannot be read, has no text or no
bodies, or the output cannot be written; 3 usage error; 5 interrupted.`),
		Example: `  weft read https://example.org/
  weft read example.org.weft --no-duplicates --language en
  weft read example.org.weft -o chunks.jsonl --chunks 2000
  weft read example.org.weft --explain https://example.org/about`,
		Args: arguments(0, 2, "page", "a JOB, perhaps with one of its URLs, a URL, a FILE or -"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, append([]group{{"Text", f.textOptions()}, {"Pages", f.pageOptions()}, {"Output", f.outputOptions()}, f.client.renderOptions()}, f.client.groups("16MiB")...)...)
	return cmd
}

func (f *readFlags) textOptions() []option {
	o := &f.options
	return []option{
		{name: "markdown", Value: on(&f.markdown), help: "write Markdown (default)"},
		{name: "text", Value: on(&o.Text), help: "write plain text"},
		{name: "whole", Value: on(&o.Whole), help: "write all that is on a page, not its main content"},
		{name: "chunks", arg: "N", Value: to(&o.Chunk, number(1)),
			help: "write chunks of at most N characters, a JSON line each",
			more: "Texts are divided at their headings; each chunk has an id and the headings above it."},
		{name: "chunk-overlap", arg: "N", Value: to(&o.Overlap, number(0)),
			help: "begin each chunk with N characters of the one before",
			more: "They count among those of --chunks. Default: 0."},
		{name: "base", arg: "URL", Value: to(&f.base, some("a URL such as https://example.org/docs/")),
			help: "the URL of the page in FILE",
			more: "Default: " + localBase + "."},
	}
}

func (f *readFlags) pageOptions() []option {
	o := &f.options
	return []option{
		{name: "language", arg: "CODES", Value: to(&o.Languages, languages),
			help: "pages in these languages, such as en,de",
			more: "en includes en-GB. Pages whose language is not known are left out."},
		{name: "no-duplicates", Value: on(&o.NoDuplicates),
			help: "write each text once",
			more: "Pages that the crawl has marked are left out, too: see weft crawl --duplicates."},
		{name: "where", arg: "CONDITION", Value: to(&o.Where, condition),
			help: "pages for whose record CONDITION holds",
			more: "It is over the fields of pages.jsonl and host, in the language of https://expr-lang.org."},
	}
}

func (f *readFlags) outputOptions() []option {
	return []option{
		{name: "output", short: "o", arg: "DIR|FILE", Value: to(&f.output, some("a folder, FILE.md, FILE.txt, FILE.jsonl, or - for standard output")),
			help: "write to DIR, FILE.md, .txt or .jsonl (-: stdout)",
			more: "Default: JOB/markdown or JOB/text; of one page, standard output."},
		{name: "format", arg: "FORMAT", Value: to(&f.format, oneOf(formatFiles, formatJSONL)), words: []string{formatFiles, formatJSONL},
			help: "files or jsonl", more: "Default: by -o. FILE.jsonl and - are jsonl; FILE.md and FILE.txt have all texts."},
		{name: "llms-txt", Value: on(&f.llms), help: "write an overview of the site: see llmstxt.org"},
		{name: "explain", arg: "URL", Value: to(&f.explain, some("a URL")),
			help: "print what is left out of a page, and why"},
		redirectsOption(&f.redirects, "follow at most N redirects"),
	}
}

// languages reads en,de.
func languages(s string) (all []string, err error) {
	for code := range strings.SplitSeq(s, ",") {
		code = strings.TrimSpace(code)
		first, _, _ := strings.Cut(code, "-")
		if len(first) < 2 || len(first) > 3 || len(code) > 35 || strings.Trim(strings.ToLower(code), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return nil, errors.New("expected codes of languages, such as en or en,pt-BR")
		}
		all = append(all, code)
	}
	return all, nil
}

// condition checks a condition over records.
func condition(s string) (string, error) {
	_, err := compile[record.Record](s)
	return s, err
}

func (f *readFlags) run(args []string) error {
	if f.markdown && f.options.Text {
		return usage("--markdown and --text: expected one of them")
	}
	if f.options.Chunk > 0 && f.output != "-" && !f.isJSONL() {
		return usage("--chunks: expected with lines of JSON: -o FILE.jsonl, -o - or --format jsonl")
	}
	if o := &f.options; o.Chunk > 0 && 2*o.Overlap > o.Chunk {
		return usage("--chunk-overlap %d: expected at most half of --chunks, which is %d", o.Overlap, o.Chunk)
	}
	if o := &f.options; o.Overlap > 0 && o.Chunk == 0 {
		return usage("--chunk-overlap: expected together with --chunks")
	}
	if len(args) == 0 && f.explain != "" {
		args = []string{f.explain}
	}
	switch {
	case f.llms && mistakenEnd(f.output, ".md", ".markdown", ".txt"):
		return misused("output", f.output, errors.New("expected FILE.txt or FILE.md with --llms-txt"))
	case len(args) == 0:
		return usage("read: nothing given, expected a JOB, a URL, a FILE, or - for standard input")
	case holdsJob(args[0]):
		return f.job(args[0], args[1:])
	case len(args) > 1:
		return usage("read: %.128q and %.128q: expected one page, or a JOB and one of its URLs", args[0], args[1])
	case f.explain != "" && f.explain != args[0]:
		return usage("read: %.128q and --explain %.128q: expected one page, or a JOB and one of its URLs", args[0], f.explain)
	case f.llms, len(f.options.Languages) > 0, f.options.NoDuplicates, f.options.Where != "":
		return noJob(args[0], "no job")
	}
	if err := f.endsWell(); err != nil {
		return err
	}
	return f.page(args[0])
}

// wrongEnd refuses the name of a file that is neither Markdown, text nor JSON lines.
func wrongEnd(output string) error {
	return misused("output", output, errors.New("expected a folder, FILE.md for Markdown, FILE.txt for text, or FILE.jsonl"))
}

// endsWell lets the end of the name of --output say how one page is written, as it does for a job.
func (f *readFlags) endsWell() error {
	if f.isDocument() || f.format != "" || f.isJSONL() || !mistakenEnd(f.output) {
		return nil
	}
	if info, err := os.Stat(f.output); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	return wrongEnd(f.output)
}

// page reads one page.
func (f *readFlags) page(arg string) error {
	p, err := f.client.readPage("read", arg, maxPage, f.redirects)
	if err != nil {
		return err
	}
	if f.base != "" || p.url.IsZero() {
		if p.url, err = weft.ParseSeed(cmp.Or(f.base, localBase)); err != nil {
			return usage("--base: %w", err)
		}
	}
	name := p.url.String()
	if p.status == 0 { // a file
		name, p.contentType = arg, typeOfFile(p.body)
	}
	if !record.IsHTML(p.contentType) {
		return &exit{exitError, fmt.Errorf("%.2048s: content type %.64q, expected HTML", name, p.contentType)}
	}
	page := read.One(read.Source{URL: p.url, ContentType: p.contentType, Body: p.body}, f.options)
	if p.rendered != nil {
		page.NeedsScripts = "" // they have run
	}
	return f.print(arg, page)
}

// typeOfFile returns the type of a file that is read as HTML: text/html, unless it is obviously
// something else, such as a picture.
func typeOfFile(body []byte) string {
	found := sniff.Type("", "", body)
	for _, kind := range []string{"image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/x-gzip", "application/x-rar"} {
		if strings.HasPrefix(found, kind) {
			return found
		}
	}
	return "text/html"
}

// print prints a page that a user has named, or what is left out of it.
func (f *readFlags) print(name string, p read.Page) error {
	err := writeOutput(context.Background(), f.output, func(_ context.Context, to io.Writer) (err error) {
		w := bufio.NewWriter(to)
		switch {
		case f.explain != "":
			err = printRemoved(w, p, f.isJSONL())
		case f.options.Chunk > 0:
			enc := newEncoder(w)
			for i := range p.Chunks {
				err = errors.Join(err, enc.Encode(p.Chunks[i]))
			}
		case f.isJSONL():
			err = newEncoder(w).Encode(p)
		default:
			_, err = io.WriteString(w, p.Markdown+p.Text)
		}
		return errors.Join(err, w.Flush())
	})
	if err != nil {
		return err
	}
	if p.Err != nil {
		return &exit{exitError, fmt.Errorf("%.128q: %w", name, p.Err)}
	}
	switch {
	case f.explain != "":
	case p.Markdown+p.Text == "" && p.NeedsScripts != "":
		return &exit{exitError, fmt.Errorf("%.128q: no text: it looks %s", name, emptyPages)}
	case p.Markdown+p.Text == "":
		return &exit{exitError, fmt.Errorf("%.128q: no text", name)}
	case p.NeedsScripts != "":
		fmt.Fprintf(os.Stderr, "weft: %s looks %s\n", printable(name), emptyPages)
	}
	return nil
}

func (f *readFlags) isJSONL() bool {
	ext := strings.ToLower(filepath.Ext(f.output))
	return f.format == formatJSONL || f.format == "" && (ext == ".jsonl" || ext == ".ndjson")
}

// isDocument reports whether the texts of a job go into one file. The end of its name also says
// which texts.
func (f *readFlags) isDocument() bool {
	if info, err := os.Stat(f.output); f.format != "" || err == nil && info.IsDir() {
		return false
	}
	switch strings.ToLower(filepath.Ext(f.output)) {
	case ".md", ".markdown":
		return !f.options.Text
	case ".txt":
		f.options.Text = f.options.Text || !f.markdown
		return f.options.Text
	}
	return false
}

// printRemoved prints what was left out of a page.
func printRemoved(w io.Writer, p read.Page, asJSON bool) error {
	for _, r := range p.Removed {
		if asJSON {
			if err := newEncoder(w).Encode(r); err != nil {
				return err
			}
			continue
		}
		rule := r.Rule
		if r.Of > 0 {
			rule = fmt.Sprintf("on %s of %s pages of the site", count(r.Pages), count(r.Of))
		}
		fmt.Fprintf(w, "%s\n  %s\n  %s\n", rule, printable(r.Path), cmp.Or(printable(r.Text), "(no text)"))
	}
	return nil
}

// job reads a job, or one page of it.
func (f *readFlags) job(dir string, urls []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.explain != "" {
		urls = append(urls, f.explain)
	}
	var err error
	switch {
	case len(urls) > 1:
		return usage("read: %.128q and %.128q, expected one URL", urls[0], urls[1])
	case len(urls) == 1:
		u, wrong := weft.ReadSeed(urls[0])
		if wrong != nil {
			return &exit{exitUsage, wrong}
		}
		if err := f.endsWell(); err != nil {
			return err
		}
		var p read.Page
		if p, err = read.Find(ctx, dir, u.URL.String(), f.options); err == nil {
			return f.print(p.URL, p)
		}
		if errors.Is(err, read.ErrNoPage) {
			if meant := meantIn(ctx, dir, urls[0]); meant != "" {
				return &exit{exitError, fmt.Errorf("%.2048s: no page of the job: did you mean %s?", u.URL, meant)}
			}
		}
	case f.llms:
		err = writeOutput(ctx, f.output, func(ctx context.Context, w io.Writer) error { return read.LLMsTxt(ctx, dir, w, f.options) })
	default:
		err = f.texts(ctx, dir)
	}
	var e *exit
	switch {
	case err == nil || errors.As(err, &e):
		return err
	case ctx.Err() != nil:
		return &exit{exitInterrupted, errors.New("interrupted: the same command goes on")}
	case errors.Is(err, results.ErrNoBody):
		err = fmt.Errorf("job %.128q: no bodies, expected a job of weft crawl --markdown, --warc or --bodies", dir)
	case errors.Is(err, read.ErrNoPage):
	default:
		err = fmt.Errorf("job %.128q: %w", dir, reason(err))
	}
	return &exit{exitError, err}
}

// meantIn returns the URL of a job that a person means by one that it has not; "": there is none.
func meantIn(ctx context.Context, dir, url string) string {
	job, err := weft.OpenJob(ctx, dir)
	if err != nil {
		return "" // what was wrong has been said
	}
	defer job.Close()
	why, err := job.Why(ctx, url)
	if err != nil {
		return ""
	}
	for _, s := range why.Steps {
		if s.What == "meant" {
			return strings.TrimPrefix(s.Text, "the crawl knows ")
		}
	}
	return ""
}

// texts writes the texts of a job, and says how many there are.
func (f *readFlags) texts(ctx context.Context, dir string) error {
	makesTrees.Store(true)
	limitMemory(0)
	say := terminal(os.Stdout)
	to := cmp.Or(f.output, filepath.Join(dir, textFolder(f.options.Text)))
	var c read.Counts
	var err error
	switch {
	case f.output == "-":
		say = terminal(os.Stderr)
		to = ""
		err = writeOutput(ctx, f.output, func(ctx context.Context, w io.Writer) (err error) {
			c, err = read.Lines(ctx, dir, w, nil, f.options)
			return err
		})
	case f.isDocument():
		f.options.Temp = filepath.Dir(to)
		err = writeOutput(ctx, f.output, func(ctx context.Context, w io.Writer) (err error) {
			c, err = read.Document(ctx, dir, w, f.options)
			return err
		})
	case f.isJSONL():
		if f.output == "" {
			to += ".jsonl"
			f.output = to
		}
		f.options.Temp = filepath.Dir(to)
		c, err = f.lines(ctx, dir, to)
	default:
		if info, wrong := os.Stat(to); wrong == nil && !info.IsDir() || errors.Is(wrong, syscall.ENOTDIR) {
			return misused("output", to, errors.New("not a directory, expected a folder, FILE.md, FILE.txt or FILE.jsonl"))
		} else if wrong != nil && f.format == "" && mistakenEnd(to) {
			return wrongEnd(to)
		}
		if err := os.MkdirAll(to, 0o777); err != nil {
			return unwritten(to, err)
		}
		f.options.Temp = to
		c, err = read.Folder(ctx, dir, to, f.options)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(say, said(to, c, f.options.Chunk > 0))
	return standardOutput(err)
}

// lines writes JSON lines to a file, compared with what it has.
func (f *readFlags) lines(ctx context.Context, dir, to string) (c read.Counts, err error) {
	var earlier io.Reader = strings.NewReader("")
	old, err := os.Open(to)
	if err == nil {
		defer old.Close()
		earlier = old
	}
	err = writeOutput(ctx, f.output, func(ctx context.Context, w io.Writer) (err error) {
		c, err = read.Lines(ctx, dir, w, earlier, f.options)
		return err
	})
	return c, err
}

// textFolder is the folder of texts in that of a job.
func textFolder(text bool) string {
	if text {
		return "text"
	}
	return "markdown"
}

// unreadDocuments says how many documents have texts that are not read; empty: none.
func unreadDocuments(c record.DocumentCounts) string {
	if c.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("%s not read: %s", plural(c.Total(), "document"), c)
}

// said says what was written, and where, if that is not standard output.
func said(to string, c read.Counts, chunked bool) string {
	s, all := plural(c.Pages, "text"), c.Pages
	if chunked {
		s, all = plural(c.Chunks, "chunk")+" of "+s, c.Chunks
	}
	if to != "" {
		s += " in " + to
	}
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{c.New, "new"}, {c.Changed, "changed"}, {c.Unchanged, "unchanged"}, {c.Gone, "gone"}} {
		if part.n > 0 {
			parts = append(parts, count(part.n)+" "+part.word)
		}
	}
	if c.New < all && len(parts) > 0 || c.Gone > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	if c.Unread > 0 {
		s += "; " + plural(c.Unread, "page") + " could not be read"
	}
	for _, line := range []string{needingScripts(c.ScriptCounts), unreadDocuments(c.Documents)} {
		if line != "" {
			s += "\n" + line
		}
	}
	return s + "\n"
}
