package proof

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/partition"
	"github.com/weftcrawl/weft/internal/shard/sending"
	"github.com/weftcrawl/weft/weburl"
)

// gathering has the rules for messages that go out at once.
type gathering struct {
	commit time.Duration // after which a node commits
	size   int           // bytes: a commit of that size does not wait; 0: any
	gather time.Duration // the least between two messages for a partition: see package sending
}

// built is the gathering of real nodes: see package engine.
var built = gathering{time.Second, 1 << 20, time.Second}

var gatherings = []gathering{{50 * time.Millisecond, 0, 50 * time.Millisecond}, built, {time.Second, 1 << 20, 5 * time.Second}}

func (g gathering) label() string {
	if g == built {
		return g.gather.String() + ", as built"
	}
	return g.gather.String()
}

// Traffic is the messages and bytes that one node sends, on average of a page.
type Traffic struct {
	Nodes int
	Rate  int // pages a second of each node
	gathering
	Links     float64 // messages of links
	ToNodes   float64 // the same, if they were for nodes instead of partitions
	Entries   float64 // links in a message
	Spared    float64 // share of the links to others that were sent lately
	Log       float64 // messages to logs
	LinkBytes float64 // of messages of links, as the servers get them
	LogBytes  float64 // of messages to logs
	Waits     int     // bytes that waited in the outbox, at most
}

func (t *Traffic) messages() float64 { return t.Links + t.Log }
func (t *Traffic) bytes() float64    { return t.LinkBytes + t.LogBytes }

// sender is a node of which only the messages count. Its frontier crawls a web of random links;
// what it reports is packed, commit by commit, as it goes to the servers.
type sender struct {
	*Cluster
	rand     *rand.Rand
	zipf     *rand.Zipf
	nodes    int
	rate     int
	now      time.Time
	frontier *frontier.Frontier
	log      *changelog.Log
	commit   *posted
	queue    *sending.Queue
	look     time.Time // when the queue may have something to go out
	last     uint64    // message of the outbox
	waits    int       // bytes in the outbox
	sums     Traffic   // over all pages
	links    int       // sent
	foreign  int       // links to others
	pages    int       // so far: no two have the same path
}

// posted is a commit.
type posted struct {
	*changelog.Encoder // stands for the store
	since              time.Time
	records            int
	messages           []store.Message
}

// size is about that of the batch.
func (c *posted) size() int { return c.Len() + c.records*recordBytes }

// Post takes a message for the outbox.
func (c *posted) Post(p int, kind byte, data []byte) {
	c.messages = append(c.messages, store.Message{Partition: p, Kind: kind, Data: data})
}

// send simulates what one node sends, after a time of the same length in which its frontier learns
// what it has sent.
func (c *Cluster) send(nodes, rate int, g gathering) (Traffic, error) {
	r := rand.New(rand.NewPCG(c.Seed, 2))
	s := &sender{
		Cluster: c, rand: r, zipf: rand.NewZipf(r, linkTail, 10, uint64(c.Domains-1)), nodes: nodes, rate: rate,
		now: time.Unix(1_000_000_000, 0), queue: sending.New(g.gather, c.Partitions),
	}
	if err := s.begin(); err != nil {
		return Traffic{}, err
	}
	if err := s.crawl(c.Span, g); err != nil {
		return Traffic{}, err
	}
	s.sums, s.links, s.foreign = Traffic{}, 0, 0
	err := s.crawl(c.Span, g)
	pages := c.Span.Seconds() * float64(rate)
	t := s.sums
	return Traffic{
		Nodes: nodes, Rate: rate, gathering: g, Waits: t.Waits, Links: t.Links / pages, ToNodes: t.ToNodes / pages, Log: t.Log / pages,
		Entries: float64(s.links) / max(1, t.Links), Spared: 1 - float64(s.links)/max(1, float64(s.foreign)),
		LinkBytes: t.LinkBytes / pages, LogBytes: t.LogBytes / pages,
	}, err
}

// begin gives the frontier every nodes-th partition, and as many of the sites there as it takes to
// be polite.
func (s *sender) begin() error {
	place := func(host string) int { return partition.Of(host, s.Partitions) }
	var ours []int
	for p := 0; p < s.Partitions; p += s.nodes {
		ours = append(ours, p)
	}
	s.frontier = frontier.New(frontier.Config{Delay: time.Second, HostBytes: 1 << 30, Partition: place, Ours: ours})
	s.log = &changelog.Log{Partition: place, Clock: func() (job, calendar time.Time) { return s.now, s.now }}
	s.frontier.Partitions().SendBy(func(u frontier.URL) {
		s.links++
		s.log.Send(u)
	})
	s.next()
	for d, sites := 0, 0; d < s.Domains && sites < 5*s.rate; d++ {
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
	end, commit := s.now.Add(span), s.now.Add(g.commit)
	for s.now.Before(end) {
		s.now = s.now.Add(time.Second / time.Duration(s.rate))
		for _, u := range s.frontier.Lease(s.now, 1) {
			if err := s.fetch(u); err != nil {
				return err
			}
		}
		if !s.now.Before(commit) || g.size > 0 && s.commit.size()+s.log.Size() >= g.size {
			commit = s.now.Add(g.commit)
			s.commits()
		}
		if !s.look.IsZero() && !s.now.Before(s.look) {
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
	s.commit = &posted{Encoder: changelog.NewEncoder(s.now, s.now), since: s.now}
	s.log.Begin(s.commit)
	s.frontier.SetJournal(s.log)
}

// commits gives the queue what a commit has for others.
func (s *sender) commits() {
	s.frontier.NoteOrigins()
	s.log.Seal()
	s.frontier.Saved()
	for i := range s.commit.messages {
		m := &s.commit.messages[i]
		s.last++
		m.ID = s.last
		s.waits += len(m.Data)
	}
	s.sums.Waits = max(s.sums.Waits, s.waits)
	s.queue.Add(s.commit.messages...)
	s.queue.Committed(s.last, s.commit.since)
	s.look = s.now
	s.next()
}

// publish sends what is to go out. The servers take no time for it.
func (s *sender) publish() {
	phase, wait := s.queue.Next(s.now, 0)
	if s.look = s.now.Add(wait); phase == nil {
		if wait == 0 {
			s.look = time.Time{}
		}
		return
	}
	links, logs, nodes := make(map[int][][]byte), make(map[int][][]byte), make(map[int]bool)
	for _, m := range phase {
		if m.Kind == changelog.Links {
			links[m.Partition] = append(links[m.Partition], m.Data)
			nodes[m.Partition%s.nodes] = true
		} else {
			logs[m.Partition] = append(logs[m.Partition], m.Data)
		}
	}
	s.sums.ToNodes += float64(len(nodes))
	for _, blocks := range links {
		s.sums.Links++
		s.sums.LinkBytes += packed(blocks)
	}
	for _, blocks := range logs {
		s.sums.Log++
		s.sums.LogBytes += packed(blocks)
	}
	for _, m := range s.queue.Sent(s.now) {
		s.waits -= len(m.Data)
	}
}

// packed returns the length of a message with blocks, packed as package cluster does.
func packed(blocks [][]byte) float64 {
	var all []byte
	for _, b := range blocks {
		all = append(all, b...)
	}
	return float64(messageBytes + len(s2.Encode(nil, all)))
}
