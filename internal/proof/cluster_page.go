package proof

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// Failures lists what a cluster did wrong, a line each.
func (c *Cluster) Failures() (wrong []string) {
	for _, change := range c.Changes {
		if change.Moved != change.Needed {
			wrong = append(wrong, fmt.Sprintf("%d nodes, %s: %d partitions moved, expected %d", change.Nodes, change.Name, change.Moved, change.Needed))
		}
		if change.Name == dies && change.Owned > 12*time.Second {
			wrong = append(wrong, fmt.Sprintf("%d nodes, %s: owners after %v, expected within a TTL and a beat", change.Nodes, change.Name, change.Owned))
		}
	}
	for _, s := range c.Shares {
		if most := float64(s.Partitions/s.Nodes+1) * float64(s.Nodes) / float64(s.Partitions); s.Owned > most {
			wrong = append(wrong, fmt.Sprintf("%d nodes, %d partitions: a node has %.3f times its share, expected at most %.3f", s.Nodes, s.Partitions, s.Owned, most))
		}
	}
	return wrong
}

// traffic returns the messages of a node in a cluster of a size.
func (c *Cluster) traffic(nodes int, wait time.Duration) Traffic {
	return c.Traffic[slices.IndexFunc(c.Traffic, func(t Traffic) bool { return t.Nodes == nodes && t.Wait == wait })]
}

// conclusion is the first paragraph of the page.
func (c *Cluster) conclusion() string {
	if len(c.Failures()) > 0 {
		return "This simulation failed its proof: see the section Wrong at the end."
	}
	few, many := c.traffic(3, time.Second), c.traffic(c.Nodes, time.Second)
	return fmt.Sprintf(`%d nodes share %d hosts, and no partition moves that need not: each owns its share of
%d partitions to within one, when nodes join, leave, die and are restarted. With batches of a
second, a page costs %.2f messages in a cluster of three, %.2f in one of %d. With batches of 50 ms,
it costs %.1f: a partition gets too few links in that time for a batch to be one.`, c.Nodes, c.Hosts, c.Partitions,
		few.Links+few.Log, many.Links+many.Log, c.Nodes, c.traffic(c.Nodes, 50*time.Millisecond).Links)
}

// Write writes the page of a simulation that a command made.
func (c *Cluster) Write(w io.Writer, command string) error {
	p := &page{w: w}
	p.line("# A crawl on many machines, simulated\n")
	p.line("%s\n\n## How it was measured\n", c.conclusion())
	p.line("`%s`, on %s:", command, runtime.Version())
	p.line("the code of `cluster/partition` and `cluster/ownership` on virtual time (`cluster/clustertest`); no")
	p.line("sockets, no NATS. What the Web and the wire are like is assumed:\n")
	p.line("| | |\n|---|---:|")
	p.row("hosts", c.Hosts)
	p.row("registrable domains; hosts of each by Pareto with exponent 1.6", c.Domains)
	p.row("pages; of each domain by Pareto with exponent 1.1, 10 to 1,000,000", c.Pages)
	p.row("pages a second of each node", c.Rate)
	p.row("links of a page to other domains; these by Zipf with exponent 1.1, half of them to home pages", foreignLinks)
	p.row("new URLs a page", newURLs)
	p.row("bytes of a URL in a message, of a finished one, of a message besides", fmt.Sprintf("%d, %d, %d", urlBytes, doneBytes, messageBytes))
	p.row("URLs that a node restores in a second", restoreRate)
	p.row("duration of requests in flight", "0.2 s and longer, by Pareto with exponent 1.5")
	p.row("one way from a node to a server", latency)
	c.writeShares(p)
	c.writeChanges(p)
	c.writeTraffic(p)
	p.failures(c.Failures())
	return p.err
}

func (c *Cluster) writeShares(p *page) {
	p.line("\n## Balance\n\nThe most that a node has, by the mean of all nodes, when a crawl has begun; and the pages of the")
	p.line("largest partition, by the mean of a node. Domains differ in size, partitions with them.\n")
	p.line("| nodes | partitions | partitions of a node | hosts | pages | largest partition |\n|---:|---:|---:|---:|---:|---:|")
	for _, s := range c.Shares {
		p.line("| %d | %d | %.3f | %.3f | %.3f | %.3f |", s.Nodes, s.Partitions, s.Owned, s.Hosts, s.Pages, s.Largest)
	}
}

func (c *Cluster) writeChanges(p *page) {
	p.line("\n## Hand-over\n\n%d partitions; each change begins when the one before is over. *Owned*: until each partition", c.Partitions)
	p.line("has an owner that lives, in balance. *Restored*: until all have been read from their logs;")
	p.line("a node reads one after another. *Still*: the longest time for which nobody fetched from a partition.\n")
	p.line("| nodes | | moved | needed | owned | restored | still | writes | watch events | URLs read |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
	for _, x := range c.Changes {
		p.line("| %d | %s | %d | %d | %v | %v | %v | %d | %d | %d |", x.Nodes, x.Name, x.Moved, x.Needed, round(x.Owned), round(x.Started), round(x.Idle), x.Writes, x.Events, x.Restored)
	}
	p.line("\nAt rest, %d nodes write %d beats a second, which makes %d watch events.", c.Nodes, c.Nodes/2, c.Nodes*c.Nodes/2)
}

func (c *Cluster) writeTraffic(p *page) {
	p.line("\n## Messages\n\nWhat one node sends for a page, on average over a minute. Links wait for others of their partition,")
	p.line("for the time of a batch or until there are %d; changes for the log wait as long. A filter of", batchURLs)
	p.line("%d URLs sent lately drops %.0f %% of the links. *To nodes*: messages of links, if they were sent to", recentLinks, 100*c.Traffic[0].Spared)
	p.line("the owner of a partition instead of the partition. *Again*: pages that are fetched again when the")
	p.line("node dies with its disk.\n")
	p.line("| nodes | batch | messages of links | links in one | to nodes | messages of the log | bytes | again |\n|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, t := range c.Traffic {
		p.line("| %d | %v | %.2f | %.1f | %.2f | %.2f | %.0f | %d |", t.Nodes, t.Wait, t.Links, t.PerMessage, t.ToNodes, t.Log, t.Bytes, t.Behind)
	}
	p.line("\n## What JetStream has to carry\n\nAt %d pages a second of each node: what all nodes publish, and what each copy of a stream writes and", c.Rate)
	p.line("receives; links are read once by their receivers, too.\n")
	p.line("| nodes | batch | pages/s | messages/s | MB/s | MB/s with three copies |\n|---:|---:|---:|---:|---:|---:|")
	for _, t := range c.Traffic {
		pages := float64(t.Nodes * c.Rate)
		mb := pages * t.Bytes / 1e6
		p.line("| %d | %v | %.0f | %.0f | %.1f | %.1f |", t.Nodes, t.Wait, pages, pages*(t.Links+t.Log), mb, 3*mb)
	}
}
