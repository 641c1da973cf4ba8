package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// fieldsFlags are the options of weft extract.
type fieldsFlags struct {
	client       clientFlags
	rules        []extract.Rule
	structured   bool
	asJSON       bool
	base, output string
}

func fieldsCommand() *cobra.Command {
	var f fieldsFlags
	cmd := &cobra.Command{
		Use:     "extract [flags] URL|FILE|JOB",
		Short:   "Take fields out of a page, or the pages of a job",
		GroupID: sectionURL,
		Long: `Take fields out of a page, and show where each stands: to try rules before a
crawl. Given a job with --warc or --bodies, read all its pages again, and print
the items as lines of JSON.`,
		Annotations: detailed(`
A SELECTOR is CSS (h1, .price, a.next::attr(href), p::text) or XPath (//h1).
What is found is the text of an element, with white space in one piece; an
attribute with ::attr(NAME) or @NAME. Of several elements the first counts, or
with NAME[] all.

Rules for kinds of pages, records and patterns stand in weft.toml, as for a
crawl. weft config check checks them.

Exit status: 0 done; 1 nothing was found, or the page could not be read; 3 usage
error; 5 interrupted.`),
		Example: `  weft extract --extract title=h1 --extract 'price:number=.price' page.html
  weft extract --structured --json https://example.org/
  weft extract --extract 'tags[]=.tag' example.org.weft > items.jsonl`,
		Args: arguments(1, 1, "page", "one URL, FILE or JOB"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0]) },
	}
	define(cmd, append([]group{
		{"What is taken", extractOptions(&f.rules, &f.structured)},
		{"Output", []option{
			jsonOption(&f.asJSON, "print the items of a page as lines of JSON"),
			{name: "output", short: "o", arg: "FILE", Value: to(&f.output, some("a FILE, or - for standard output")),
				help: "write the items of a job to FILE (-: stdout)"},
			{name: "base", arg: "URL", Value: to(&f.base, some("a URL such as https://example.org/docs/")),
				help: "URL of the page", more: "Default: its own URL; for a file, " + localBase + "."},
		}},
		f.client.renderOptions(),
	}, f.client.groups("16MiB")...)...)
	return cmd
}

func (f *fieldsFlags) run(arg string) error {
	if len(f.rules) == 0 && !f.structured {
		return usage("extract: nothing to take, expected --extract NAME=SELECTOR, --structured, or rules in %s", configFile)
	}
	x, err := extract.New(f.rules, f.structured)
	if err != nil {
		return usage("--extract: %w", err)
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return f.ofJob(x, arg)
	}
	if f.output != "" {
		return usage("--output: expected with a JOB")
	}
	return f.ofPage(x, arg)
}

// ofPage prints the items of a page.
func (f *fieldsFlags) ofPage(x *extract.Extractor, arg string) error {
	var base weburl.URL
	var err error
	if text := f.base; text != "" || !isRemote(arg) {
		if base, err = weft.ParseSeed(cmp.Or(text, localBase)); err != nil {
			return usage("--base: %w", err)
		}
	}
	p, err := f.client.readPage("extract", arg, maxPage, 10)
	if err != nil {
		return err
	}
	if !base.IsZero() {
		p.url = base
	}
	text, _ := charset.UTF8(cmp.Or(p.contentType, "text/html"), p.body)
	root, cut := extract.Parse(text)
	var matches []extract.Match
	items := x.Tree(p.url, root, cut, func(m extract.Match) {
		if len(matches) < mostMatches {
			matches = append(matches, m)
		}
	})
	out := newPrinter()
	if f.asJSON {
		for i := range items {
			err = errors.Join(err, out.json.Encode(&items[i]))
		}
	} else {
		printItems(out, items, matches, extract.Lines(text, root))
	}
	if err := standardOutput(errors.Join(err, out.Flush())); err != nil {
		return err
	}
	if !slices.ContainsFunc(items, func(i record.Item) bool { return len(i.Fields) > 0 || i.Structured != nil }) {
		if p.contentType != "" && !record.IsHTML(p.contentType) {
			return &exit{exitError, fmt.Errorf("%.128s: nothing was found in content type %.64q, expected HTML", arg, p.contentType)}
		}
		return &exit{exitError, fmt.Errorf("%.128s: nothing was found", arg)}
	}
	return nil
}

// mostMatches bounds the elements that are shown.
const mostMatches = 1000

// printItems prints the fields of items, and where each was found.
func printItems(w io.Writer, items []record.Item, matches []extract.Match, lineOf func(extract.Match) int) {
	width := 0
	for _, m := range matches {
		width = max(width, utf8.RuneCountInString(m.Field))
	}
	for _, m := range matches {
		value := "none: " + quoted(m.Text)
		if m.Value != nil {
			value = shortJSON(m.Value)
		}
		fmt.Fprintf(w, "%-*s  %s\n", width, m.Field, value)
		if m.Node == nil {
			continue
		}
		where := content.Path(m.Node)
		if line := lineOf(m); line > 0 {
			where = fmt.Sprintf("line %d, %s", line, where)
		}
		fmt.Fprintf(w, "%-*s    %s: %s\n", width, "", printable(cutText(where)), printable(cutText(m.Tag())))
	}
	for _, item := range items {
		for _, name := range item.Missing {
			fmt.Fprintf(w, "%-*s  missing, and required\n", width, item.FieldName(name))
		}
		for _, note := range item.Notes {
			fmt.Fprintf(w, "note: %s\n", printable(note))
		}
		if item.Structured != nil {
			text, err := json.MarshalIndent(item.Structured, "", "  ")
			if err == nil {
				fmt.Fprintln(w, escape(string(text), "\n"))
			}
		}
	}
}

// shortText is the most characters that are shown of a text.
const shortText = 200

func cutText(s string) string {
	if r := []rune(s); len(r) > shortText {
		return string(r[:shortText]) + "…"
	}
	return s
}

func quoted(s string) string { return printable(cutText(fmt.Sprintf("%q", s))) }

func shortJSON(v any) string {
	var b strings.Builder
	if err := newEncoder(&b).Encode(v); err != nil {
		return err.Error()
	}
	return printable(cutText(strings.TrimSuffix(b.String(), "\n")))
}

// ofJob writes the items of a job, and says what is missing.
func (f *fieldsFlags) ofJob(x *extract.Extractor, dir string) error {
	if !holdsJob(dir) {
		return noJob(dir, "no job")
	}
	if mistakenEnd(f.output, ".jsonl", ".ndjson") {
		return misused("output", f.output, errors.New("expected FILE.jsonl; weft crawl --extract and weft export --table items write others"))
	}
	sum := weft.Summary{}
	err := writeOutput(context.Background(), f.output, func(ctx context.Context, w io.Writer) error {
		for item, err := range x.Job(ctx, dir) {
			var line []byte
			if err == nil {
				sum.CountItem(item)
				line, err = item.JSONLine()
			}
			if err == nil {
				_, err = w.Write(line)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	var e *exit
	switch {
	case err == nil:
	case errors.As(err, &e):
		return err
	case errors.Is(err, results.ErrNoBody):
		return &exit{exitError, fmt.Errorf("%s: %w", dir, err)}
	default:
		return &exit{exitError, err}
	}
	fmt.Fprintf(os.Stderr, "weft: %s\n", printable(itemsInWords(sum.ItemCounts, 0)))
	if sum.Items == 0 {
		return &exit{exitError, nil}
	}
	return nil
}
