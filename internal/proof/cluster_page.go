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
func (c *Cluster) traffic(nodes int, g gathering) Traffic {
	return c.Traffic[slices.IndexFunc(c.Traffic, func(t Traffic) bool { return t.Nodes == nodes && t.gathering == g })]
}

// conclusion is the first paragraph of the page.
func (c *Cluster) conclusion() string {
	if len(c.Failures()) > 0 {
		return "This simulation failed its proof: see the section Wrong at the end."
	}
	now, gathered, hasty := c.traffic(c.Nodes, built), c.traffic(c.Nodes, gatherings[2]), c.traffic(c.Nodes, gatherings[0])
	return fmt.Sprintf(`%d nodes share %d hosts, and no partition moves that need not: each owns its share of
%d partitions to within one, when nodes join, leave, die and are restarted. A page costs %.1f
messages; with commits of a full second %.1f, of 50 ms %.1f: a commit has a message for nearly each
partition.`, c.Nodes, c.Hosts, c.Partitions, now.messages(), gathered.messages(), hasty.messages())
}

// Write writes the page of a simulation that a command made.
func (c *Cluster) Write(w io.Writer, command string) error {
	p := &page{w: w}
	p.line("# A crawl on many machines, simulated\n")
	p.line("%s\n\n## How it was measured\n", c.conclusion())
	p.line("`%s`, on %s:", command, runtime.Version())
	p.line("on virtual time, without sockets and NATS, the code that nodes run: `cluster/partition`,")
	p.line("`cluster/ownership` (on `cluster/clustertest`), `frontier` and `cluster/changelog`. What the Web and")
	p.line("the wire are like is assumed:\n")
	p.line("| | |\n|---|---:|")
	p.row("hosts", c.Hosts)
	p.row("registrable domains; hosts of each by Pareto with exponent 1.6", c.Domains)
	p.row("pages; of each domain by Pareto with exponent 1.1, 10 to 1,000,000", c.Pages)
	p.row("pages a second of each node", c.Rate)
	p.row("links of a page to other domains; these by Zipf with exponent 1.1, half of them to home pages", foreignLinks)
	p.row("new URLs a page, of 57 to 63 characters", newURLs)
	p.row("bytes of a message besides its data, packed with S2: subject and header", messageBytes)
	p.row("bytes of a record", recordBytes)
	p.row("URLs that a node restores in a second; bytes of a URL in its log", fmt.Sprintf("%d; %d", restoreRate, logBytes))
	p.row("logs that the servers can read in a second, for all nodes; that a node reads at once", fmt.Sprintf("%.0f MB; %d", readRate/1e6, readAtOnce))
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
	p.line("has an owner that lives, in balance. *Restored*: until all have been read from their logs,")
	p.line("%d of them at once by each node. *Still*: the longest time for which nobody fetched from a partition.\n", readAtOnce)
	p.line("| nodes | | moved | needed | owned | restored | still | writes | watch events | URLs read |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
	for _, x := range c.Changes {
		p.line("| %d | %s | %d | %d | %v | %v | %v | %d | %d | %d |", x.Nodes, x.Name, x.Moved, x.Needed, round(x.Owned), round(x.Started), round(x.Idle), x.Writes, x.Events, x.Restored)
	}
	p.line("\nAt rest, %d nodes write %d beats a second, which makes %d watch events.", c.Nodes, c.Nodes/2, c.Nodes*c.Nodes/2)
}

func (c *Cluster) writeTraffic(p *page) {
	p.line("\n## Messages\n\nWhat a page costs one node, on average over %v. A node sends with each commit: a message for", c.Span)
	p.line("each partition of others that its pages link to, and one to each log that has changed. A commit waits")
	p.line("for a second, unless it has 1 MiB before: the other rows are what if. URLs that the frontier needs from")
	p.line("its disk hurry a commit, too; they are not in this. A frontier remembers what it sent lately, which is")
	p.line("%.0f %% of the links to others. *To nodes*: messages of links, if they went to the owner of a partition", 100*c.Traffic[0].Spared)
	p.line("instead of the partition.\n")
	p.line("| nodes | a commit waits | messages of links | links in one | to nodes | messages to logs | bytes of links | bytes of logs |\n|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, t := range c.Traffic {
		p.line("| %d | %v | %.2f | %.1f | %.2f | %.2f | %.0f | %.0f |", t.Nodes, t.label(), t.Links, t.Entries, t.ToNodes, t.Log, t.LinkBytes, t.LogBytes)
	}
	p.line("\nA commit has at most %d messages, one for each partition.\n\n## What JetStream has to carry\n", c.Partitions)
	p.line("At %d pages a second of each node: what all nodes publish, what the copies of the streams write, and", c.Rate)
	p.line("the links that nodes read. A node with an eighth of the partitions or more reads the links of all.")
	p.line("Snapshots come on top: in a long crawl, they are about as much as the logs.\n")
	p.line("| nodes | a commit waits | pages/s | messages/s | MB/s | MB/s written, three copies | MB/s read |\n|---:|---:|---:|---:|---:|---:|---:|")
	for _, t := range c.Traffic {
		pages, readers := float64(t.Nodes*c.Rate), 1
		if t.Nodes <= readsAll {
			readers = t.Nodes
		}
		mb := pages * t.bytes() / 1e6
		p.line("| %d | %v | %.0f | %.0f | %.1f | %.1f | %.1f |", t.Nodes, t.label(), pages, pages*t.messages(), mb, 3*mb, pages*t.LinkBytes/1e6*float64(readers))
	}
}
