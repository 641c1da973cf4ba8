package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/internal/process"
)

// row is an extractor and what it has found.
type row struct {
	name  string
	cpu   float64 // ms a page of WCXB with parsing, or 0
	texts map[string]string
	of    func(*document) bool

	abouts map[string]about // nil: not measured
}

func every(*document) bool { return true }

// types are those of the pages of WCXB.
var types = []string{"article", "documentation", "service", "forum", "listing", "collection", "product"}

// page measures all, with what teachers teach, and returns the page that reports it, with what
// speed has written.
func page(all, teachers []*document, peers, speeds string) ([]byte, error) {
	rows, err := readPeers(peers)
	if err != nil {
		return nil, err
	}
	cross := make(map[string]string)
	for fold := range folds {
		m := learn(teachers, func(d *document) bool { return d.fold != fold })
		maps.Copy(cross, with(all, &m, func(d *document) bool { return d.fold == fold }))
	}
	rows = append(rows,
		row{"Weft, each fifth of the sites with what the others taught", timed(bodies(all)), cross, every, nil},
		row{"Weft, as shipped", 0, with(all, nil, every), every, nil},
	)
	var b bytes.Buffer
	fmt.Fprintf(&b, head, machine.Commit(), runtime.Version(), runtime.NumCPU())
	b.WriteString("\n## Articles\n\n| extractor | F1 | precision | recall |\n|---|---|---|---|\n")
	for _, r := range rows {
		m := r.total(all, "")
		fmt.Fprintf(&b, "| %s | %.3f | %.3f | %.3f |\n", r.name, m.f1, m.precision, m.recall)
	}
	b.WriteString(published)
	b.WriteString("\n## Seven types of pages\n\n| extractor | all")
	for _, t := range types {
		fmt.Fprintf(&b, " | %s", t)
	}
	b.WriteString(" | CPU, ms |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %.3f", r.name, r.total(all, "wcxb").f1)
		for _, t := range types {
			fmt.Fprintf(&b, " | %.3f", r.total(all, t).f1)
		}
		if r.cpu > 0 {
			fmt.Fprintf(&b, " | %.1f", r.cpu)
		} else {
			b.WriteString(" |")
		}
		b.WriteString(" |\n")
	}
	b.WriteString(publishedTypes)
	b.WriteString(speeds)
	abouts(&b, all, rows)
	b.WriteString(causes)
	return b.Bytes(), nil
}

func (r row) total(all []*document, kind string) score {
	var t total
	for _, d := range all {
		if r.of(d) && (d.kind == kind || kind == "wcxb" && d.kind != "") {
			t.add(d, d.words(r.texts[d.id]))
		}
	}
	return t.mean()
}

func readPeers(dir string) ([]row, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	var rows []row
	for _, file := range files {
		var r struct {
			Name  string            `json:"name"`
			CPU   float64           `json:"cpu_ms"`
			Texts map[string]string `json:"texts"`

			Abouts map[string]about `json:"abouts"`
		}
		if err := readJSON(file, &r); err != nil {
			return nil, err
		}
		rows = append(rows, row{r.Name, r.CPU, r.Texts, every, r.Abouts})
	}
	return rows, err
}

func bodies(all []*document) (pages [][]byte) {
	for _, d := range all {
		if d.kind != "" {
			pages = append(pages, d.body)
		}
	}
	return pages
}

// timed returns the CPU time of parsing and extraction, in ms a page.
func timed(pages [][]byte) float64 {
	start := process.CPU()
	for _, body := range pages {
		root, _ := content.Parse(body)
		content.Extract(content.Page{Root: root}, content.Options{})
	}
	return ms(process.CPU()-start) / float64(max(1, len(pages)))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// speed measures the pages of a documentation site, and writes a section. It is called before the
// corpora are in memory: the garbage collector would walk through them, too.
func speed(site string) (string, error) {
	var pages [][]byte
	size := 0
	err := filepath.WalkDir(site, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		body, err := os.ReadFile(path)
		pages, size = append(pages, body), size+len(body)
		return err
	})
	if err != nil || len(pages) == 0 {
		return "", err
	}
	var parse, both []float64
	for range 5 {
		start := process.CPU()
		for _, body := range pages {
			if _, err := content.Parse(body); err != nil {
				return "", err
			}
		}
		parse = append(parse, ms(process.CPU()-start)/float64(len(pages)))
		both = append(both, timed(pages))
	}
	slices.Sort(parse)
	slices.Sort(both)
	return fmt.Sprintf(speeds, len(pages), size/len(pages)/1000, parse[2], both[2]), nil
}

// speeds is the section, for pages, their size in KB and two times in ms.
const speeds = `
## CPU time on the medium site

%d pages of %d KB, the median of five runs: parsing takes %.2f ms a page, parsing and extraction
%.2f ms. The mark for the whole way to Markdown is 1.0 ms.
`
