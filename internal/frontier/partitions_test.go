package frontier_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/weburl"
)

// TestPartitions crawls small webs with three frontiers. What one finds of another's comes there
// late, in any order, or at a frontier that has given the partition away. Partitions move at
// random, while URLs of them are pending. Together the frontiers end the URLs as one does, each
// once, and no host is asked before its delay is over.
func TestPartitions(t *testing.T) {
	moves := 0
	for seed := range long.Or[uint64](60, 1000) {
		for _, cfg := range []frontier.Config{
			{PerHost: 3},
			{Robots: true, RobotsTries: 2, Delay: time.Second},
		} {
			cfg.MaxRedirects = 10 // what leads to a URL beyond it is forgotten in a move
			cfg.Heads = []int{1, 2, 100}[seed%3]
			cfg.SeenBytes = []int{0, 1, 64 * 300}[seed/3%3]
			cfg.HostBytes = []int{1, 700, 8 * 64 * 1024}[seed/9%3]
			c := newShared(t, cfg, seed)
			c.crawl()
			moves += c.moves
			alone := cfg
			alone.Heads, alone.SeenBytes, alone.HostBytes = 0, 0, 0
			if want := c.smallWeb.crawl(alone); !maps.Equal(c.ends, want) {
				t.Errorf("the URLs ended as %v, want %v", c.ends, want)
			}
			if t.Failed() {
				t.Fatalf("that was seed %d of %+v", seed, cfg)
			}
		}
	}
	if moves < 500 {
		t.Errorf("partitions have moved %d times", moves)
	}
}

// shared is a crawl that several frontiers share.
type shared struct {
	*smallWeb
	t       *testing.T
	cfg     frontier.Config
	rand    *rand.Rand
	now     time.Duration
	nodes   []*node
	owner   []int                    // by partition: a node; -1: it is moving
	sent    []frontier.URL           // on their way
	free    map[string]time.Duration // when the delay of an origin is over
	ends    map[string]string
	moves   int
	leaving map[int]int // partitions that are to leave, and where they go
}

type node struct {
	f       *frontier.Frontier
	journal *journal
	leases  []frontier.URL
	reads   []frontier.Request
	pages   []frontier.Page // read, and not provided
}

const sharedPartitions = 5

func partitionOf(host string) int { return int(host[0]) % sharedPartitions }

func newShared(t *testing.T, cfg frontier.Config, seed uint64) *shared {
	cfg.Partition = partitionOf
	c := &shared{
		smallWeb: newSmallWeb(t, seed), t: t, cfg: cfg, rand: rand.New(rand.NewPCG(seed, 9)),
		free: make(map[string]time.Duration), ends: make(map[string]string), leaving: make(map[int]int),
	}
	for i := range 3 {
		own := cfg
		for p := range sharedPartitions {
			if p%3 == i {
				own.Ours = append(own.Ours, p)
			}
		}
		n := &node{journal: newJournal(t)}
		n.f = n.journal.restore(own, epoch)
		n.f.RefuseBy(c.refuse)
		n.f.Partitions().SendBy(func(u frontier.URL) { c.sent = append(c.sent, u) })
		c.nodes = append(c.nodes, n)
	}
	for p := range sharedPartitions {
		c.owner = append(c.owner, p%3)
	}
	c.sent = slices.Clone(c.seeds)
	c.depth = 1 << 20 // links say where they are from
	return c
}

func (c *shared) crawl() {
	for step := 0; !c.over(); step++ {
		if step > 100_000 {
			c.t.Fatalf("no end: %d sent, %v leaving, %+v, %+v, %+v", len(c.sent), c.leaving,
				c.nodes[0].f.View().Stats(), c.nodes[1].f.View().Stats(), c.nodes[2].f.View().Stats())
		}
		n := c.nodes[c.rand.IntN(len(c.nodes))]
		switch c.rand.IntN(10) {
		case 0, 1, 2:
			c.lease(n)
		case 3, 4, 5:
			c.answer(n)
		case 6:
			c.commit(n)
			c.provide(n)
			c.provide(n)
		case 7:
			c.deliver()
		case 8:
			c.now += time.Duration(c.rand.IntN(1000)) * time.Millisecond
		case 9:
			c.move()
		}
		if c.t.Failed() {
			return
		}
	}
}

func (c *shared) over() bool {
	busy := func(n *node) bool { return !n.f.View().Over() || len(n.leases) > 0 }
	return len(c.sent) == 0 && len(c.leaving) == 0 && !slices.ContainsFunc(c.nodes, busy)
}

func (c *shared) lease(n *node) {
	for _, u := range n.f.Lease(at(c.now), 1+c.rand.IntN(3)) {
		origin := u.Where().Origin()
		if p := partitionOf(u.URL.Hostname()); c.nodes[c.owner[p]] != n {
			c.t.Errorf("%s is leased, and is another's", u.URL)
		}
		if u.At == nil { // that is asked from anywhere
			if c.now < c.free[origin] {
				c.t.Errorf("%v: %s is leased, and the delay is over at %v", c.now, u.URL, c.free[origin])
			}
			c.free[origin] = c.now + c.cfg.Delay
		}
		n.leases = append(n.leases, u)
	}
	for _, r := range n.f.Refused().URLs {
		c.end(short(r.URL), r.Kind)
	}
	n.reads = append(n.reads, n.f.Reads()...)
}

func (c *shared) end(url, how string) {
	if was, twice := c.ends[url]; twice {
		c.t.Errorf("%s: %s, and before %s", url, how, was)
	}
	c.ends[url] = how
}

func (c *shared) answer(n *node) {
	if len(n.leases) == 0 {
		return
	}
	i := c.rand.IntN(len(n.leases))
	u := n.leases[i]
	n.leases = slices.Delete(n.leases, i, i+1)
	if p := c.pages[u.URL]; !u.Robots {
		urls := p.links
		if p.target != nil {
			urls = append(slices.Clip(urls), *p.target)
		}
		c.ask(n, urls)
	} else if moved := c.moved[u.URL.Origin()]; u.Hops < len(moved) {
		c.ask(n, []frontier.URL{{URL: moved[u.Hops]}})
	}
	before := n.f.View().Stats().Done
	c.smallWeb.answer(n.f, at(c.now), u, time.Second)
	if u.At == nil {
		c.free[u.URL.Origin()] = c.now + c.cfg.Delay
	}
	if n.f.View().Stats().Done > before {
		c.end(short(u), fmt.Sprintf("done after %d", u.Tries+1))
	}
}

// ask prepares a frontier for URLs.
func (c *shared) ask(n *node, urls []frontier.URL) {
	all := func(yield func(weburl.URL) bool) {
		for _, u := range urls {
			if !yield(u.URL) {
				return
			}
		}
	}
	if r, ok := n.f.Prepare(func(func(weburl.URL) bool) {}, all); ok {
		n.f.Provide(at(c.now), n.journal.lookup(r))
	}
}

// deliver brings one of the URLs sent to its frontier, or to one that has had it.
func (c *shared) deliver() {
	if len(c.sent) == 0 {
		return
	}
	i := c.rand.IntN(len(c.sent))
	u := c.sent[i]
	c.sent = slices.Delete(c.sent, i, i+1)
	if c.rand.IntN(5) == 0 {
		c.sent = append(c.sent, u) // it comes again
	}
	n := c.nodes[c.owner[partitionOf(u.URL.Hostname())]]
	if c.rand.IntN(5) == 0 {
		n = c.nodes[c.rand.IntN(len(c.nodes))]
	}
	c.ask(n, []frontier.URL{u})
	if !n.f.Partitions().SendOn(u) {
		n.f.Add(u)
	}
}

func (c *shared) commit(n *node) {
	n.f.NoteOrigins()
	n.journal.commit()
	n.f.Saved()
	for _, r := range n.reads {
		switch r.Kind {
		case frontier.Revive:
			n.pages = append(n.pages, n.journal.dormant(r, 100))
		default:
			n.pages = append(n.pages, n.journal.read(r))
		}
	}
	n.reads = nil
}

// provide brings one of the pages that were read.
func (c *shared) provide(n *node) {
	if len(n.pages) > 0 {
		n.f.Provide(at(c.now), n.pages[0])
		n.pages = n.pages[1:]
	}
}

// move has a partition begin to leave its frontier, or go where it is to go.
func (c *shared) move() {
	p := c.rand.IntN(sharedPartitions)
	from := c.nodes[c.owner[p]]
	to, leaving := c.leaving[p]
	switch {
	case !leaving && c.rand.IntN(4) == 0:
		to := c.rand.IntN(len(c.nodes))
		c.leaving[p] = to
		from.f.Partitions().Hold(at(c.now), p)
		if c.nodes[to] != from {
			c.snapshot(p, &from.journal.durable, &c.nodes[to].journal.durable)
		}
	case !leaving:
	case c.nodes[to] == from:
		from.f.Partitions().Release(at(c.now), p)
		delete(c.leaving, p)
	default:
		c.nodes[to].f.Partitions().Hold(at(c.now), p) // of its redirects of robots.txt
		if len(from.f.Partitions().Quiet(p))+len(c.nodes[to].f.Partitions().Quiet(p)) < 2 {
			return
		}
		from.f.Partitions().Disown(p)
		c.commit(from)
		from.f.Partitions().Forget(p)
		c.commit(c.nodes[to]) // its Seq are lower
		c.handOver(p, from, c.nodes[to])
		c.owner[p] = to
		c.moves++
		delete(c.leaving, p)
	}
}

// snapshot begins to copy what the store knows of a partition: it is of another moment.
func (c *shared) snapshot(p int, a, b *durable) {
	for name, s := range a.origins {
		if partitionOf(nameOf(name)) == p {
			b.origins[name], b.pending[name] = s, slices.Clone(a.pending[name])
		}
	}
	b.names = nil
}

// handOver moves what the store knows of a partition.
func (c *shared) handOver(p int, from, to *node) {
	a, b := &from.journal.durable, &to.journal.durable
	var states []frontier.OriginState
	for name, s := range a.origins {
		if partitionOf(nameOf(name)) == p {
			b.origins[name], b.rules[name], b.pending[name] = s, a.rules[name], a.pending[name]
			delete(a.origins, name)
			delete(a.pending, name)
			states = append(states, s)
		}
	}
	var seen [][16]byte
	for u := range a.seen {
		if partitionOf(u.Hostname()) == p {
			b.seen[u] = true
			seen = append(seen, u.Fingerprint())
			delete(a.seen, u)
		}
	}
	from.f.Partitions().Unsee(seen)
	a.names, b.names = nil, nil
	b.seq = max(a.seq, b.seq)
	half := len(states) / 2
	to.f.Partitions().Adopt(p, states[:half], seen)
	to.f.Partitions().Adopt(p, states[half:], nil)
	to.f.Partitions().Own(at(c.now), p, a.seq+1)
}

// TestOwnWaits: a host that comes waits its full delay, whatever the last owner could record of it.
func TestOwnWaits(t *testing.T) {
	l := newJournal(t)
	cfg := frontier.Config{Delay: time.Second, Heads: 1, HostBytes: 1 << 20, Partition: partitionOf}
	f := l.restore(cfg, epoch)
	late := u(t, "a/1")
	late.Seq = 7
	l.put(late)
	state := frontier.OriginState{Name: late.URL.Origin(), Pending: 1}
	l.origins[state.Name] = state
	p := partitionOf(late.URL.Hostname())
	f.Partitions().Adopt(p, []frontier.OriginState{state}, [][16]byte{late.Fingerprint()})
	f.Partitions().Own(at(0), p, 8)
	for now := time.Duration(0); ; now += 100 * time.Millisecond {
		leases := f.Lease(at(now), 1)
		if len(leases) > 0 {
			if now < cfg.Delay {
				t.Errorf("it is leased after %v", now)
			}
			break
		}
		if now > 3*cfg.Delay {
			t.Fatal("it is not leased")
		}
		requests := f.Reads()
		f.NoteOrigins()
		l.commit()
		f.Saved()
		for _, r := range requests {
			if r.Kind == frontier.Revive {
				f.Provide(at(now), l.dormant(r, 100))
			} else {
				f.Provide(at(now), l.read(r))
			}
		}
	}
}

// TestUnsee: what a partition had when it was lost, and has no more when it is ours again, is new.
func TestUnsee(t *testing.T) {
	l := newJournal(t)
	found := u(t, "a/1")
	p := partitionOf(found.URL.Hostname())
	f := l.restore(frontier.Config{Partition: partitionOf, Ours: []int{p}}, epoch)
	for range 2 {
		if !f.Add(found) {
			t.Fatal("it counts as seen")
		}
		f.Partitions().Hold(at(0), p)
		f.Partitions().Disown(p)
		f.NoteOrigins()
		l.commit()
		f.Saved()
		f.Partitions().Forget(p)
		delete(l.pending, found.URL.Origin())
		delete(l.origins, found.URL.Origin())
		delete(l.seen, found.URL)
		f.Partitions().Unsee([][16]byte{found.Fingerprint()})
		f.Partitions().Own(at(0), p, 9)
	}
}
