package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// catJobFlags are the options of weft cat.
type catJobFlags struct {
	catFlags
	visit int
}

func catCommand() *cobra.Command {
	var f catJobFlags
	cmd := &cobra.Command{
		Use:     "cat [flags] JOB URL",
		Short:   "Print what was fetched from a URL",
		GroupID: sectionJob,
		Long: `Print the body of the last response of a URL, decoded. The job has an archive
(weft crawl --warc), or bodies (--bodies).`,
		Annotations: detailed(`
The job may be running. A response whose body is not archived again, as it has
not changed, is put together from both records.

Exit status: 0 done; 1 the job has no response of the URL, or it cannot be read;
3 usage error; 5 interrupted.`),
		Example: `  weft cat example.org.weft https://example.org/ > home.html
  weft cat -i --visit 1 example.org.weft https://example.org/`,
		Args:              jobArguments("JOB URL", 2),
		ValidArgsFunction: completeFirst(completeJob),
		RunE: func(_ *cobra.Command, args []string) error {
			u, err := weft.ReadKnownSeed(args[1])
			if err != nil {
				return usage("cat: %w", err)
			}
			return f.run(args[0], u.URL)
		},
	}
	define(cmd, group{"Output", append(f.options(),
		option{name: "visit", arg: "N", Value: to(&f.visit, number(1)), help: "print the response of visit N", def: "the last"},
	)})
	return cmd
}

// errNoResponse is the error of a URL that a job has no response of.
func errNoResponse(url string) error {
	return &exit{exitError, fmt.Errorf("no response of %s: weft why JOB URL says what happened to it", url)}
}

func (f *catJobFlags) run(dir string, u weburl.URL) error {
	url := u.String()
	if _, err := os.Stat(filepath.Join(dir, "archive")); errors.Is(err, fs.ErrNotExist) {
		return f.printBody(dir, url)
	}
	a, err := archive.Open(dir)
	if err != nil {
		return &exit{exitError, reason(err)}
	}
	defer a.Close()
	captures, err := f.captures(a, dir, u)
	switch {
	case err != nil:
		return &exit{exitError, err}
	case len(captures) == 0:
		return errNoResponse(url)
	}
	read := a.Read
	if f.raw {
		read = a.ReadRaw
	}
	r, err := read(captures[len(captures)-1])
	if err != nil {
		return &exit{exitError, err}
	}
	defer r.Close()
	out := newPrinter()
	err = f.print(out, r)
	if failed := out.Flush(); failed != nil {
		return standardOutput(failed)
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("%s: offset %d: %w", r.Filename, r.Offset, err)}
	}
	return nil
}

// print writes a capture as the flags say.
func (f *catJobFlags) print(out io.Writer, r *archive.Record) error {
	if f.raw || r.Message == nil {
		return f.catFlags.print(out, r.Record)
	}
	return f.printMessage(out, r.Message)
}

// captures returns those of a URL by date; of a visit or a POST, that which the record names.
func (f *catJobFlags) captures(a *archive.Archive, dir string, u weburl.URL) ([]archive.Capture, error) {
	if f.visit == 0 && u.Post() == "" {
		return a.Captures(u.Canonical().String())
	}
	record, err := results.LastOf(context.Background(), dir, u.String(), f.visit)
	if err != nil || record == nil || record.WARCFile == "" {
		return nil, err
	}
	return []archive.Capture{a.At(u.String(), record.WARCFile, record.WARCOffset)}, nil
}

// printBody prints a body of a job without an archive.
func (f *catJobFlags) printBody(dir, url string) error {
	if f.headers || f.raw {
		return usage("cat: -i and --raw: expected a job with an archive: weft crawl --warc")
	}
	record, err := results.LastOf(context.Background(), dir, url, f.visit)
	switch {
	case err != nil:
		return &exit{exitError, err}
	case record == nil || record.SHA256 == "":
		return errNoResponse(url)
	}
	body, err := archive.OpenBody(dir, record.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no archive and no body of %s, expected a job of weft crawl --warc or --bodies", dir, url)
	}
	if err != nil {
		return &exit{exitError, err}
	}
	defer body.Close()
	out := newPrinter()
	if _, err = io.Copy(out, body); err == nil {
		err = out.Flush()
	}
	return standardOutput(err)
}
