//go:build linux

// Extract measures what fields cost, page by page and in a whole crawl, and writes
// docs/bench/extract.md.
//
//	extract [-o FILE] [-runs N] [-jobs DIR] [-weft FILE] [-command TEXT]
//
// The sites are the documentation in Debian's python3.11-doc and libboost1.81-doc, served by an
// nginx that the program starts.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/bench/origin"
	"github.com/weftcrawl/weft/extract"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/weburl"
)

// mark is the CPU time that five fields of a page may take, the parser included.
const mark = 300 * time.Microsecond

// The five fields, by CSS and by XPath. Pages of both sites have most of them.
var (
	css   = []string{"title=title", "heading=h1, h2.title, h3", "next:url=a[accesskey=n]", "author[]=.author", "code[]=pre.programlisting"}
	xpath = []string{"title=//title", "heading=//h2", "next=//a[@accesskey='n']/@href", "author[]=//*[@class='author']", "code[]=//pre[@class='programlisting']"}
)

// every is the number of pages for one that is read again and again.
const every = 10

func main() { machine.Main("extract", 9, measure) }

func measure(m machine.Measurement) ([]byte, error) {
	var page bytes.Buffer
	// The first paragraphs are to be reviewed whenever the page is measured again.
	fmt.Fprintf(&page, `# Fields of pages

CPU time to take five fields from a page. Parsing is most of it (golang.org/x/net/html); what would
take less is a tree built from `+"`internal/markup`"+` for pages without mistakes, beside the parser for
all others. Paths of XPath that CSS can say, too, are matched as CSS, in one walk; others are left
to a library (antchfx/xpath) that copies its place at each element that a predicate looks at. A
crawl pays for the items, too: a goroutine and a line for each page.

Other work on the machine slows all rows down: compare what stands beyond parsing.

## How it was measured

`+"`%s`"+` at commit %s, with %s on %d cores of
%s, %s; medians of %d rounds, with least and most, in
each of which all ways take their turn. Figures are CPU time, user and system. Pages are in memory,
jobs in %s.

## A page

Each tenth page of Debian's libboost1.81-doc`, m.Command, machine.Commit(), runtime.Version(), runtime.NumCPU(), machine.CPU(), machine.Load(), m.Runs, m.Jobs)
	if err := pages(&page, m.Runs); err != nil {
		return nil, err
	}
	page.WriteString("\n## A crawl\n\nWhole crawls, with and without `--extract` for the five fields by CSS.\n\n")
	err := crawls(&page, m)
	return page.Bytes(), err
}

// pages measures the extractor alone.
func pages(to *bytes.Buffer, runs int) error {
	texts, size, err := sample()
	if err != nil {
		return err
	}
	u, err := weburl.Parse("http://127.0.0.1/")
	if err != nil {
		return err
	}
	type way struct {
		name string
		do   func(text []byte)
		took []time.Duration // a page
	}
	ways := []way{{name: "nothing: the page is parsed", do: func(text []byte) { _, _ = extract.Parse(text) }}}
	for _, of := range []struct {
		name       string
		fields     []string
		structured bool
	}{{"five fields by CSS", css, false}, {"five fields by XPath", xpath, false}, {"structured data", nil, true}} {
		var rules []extract.Rule
		if of.fields != nil {
			rule, err := extract.Of(of.fields...)
			if err != nil {
				return err
			}
			rules = append(rules, rule)
		}
		x, err := extract.New(rules, of.structured)
		if err != nil {
			return err
		}
		ways = append(ways, way{name: of.name, do: func(text []byte) { x.Page(u, text) }})
	}
	for range runs {
		for i := range ways {
			w := &ways[i]
			runtime.GC()
			before := process.CPU()
			for _, text := range texts {
				w.do(text)
			}
			w.took = append(w.took, (process.CPU()-before)/time.Duration(len(texts)))
		}
	}
	fmt.Fprintf(to, ": %d pages of %.1f KB.\n\n| taken | CPU time a page | beyond parsing | mark |\n|---|---|---|---|\n", len(texts), float64(size)/float64(len(texts))/1e3)
	for i, w := range ways {
		beyond, verdict := "", ""
		if i > 0 {
			var more []time.Duration
			for k := range w.took {
				more = append(more, w.took[k]-ways[0].took[k])
			}
			beyond = ms(machine.Median(more))
			if verdict = "≤ 0.3 ms, met"; machine.Median(w.took) > mark {
				verdict = "≤ 0.3 ms, **missed**"
			}
		}
		fmt.Fprintf(to, "| %s | %s | %s | %s |\n", w.name, figures(w.took), beyond, verdict)
	}
	return nil
}

// sample returns pages of the medium site, and how long they are together.
func sample() (texts [][]byte, size int, err error) {
	n := 0
	err = filepath.WalkDir(origin.Medium, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		if n++; n%every != 0 {
			return nil
		}
		text, err := os.ReadFile(path)
		texts, size = append(texts, text), size+len(text)
		return err
	})
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("%s: no pages, expected those of libboost1.81-doc", origin.Medium)
	}
	return texts, size, err
}

// crawls measures crawls of both sites.
func crawls(to *bytes.Buffer, m machine.Measurement) error {
	dir, err := os.MkdirTemp(m.Jobs, "weft-extract.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sites := []origin.Site{
		{Name: "527 pages of 95 KB", Root: origin.Small, Validators: true},
		{Name: "3,903 pages of 15 KB", Root: origin.Medium, Validators: true},
	}
	stop, err := origin.Serve(dir, sites)
	if err != nil {
		return err
	}
	defer stop()
	var fields []string
	for _, f := range css {
		fields = append(fields, "--extract", f)
	}
	to.WriteString("| site | crawl | with five fields | they add | items |\n|---|---|---|---|---|\n")
	for _, site := range sites {
		var plain, with, added []time.Duration
		items := 0
		for range m.Runs {
			job := filepath.Join(dir, "job")
			for _, run := range []struct {
				flags []string
				all   *[]time.Duration
			}{{nil, &plain}, {fields, &with}} {
				if err := os.RemoveAll(job); err != nil {
					return err
				}
				p, err := process.Run(context.Background(), process.Options{}, m.Weft, append([]string{"crawl", "-q", "-c", "64", "--job", job, site.URL}, run.flags...)...)
				if err != nil {
					return err
				}
				text, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
				if err != nil {
					return err
				}
				*run.all = append(*run.all, p.CPU()/time.Duration(max(1, bytes.Count(text, []byte(`"status":200`)))))
			}
			text, err := os.ReadFile(filepath.Join(job, "items.jsonl"))
			if err != nil {
				return err
			}
			items = bytes.Count(text, []byte("\n"))
			added = append(added, with[len(with)-1]-plain[len(plain)-1])
		}
		fmt.Fprintf(to, "| %s | %s | %s | %s | %d |\n", site.Name, figures(plain), figures(with), ms(machine.Median(added)), items)
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d.Microseconds())/1000) }

func figures(all []time.Duration) string {
	return fmt.Sprintf("%s (%s–%s)", ms(machine.Median(all)), ms(slices.Min(all)), ms(slices.Max(all)))
}
