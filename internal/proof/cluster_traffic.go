package proof

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/weftcrawl/weft/cluster/changelog"
	"github.com/weftcrawl/weft/cluster/partition"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// gathering says what a commit waits for.
type gathering struct {
	wait time.Duration
	size int // bytes: a commit of that size does not wait; 0: any
}

// built is what nodes do: see package engine.
var built = gathering{time.Second, 1 << 20}

var gatherings = []gathering{{wait: 50 * time.Millisecond}, built, {wait: time.Second}, {wait: 5 * time.Second}}

func (g gathering) label() string {
	if g.size == 0 {
		return g.wait.String()
	}
	return fmt.Sprintf("%v, or %d MiB", g.wait, g.size>>20)
}

// Traffic is what one node sends, on average of a page.
type Traffic struct {
	Nodes int
	gathering
	Links     float64 // messages of links
	ToNodes   float64 // the same, if they were for nodes instead of partitions
	Entries   float64 // links in a message
	Spared    float64 // share of the links to others that were sent lately
	Log       float64 // messages to logs
	LinkBytes float64 // of messages of links, as the servers get them
	LogBytes  float64 // of messages to logs
}

func (t *Traffic) messages() float64 { return t.Links + t.Log }
func (t *Traffic) bytes() float64    { return t.LinkBytes + t.LogBytes }

// sender is a node of which only the messages count. Its frontier crawls a web of random links; what it reports is
// packed, commit by commit, as it goes to the servers.
type sender struct {
	*Cluster
	rand     *rand.Rand
	zipf     *rand.Zipf
	nodes    int
	now      time.Time
	frontier *frontier.Frontier
	log      *changelog.Log
	commit   *posted
	ended    map[int][][]byte // blocks that wait for what the next commit has found, by partition
	sums     Traffic          // over all pages
	links    int              // sent
	foreign  int              // links to others
	pages    int              // so far: no two have the same path
}

// posted is a commit.
type posted struct {
	*changelog.Encoder // stands for the store
	records            int
	blocks             map[byte]map[int][][]byte
}

// size is about that of the batch.
func (c *posted) size() int { return c.Len() + c.records*recordBytes }

// Post takes a message for the outbox.
func (c *posted) Post(p int, kind byte, data []byte) {
	if c.blocks[kind] == nil {
		c.blocks[kind] = make(map[int][][]byte)
	}
	c.blocks[kind][p] = append(c.blocks[kind][p], data)
}

// send simulates what one node sends, after a time of the same length in which its frontier learns what it has sent.
func (c *Cluster) send(nodes int, g gathering) (Traffic, error) {
	r := rand.New(rand.NewPCG(c.Seed, 2))
	s := &sender{
		Cluster: c, rand: r, zipf: rand.NewZipf(r, linkTail, 10, uint64(c.Domains-1)), nodes: nodes,
		now: time.Unix(1_000_000_000, 0), ended: make(map[int][][]byte),
	}
	if err := s.begin(); err != nil {
		return Traffic{}, err
	}
	if err := s.crawl(c.Span, g); err != nil {
		return Traffic{}, err
	}
	s.sums, s.links, s.foreign = Traffic{}, 0, 0
	err := s.crawl(c.Span, g)
	pages := c.Span.Seconds() * float64(c.Rate)
	t := s.sums
	return Traffic{
		Nodes: nodes, gathering: g, Links: t.Links / pages, ToNodes: t.ToNodes / pages, Log: t.Log / pages,
		Entries: float64(s.links) / max(1, t.Links), Spared: 1 - float64(s.links)/max(1, float64(s.foreign)),
		LinkBytes: t.LinkBytes / pages, LogBytes: t.LogBytes / pages,
	}, err
}

// begin gives the frontier every nodes-th partition, and as many of the sites there as it takes to be polite.
func (s *sender) begin() error {
	place := func(host string) int { return partition.Of(host, s.Partitions) }
	var ours []int
	for p := 0; p < s.Partitions; p += s.nodes {
		ours = append(ours, p)
	}
	s.frontier = frontier.New(frontier.Config{Delay: time.Second, HostBytes: 1 << 30, Partition: place, Ours: ours})
	s.log = &changelog.Log{Partition: place, Clock: func() (job, calendar time.Time) { return s.now, s.now }}
	s.frontier.SendBy(func(u frontier.URL) {
		s.links++
		s.log.Send(u)
	})
	s.next()
	for d, sites := 0, 0; d < s.Domains && sites < 5*s.Rate; d++ {
		if int(s.places[d])%s.Partitions%s.nodes == 0 {
			u, err := drawn(d, 0)
			if err != nil {
				return err
			}
			s.frontier.Add(frontier.URL{URL: u})
			sites++
		}
	}
	return nil
}

// drawn returns a page of a domain; 0 is its home page.
func drawn(domain, n int) (weburl.URL, error) {
	home := fmt.Sprintf("https://www.d%d.test/", domain)
	if n == 0 {
		return weburl.Parse(home)
	}
	return weburl.Parse(fmt.Sprintf("%sarticles/%d/of-some-length-%x.html", home, n%100, n))
}

// crawl fetches pages for a time, and commits.
func (s *sender) crawl(span time.Duration, g gathering) error {
	end, commit := s.now.Add(span), s.now.Add(g.wait)
	for s.now.Before(end) {
		s.now = s.now.Add(time.Second / time.Duration(s.Rate))
		for _, u := range s.frontier.Lease(s.now, 1) {
			if err := s.fetch(u); err != nil {
				return err
			}
		}
		if !s.now.Before(commit) || g.size > 0 && s.commit.size()+s.log.Size() >= g.size {
			commit = s.now.Add(g.wait)
			s.publish()
		}
	}
	return nil
}

// fetch finds the links of a page, and ends it.
func (s *sender) fetch(u frontier.URL) error {
	from := u.URL.String()
	add := func(to weburl.URL, err error) error {
		if err == nil {
			s.frontier.Add(frontier.URL{URL: to, From: from, Depth: u.Depth + 1})
		}
		return err
	}
	for range newURLs {
		s.pages++
		if err := add(u.URL.Resolve(fmt.Sprintf("/articles/%d/of-some-length-%x.html", s.pages%100, 1<<24+s.pages))); err != nil {
			return err
		}
	}
	for range foreignLinks {
		d, n := int(s.zipf.Uint64()), 0
		if s.rand.Float64() >= homeLinks {
			n = 1 + s.rand.IntN(1<<20)
		}
		if int(s.places[d])%s.Partitions%s.nodes != 0 {
			s.foreign++
		}
		if err := add(drawn(d, n)); err != nil {
			return err
		}
	}
	s.commit.records++
	u.Known = s.snapshot()
	s.frontier.Done(s.now, u, frontier.Result{Took: 200 * time.Millisecond})
	return nil
}

// snapshot returns what a later visit to a page compares with it.
func (s *sender) snapshot() *frontier.Snapshot {
	k := &frontier.Snapshot{
		Number: 1, Change: "new", At: s.now, First: s.now, Changed: s.now, Status: 200, Text: s.rand.Uint64(),
		Bytes: 40_000 + s.rand.Int64N(40_000), Modified: s.now.Format(time.RFC1123), Type: "text/html; charset=utf-8",
		Title: fmt.Sprintf("A page of some length, number %d", s.rand.IntN(1<<20)),
	}
	for i := range k.Content {
		k.Content[i] = byte(s.rand.Uint32())
	}
	return k
}

// next begins a commit.
func (s *sender) next() {
	s.commit = &posted{Encoder: changelog.NewEncoder(s.now, s.now), blocks: make(map[byte]map[int][][]byte)}
	s.log.Begin(s.commit)
	s.frontier.SetJournal(s.log)
}

// publish sends what the outbox of a node sends after a commit: links, and with the changes of the logs what the
// commit before has ended.
func (s *sender) publish() {
	s.frontier.NoteOrigins()
	s.log.Seal()
	s.frontier.Saved()
	nodes := make(map[int]bool)
	for p, blocks := range s.commit.blocks[changelog.Links] {
		s.sums.Links++
		s.sums.LinkBytes += packed(blocks)
		nodes[p%s.nodes] = true
	}
	s.sums.ToNodes += float64(len(nodes))
	for p, blocks := range s.commit.blocks[changelog.Found] {
		s.ended[p] = append(s.ended[p], blocks...)
	}
	for _, blocks := range s.ended {
		s.sums.Log++
		s.sums.LogBytes += packed(blocks)
	}
	s.ended = s.commit.blocks[changelog.Ended]
	if s.ended == nil {
		s.ended = make(map[int][][]byte)
	}
	s.next()
}

// packed returns the length of a message with blocks, packed as package cluster does.
func packed(blocks [][]byte) float64 {
	var all []byte
	for _, b := range blocks {
		all = append(all, b...)
	}
	return float64(messageBytes + len(s2.Encode(nil, all)))
}
