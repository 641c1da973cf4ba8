// Command content measures how well package content finds the main content of pages, and finds the
// weight of its facts.
//
//	export CGO_ENABLED=0
//	go -C bench run ./content -corpora DIR -o ../docs/bench/content.md
//	go -C bench run ./content -corpora DIR -words -o ../internal/blocks/vocabulary_words.go
//	go -C bench run ./content -corpora DIR -train -o ../internal/blocks/weights.go
//
// DIR/aeb is https://github.com/scrapinghub/article-extraction-benchmark, DIR/wcxb is the
// development part of https://github.com/Murrough-Foley/web-content-extraction-benchmark.
// DIR/fundus is https://github.com/flairNLP/fundus, whose pages only teach.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/blocks"
)

func main() {
	dir := flag.String("corpora", "", "the `folder` of the corpora")
	train := flag.Bool("train", false, "make weights.go")
	words := flag.Bool("words", false, "make vocabulary_words.go")
	peers := flag.String("peers", "", "a `folder` of what peers have found")
	site := flag.String("site", "/usr/share/doc/libboost1.81-doc/doc/html", "a `folder` of pages to time")
	out := flag.String("o", "", "the `page` or Go file to write")
	about := flag.Bool("about", false, "print only the section on titles, authors and dates")
	flag.Parse()
	if err := run(*dir, *words, *train, *about, *peers, *site, *out); err != nil {
		fmt.Fprintln(os.Stderr, "content:", err)
		os.Exit(1)
	}
}

func run(dir string, words, train, about bool, peers, site, out string) error {
	var medium string
	if !words && !train && !about {
		text, err := speed(site)
		if err != nil {
			return err
		}
		medium = text
	}
	all, err := load(dir)
	if err != nil {
		return err
	}
	if about {
		rows, err := readPeers(peers)
		var b bytes.Buffer
		abouts(&b, all, rows)
		machine.Publish("content", out, b.Bytes(), err)
		return nil
	}
	more, err := lessons(dir)
	if err != nil {
		return err
	}
	teachers := slices.Concat(all, more)
	each(teachers, (*document).prepare)
	if words {
		machine.Publish("content", out, vocabulary(teachers), nil)
		return nil
	}
	if train {
		machine.Publish("content", out, source(learn(teachers, every)), nil)
		return nil
	}
	text, err := page(all, teachers, peers, medium)
	machine.Publish("content", out, text, err)
	return nil
}

// each calls f for each of all, on all cores.
func each[T any](all []T, f func(T)) {
	var wg sync.WaitGroup
	next := make(chan T)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for d := range next {
				f(d)
			}
		})
	}
	for _, d := range all {
		next <- d
	}
	close(next)
	wg.Wait()
}

// with finds the content of some documents, with another model if it is not nil.
func with(all []*document, model *blocks.Model, take func(*document) bool) map[string]string {
	if model != nil {
		shipped := blocks.Shipped
		blocks.Shipped = *model
		defer func() { blocks.Shipped = shipped }()
	}
	texts := make(map[string]string)
	var mu sync.Mutex
	each(all, func(d *document) {
		if !take(d) {
			return
		}
		text := d.extract()
		mu.Lock()
		defer mu.Unlock()
		texts[d.id] = text
	})
	return texts
}
