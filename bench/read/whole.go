//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft/read"
	"github.com/weftcrawl/weft/weburl"
)

// manual has the selectors for the text of a manual's pages: all of main but for rest.
type manual struct{ main, rest string }

// The markup of Sphinx, which made the small site, and of BoostBook, which made the medium one.
var (
	sphinx    = manual{"div.body", ".headerlink"}
	boostBook = manual{"body", "body > table, body > .spirit-nav"}
)

// text returns the words of the page.
func (m manual) text(body []byte) ([]string, error) {
	page, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	main := page.Find(m.main)
	main.Find("script, style").Remove()
	main.Find(m.rest).Remove()
	main.Find("*").AfterHtml(" ") // words of two cells are two
	return words(main.Text()), nil
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// compared is the agreement of the texts of pages with those of the manual: sums over pages.
type compared struct {
	pages                 int
	precision, recall, f1 float64
	whole                 int // pages without a word less or more
}

func (c *compared) add(got, want []string) {
	count := make(map[string]int)
	for _, w := range want {
		count[w]++
	}
	both := 0
	for _, w := range got {
		if count[w] > 0 {
			count[w]--
			both++
		}
	}
	c.pages++
	if both == len(got) && both == len(want) {
		c.whole++
	}
	p, r := float64(both)/float64(max(1, len(got))), float64(both)/float64(max(1, len(want)))
	c.precision, c.recall = c.precision+p, c.recall+r
	if both > 0 {
		c.f1 += 2 * p * r / (p + r)
	}
}

func (c *compared) String() string {
	n := float64(max(1, c.pages))
	return fmt.Sprintf("%.4f | %.4f | %.4f | %d of %d", c.f1/n, c.precision/n, c.recall/n, c.whole, c.pages)
}

// beside compares what a job writes of its pages with the text of the manual whose files are in
// root: knowing the site, page by page, and the whole pages.
func beside(job, root string, m manual) (site, alone, whole compared, err error) {
	var lines bytes.Buffer
	if _, err := read.Lines(context.Background(), job, &lines, nil, read.Options{Text: true}); err != nil {
		return site, alone, whole, err
	}
	for line := range bytes.Lines(lines.Bytes()) {
		var p read.Page
		if err := json.Unmarshal(line, &p); err != nil {
			return site, alone, whole, err
		}
		at, err := weburl.Parse(p.URL)
		if err != nil {
			return site, alone, whole, err
		}
		name, err := fileOf(root, at)
		if err != nil {
			return site, alone, whole, err
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return site, alone, whole, err
		}
		want, err := m.text(body)
		if err != nil {
			return site, alone, whole, err
		}
		source := read.Source{URL: at, ContentType: "text/html", Body: body}
		site.add(words(p.Text), want)
		alone.add(words(read.One(source, read.Options{Text: true}).Text), want)
		whole.add(words(read.One(source, read.Options{Text: true, Whole: true}).Text), want)
	}
	return site, alone, whole, nil
}

// fileOf is the file that the server has answered a URL with.
func fileOf(root string, u weburl.URL) (string, error) {
	path, err := url.PathUnescape(u.Path())
	if strings.HasSuffix(path, "/") {
		path += "index.html"
	}
	return filepath.Join(root, filepath.FromSlash(path)), err
}
