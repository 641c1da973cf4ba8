// Command content measures how well package content finds the main content of pages, and finds the
// worth of its facts.
//
//	go run ./internal/bench/content -corpora DIR -o docs/bench/content.md
//	go run ./internal/bench/content -corpora DIR -train > internal/blocks/weights.go
//
// DIR/aeb is https://github.com/scrapinghub/article-extraction-benchmark, DIR/wcxb is the
// development part of https://github.com/Murrough-Foley/web-content-extraction-benchmark.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/weftcrawl/weft/internal/blocks"
)

func main() {
	dir := flag.String("corpora", "", "the `folder` of the corpora")
	train := flag.Bool("train", false, "print weights.go")
	peers := flag.String("peers", "", "a `folder` of what peers have found")
	commit := flag.String("commit", "", "the `commit` that is measured")
	out := flag.String("o", "", "the `page` to write")
	flag.Parse()
	if err := run(*dir, *train, *peers, *commit, *out); err != nil {
		fmt.Fprintln(os.Stderr, "content:", err)
		os.Exit(1)
	}
}

func run(dir string, train bool, peers, commit, out string) error {
	all, err := load(dir)
	if err != nil {
		return err
	}
	each(all, (*document).prepare)
	if train {
		_, err := os.Stdout.Write(source(fit(all, func(*document) bool { return true })))
		return err
	}
	return report(all, peers, commit, out)
}

// each calls f for each document, on all cores.
func each(all []*document, f func(*document)) {
	var wg sync.WaitGroup
	next := make(chan *document)
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

// with finds the content of all documents with other worths.
func with(all []*document, worth []float32, take func(*document) bool, name string) {
	shipped := blocks.Worth
	blocks.Worth = worth
	defer func() { blocks.Worth = shipped }()
	var mu sync.Mutex
	each(all, func(d *document) {
		if !take(d) {
			return
		}
		text := d.extract()
		mu.Lock()
		defer mu.Unlock()
		if d.predict == nil {
			d.predict = make(map[string]prediction)
		}
		d.predict[name] = prediction{text: text}
	})
}
