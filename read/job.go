package read

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/weftcrawl/weft/content"
	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// Counts are the numbers of pages of a job, by outcome; with Options.Chunk, New, Unchanged and Gone
// are those of chunks.
type Counts struct {
	Pages     int // texts in the output
	Chunks    int // the chunks that they are there as
	New       int // that were not in the output before
	Changed   int // that were another text
	Unchanged int
	Gone      int // that were in the output before, and are not now
	Unread    int // pages whose body the job has not kept, or that cannot be read

	record.ScriptCounts                       // of Pages, those that look empty without scripts
	Documents           record.DocumentCounts // of the job, whose text is not read
}

// Change is the difference of a text from the output before.
type Change string

// Changes.
const (
	New       Change = "new"
	Changed   Change = "changed"
	Unchanged Change = "unchanged"
	Gone      Change = "gone"
)

// work is done by one of several goroutines, each with the bodies of the job.
type work struct {
	run  func(*results.Bodies)
	done chan struct{}
}

// reading is the reading of a job.
type reading struct {
	Options
	ctx  context.Context
	plan *plan
	todo chan *work
}

// result is a page that was read.
type result struct {
	work
	entry *entry
	page  Page
	err   error // it could not be read
}

// each calls use for the texts of a job, or of one of its hosts, in order. It counts what it leaves
// out.
func each(ctx context.Context, dir, host string, o Options, c *Counts, use func(*entry, *Page) error) error {
	p, err := newPlan(ctx, dir, host, &o)
	if err != nil {
		return err
	}
	c.Documents = p.documents
	defer p.Close()
	ctx, stop := context.WithCancel(ctx)
	r := &reading{Options: o, ctx: ctx, plan: p, todo: make(chan *work)}
	workers := runtime.GOMAXPROCS(0)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for range workers {
		bodies, err := results.OpenBodies(dir)
		if err != nil {
			return err
		}
		if !bodies.Any() {
			return errors.Join(results.ErrNoBody, bodies.Close())
		}
		running.Go(func() {
			defer bodies.Close()
			r.work(bodies)
		})
	}
	ordered := make(chan *result, 2*workers)
	var failed error // of the plan; read when ordered is closed
	seen := duplicates.New(mostSeen)
	running.Go(func() {
		defer close(ordered)
		failed = r.all(ordered)
	})
	for one := range ordered {
		select {
		case <-one.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if one.err != nil {
			c.Unread++
			continue
		}
		if !speaks(one.page.Language, o.Languages) || o.NoDuplicates && isSeen(seen, &one.page) {
			continue
		}
		c.CountScripts(one.page.URL, one.page.NeedsScripts)
		if err := use(one.entry, &one.page); err != nil {
			return err
		}
	}
	return failed
}

// mostSeen is the number of texts that are compared, the latest: as many as a crawl compares pages.
const mostSeen = 128 << 10

// isSeen reports whether a page has the text of one before.
func isSeen(seen *duplicates.Index, p *Page) bool {
	var first [8]byte
	_, _ = hex.Decode(first[:], []byte(p.Hash[:2*len(first)])) // which oneOf wrote
	return seen.Judge(duplicates.Page{Content: binary.BigEndian.Uint64(first[:]), URL: p.URL}).Same != ""
}

// work does what is to be done.
func (r *reading) work(bodies *results.Bodies) {
	for {
		select {
		case w := <-r.todo:
			w.run(bodies)
			close(w.done)
		case <-r.ctx.Done():
			return
		}
	}
}

// give gives work to the workers.
func (r *reading) give(w *work) error {
	select {
	case r.todo <- w:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// all reads the pages of the plan, site by site.
func (r *reading) all(ordered chan<- *result) error {
	var of *site
	var sample []*entry
	host := ""
	for {
		e, err := r.plan.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if of == nil || e.host != host {
			of, host = newSite(), e.host
		}
		if e.sample {
			sample = append(sample, e)
			continue
		}
		if len(sample) > 0 {
			if err := r.learn(of, sample); err != nil {
				return err
			}
			sample = nil
		}
		one := &result{entry: e, work: work{done: make(chan struct{})}}
		one.run = r.reader(one, of)
		select {
		case ordered <- one:
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
		if err := r.give(&one.work); err != nil {
			return err
		}
	}
}

// reader returns the work of reading a page of a site.
func (r *reading) reader(one *result, of *site) func(*results.Bodies) {
	return func(bodies *results.Bodies) {
		body, err := bodies.Read(&one.entry.record)
		if err != nil && (!errors.Is(err, results.ErrNoBody) || one.entry.record.BodyBytes > 0) {
			one.err = err
			return
		}
		s, err := one.entry.source(body)
		if err != nil {
			one.err = err
			return
		}
		if one.page = oneOf(s, r.Options, of); one.entry.record.Rendered != nil {
			one.page.NeedsScripts = "" // they have run
		}
	}
}

// learn finds the boilerplate of a site in its sample, and then where the content of its pages is.
func (r *reading) learn(of *site, sample []*entry) error {
	err := r.parsed(sample, func(_ weburl.URL, root *html.Node) func() {
		says := sampleOf(root)
		return func() { of.add(says) }
	})
	of.settle()
	if err != nil || !of.isKnown() {
		return err
	}
	known := &site{pages: of.pages, on: of.on} // what is learnt now does not count yet
	return r.parsed(sample[:min(len(sample), mainSample)], func(url weburl.URL, root *html.Node) func() {
		known.clear(root)
		c := content.Extract(content.Page{URL: url, Root: root}, known.options(Options{}))
		return func() { of.addMain(&c) }
	})
}

// parsed calls look for each page of a sample, on the workers, and then what it returns, one at a
// time.
func (r *reading) parsed(sample []*entry, look func(url weburl.URL, root *html.Node) func()) error {
	var mu sync.Mutex
	all := make([]*work, 0, len(sample))
	for _, e := range sample {
		w := &work{done: make(chan struct{}), run: func(bodies *results.Bodies) {
			body, err := bodies.Read(&e.record)
			if err != nil {
				return
			}
			s, err := e.source(body)
			if err != nil {
				return
			}
			text, _ := charset.UTF8(s.ContentType, s.Body)
			root, _ := content.ParsePage(s.URL, text)
			add := look(s.URL, root)
			mu.Lock()
			defer mu.Unlock()
			add()
		}}
		all = append(all, w)
		if err := r.give(w); err != nil {
			return err
		}
	}
	for _, w := range all {
		select {
		case <-w.done:
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	return nil
}

// speaks reports whether a language is one of those wanted: "en" includes "en-GB".
func speaks(language string, wanted []string) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(one string) bool {
		return len(language) >= len(one) && strings.EqualFold(language[:len(one)], one) && (len(language) == len(one) || language[len(one)] == '-')
	})
}
