//go:build linux

// Render measures crawls that render pages, beside other crawlers that drive Chromium, and writes
// docs/bench/render.md.
//
//	render [-o FILE] [-runs N] [-pages N] [-sites NAMES] [-tools NAMES] [-weft FILE] [-cache DIR]
//
// The sites are built with frameworks that npm installs, as are the peers, into the cache folder. A
// run costs the CPU time of all processes of the tool, those of its browser included.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
)

// options are those of the command line.
type options struct {
	weft, cache, browser, shell string
	command                     string
	sites, tools                string
	runs, pages                 int
	most                        time.Duration
}

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	var o options
	flag.StringVar(&o.command, "command", "make bench-render", "command to name on the page")
	flag.StringVar(&o.weft, "weft", "", "the command to measure; empty: the peers alone")
	flag.StringVar(&o.cache, "cache", "", "folder for what npm installs; empty: one of the user's")
	flag.StringVar(&o.browser, "browser", "chromium", "the full browser")
	flag.StringVar(&o.shell, "shell", "chromium-headless-shell", "the headless shell, for Weft")
	flag.StringVar(&o.sites, "sites", "", "sites to crawl, such as react,static; empty: all")
	flag.StringVar(&o.tools, "tools", "", "tools to measure, such as weft,cluster; empty: all")
	flag.IntVar(&o.runs, "runs", 3, "runs of each")
	flag.IntVar(&o.pages, "pages", 100, "pages of each site")
	flag.DurationVar(&o.most, "most", 5*time.Minute, "end a run after that time")
	flag.Parse()
	page, err := measureAll(o)
	machine.Publish("render", *out, page, err)
}

// row is the figures of a tool on a site.
type row struct {
	tool tool
	figures
	failed error
}

func measureAll(o options) ([]byte, error) {
	if err := o.findPrograms(); err != nil {
		return nil, err
	}
	pages := contents(o.pages)
	if err := install("render", o.cache, pages); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	all := slices.DeleteFunc(tools(o.weft, o.cache, o.browser, o.shell), func(t tool) bool { return !chosen(o.tools, t.Name) })
	o.head(&b, all)
	standard, err := machine.Standard()
	if err != nil {
		return nil, err
	}
	marks := marks{slower: standard.Seconds() / machine.MarkStandard.Seconds()}
	for _, s := range sites(filepath.Join(o.cache, "built")) {
		if !chosen(o.sites, s.Name) {
			continue
		}
		rows, err := o.crawl(s, pages, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		table(&b, s, rows)
		marks.add(s, rows)
	}
	marks.write(&b)
	return b.Bytes(), nil
}

func chosen(names, name string) bool {
	return names == "" || slices.Contains(strings.Split(names, ","), name)
}

// findPrograms completes the options.
func (o *options) findPrograms() error {
	var err error
	if o.cache == "" {
		if o.cache, err = os.UserCacheDir(); err != nil {
			return err
		}
		o.cache = filepath.Join(o.cache, "weft-bench-render")
	}
	if o.cache, err = filepath.Abs(o.cache); err != nil {
		return err
	}
	if o.browser, err = exec.LookPath(o.browser); err != nil {
		return err
	}
	if o.shell, err = exec.LookPath(o.shell); err != nil {
		o.shell = ""
	}
	return nil
}

// crawl has all tools crawl a site, in turns, and returns the median run of each by CPU time, with
// the worst faults of all.
func (o *options) crawl(s site, pages []content, all []tool) ([]row, error) {
	base, stop, err := serve(s, pages)
	if err != nil {
		return nil, err
	}
	defer stop()
	runs := make([][]row, len(all))
	for n := range o.runs {
		for i, t := range all {
			if n == 1 && isSlow(runs, i) || n > 1 && len(runs[i]) == 1 {
				continue
			}
			r := o.once(t, base, pages)
			fmt.Fprintf(os.Stderr, "%s %s: %v CPU, %v, %+v %v\n", s.Name, t.Name, r.cpu().Round(time.Millisecond), r.Took.Round(time.Millisecond), r.faults, r.failed)
			runs[i] = append(runs[i], r)
		}
	}
	var rows []row
	for _, of := range runs {
		slices.SortFunc(of, func(a, b row) int { return cmp.Compare(a.cpu(), b.cpu()) })
		r := of[len(of)/2]
		for _, other := range of {
			r.Lost, r.Wrong, r.Left = max(r.Lost, other.Lost), max(r.Wrong, other.Wrong), max(r.Left, other.Left)
			r.failed = cmp.Or(r.failed, other.failed)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// slow is the CPU time of a peer that is not run again, by the best peer's.
const slow = 1.3

// isSlow reports whether a tool is a peer that took so much in its first run.
func isSlow(runs [][]row, i int) bool {
	best := runs[i][0].cpu()
	for _, of := range runs {
		if of[0].tool.Peer && of[0].failed == nil {
			best = min(best, of[0].cpu())
		}
	}
	return runs[i][0].tool.Peer && runs[i][0].cpu().Seconds() > slow*best.Seconds()
}

// once is one run of a tool.
func (o *options) once(t tool, base string, pages []content) row {
	r := row{tool: t}
	// A short name: Chromium has a socket deep within it, whose path has at most 107 bytes.
	dir, err := os.MkdirTemp("", "r")
	if err != nil {
		r.failed = err
		return r
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // Weft's browser may be another user
		r.failed = err
		return r
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.most)
	defer cancel()
	var got []found
	r.figures, got, r.failed = t.Crawl(ctx, dir, base+pathOf(0))
	r.faults = compare(base, pages, got)
	return r
}

// head writes the beginning of the page. Its sentences are to be reviewed whenever the page is
// measured again.
func (o *options) head(b *bytes.Buffer, all []tool) {
	runs := "One run of each, in turns"
	if o.runs > 1 {
		runs = fmt.Sprintf("Medians of %d runs in turns, by CPU time; faults are the most of all runs. A peer that took more than %.1f times the CPU time of the best one was not run again", o.runs, slow)
	}
	how := fmt.Sprintf(`%s at commit %s, with %s on %d cores, %s. %s. CPU is user and system time of all processes of a tool: the driver, the first one, and the browser, all
others. PSS is the largest of all of the browser's processes, of looks twice a second.`,
		"`"+o.command+"`", machine.Commit(), runtime.Version(), runtime.NumCPU(), machine.Load(), runs)
	fmt.Fprintf(b, "# Rendering\n\n## How it was measured\n\n%s\n\n| tool | |\n|---|---|\n", machine.Fill(how))
	for _, t := range all {
		fmt.Fprintf(b, "| %s | %s |\n", t.Name, t.Says)
	}
	fmt.Fprintf(b, `
Each opens four pages at a time, Weft one more than cores, in Debian's Chromium, follows all links
within the host and writes title, text and links of each page. Weft's browser runs in its sandbox,
those of the others without, as root. Each site has %d pages. A page is a document, a style, a
font, scripts and %d pictures, and, but for the static site, an answer of an API. The pages of
React, Vue, Svelte and Solid are empty without their scripts, those of Astro and of the static
site are not. A page is lost that is not in the output, and wrong without its title, a paragraph
or a link. Left are processes that had to be killed two seconds after the end of the tool.
`, o.pages, pictures)
}

// table writes the rows of a site.
func table(b *bytes.Buffer, s site, rows []row) {
	fmt.Fprintf(b, "\n## %s\n\n| tool | CPU, ms a page | × best peer | driver | browser | pages/s | first page, ms | PSS, MB | lost | wrong | left |\n|---|---|---|---|---|---|---|---|---|---|---|\n", s.Name)
	best := bestPeer(rows)
	for _, r := range rows {
		if r.failed != nil {
			fmt.Fprintf(b, "| %s | failed: %.60s | | | | | | | | | |\n", r.tool.Name, strings.ReplaceAll(r.failed.Error(), "\n", " "))
			continue
		}
		n := max(1, r.Pages)
		ratio := ""
		if best > 0 {
			ratio = fmt.Sprintf("%.2f", perPage(r)/best)
		}
		first := r.First
		if first == 0 {
			first = r.Took
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %.1f | %d | %d | %d | %d | %d |\n", r.tool.Name, millis(r.cpu(), n), ratio, millis(r.Driver, n), millis(r.Browser, n),
			float64(r.Pages)/r.Took.Seconds(), first.Milliseconds(), r.peak()>>20, r.Lost, r.Wrong, r.Left)
	}
}

func millis(d time.Duration, n int) string {
	return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000/float64(n))
}

// perPage is the CPU time of a page, in milliseconds.
func perPage(r row) float64 { return float64(r.cpu().Microseconds()) / 1000 / float64(max(1, r.Pages)) }

// bestPeer is the least CPU time of a page that a peer takes which has lost none; 0: there is none.
func bestPeer(rows []row) (best float64) {
	for _, r := range rows {
		if r.tool.Peer && r.failed == nil && r.Lost == 0 && (best == 0 || perPage(r) < best) {
			best = perPage(r)
		}
	}
	return best
}
