package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/warc"
)

func warcCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "warc COMMAND",
		Short:   "Look inside web archives: WARC and ARC files",
		GroupID: sectionTools,
		Args:    oneCommand,
		RunE:    showHelp,

		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
	}
	cmd.AddCommand(warcListCommand(), warcCatCommand(), warcCheckCommand(), warcIndexCommand(), warcExtractCommand())
	return cmd
}

const fileArgument = "a WARC or ARC file, or - for standard input"

func warcListCommand() *cobra.Command {
	var jsonl bool
	var limit int
	cmd := &cobra.Command{
		Use:   "ls [flags] FILE...",
		Short: "List the records of archives",
		Long: `Print a line for each record: its offset in the file, type, status, media type,
length of its block, date and URL. Damage is reported, and reading goes on at
the next record.`,
		Annotations: detailed(`
FILE is WARC or ARC, compressed with gzip or not, or - for standard input.

With --jsonl, a line is

  {"file", "offset", "length", "type", "id", "url", "date", "status", "mime",
   "digest", "truncated", "refers_to"}

without the members that a record does not have. The length is that of the
block; the digest is that of the payload, as it is written.

Exit status: 0 done; 1 a file is damaged or cannot be read; 3 usage error; 5
interrupted.`),
		Example: `  weft warc ls crawl.warc.gz
  weft warc ls --jsonl crawl.warc.gz | jq -r 'select(.status == 404) | .url'`,
		Args: arguments(1, math.MaxInt, "file", fileArgument),
		RunE: func(_ *cobra.Command, args []string) error {
			out := newPrinter()
			print := func(r listed) error { return r.print(out) }
			if jsonl {
				json := newEncoder(escapedJSON{out})
				print = func(r listed) error { return json.Encode(r) }
			}
			err := unlessEnough(listArchives(args, atMost(limit, print)))
			if failed := out.Flush(); failed != nil {
				return standardOutput(failed)
			}
			return err
		},
	}
	define(cmd, group{"Output", []option{
		limitOption(&limit, "records"),
		{name: "jsonl", Value: on(&jsonl), help: "print JSON, a line for each record"},
	}})
	return cmd
}

// listed is a record as weft warc ls prints it.
type listed struct {
	File      string `json:"file"`
	Offset    int64  `json:"offset"`
	Length    int64  `json:"length"`
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	URL       string `json:"url,omitempty"`
	Date      string `json:"date,omitempty"`
	Status    int    `json:"status,omitempty"`
	MIME      string `json:"mime,omitempty"`
	Digest    string `json:"digest,omitempty"`
	Truncated string `json:"truncated,omitempty"`
	RefersTo  string `json:"refers_to,omitempty"`
}

func listingOf(file string, r *warc.Record) listed {
	l := listed{
		File: file, Offset: r.Offset, Length: r.Length, Type: string(r.Type()), ID: r.ID(), URL: r.URL(),
		Date: r.Header.Get("WARC-Date"), MIME: r.Header.Get("Content-Type"), Digest: r.Header.Get("WARC-Payload-Digest"),
		Truncated: r.Header.Get("WARC-Truncated"), RefersTo: r.Header.Get("WARC-Refers-To"),
	}
	if m := warc.MessageOf(r); m != nil {
		l.Status, l.MIME = m.Status(), m.Header.Get("Content-Type")
	}
	l.MIME = mediaType(l.MIME)
	return l
}

// mediaType returns a Content-Type without its parameters.
func mediaType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(s))
}

// print prints offset, type, status, media type, length, date and URL.
func (l listed) print(out io.Writer) error {
	status := "-"
	if l.Status != 0 {
		status = strconv.Itoa(l.Status)
	}
	_, err := fmt.Fprintf(out, "%11d  %-10s %3s  %-24s %10d  %s  %s\n",
		l.Offset, printable(l.Type), status, printable(cmp.Or(l.MIME, "-")), l.Length, printable(cmp.Or(l.Date, "-")), printable(cmp.Or(l.URL, "-")))
	return err
}

// listArchives hands on the records of files, and reports damage.
func listArchives(paths []string, print func(listed) error) error {
	damaged := 0
	for _, path := range paths {
		f, err := openArchive("ls", path)
		if err != nil {
			return err
		}
		err = eachRecord(f, func(r *warc.Record) error {
			err := print(listingOf(path, r))
			if errors.Is(err, errEnough) {
				return err
			}
			return standardOutput(err)
		}, func(d *warc.DamageError) {
			damaged++
			reportDamage(path, d)
		})
		f.Close()
		if err != nil {
			return err
		}
	}
	if damaged > 0 {
		return &exit{exitError, nil}
	}
	return nil
}

// eachRecord calls use for each record, and damage for what cannot be read.
func eachRecord(from io.Reader, use func(*warc.Record) error, damage func(*warc.DamageError)) error {
	in := warc.NewReader(from)
	for {
		r, err := in.Next()
		var d *warc.DamageError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &d):
			damage(d)
			continue
		case err != nil:
			return &exit{exitError, reason(err)}
		}
		if err := use(r); err != nil {
			return err
		}
	}
}

// catFlags are the options of weft warc cat.
type catFlags struct{ headers, raw bool }

func warcCatCommand() *cobra.Command {
	var f catFlags
	cmd := &cobra.Command{
		Use:   "cat [flags] FILE OFFSET|URL",
		Short: "Print what a record of an archive holds",
		Long: `Print the body of the response at an offset, or of the first response of a URL,
decoded: without its transfer and content coding. Of other records, print the
block.`,
		Annotations: detailed(`
FILE is WARC or ARC, compressed with gzip or not. weft warc ls prints offsets.

The URL may be spelt in any way that means the same. Where the file has none of
it, one like it is printed: with http for https, or without www.

Exit status: 0 done; 1 there is no such record, or it is damaged; 3 usage error;
5 interrupted.`),
		Example: `  weft warc cat crawl.warc.gz https://example.org/
  weft warc cat -i crawl.warc.gz 1386`,
		Args: arguments(2, 2, "argument", "a FILE, and an offset in it or a URL"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], args[1]) },
	}
	define(cmd, group{"Output", f.options()})
	return cmd
}

func (f *catFlags) options() []option {
	return []option{
		{name: "include", short: "i", Value: on(&f.headers), help: "print status line and header fields too"},
		{name: "raw", Value: on(&f.raw), help: "print the record as it is: its fields and its block"},
	}
}

func (f *catFlags) run(path, which string) error {
	file, err := openArchive("cat", path)
	if err != nil {
		return err
	}
	defer file.Close()
	var r *warc.Record
	if at, wrong := strconv.ParseInt(which, 10, 64); wrong == nil {
		r, err = archive.ReadAt(file, at)
	} else if r, err = archive.Find(file, withScheme(which)); errors.Is(err, archive.ErrNoRecord) {
		err = fmt.Errorf("no response of %.200s", which)
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("%s: %w", path, reason(err))}
	}
	out := newPrinter()
	err = f.print(out, r)
	if failed := out.Flush(); failed != nil {
		return standardOutput(failed)
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("%s: offset %d: %w", path, r.Offset, err)}
	}
	return nil
}

func (f *catFlags) print(out io.Writer, r *warc.Record) error {
	if f.raw {
		fmt.Fprintf(out, "%s\r\n%s\r\n", r.Version, warc.Fields(r.Header))
	} else if m := warc.MessageOf(r); m != nil {
		return f.printMessage(out, m)
	}
	_, err := io.Copy(out, r)
	return err
}

// printMessage writes the body of a response, decoded, and its header if the flags say so.
func (f *catFlags) printMessage(out io.Writer, m *warc.Message) error {
	if f.headers {
		fmt.Fprintf(out, "%s\r\n%s\r\n", m.Start, warc.Fields(m.Header))
	}
	body, unknown := m.Body()
	_, err := io.Copy(out, body)
	return errors.Join(unknown, err)
}

func warcCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check archives for damage",
		Long: `Read archives to their end and print each fault with its file and offset:
damaged or shared gzip members, missing fields, blocks and payloads that do not
match their digests, record identifiers used twice, and revisits of records that
none of the files has. Name all files of a crawl at once.`,
		Annotations: detailed(`
Many tools digest a body with its transfer coding. Weft accepts that, and counts
it.

Exit status: 0 no fault; 1 there are faults, or a file cannot be read; 3 usage
error; 5 interrupted.`),
		Example: `  weft warc check crawl-*.warc.gz`,
		Args:    arguments(1, math.MaxInt, "file", fileArgument),
		RunE:    func(_ *cobra.Command, args []string) error { return checkArchives(args) },
	}
	define(cmd)
	return cmd
}

func checkArchives(paths []string) error {
	out := newPrinter()
	faults := 0
	report := func(f warc.Fault) {
		faults++
		fmt.Fprintln(out, printable(f.Error()))
	}
	c := warc.NewChecker()
	for _, path := range paths {
		file, err := openArchive("check", path)
		if err != nil {
			return err
		}
		err = c.File(path, file, report)
		file.Close()
		if err != nil {
			return &exit{exitError, reason(err)}
		}
	}
	c.End(report)
	found := "no faults"
	if faults > 0 {
		found = plural(faults, "fault")
	}
	fmt.Fprintf(out, "%s: %s\n", plural(c.Records, "record"), found)
	if c.CodedSums > 0 {
		fmt.Fprintf(out, "%s of a body with its transfer coding\n", plural(c.CodedSums, "payload digest"))
	}
	if err := out.Flush(); err != nil {
		return standardOutput(err)
	}
	if faults > 0 {
		return &exit{exitError, nil}
	}
	return nil
}
