// Command peers writes what other extractors find in the pages of both corpora, one file of JSON
// for each: peers CORPORA OUT.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	shiori "github.com/go-shiori/go-readability"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"
)

var page, _ = url.Parse("https://example.org/")

var peers = map[string]func(root *html.Node) (string, error){
	"go-readability v2 (readeck)": func(root *html.Node) (string, error) {
		p := readability.NewParser()
		article, err := p.ParseAndMutate(root, page)
		if err != nil {
			return "", err
		}
		var text strings.Builder
		err = article.RenderText(&text)
		return text.String(), err
	},
	"go-readability (shiori)": func(root *html.Node) (string, error) {
		p := shiori.NewParser()
		article, err := p.ParseDocument(root, page)
		return article.TextContent, err
	},
	"go-trafilatura": func(root *html.Node) (string, error) {
		return trafilaturaText(root, trafilatura.Options{})
	},
	"go-trafilatura with readability": func(root *html.Node) (string, error) {
		return trafilaturaText(root, trafilatura.Options{EnableFallback: true})
	},
}

func trafilaturaText(root *html.Node, o trafilatura.Options) (string, error) {
	r, err := trafilatura.ExtractDocument(root, o)
	if err != nil {
		return "", err
	}
	return r.ContentText, nil
}

// about is the data of a page about itself.
type about struct {
	Title  string    `json:"title"`
	Author string    `json:"author"`
	Date   time.Time `json:"date"`
}

// metadata has the finds of some peers. Trafilatura is asked for it on pages without a text, too.
var metadata = map[string]func(root *html.Node) (about, error){
	"go-readability v2 (readeck)": func(root *html.Node) (about, error) {
		p := readability.NewParser()
		article, err := p.ParseAndMutate(root, page)
		if err != nil {
			return about{}, err
		}
		date, _ := article.PublishedTime()
		return about{article.Title(), article.Byline(), date}, nil
	},
	"go-readability (shiori)": func(root *html.Node) (about, error) {
		p := shiori.NewParser()
		article, err := p.ParseDocument(root, page)
		a := about{Title: article.Title, Author: article.Byline}
		if article.PublishedTime != nil {
			a.Date = *article.PublishedTime
		}
		return a, err
	},
	"go-trafilatura": func(root *html.Node) (about, error) {
		config := trafilatura.DefaultConfig()
		config.MinOutputSize = 0
		r, err := trafilatura.ExtractDocument(root, trafilatura.Options{Config: config})
		if err != nil {
			return about{}, err
		}
		return about{r.Metadata.Title, r.Metadata.Author, r.Metadata.Date}, nil
	},
}

// result is a file of results.
type result struct {
	Name   string            `json:"name"`
	CPU    float64           `json:"cpu_ms"` // a page of WCXB
	Texts  map[string]string `json:"texts"`
	Abouts map[string]about  `json:"abouts,omitempty"`
}

func main() {
	articles, _ := filepath.Glob(filepath.Join(os.Args[1], "aeb/html/*.html.gz"))
	pages, _ := filepath.Glob(filepath.Join(os.Args[1], "wcxb/dev/html/*.html.gz"))
	for name, find := range peers {
		r := result{Name: name, Texts: make(map[string]string), Abouts: make(map[string]about)}
		for i, file := range append(pages, articles...) {
			took := r.read(file, func(id string, root *html.Node) { r.Texts[id], _ = find(root) })
			if i < len(pages) {
				r.CPU += float64(took.Microseconds()) / 1000 / float64(len(pages))
			}
		}
		if find := metadata[name]; find != nil {
			for _, file := range pages {
				r.read(file, func(id string, root *html.Node) { r.Abouts[id], _ = find(root) })
			}
		}
		text, err := json.Marshal(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[2], strings.ReplaceAll(name, " ", "-")+".json"), text, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// read calls a function with a page, and returns the CPU time of that and of parsing.
func (r *result) read(file string, find func(id string, root *html.Node)) (took time.Duration) {
	f, err := os.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(z)
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if e := recover(); e != nil { // it counts as nothing found
			log.Printf("%s: %s: %v", r.Name, file, e)
		}
	}()
	start := cpu()
	if root, err := html.Parse(bytes.NewReader(body)); err == nil {
		find(strings.TrimSuffix(filepath.Base(file), ".html.gz"), root)
	}
	return cpu() - start
}

func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		log.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
