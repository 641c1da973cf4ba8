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
func (c *Cluster) traffic(nodes, rate int, g gathering) Traffic {
	return c.Traffic[slices.IndexFunc(c.Traffic, func(t Traffic) bool { return t.Nodes == nodes && t.Rate == rate && t.gathering == g })]
}

// conclusion is the first paragraph of the page.
func (c *Cluster) conclusion() string {
	if len(c.Failures()) > 0 {
		return "This simulation failed its proof: see the section Wrong at the end."
	}
	now, fast, hasty := c.traffic(c.Nodes, c.Rate, built), c.traffic(c.Nodes, c.Fast, built), c.traffic(c.Nodes, c.Rate, gatherings[0])
	return fmt.Sprintf(`%d nodes share %d hosts. When nodes join, leave, die and are restarted, each owns its
share of %d partitions to within one, and no partition moves without need. A node sends a message
for each partition once a second: %.1f a page at %d pages a second, %.1f at %d. If it sent
them every 50 ms, a page would cost %.1f.`, c.Nodes, c.Hosts, c.Partitions, now.messages(), c.Rate, fast.messages(), c.Fast, hasty.messages())
}

// Write writes the page of a simulation that a command made.
func (c *Cluster) Write(w io.Writer, command string) error {
	p := &page{w: w}
	p.line("# A crawl on many machines, simulated\n")
	p.line("%s\n\n## How it was measured\n", c.conclusion())
	p.prose("`%s`, on %s: "+
		"it runs, on virtual time and without sockets and NATS, the code that nodes run: `internal/shard/partition`, "+
		"`internal/shard/ownership` (on `internal/shard/shardtest`), `internal/shard/sending`, `internal/frontier` and `internal/shard/changelog`. "+
		"The figures of the Web, the network and the servers are assumed:",
		command, runtime.Version())
	p.line("")
	p.line("| assumed | |\n|---|---:|")
	p.row("hosts", c.Hosts)
	p.row("registrable domains; hosts of each by Pareto with exponent 1.6", c.Domains)
	p.row("pages; of each domain by Pareto with exponent 1.1, 10 to 1,000,000", c.Pages)
	p.row("pages a second of each node; of fast nodes, of which only messages are counted", fmt.Sprintf("%d; %d", c.Rate, c.Fast))
	p.row("links of a page to other domains; these by Zipf with exponent 1.1, half of them to home pages", foreignLinks)
	p.row("new URLs a page, of 57 to 63 characters", newURLs)
	p.row("bytes of a message besides its data, which is packed with S2: subject and header", messageBytes)
	p.row("bytes of a record", recordBytes)
	p.row("URLs that a node restores in a second; bytes of a URL in its log", fmt.Sprintf("%d; %d", restoreRate, logBytes))
	p.row("bytes that the servers give all nodes in a second: of some logs; of all", fmt.Sprintf("%.0f MB; %.0f MB", readSome/1e6, readAll/1e6))
	p.row("duration of requests in flight", "0.2 s and longer, by Pareto with exponent 1.5")
	p.row("one way from a node to a server", latency)
	c.writeShares(p)
	c.writeChanges(p)
	c.writeTraffic(p)
	p.failures(c.Failures())
	return p.err
}

func (c *Cluster) writeShares(p *page) {
	p.line("\n## Balance\n")
	p.prose("What the fullest node has when a crawl has begun, divided by the mean of all nodes. *Largest " +
		"partition*: its pages, divided by the mean of a node. Partitions differ in size, as domains do.")
	p.line("")
	p.line("| nodes | partitions | partitions of a node | hosts | pages | largest partition |\n|---:|---:|---:|---:|---:|---:|")
	for _, s := range c.Shares {
		p.line("| %d | %d | %.3f | %.3f | %.3f | %.3f |", s.Nodes, s.Partitions, s.Owned, s.Hosts, s.Pages, s.Largest)
	}
}

func (c *Cluster) writeChanges(p *page) {
	p.line("\n## Hand-over\n")
	p.prose("A crawl of %d partitions. Each change begins when the one before is over. *Owned*: time until every "+
		"partition has an owner that lives, in balance. *Restored*: time until nodes have read all of these "+
		"partitions from their logs, each node at once what it has taken since it began the last ones. *Still*: the "+
		"longest time in which nobody fetched from a partition.",
		c.Partitions)
	p.line("")
	p.line("| nodes | | moved | needed | owned | restored | still | writes | watch events | URLs read |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
	for _, x := range c.Changes {
		p.line("| %d | %s | %d | %d | %v | %v | %v | %d | %d | %d |", x.Nodes, x.Name, x.Moved, x.Needed, round(x.Owned), round(x.Started), round(x.Idle), x.Writes, x.Events, x.Restored)
	}
	p.line("")
	p.prose("At rest, %d nodes write %d beats a second, and their watches see %d events a second.",
		c.Nodes, c.Nodes/2, c.Nodes*c.Nodes/2)
}

func (c *Cluster) writeTraffic(p *page) {
	p.line("\n## Messages\n")
	p.prose("Messages and bytes that a node sends for a page, on average over %v. It sends links to the partitions "+
		"of others, and what is found and done to the logs of its own. `internal/shard/sending` says when: nodes commit "+
		"after a second, or sooner if a commit has 1 MiB, and commits go out as one, once *a second*. The other "+
		"rows show what other times would cost. A commit also comes sooner if the frontier needs URLs from its "+
		"disk: that is not simulated, and such a commit is merged like any other. The servers are assumed to "+
		"take no time. A frontier remembers the links that it sent lately, and does not send them again: %.0f %% of "+
		"the links to others. *To nodes*: messages of links, if one message went to each node instead of each "+
		"partition. *In the outbox*: what waits there at most, not packed.",
		c.Span, 100*c.Traffic[0].Spared)
	p.line("")
	p.line("| nodes | pages/s of a node | merged in | messages of links | links in one | to nodes | messages to logs | bytes of links | bytes of logs | MB in the outbox |")
	p.line("|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, t := range c.Traffic {
		p.line("| %d | %d | %v | %.2f | %.1f | %.2f | %.2f | %.0f | %.0f | %.1f |", t.Nodes, t.Rate, t.label(), t.Links, t.Entries, t.ToNodes, t.Log, t.LinkBytes, t.LogBytes, float64(t.Waits)/1e6)
	}
	p.line("\n## What JetStream has to carry\n")
	p.prose("The table has what all nodes publish, what the copies of the streams write, and the links that nodes read. " +
		"A node with an eighth of the partitions or more reads the links of all partitions. Snapshots come on top: " +
		"in a long crawl, they are about as much as the logs.")
	p.line("")
	p.line("| nodes | pages/s of a node | merged in | pages/s | messages/s | bytes of a message | MB/s | MB/s written, three copies | MB/s read |")
	p.line("|---:|---:|---|---:|---:|---:|---:|---:|---:|")
	for _, t := range c.Traffic {
		pages, readers := float64(t.Nodes*t.Rate), 1
		if t.Nodes <= readsAll {
			readers = t.Nodes
		}
		mb := pages * t.bytes() / 1e6
		p.line("| %d | %d | %v | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f |", t.Nodes, t.Rate, t.label(), pages, pages*t.messages(), t.bytes()/t.messages(), mb, 3*mb, pages*t.LinkBytes/1e6*float64(readers))
	}
}
