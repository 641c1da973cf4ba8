//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

const output = "pages.jsonl"

var line = []byte(`{"url":"` + strings.Repeat("x", 488) + "\"}\n")

// measure carries out a task and prints its result.
func measure(arg []byte) error {
	var t task
	if err := json.Unmarshal(arg, &t); err != nil {
		return err
	}
	var r result
	cpu, written := process.CPU(), process.Written()
	started := time.Now()
	var err error
	switch t.What {
	case "commit":
		r.Items, err = t.commit()
	case "fill":
		r.Items, err = t.fill()
	case "restart":
		err = t.restart(&r)
	default:
		err = fmt.Errorf("%q: expected commit, fill or restart", t.What)
	}
	if err != nil {
		return err
	}
	r.Wall = time.Since(started).Seconds()
	r.CPU, r.Written = (process.CPU() - cpu).Seconds(), float64(process.Written()-written)
	status, err := process.ReadStatus(os.Getpid())
	if err != nil {
		return err
	}
	r.Peak = float64(status.Peak)
	if r.Stored, err = machine.Size(t.Dir); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// web makes up URLs and keeps track of them.
type web struct {
	hosts int
	urls  []frontier.URL // found; those before done are finished
	done  int
	seq   uint64
}

// find returns a new URL.
func (w *web) find() frontier.URL {
	w.seq++
	host := int(w.seq) % w.hosts
	u, err := weburl.Parse(fmt.Sprintf("https://www.host-%d.example/section/%d/page-%d.html", host, w.seq%100, w.seq))
	if err != nil {
		panic(err) // it is a URL
	}
	return frontier.URL{
		URL: u, Seq: w.seq, Depth: int(w.seq % 7),
		From: fmt.Sprintf("https://www.host-%d.example/section/%d/index.html", host, w.seq%100),
	}
}

func (w *web) add(g *store.Batch, u frontier.URL) {
	g.Pending(u)
	w.urls = append(w.urls, u)
}

// finish commits the oldest pending URL as a page.
func (w *web) finish(g *store.Batch, at time.Time) {
	u := w.urls[w.done]
	w.urls[w.done] = frontier.URL{}
	w.done++
	u.Past = []frontier.Try{{At: at, Status: 200}}
	g.Done(u)
	g.Append(output, line)
}

func (w *web) host(g *store.Batch, u frontier.URL, at time.Time) {
	g.Origin(frontier.OriginState{
		Name: u.URL.Origin(), Pending: (int(w.seq) - w.done) / w.hosts, Answered: w.done / w.hosts, Asked: at, Took: 50 * time.Millisecond,
		Best: 40 * time.Millisecond, Most: 4, Robots: frontier.RobotsState{Have: true, Until: at.Add(24 * time.Hour)},
	})
	g.Counts(frontier.Stats{Pending: int(w.seq) - w.done, Done: w.done})
}

// commit commits batches for ten seconds.
func (t task) commit() (items int, err error) {
	const long = 10 * time.Second
	s, err := store.Open(t.Dir, store.Options{Outputs: []string{output}})
	if err != nil {
		return 0, err
	}
	w := &web{hosts: 1000}
	for started := time.Now(); time.Since(started) < long; items += t.Group {
		now := time.Now()
		g := s.Begin()
		for range t.Group {
			u := w.find()
			w.add(g, u)
			if t.Links > 0 {
				for range t.Links - 1 {
					w.add(g, w.find())
				}
				w.finish(g, now)
			} else {
				w.urls = w.urls[:0] // they stay pending
			}
			if t.Links > 0 || t.Group == 1 {
				w.host(g, u, now)
			}
		}
		if err := s.Commit(g); err != nil {
			return 0, err
		}
	}
	return items, s.Close()
}

// fill makes a half-finished crawl.
func (t task) fill() (items int, err error) {
	s, err := store.Open(t.Dir, store.Options{Outputs: []string{output}})
	if err != nil {
		return 0, err
	}
	w := &web{hosts: t.Hosts}
	now := time.Now()
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\n")).Agent("weft")
	for int(w.seq) < t.URLs {
		g := s.Begin()
		for range 2000 {
			w.add(g, w.find())
			if w.seq%2 == 0 {
				w.finish(g, now)
			}
		}
		w.host(g, w.urls[w.done], now)
		if err := s.Commit(g); err != nil {
			return 0, err
		}
	}
	g := s.Begin()
	for _, u := range w.urls[w.done : w.done+min(t.Hosts, len(w.urls)-w.done)] {
		w.host(g, u, now)
		g.Rules(u.URL.Origin(), rules)
		if g.Size() > 1<<20 {
			if err := s.Commit(g); err != nil {
				return 0, err
			}
			g = s.Begin()
		}
	}
	if err := s.Commit(g); err != nil {
		return 0, err
	}
	return int(w.seq), s.Close()
}

// restart resumes a crawl until it leases a URL.
func (t task) restart(r *result) error {
	if t.Cold {
		if err := forget(t.Dir); err != nil {
			return err
		}
	}
	started := time.Now()
	s, err := store.Open(t.Dir, store.Options{Outputs: []string{output}})
	if err != nil {
		return err
	}
	r.Open = time.Since(started).Seconds()
	restorer := frontier.Restore(frontier.Config{Heads: 100, Robots: true, RobotsTries: 3, Delay: time.Millisecond})
	if err := s.Restore(time.Now(), restorer); err != nil {
		return err
	}
	f := restorer.Frontier()
	f.SetJournal(s.Begin())
	r.Restore = time.Since(started).Seconds()
	for leased := false; !leased; {
		now := time.Now()
		for _, u := range f.Lease(now, 10) {
			leased = leased || !u.Robots
		}
		for _, r := range f.Reads() {
			page, err := s.Read(r)
			if err != nil {
				return err
			}
			f.NoteOrigins()
			f.Provide(now, page)
		}
	}
	r.First = time.Since(started).Seconds()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.Heap = float64(m.HeapAlloc)
	r.Items = f.View().Stats().Pending + f.View().Stats().Done
	return s.Close()
}

// forget drops a folder's files from the page cache.
func forget(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}
