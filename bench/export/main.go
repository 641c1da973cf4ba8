//go:build linux

// Export measures exports of a large job, and writes docs/bench/export.md.
//
//	export [-o FILE] [-urls N] [-jobs DIR] [-weft FILE] [-command TEXT]
//
// The job is a small crawl whose records are replaced by N made-up ones, each with two links: a
// tenth of the URLs have a second one.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/record"
)

const markMiB = 200 // of memory

func main() {
	out := flag.String("o", "", "file to write; empty: standard output")
	command := flag.String("command", "make bench-export", "command to name on the page")
	weft := flag.String("weft", "", "the command to measure")
	jobs := flag.String("jobs", "/var/tmp", "folder for the job and the exports")
	urls := flag.Int("urls", 10_000_000, "records of the job")
	flag.Parse()
	page, err := measure(*weft, *jobs, *urls, *command)
	machine.Publish("export", *out, page, err)
}

func measure(weft, jobs string, urls int, command string) ([]byte, error) {
	dir, err := os.MkdirTemp(jobs, "weft-export.")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	job := filepath.Join(dir, "job")
	if err := makeJob(weft, job, urls); err != nil {
		return nil, err
	}
	var page bytes.Buffer
	// The first paragraph is to be reviewed whenever the page is measured again.
	fmt.Fprintf(&page, `# Exports of a large job

An export needs memory for one row, one group of rows, what the sort holds, and two bits a record
and a link: no format needs more than %d MiB for ten million records.

## How it was measured

%s at commit %s, with %s on %d cores, one run. The job has %d records, a tenth of
them of a second visit, and %d links: %s.
Memory is the peak resident size of the process; time and CPU are those of the whole command, with
the search for the last record of each URL.

## Figures

| format | options | records a CPU second | CPU, s | time, s | memory, MiB | mark | file, MB |
|---|---|---|---|---|---|---|---|
`, markMiB, "`"+command+"`", machine.Commit(), runtime.Version(), runtime.NumCPU(), urls, urls*linksEach,
		size(filepath.Join(job, "pages.jsonl"))+" MB of pages.jsonl, "+size(filepath.Join(job, "links.jsonl"))+" of links.jsonl")
	for _, c := range []struct{ format, options string }{
		{"jsonl", ""}, {"edges", ""}, {"graphml", ""}, {"csv", ""}, {"csv", "--where status==404"}, {"parquet", ""}, {"sqlite", ""},
	} {
		to := filepath.Join(dir, "out."+c.format)
		args := append([]string{"export", job, "-o", to}, strings.Fields(c.options)...)
		began := time.Now()
		p, err := process.Run(context.Background(), process.Options{}, weft, args...)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.format, c.options, err)
		}
		took := time.Since(began)
		memory := p.Peak() >> 20
		verdict := fmt.Sprintf("≤ %d, met", markMiB)
		if memory > markMiB {
			verdict = fmt.Sprintf("≤ %d, **missed**", markMiB)
		}
		row := fmt.Sprintf("| %s | %s | %.0f | %.0f | %.0f | %d | %s | %s |\n", c.format, c.options,
			float64(urls)/p.CPU().Seconds(), p.CPU().Seconds(), took.Seconds(), memory, verdict, size(to))
		page.WriteString(row)
		fmt.Fprint(os.Stderr, row)
		if err := os.Remove(to); err != nil {
			return nil, err
		}
	}
	return page.Bytes(), nil
}

func size(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("%.1f", float64(info.Size())/1e6)
}

// linksEach is the number of links of a record.
const linksEach = 2

// makeJob crawls a page, and replaces its record and its links.
func makeJob(weft, job string, urls int) error {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") }))
	defer s.Close()
	if _, err := process.Run(context.Background(), process.Options{}, weft, "crawl", "-q", "--links", "--job", job, s.URL); err != nil {
		return err
	}
	known := urls * 10 / 11
	err := makeLines(filepath.Join(job, "pages.jsonl"), urls, func(n int) []byte { return made(n, known).Line() })
	if err != nil {
		return err
	}
	return makeLines(filepath.Join(job, "links.jsonl"), urls*linksEach, func(n int) []byte {
		from, to := made(n/linksEach, known), made(n*7919%known, known)
		return record.Link{
			From: from.URL, To: to.URL, Tag: "a", Attr: "href", Kind: "page", Text: to.Title,
			Line: 10 + n%500, Column: 1 + n%80, Visit: from.Visit,
		}.JSONLine()
	})
}

// makeLines replaces a file by a number of lines.
func makeLines(path string, count int, line func(n int) []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n := range count {
		if _, err := w.Write(line(n)); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// made is a record of a made-up URL; from urls on, of a second visit.
func made(n, urls int) *record.Record {
	visit := 0
	if n >= urls {
		n, visit = (n-urls)*7, 2
	}
	hash := sha256.Sum256(fmt.Append(nil, n))
	host := fmt.Sprintf("https://www.host-%d.example.org", n%1009)
	r := &record.Record{
		URL: fmt.Sprintf("%s/section-%d/page-%x.html", host, n%97, hash[:6]), Status: 200, Depth: 1 + n%9, From: host + "/",
		ContentType: "text/html; charset=utf-8", Charset: "utf-8", Encoding: "gzip", Bytes: int64(1000 + n%50_000), BodyBytes: 4000 + n%200_000,
		Links: n % 100, NewLinks: n % 7, Title: fmt.Sprintf("The title of page %d of section %d", n, n%97), Tries: 1, IP: "192.0.2.7",
		Started: time.Date(2026, 11, 21, 15, 0, 0, n%1_000_000, time.UTC).Add(time.Duration(n) * time.Millisecond),
		TTFBMS:  float64(n%100_000) / 1000, TotalMS: float64(n%200_000) / 1000, SHA256: hex.EncodeToString(hash[:]), Visit: visit,
	}
	if n%50 == 0 {
		r.Status, r.Title = 404, ""
	}
	if visit > 1 {
		r.Change = record.ChangeChanged
	}
	return r
}
