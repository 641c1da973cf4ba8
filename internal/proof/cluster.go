package proof

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weftcrawl/weft/cluster/partition"
)

// ClusterTask is a crawl on many nodes, to be simulated: no sockets, and the real partitions and
// ownership.
type ClusterTask struct {
	Nodes      int
	Hosts      int
	Partitions int
	Rate       int // pages a second of each node
	Seed       uint64
	Logf       func(format string, args ...any)
}

// What the simulation assumes of the Web, of nodes and of the wire. The page lists it.
const (
	hostTail, pageTail = 1.6, 1.1 // exponents of Pareto's distribution, of hosts and pages a domain
	leastPages         = 10       // of a domain
	mostPages          = 1e6      // of a domain: a limit that broad crawls set
	linkTail           = 1.1      // exponent of Zipf's distribution of links over domains
	foreignLinks       = 12       // links of a page to other domains
	homeLinks          = 0.5      // of these, to home pages
	newURLs            = 5        // URLs of a page that nobody has found before
	urlBytes           = 60       // of a URL with its fields, in messages
	doneBytes          = 20       // of a fingerprint with its outcome
	messageBytes       = 120      // of a message besides: subject, headers, the log of Raft
	batchURLs          = 256      // after which a message of links is sent
	recentLinks        = 1 << 20  // slots of the filter of what was sent lately
	restoreRate        = 100_000  // URLs a second: docs/bench/store.md has 60,000 to 220,000
	latency            = time.Millisecond
)

// Cluster is a simulated crawl on many nodes.
type Cluster struct {
	ClusterTask
	Domains int
	Pages   int
	Shares  []Share
	Changes []Change
	Traffic []Traffic
	places  []uint16 // by domain: its fine partition
	hosts   []int    // by fine partition
	pages   []int
}

// fine is a number of partitions that others divide, so that one pass over the hosts serves all.
const fine = 1 << 12

// Share is how evenly partitions, hosts and pages are spread over nodes: the most of a node, by the
// mean.
type Share struct {
	Nodes, Partitions   int
	Owned, Hosts, Pages float64
	Largest             float64 // pages of the largest partition, by the mean of a node
}

// Change is a change of membership.
type Change struct {
	Nodes    int // before it
	Name     string
	Moved    int           // partitions
	Needed   int           // the fewest that have to move
	Owned    time.Duration // until each partition had an owner that runs, in balance
	Started  time.Duration // until each was restored
	Idle     time.Duration // the longest time for which a partition stood still
	Writes   int           // to the store, without beats
	Events   int           // of watches
	Restored int           // URLs
}

// Traffic is what one node sends.
type Traffic struct {
	Nodes      int
	Wait       time.Duration // of links for others, and of changes for the log
	ToNodes    float64       // messages of links a page, if they were for nodes instead of partitions
	Links      float64       // messages a page
	Log        float64       // messages a page
	PerMessage float64       // links
	Spared     float64       // share of links that the filter drops
	Bytes      float64       // a page, links and log
	Behind     int           // pages that are fetched again when a node dies
}

// SimulateCluster simulates a crawl.
func SimulateCluster(task ClusterTask) (*Cluster, error) {
	if fine%(4*task.Partitions) != 0 {
		return nil, fmt.Errorf("proof: %d partitions, expected a divisor of %d", task.Partitions, fine/4)
	}
	c := &Cluster{ClusterTask: task, hosts: make([]int, fine), pages: make([]int, fine)}
	c.spread()
	task.Logf("%d hosts in %d domains, %d pages", c.Hosts, c.Domains, c.Pages)
	for _, nodes := range c.sizes() {
		for _, partitions := range []int{task.Partitions, 4 * task.Partitions} {
			if err := c.begin(nodes, partitions); err != nil {
				return nil, err
			}
		}
	}
	for _, nodes := range c.sizes() {
		for _, wait := range []time.Duration{50 * time.Millisecond, time.Second, 5 * time.Second} {
			t := c.send(nodes, wait, c.Partitions)
			t.ToNodes = c.send(nodes, wait, nodes).Links
			c.Traffic = append(c.Traffic, t)
			task.Logf("%+v", t)
		}
	}
	return c, nil
}

// sizes are the numbers of nodes that are simulated.
func (c *Cluster) sizes() []int { return []int{3, 10, c.Nodes} }

// begin lets a crawl begin on nodes, and notes how evenly they share it. On few nodes and on many,
// membership changes then.
func (c *Cluster) begin(nodes, partitions int) error {
	s := c.newChanges(partitions)
	began, err := s.start(nodes)
	if err != nil {
		return err
	}
	c.share(nodes, s.owners())
	c.Logf("%+v", began)
	if nodes != c.sizes()[0] && nodes != c.Nodes || partitions != c.Partitions {
		return nil
	}
	c.Changes = append(c.Changes, began)
	return s.change()
}

// pareto returns a number from 1 on.
func pareto(r *rand.Rand, exponent float64) float64 {
	return math.Pow(1-r.Float64(), -1/exponent)
}

// spread places all domains with their hosts and pages.
func (c *Cluster) spread() {
	r := rand.New(rand.NewPCG(c.Seed, 1))
	for hosts := 0; hosts < c.Hosts; c.Domains++ {
		n := min(int(pareto(r, hostTail)), c.Hosts-hosts, c.Hosts/100+1)
		pages := min(int(leastPages*pareto(r, pageTail)), mostPages)
		at := partition.Of(fmt.Sprintf("d%d.test", c.Domains), fine)
		c.places = append(c.places, uint16(at))
		c.hosts[at] += n
		c.pages[at] += pages
		c.Pages += pages
		hosts += n
	}
}

// of sums fine partitions up.
func of(fineParts []int, partitions int) []int {
	all := make([]int, partitions)
	for i, n := range fineParts {
		all[i%partitions] += n
	}
	return all
}

// share notes how evenly nodes share hosts and pages.
func (c *Cluster) share(nodes int, owners []string) {
	partitions := len(owners)
	hosts, pages, owned := make(map[string]int), make(map[string]int), make(map[string]int)
	allHosts, allPages := of(c.hosts, partitions), of(c.pages, partitions)
	for i, owner := range owners {
		hosts[owner] += allHosts[i]
		pages[owner] += allPages[i]
		owned[owner]++
	}
	most := func(of map[string]int) int { return slices.Max(slices.Collect(maps.Values(of))) }
	byMean := func(n, total int) float64 { return float64(n) * float64(nodes) / float64(total) }
	c.Shares = append(c.Shares, Share{
		Nodes: nodes, Partitions: partitions, Owned: byMean(most(owned), partitions),
		Hosts: byMean(most(hosts), c.Hosts), Pages: byMean(most(pages), c.Pages), Largest: byMean(slices.Max(allPages), c.Pages),
	})
}

// send simulates what one node sends in a minute, after one in which its filter fills. Messages of
// links go to each of a number of places: partitions, or nodes.
func (c *Cluster) send(nodes int, wait time.Duration, places int) Traffic {
	const span = 60
	r := rand.New(rand.NewPCG(c.Seed, 2))
	zipf := rand.NewZipf(r, linkTail, 10, uint64(c.Domains-1))
	t := Traffic{Nodes: nodes, Wait: wait}
	recent := make([]uint64, recentLinks)
	links, log := outgoing{wait: wait, open: make([]batch, places)}, outgoing{wait: wait, open: make([]batch, c.Partitions)}
	var found, spared int
	for page := range 2 * span * c.Rate {
		if page == span*c.Rate {
			links.messages, links.entries, log.messages, found, spared = 0, 0, 0, 0, 0
		}
		now := time.Duration(page+1) * time.Second / time.Duration(c.Rate)
		log.add(now, nodes*r.IntN(max(1, c.Partitions/nodes))) // node 0 has every nodes-th partition
		for range foreignLinks {
			at, key := c.link(r, zipf)
			if at%nodes == 0 {
				continue
			}
			found++
			if slot := &recent[key>>44]; *slot == key {
				spared++
			} else {
				*slot = key
				links.add(now, at%places)
			}
		}
	}
	pages := float64(span * c.Rate)
	t.Links, t.Log = float64(links.messages)/pages, float64(log.messages)/pages
	t.PerMessage, t.Spared = float64(links.entries)/float64(max(1, links.messages)), float64(spared)/float64(max(1, found))
	t.Bytes = (t.Links+t.Log)*messageBytes + float64(links.entries)/pages*urlBytes + newURLs*urlBytes + doneBytes
	t.Behind = int(2 * wait.Seconds() * float64(c.Rate)) // those whose links wait, and those whose end waits for these
	return t
}

// outgoing is messages that are filled for a time.
type outgoing struct {
	wait              time.Duration
	open              []batch
	messages, entries int
}

// batch is a message that is being filled.
type batch struct {
	since time.Duration
	n     int
}

func (o *outgoing) add(now time.Duration, place int) {
	b := &o.open[place]
	if b.n == 0 || b.n == batchURLs || now-b.since >= o.wait {
		*b = batch{since: now}
		o.messages++
	}
	b.n++
	o.entries++
}

// link draws a link: the partition of its domain, and the URL as a number.
func (c *Cluster) link(r *rand.Rand, zipf *rand.Zipf) (at int, key uint64) {
	d := zipf.Uint64()
	at = int(c.places[d]) % c.Partitions
	key = d << 24
	if r.Float64() >= homeLinks {
		key |= 1 + r.Uint64N(1<<20)
	}
	return at, (key + 1) * 0x9e3779b97f4a7c15
}
