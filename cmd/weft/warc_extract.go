package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
)

// extractFlags are the options of weft warc extract.
type extractFlags struct {
	dir, url string
	offset   int64 // -1: all records
	all, raw bool
	most     int64 // bytes to write; 0: see archive.MaxExtracted
}

func warcExtractCommand() *cobra.Command {
	f := extractFlags{dir: ".", offset: -1}
	cmd := &cobra.Command{
		Use:   "extract [flags] FILE...",
		Short: "Write the bodies in archives to files",
		Long: `Write the bodies of responses with a status of 2xx, and of resource records, to
files, decoded: without their transfer and content coding. Print the path of
each and its URL, with a tab in between.`,
		Annotations: detailed(`
FILE is WARC or ARC, compressed with gzip or not.

A path is that of the URL, below a folder for the host: characters that some
file system does not allow are percent-encoded, a query stands behind @ and
before the extension, a page whose path ends with a slash is index.html, and
long names are cut and get a digest.
No file is replaced: what differs from a file of its name, in any case of
letters, gets the date of its record into its name, and what is the same is
written once. Nothing is written outside the folder, not even through symbolic
links.

Revisits have no body of their own: it is in the record that they refer to.

Compression can make much of little. A body of more than 64 MiB that is 256
times as long as it was received is cut off and reported. All bodies together
may have 256 MiB, or 256 times the size of the files: then weft stops, unless
--max-size allows more.

Exit status: 0 done; 1 a file is damaged, cannot be read or written, or a body
cannot be decoded; 3 usage error; 5 interrupted.`),
		Example: `  weft warc extract crawl-*.warc.gz -o site
  weft warc extract --url https://example.org/logo.png crawl.warc.gz
  weft warc extract --offset 1386 crawl.warc.gz >page.html`,
		Args: arguments(1, math.MaxInt, "file", "WARC or ARC files"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, group{"Which", []option{
		{name: "url", arg: "URL", Value: to(&f.url, some("a URL")), help: "records of this URL only, whatever their status"},
		{name: "offset", arg: "N", Value: to(&f.offset, parseOffset), help: "print the body of the record at this offset"},
		{name: "all", Value: on(&f.all), help: "responses of every status"},
	}}, group{"Output", []option{
		{name: "output", short: "o", arg: "DIR", def: "the current folder", Value: to(&f.dir, some("a folder")), help: "write to this folder"},
		{name: "raw", Value: on(&f.raw), help: "keep the content coding, such as gzip"},
		{name: "max-size", arg: "SIZE", def: "256 times the files", Value: to(&f.most, bytes64), help: "write at most this much"},
	}})
	return cmd
}

func parseOffset(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("expected a number of bytes, such as 1386")
	}
	return n, nil
}

func (f *extractFlags) run(paths []string) error {
	if f.offset >= 0 {
		if len(paths) > 1 {
			return usage("--offset: %s given, expected one", plural(len(paths), "file"))
		}
		return f.print(paths[0])
	}
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return misused("output", f.dir, fmt.Errorf("%w, expected a folder", reason(err)))
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return misused("output", f.dir, fmt.Errorf("%w, expected a folder", reason(err)))
	}
	defer root.Close()
	out := newPrinter()
	err = f.write(paths, root, out)
	if failed := out.Flush(); err == nil && failed != nil {
		return standardOutput(failed)
	}
	return err
}

// write writes the bodies of files below a folder, and prints their names.
func (f *extractFlags) write(paths []string, root *os.Root, out *printer) error {
	faults, path := 0, ""
	o := archive.ExtractOptions{
		URL: withScheme(f.url), All: f.all, Raw: f.raw, MaxSize: f.most,
		Written: func(name, url string) { fmt.Fprintf(out, "%s\t%s\n", printable(name), printable(url)) },
		Damage: func(d *warc.DamageError) {
			faults++
			reportDamage(path, d)
		},
	}
	x := archive.NewExtractor(root, o)
	for _, path = range paths {
		file, err := openArchive("extract", path)
		if err != nil {
			return err
		}
		err = x.File(file)
		file.Close()
		var read *archive.ReadError
		var long *archive.TooMuchError
		switch {
		case errors.As(err, &long):
			return &exit{exitError, fmt.Errorf("%s: offset %d: the bodies have more than %s in all: --max-size allows more", path, long.Offset, volume(long.Most))}
		case errors.As(err, &read):
			return &exit{exitError, reason(read.Err)}
		case err != nil:
			return &exit{exitError, fmt.Errorf("%s: %w", f.dir, err)}
		}
	}
	if faults > 0 {
		return &exit{exitError, nil}
	}
	return nil
}

// print prints the body of one record.
func (f *extractFlags) print(path string) error {
	file, err := openArchive("extract", path)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := archive.ReadAt(file, f.offset)
	if err != nil {
		return &exit{exitError, fmt.Errorf("%s: %w", path, reason(err))}
	}
	var body io.Reader = r
	var unknown error
	if m := warc.MessageOf(r); m != nil {
		body, unknown = f.body(m)
	}
	out := newPrinter()
	_, err = io.Copy(out, body)
	if failed := out.Flush(); failed != nil {
		return standardOutput(failed)
	}
	if err = errors.Join(unknown, err); err != nil {
		return &exit{exitError, fmt.Errorf("%s: offset %d: %w", path, r.Offset, err)}
	}
	return nil
}

// body returns the body of a response; with an error, as it is.
func (f *extractFlags) body(m *warc.Message) (io.Reader, error) {
	if f.raw {
		return m.Payload(), nil
	}
	return m.Body()
}
