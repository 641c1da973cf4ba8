package main

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/internal/blocks"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// document is a page whose content is known.
type document struct {
	id     string
	kind   string // of WCXB, "" in the article benchmark, or lesson
	site   string // its registrable domain, or its id if its URL is not known
	fold   int    // of its site
	body   []byte
	gold   []string   // its tokens
	url    weburl.URL // of WCXB
	truth  about
	page   *blocks.Page
	tokens [][]string // of each block
	facts  [][]uint16 // of each block
	label  []float64  // the share of content in each block
	weight []float64  // of each block; 1 for a page
	said   []uint16   // facts about the page
	mix    blocks.Mix // as judged by facts that other pages taught
	around []blocks.Around
}

// load reads the article benchmark from DIR/aeb and the development part of WCXB from DIR/wcxb/dev.
func load(dir string) ([]*document, error) {
	articles, err := loadArticles(filepath.Join(dir, "aeb"))
	if err != nil {
		return nil, err
	}
	pages, err := loadPages(filepath.Join(dir, "wcxb", "dev"))
	return folded(append(articles, pages...)), err
}

// folded sorts documents, and puts all pages of a site into one fold.
func folded(all []*document) []*document {
	slices.SortFunc(all, func(a, b *document) int { return strings.Compare(a.id, b.id) })
	for _, d := range all {
		h := fnv.New32a()
		h.Write([]byte(d.site))
		d.fold = int(h.Sum32() % folds)
	}
	return all
}

// folds is the number of parts into which the pages are divided: each is judged with weights of the
// others.
const folds = 5

// siteOf is the registrable domain of a URL, or another name if there is none.
func siteOf(address, otherwise string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return otherwise
	}
	return cmp.Or(weburl.RegistrableDomain(u.Hostname()), u.Hostname())
}

func loadArticles(dir string) ([]*document, error) {
	var truth map[string]struct{ ArticleBody, URL string }
	if err := readJSON(filepath.Join(dir, "ground-truth.json"), &truth); err != nil {
		return nil, err
	}
	var all []*document
	for id, t := range truth {
		body, err := unzip(filepath.Join(dir, "html", id+".html.gz"))
		if err != nil {
			return nil, err
		}
		all = append(all, &document{id: id, site: siteOf(t.URL, id), body: body, gold: tokens(t.ArticleBody)})
	}
	return all, nil
}

func loadPages(dir string) ([]*document, error) {
	files, err := filepath.Glob(filepath.Join(dir, "ground-truth", "*.json"))
	if err == nil && len(files) == 0 {
		err = errors.New(dir + " has no ground-truth")
	}
	var all []*document
	for _, file := range files {
		var truth map[string]json.RawMessage
		var page struct {
			PageType struct{ Primary string } `json:"page_type"`
		}
		var address string
		var text struct {
			MainContent string `json:"main_content"`
		}
		err := readJSON(file, &truth)
		if err == nil {
			err = errors.Join(json.Unmarshal(truth["_internal"], &page), json.Unmarshal(truth["ground_truth"], &text))
			_ = json.Unmarshal(truth["url"], &address) // one page has none
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		id := strings.TrimSuffix(filepath.Base(file), ".json")
		body, err := unzip(filepath.Join(dir, "html", id+".html.gz"))
		if err != nil {
			return nil, err
		}
		d := &document{id: id, site: siteOf(address, id), kind: page.PageType.Primary, body: body}
		d.gold = tokens(strings.ToLower(text.MainContent))
		d.url, _ = weburl.Parse(address)
		if d.truth, err = truthAbout(truth["ground_truth"]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, d)
	}
	return all, err
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func unzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// tokens are the matches of Python's \w+, by which both benchmarks compare.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_'
	})
}

// tokens of a text as the benchmark of this document has them.
func (d *document) words(text string) []string {
	if d.kind != "" {
		text = strings.ToLower(text)
	}
	return tokens(text)
}

// render is the text of a tree: elements begin lines, inline ones do not.
func render(root *html.Node) string {
	var text strings.Builder
	var in func(n *html.Node)
	in = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			text.WriteString(n.Data)
			return
		case n.Type == html.ElementNode && blocks.Textless(n):
			return
		case n.DataAtom == atom.Br || !blocks.Inline(n):
			text.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			in(c)
		}
		if !blocks.Inline(n) {
			text.WriteByte('\n')
		}
	}
	in(root)
	return text.String()
}

// extract is the text that content finds.
func (d *document) extract() string {
	root, _ := content.Parse(d.body)
	return render(content.Extract(content.Page{Root: root}, content.Options{}).Node)
}
