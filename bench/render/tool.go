//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// tool is a crawler to measure.
type tool struct {
	Name  string
	Peer  bool
	Says  string // its arguments, for the page
	Crawl func(ctx context.Context, dir, start string) (figures, []found, error)
}

// tools are Weft and its peers, which are installed in the cache.
func tools(weft, cache, browser, shell string) []tool {
	peers := filepath.Join(cache, "peers")
	script := func(name, says string) tool {
		return tool{name, true, says, func(ctx context.Context, dir, start string) (figures, []found, error) {
			out := filepath.Join(dir, "pages.jsonl")
			f, err := run(ctx, dir, out, "node", filepath.Join(peers, name+".mjs"), start, out, browser)
			return withPages(f, err, out)
		}}
	}
	all := []tool{
		script("cluster", "puppeteer-cluster, a tab for each page"),
		script("crawlee", "Crawlee's PlaywrightCrawler"),
		script("adaptive", "Crawlee's AdaptivePlaywrightCrawler"),
		{"chromedp", true, "chromedp, a tab for each page", func(ctx context.Context, dir, start string) (figures, []found, error) {
			out := filepath.Join(dir, "pages.jsonl")
			f, err := run(ctx, dir, out, filepath.Join(cache, "chromedp-crawler"), start, out, browser)
			return withPages(f, err, out)
		}},
	}
	for _, w := range []struct{ name, says, browser string }{
		{"weft", "`weft crawl --render`, in the headless shell", shell},
		{"weft-full", "the same in the full browser", browser},
	} {
		if weft == "" || w.browser == "" {
			continue
		}
		all = append(all, tool{w.name, false, w.says, func(ctx context.Context, dir, start string) (figures, []found, error) {
			job := filepath.Join(dir, "job")
			f, err := run(ctx, dir, filepath.Join(job, "pages.jsonl"), weft, "crawl", "-q", "--no-config", "--links", "--warc", "--assets=none", "--render", "--browser", w.browser, "--job", job, start)
			if err != nil {
				return f, nil, err
			}
			pages, err := pagesOf(weft, job)
			return f, pages, err
		}})
	}
	return all
}

func withPages(f figures, err error, out string) (figures, []found, error) {
	if err != nil {
		return f, nil, err
	}
	var pages []found
	err = lines(out, func(p found) { pages = append(pages, p) })
	return f, pages, err
}

// pagesOf reads a job: titles from its records, links from its links, texts of its archive by weft
// read.
func pagesOf(weft, job string) ([]found, error) {
	byURL := make(map[string]*found)
	err := lines(filepath.Join(job, "pages.jsonl"), func(r struct{ URL, Title string }) { byURL[r.URL] = &found{URL: r.URL, Title: r.Title} })
	if err != nil {
		return nil, err
	}
	err = lines(filepath.Join(job, "links.jsonl"), func(l struct{ From, To string }) {
		if p := byURL[l.From]; p != nil {
			p.Links = append(p.Links, l.To)
		}
	})
	if err != nil {
		return nil, err
	}
	texts := filepath.Join(job, "texts.jsonl")
	if out, err := exec.Command(weft, "read", job, "--no-config", "--text", "--whole", "--format", "jsonl", "-o", texts).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("weft read: %w: %s", err, out)
	}
	err = lines(texts, func(t struct{ URL, Text string }) {
		if p := byURL[t.URL]; p != nil {
			p.Text = t.Text
		}
	})
	if err != nil {
		return nil, err
	}
	var pages []found
	for _, p := range byURL {
		pages = append(pages, *p)
	}
	return pages, nil
}

// lines reads a file of JSON lines. One that does not exist has none.
func lines[T any](file string, each func(T)) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	for d := json.NewDecoder(bufio.NewReader(f)); ; {
		var v T
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
		each(v)
	}
}
