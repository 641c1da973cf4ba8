package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/wacz"
	"github.com/weftcrawl/weft/warc"
)

// waczFlags are the options of weft wacz.
type waczFlags struct{ output, title string }

func waczCommand() *cobra.Command {
	var f waczFlags
	cmd := &cobra.Command{
		Use:     "wacz [flags] JOB|FILE...",
		Short:   "Pack an archive into one file: WACZ",
		GroupID: sectionTools,
		Long: `Pack the archive of a job, or WARC files, into a WACZ file: with an index, the
list of pages, and digests of all of these. ReplayWeb.page and other tools show
it as a site, from a disk or a static web server.`,
		Annotations: detailed(`
The same archives make the same bytes. A job that is not finished is packed as
far as it has come, but not while its crawl runs.

Damage in a WARC file is reported; the file is packed as it is. Of a FILE, what
can be read is indexed. A file of a job that is missing, or too short, is an
error.

Exit status: 0 done; 1 an archive is damaged, or something cannot be read or
written; 3 usage error; 5 interrupted.`),
		Example: `  weft wacz example.org.weft
  weft wacz -o example.wacz crawl-*.warc.gz`,
		Args: arguments(1, math.MaxInt, "argument", "a JOB folder, or WARC files"),
		RunE: func(_ *cobra.Command, args []string) error { return f.pack(args) },
	}
	cmd.AddCommand(waczCheckCommand())
	define(cmd, group{"Output", []option{
		{name: "output", short: "o", arg: "FILE", Value: to(&f.output, some("a FILE")),
			help: "write to FILE, when it is complete", more: "Default: the name of the JOB, as example.org.wacz."},
		{name: "title", arg: "TEXT", Value: to(&f.title, some("a TEXT")),
			help: "title of the collection"},
	}})
	return cmd
}

func (f *waczFlags) pack(args []string) error {
	damaged := 0
	o := wacz.Options{Title: f.title, Software: "weft " + weft.Version, Damage: func(path string, d *warc.DamageError) {
		damaged++
		reportDamage(path, d)
	}}
	job, err := oneFolder(args)
	if err != nil {
		return err
	}
	if files, err := os.ReadDir(filepath.Join(args[0], "archive")); job && len(files) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		if holdsJob(args[0]) {
			return &exit{exitError, fmt.Errorf("%.128q: no archive, expected a job of weft crawl --warc", args[0])}
		}
		return usage("wacz: %.128q: a folder without a job, expected a JOB of weft crawl --warc, or WARC files", args[0])
	}
	switch {
	case f.output != "":
	case !job:
		return usage("no --output, expected the FILE to write, such as -o example.wacz")
	default:
		f.output = strings.TrimSuffix(filepath.Clean(args[0]), ".weft") + ".wacz"
		fmt.Fprintf(os.Stderr, "weft: writing %s\n", printable(f.output))
	}
	pack := func(_ context.Context, to io.Writer) error { return wacz.PackFiles(to, args, o) }
	if job {
		pack = func(_ context.Context, to io.Writer) error { return wacz.PackJob(to, args[0], o) }
	}
	err = writeOutput(context.Background(), f.output, pack)
	var e *exit
	switch {
	case errors.As(err, &e):
		return err
	case err != nil:
		return &exit{exitError, err}
	}
	if damaged > 0 {
		return &exit{exitError, nil}
	}
	return nil
}

// oneFolder reports whether the arguments are one folder, and not files.
func oneFolder(args []string) (bool, error) {
	for _, path := range args {
		info, err := os.Stat(path)
		if err != nil {
			return false, usage("wacz: %.128q: %w, expected a JOB folder or a WARC file", path, reason(err))
		}
		if info.IsDir() {
			if len(args) > 1 {
				return false, usage("wacz: %.128q: a folder, expected one JOB folder alone, or WARC files", path)
			}
			return true, nil
		}
	}
	return false, nil
}

func waczCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check WACZ files",
		Long: `Read WACZ files and print each fault with its file and offset: entries that are
missing or do not match their digest and length, archives that are compressed
once more, lines of the index that do not lead to a record of their URL, and
pages that the index does not have.`,
		Annotations: detailed(`
The records themselves are checked by weft warc check, after unzip.

Exit status: 0 no fault; 1 there are faults, or a file cannot be read; 3 usage
error; 5 interrupted.`),
		Example: `  weft wacz check example.wacz`,
		Args:    arguments(1, math.MaxInt, "file", "WACZ files"),
		RunE:    func(_ *cobra.Command, args []string) error { return checkPackages(args) },
	}
	define(cmd)
	return cmd
}

func checkPackages(paths []string) error {
	out := newPrinter()
	faults := 0
	for _, path := range paths {
		n, err := checkPackage(out, path)
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		faults += n
	}
	if err := out.Flush(); err != nil {
		return standardOutput(err)
	}
	if faults > 0 {
		return &exit{exitError, nil}
	}
	return nil
}

// checkPackage prints the faults of a file, and returns how many there are.
func checkPackage(out io.Writer, path string) (faults int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, usage("wacz check: %.128q: %w, expected a WACZ file", path, reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, &exit{exitError, err}
	}
	if info.IsDir() {
		return 0, usage("wacz check: %.128q: a folder, expected a WACZ file: weft wacz JOB -o FILE packs a job", path)
	}
	found, err := wacz.Check(f, info.Size(), func(fault wacz.Fault) {
		faults++
		fmt.Fprintln(out, printable(fmt.Sprintf("%s: %v", path, fault)))
	})
	if err != nil {
		return faults, &exit{exitError, fmt.Errorf("%s: %w", path, err)}
	}
	result := "no faults"
	if faults > 0 {
		result = plural(faults, "fault")
	}
	fmt.Fprintf(out, "%s: %s, %s, %s: %s\n", printable(filepath.Base(path)),
		plural(found.Archives, "archive"), plural(found.Captures, "capture"), plural(found.Pages, "page"), result)
	return faults, nil
}
