//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/bench/origin"
	"github.com/weftcrawl/weft/internal/process"
)

// markPeer is Weft's CPU time for a page as Markdown, relative to Crawlee with Turndown.
const markPeer = 0.15

// peerRounds is the number of crawls of each by the peer, which takes minutes.
const peerRounds = 3

// peer is a folder with the peer's program and what npm installs for it.
type peer struct{ dir string }

func newPeer(dir string) (peer, error) {
	p := peer{filepath.Join(dir, "peer")}
	if err := os.CopyFS(p.dir, os.DirFS("read/peer")); err != nil {
		return p, err
	}
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent")
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("npm install: %w: %s", err, out)
	}
	return p, nil
}

// crawled is the cost of one crawl that writes Markdown.
type crawled struct {
	cpu   time.Duration // a page
	pages float64       // a second
	peak  float64       // MB
	n     int
}

func crawledBy(p *process.Process, began time.Time, n int) crawled {
	return crawled{p.CPU() / time.Duration(n), float64(n) / time.Since(began).Seconds(), float64(p.Peak()) / 1e6, n}
}

// crawl has the peer crawl a site.
func (p peer) crawl(url string) (crawled, error) {
	out, err := os.MkdirTemp(p.dir, "out")
	if err != nil {
		return crawled{}, err
	}
	defer os.RemoveAll(out)
	began := time.Now()
	ended, err := process.Run(context.Background(), process.Options{}, "node", filepath.Join(p.dir, "crawl.mjs"), url, out)
	if err != nil {
		return crawled{}, err
	}
	pages, err := os.ReadDir(out)
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("crawlee: no page of %s", url)
	}
	if err != nil {
		return crawled{}, err
	}
	return crawledBy(ended, began, len(pages)), nil
}

// besideCrawlee returns the section that compares Weft with Crawlee and Turndown on sites.
func besideCrawlee(m machine.Measurement, dir string, sites []origin.Site) (string, error) {
	p, err := newPeer(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`
## Beside Crawlee and Turndown

Three crawls of each, in turns: Weft's with ` + "`--markdown`" + `, a job and an archive, and Crawlee's
CheerioCrawler, whose pages Turndown converts with its plugin for tables and writes to files
([crawl.mjs](../../bench/read/peer/crawl.mjs)): up to 64 requests at once, no archive, no main
content. CPU time of the whole process a page, medians.

| site | Weft | Crawlee | ratio | mark | pages/s | peak memory | pages |
|---|---|---|---|---|---|---|---|
`)
	job := filepath.Join(dir, "job")
	for _, site := range sites {
		var ours, theirs []crawled
		for range peerRounds {
			if err := os.RemoveAll(job); err != nil {
				return "", err
			}
			began := time.Now()
			ended, err := process.Run(context.Background(), process.Options{}, m.Weft, "crawl", "-q", "-c", "64", "--markdown", "--job", job, site.URL)
			if err != nil {
				return "", err
			}
			pages, err := filepath.Glob(filepath.Join(job, "markdown", "*"))
			if err != nil || len(pages) == 0 {
				return "", fmt.Errorf("no Markdown in %s: %w", job, err)
			}
			text, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
			if err != nil {
				return "", err
			}
			ours = append(ours, crawledBy(ended, began, bytes.Count(text, []byte(`"status":200`))))
			of, err := p.crawl(site.URL)
			if err != nil {
				return "", err
			}
			theirs = append(theirs, of)
		}
		us, them := middle(ours), middle(theirs)
		ratio := float64(us.cpu) / float64(them.cpu)
		verdict := "met"
		if ratio > markPeer {
			verdict = "**missed**"
		}
		fmt.Fprintf(&b, "| %s | %.2f ms | %.2f ms | %.2f | ≤ %.2f, %s | %.0f and %.0f | %.0f and %.0f MB | %d and %d |\n", site.Name,
			us.cpu.Seconds()*1e3, them.cpu.Seconds()*1e3, ratio, markPeer, verdict, us.pages, them.pages, us.peak, them.peak, us.n, them.n)
	}
	return b.String(), nil
}

// middle returns the medians of crawls.
func middle(all []crawled) crawled {
	var cpu []time.Duration
	var pages, peak []float64
	for _, c := range all {
		cpu, pages, peak = append(cpu, c.cpu), append(pages, c.pages), append(peak, c.peak)
	}
	return crawled{machine.Median(cpu), machine.Median(pages), machine.Median(peak), all[0].n}
}
