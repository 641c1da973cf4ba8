//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/weburl"
)

const (
	batch     = 256     // URLs that the coordinator gets at once
	groupSize = 1 << 20 // bytes of a batch when the coordinator is busy
	siblings  = 8       // consecutive new URLs on one host, like a page's links
	checks    = 2_000_000

	// Shares of --memory, in 1/1000, as cmd/weft and package weft divide it.
	pendingShare = 60
	hostsShare   = 60
	bufferShare  = 50
	mostBuffer   = 64 << 20
	cacheShare   = 20
	garbage      = 200 // percent
	heads        = 512
)

// measure is the child process.
func measure(arg []byte) error {
	var t task
	if err := json.Unmarshal(arg, &t); err != nil {
		return err
	}
	debug.SetMemoryLimit(int64(t.Memory))
	debug.SetGCPercent(garbage)
	if t.Profile != "" {
		f, err := os.Create(t.Profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	c := &crawl{task: t, rng: rand.New(rand.NewPCG(1, 2)), urls: make([]frontier.URL, batch)}
	if err := c.run(json.NewEncoder(os.Stdout)); err != nil {
		return err
	}
	return c.store.Close()
}

// crawl is a crawl that only finds URLs.
type crawl struct {
	task
	store    *store.Store
	front    *frontier.Frontier
	restorer *frontier.Restorer
	group    *store.Batch
	found    int
	urls     []frontier.URL // a batch
	asked    int
	rng      *rand.Rand
}

func (c *crawl) run(results *json.Encoder) (err error) {
	part := func(n int) int { return c.Memory / 1000 * n }
	if c.store, err = store.Open(c.Dir, store.Options{Buffer: min(part(bufferShare), mostBuffer), Cache: part(cacheShare)}); err != nil {
		return err
	}
	c.restorer = frontier.Restore(frontier.Config{
		Resolve: true, Robots: true, RobotsTries: 3, MaxRedirects: 10, MaxVariants: 10_000,
		Heads: heads, InMemory: part(pendingShare), SeenBytes: c.Seen, HostBytes: part(hostsShare),
	})
	c.front = c.restorer.Frontier()
	if c.Only {
		if err := c.restore(); err != nil {
			return err
		}
	} else {
		c.group = c.store.Begin()
		c.front.SetJournal(c.group)
	}
	var r result
	for _, c.found = range c.Marks {
		if !c.Only {
			if err := c.grow(&r); err != nil {
				return err
			}
		}
		if err := c.look(&r); err != nil {
			return err
		}
		r.Table = c.front.View().Bytes().Seen
		status, err := process.ReadStatus(os.Getpid())
		if err != nil {
			return err
		}
		r.Peak = float64(status.Peak)
		if r.Stored, err = machine.Size(c.Dir); err != nil {
			return err
		}
		if err := results.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// restore restores the fingerprints that another process found.
func (c *crawl) restore() error {
	for fp, err := range c.store.Seen() {
		if err != nil {
			return err
		}
		c.restorer.Seen(fp)
	}
	return nil
}

// grow finds URLs up to the next number.
func (c *crawl) grow(r *result) error {
	started, cpu, written := time.Now(), process.CPU(), process.Written()
	before := r.URLs
	for ; r.URLs < c.found; r.URLs += batch {
		for i := range c.urls {
			c.urls[i] = c.url(r.URLs + i)
		}
		if err := c.receive(c.urls); err != nil {
			return err
		}
	}
	if err := c.commit(); err != nil {
		return err
	}
	c.rest()
	r.Since, r.Wall, r.CPU = r.URLs-before, time.Since(started).Seconds(), (process.CPU() - cpu).Seconds()
	r.CPU -= c.making(r.Since)
	r.All += r.CPU
	r.Written = float64(process.Written() - written)
	if got := c.front.View().Stats().Pending; got != r.URLs {
		return fmt.Errorf("%d URLs are pending, expected %d", got, r.URLs)
	}
	return nil
}

// look checks URLs, 70 % of them known.
func (c *crawl) look(r *result) error {
	r.URLs = (c.found + batch - 1) / batch * batch
	r.Checks, r.Check, r.Looked, c.asked = 0, 0, 0, 0
	for n := 0; n < checks; n += batch {
		for i := range c.urls {
			k := c.rng.IntN(r.URLs)
			if c.rng.IntN(10) >= 7 {
				k += r.URLs // nobody has found it
			}
			c.urls[i] = c.url(k)
		}
		started, cpu := time.Now(), process.CPU()
		if err := c.check(c.urls); err != nil {
			return err
		}
		r.Check += (process.CPU() - cpu).Seconds()
		r.Looked += time.Since(started).Seconds()
		r.Checks += batch
	}
	r.Asked = c.asked
	return nil
}

// url returns URL n, of 60 to 90 bytes, on a pseudo-random host per run of URLs.
func (c *crawl) url(n int) frontier.URL {
	host := mix(uint64(n/siblings)) % uint64(c.Hosts)
	x := mix(uint64(n))
	section := []string{"news", "products", "articles/archive", "blog/category"}[x%4]
	u, err := weburl.Parse(fmt.Sprintf("https://www.host-%06d.example/%s/%02d/a-page-about-%x-%d.html", host, section, x>>8%100, uint32(x>>32), n))
	if err != nil {
		panic(err) // unreachable: it is a URL
	}
	return frontier.URL{URL: u, Depth: 1 + int(x>>16%6), From: fmt.Sprintf("https://www.host-%06d.example/%s/index.html", host, section)}
}

// mix is a pseudo-random bijection: the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// making returns the CPU time of making up URLs.
func (c *crawl) making(urls int) float64 {
	const some = 100_000
	cpu := process.CPU()
	for n := range some {
		_ = c.url(n)
	}
	return (process.CPU() - cpu).Seconds() / some * float64(urls)
}

// ask prepares the frontier for URLs. Their hosts are only read if the URLs are to be added.
func (c *crawl) ask(urls []frontier.URL, add bool) error {
	r, ok := c.front.Prepare(func(yield func(weburl.URL) bool) {
		for i := range urls {
			if !yield(urls[i].URL) {
				return
			}
		}
	}, func(func(weburl.URL) bool) {})
	if !ok {
		return nil
	}
	c.asked += len(r.Fingerprints)
	if !add {
		r.Names = nil
	}
	page, err := c.store.Read(r)
	if err != nil {
		return err
	}
	c.front.Provide(time.Now(), page)
	return nil
}

// receive handles a batch of links as the coordinator does.
func (c *crawl) receive(urls []frontier.URL) error {
	if err := c.ask(urls, true); err != nil {
		return err
	}
	for _, u := range urls {
		c.front.Add(u)
	}
	if c.group.Size() < groupSize {
		return nil
	}
	return c.commit()
}

// check checks whether URLs were seen.
func (c *crawl) check(urls []frontier.URL) error {
	if err := c.ask(urls, false); err != nil {
		return err
	}
	for i := range urls {
		c.front.View().Seen(urls[i].URL)
	}
	return nil
}

func (c *crawl) commit() error {
	c.front.NoteOrigins()
	g := c.group
	c.group = c.store.Begin()
	c.front.SetJournal(c.group)
	if err := c.store.Commit(g); err != nil {
		return err
	}
	c.front.Saved()
	return nil
}

// rest waits until the store has nothing left to compact, so that the URLs found pay for it.
func (c *crawl) rest() {
	for calm := 0; calm < 5; {
		before := process.CPU()
		time.Sleep(200 * time.Millisecond)
		if process.CPU()-before < 20*time.Millisecond {
			calm++
		} else {
			calm = 0
		}
	}
}
