package proof

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/shard/partition"
)

// ClusterTask is a crawl on many nodes, to be simulated: no sockets, and the real partitions and
// ownership.
type ClusterTask struct {
	Nodes      int
	Hosts      int
	Partitions int
	Rate       int           // pages a second of each node
	Fast       int           // the same, of fast nodes, of which only the messages are counted
	Span       time.Duration // for which its messages are counted
	Seed       uint64
	Logf       func(format string, args ...any)
}

// The assumptions of the simulation on the Web, on nodes and on the wire. The page lists them.
const (
	hostTail, pageTail = 1.6, 1.1 // Pareto's exponents, of hosts and pages a domain
	leastPages         = 10       // of a domain
	mostPages          = 1e6      // of a domain: a limit that broad crawls set
	linkTail           = 1.1      // Zipf's exponent, of links over domains
	foreignLinks       = 12       // links of a page to other domains
	homeLinks          = 0.5      // of these, to home pages
	newURLs            = 5        // new URLs of a page on its own host
	messageBytes       = 120      // of a message besides its data: subject and header
	// URLs a second that a node restores: docs/bench/takeover.md has 15 µs of a core,
	// docs/bench/frontier.md 18 at 100 million.
	restoreRate = 50_000
	// Bytes of a URL in its log: docs/adr/0034-partitions-of-a-crawl.md has 75 and 105.
	logBytes = 90
	// Bytes a second of some logs, or of all, that the servers give to all nodes:
	// docs/bench/jetstream.md.
	readSome, readAll = 22e6, 350e6
	// A node that restores this fraction of the partitions reads all logs, as package cluster does.
	scansAll    = 32
	gathers     = 250 * time.Millisecond // the wait of a log for others, as there
	recordBytes = 900                    // of a page's record
	// A node with this fraction of the partitions reads all links, as there.
	readsAll = 8
	latency  = time.Millisecond
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

// Share is the spread of partitions, hosts and pages over nodes: the most of a node, by the mean.
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
		for _, g := range gatherings {
			if err := c.count(nodes, task.Rate, g); err != nil {
				return nil, err
			}
		}
		if err := c.count(nodes, task.Fast, built); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// count notes what a node sends.
func (c *Cluster) count(nodes, rate int, g gathering) error {
	t, err := c.send(nodes, rate, g)
	c.Traffic = append(c.Traffic, t)
	c.Logf("%+v", t)
	return err
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

// coarse sums fine partitions up.
func coarse(fineParts []int, partitions int) []int {
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
	allHosts, allPages := coarse(c.hosts, partitions), coarse(c.pages, partitions)
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
