//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/internal/bench/cost"
	"github.com/weftcrawl/weft/internal/bench/machine"
	"github.com/weftcrawl/weft/weburl"
)

const (
	batch     = 256     // URLs that come to the desk at once
	groupSize = 1 << 20 // bytes: what the desk commits at once when it has much to do
	siblings  = 8       // new URLs in a row that are of one host: a page's links
	checks    = 2_000_000

	// Parts of --memory, in 1/1000, and what else cmd/weft and package weft have made of it.
	pendingShare = 60
	hostsShare   = 60
	bufferShare  = 50
	mostBuffer   = 64 << 20
	cacheShare   = 20
	garbage      = 200 // percent
	heads        = 512
)

// measure is the process that does what main asks for.
func measure(arg string) error {
	var t task
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
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

// crawl is a crawl that only finds.
type crawl struct {
	task
	store *store.Store
	front *frontier.Frontier
	group *store.Batch
	found int
	urls  []frontier.URL // a batch
	asked int
	rng   *rand.Rand
}

func (c *crawl) run(results *json.Encoder) (err error) {
	part := func(n int) int { return c.Memory / 1000 * n }
	if c.store, err = store.Open(c.Dir, store.Options{Buffer: min(part(bufferShare), mostBuffer), Cache: part(cacheShare)}); err != nil {
		return err
	}
	c.front = frontier.New(frontier.Config{
		Resolve: true, Robots: true, RobotsTries: 3, MaxRedirects: 10, MaxVariants: 10_000,
		Heads: heads, InMemory: part(pendingShare), SeenBytes: c.Seen, HostBytes: part(hostsShare),
	})
	if c.Only {
		if err := c.restore(); err != nil {
			return err
		}
	} else {
		c.group = c.store.Begin()
		c.front.Tell(c.group)
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
		r.Table = c.front.SeenBytes()
		r.Peak = field("/proc/self/status", "VmHWM:") * 1024
		if r.Stored, err = machine.Size(c.Dir); err != nil {
			return err
		}
		if err := results.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// restore takes in the fingerprints that another process has found.
func (c *crawl) restore() error {
	for fp, err := range c.store.Seen() {
		if err != nil {
			return err
		}
		c.front.RestoreSeen(fp)
	}
	return nil
}

// grow finds URLs until there are as many as are wanted.
func (c *crawl) grow(r *result) error {
	begun, cpu, written := time.Now(), cost.CPU(), field("/proc/self/io", "wchar:")
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
	r.Since, r.Wall, r.CPU = r.URLs-before, time.Since(begun).Seconds(), (cost.CPU() - cpu).Seconds()
	r.CPU -= c.making(r.Since)
	r.All += r.CPU
	r.Written = field("/proc/self/io", "wchar:") - written
	if got := c.front.Stats().Pending; got != r.URLs {
		return fmt.Errorf("%d URLs are pending, expected %d", got, r.URLs)
	}
	return nil
}

// look checks URLs, of which 70 % were found.
func (c *crawl) look(r *result) error {
	r.URLs = (c.found + batch - 1) / batch * batch
	r.Checks, r.Check, r.Looked, c.asked = 0, 0, 0, 0
	for n := 0; n < checks; n += batch {
		for i := range c.urls {
			k := c.rng.IntN(r.URLs)
			if c.rng.IntN(10) >= 7 {
				k += 1 << 40 // nobody has found it
			}
			c.urls[i] = c.url(k)
		}
		begun, cpu := time.Now(), cost.CPU()
		if err := c.check(c.urls); err != nil {
			return err
		}
		r.Check += (cost.CPU() - cpu).Seconds()
		r.Looked += time.Since(begun).Seconds()
		r.Checks += batch
	}
	r.Asked = c.asked
	return nil
}

// url returns URL n, of 60 to 90 bytes; the host of a run of them is any.
func (c *crawl) url(n int) frontier.URL {
	host := mix(uint64(n/siblings)) % uint64(c.Hosts)
	x := mix(uint64(n))
	section := []string{"news", "products", "articles/archive", "blog/category"}[x%4]
	u, err := weburl.Parse(fmt.Sprintf("https://www.host-%06d.example/%s/%02d/a-page-about-%x-%d.html", host, section, x>>8%100, uint32(x>>32), n))
	if err != nil {
		panic(err) // it is a URL
	}
	return frontier.URL{URL: u, Depth: 1 + int(x>>16%6), From: fmt.Sprintf("https://www.host-%06d.example/%s/index.html", host, section)}
}

// mix is a bijection whose results look like chance: the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// making is the CPU time that making up so many URLs took.
func (c *crawl) making(urls int) float64 {
	const some = 100_000
	cpu := cost.CPU()
	for n := range some {
		_ = c.url(n)
	}
	return (cost.CPU() - cpu).Seconds() / some * float64(urls)
}

// ask settles what is in doubt, and has hosts come back if URLs are to be added.
func (c *crawl) ask(urls []frontier.URL, add bool) error {
	doubts, names := c.front.Doubts(func(yield func(weburl.URL) bool) {
		for i := range urls {
			if !yield(urls[i].URL) {
				return
			}
		}
	}, func(func(weburl.URL) bool) {})
	c.asked += len(doubts)
	if add && len(names) > 0 {
		hosts, err := c.store.Named(names)
		if err != nil {
			return err
		}
		for _, h := range hosts {
			c.front.Return(h.HostState, h.Rules)
		}
	}
	var seen []bool
	var err error
	if len(doubts) > 0 {
		seen, err = c.store.Known(doubts)
	}
	c.front.Settle(seen)
	return err
}

// receive does with a batch of links what the desk does.
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

// check asks whether URLs were seen.
func (c *crawl) check(urls []frontier.URL) error {
	if err := c.ask(urls, false); err != nil {
		return err
	}
	for i := range urls {
		c.front.Seen(urls[i].URL)
	}
	return nil
}

func (c *crawl) commit() error {
	c.front.NoteHosts()
	g := c.group
	c.group = c.store.Begin()
	c.front.Tell(c.group)
	if err := c.store.Commit(g); err != nil {
		return err
	}
	c.front.Saved()
	return nil
}

// rest waits until the store has nothing left to compact: what was found is to pay for it.
func (c *crawl) rest() {
	for calm := 0; calm < 5; {
		before := cost.CPU()
		time.Sleep(200 * time.Millisecond)
		if cost.CPU()-before < 20*time.Millisecond {
			calm++
		} else {
			calm = 0
		}
	}
}

// field returns a number of a file of the kernel's; 0: it is not there.
func field(path, name string) float64 {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			var n float64
			_, _ = fmt.Sscan(rest, &n)
			return n
		}
	}
	return 0
}
