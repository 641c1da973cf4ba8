package engine

import (
	"maps"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

// Figures returns the crawl as it is now, but for what Loops and others know.
func (c *Coordinator) Figures() record.Figures {
	p, sum := &c.progress, &c.progress.summary
	f := record.Figures{
		Counters: sum.Counters, Started: c.clock.loop.Wall().Add(p.started.Sub(c.clock.loop.Now())),
		Paused: c.pausedBy(), Ending: c.ending.draining || c.ending.over.IsSet(), Unready: !c.ready,
		Traps: len(sum.Traps) + sum.MoreTraps, GivenUp: len(sum.GivenUp) + sum.MoreGivenUp,
		Memory: budget.Used(), MaxMemory: int64(c.cfg.Memory), Work: p.work,
	}
	w := &f.Work
	w.URLs, w.Statuses, w.Errors, w.Unrendered = maps.Clone(w.URLs), maps.Clone(w.Statuses), maps.Clone(w.Errors), maps.Clone(w.Unrendered)
	took := *w.Took
	w.Took = &took
	w.Archived, w.Compressed = c.committer.archive.placed, c.committer.archive.bytes
	if c.ready { // before, the frontier is not the coordinator's yet, and no batch is open
		c.count(&f.Counters)
		if c.cfg.Job != nil {
			f.Commits = c.committer.figures()
		}
		f.Estimate = p.estimate(c.frontier, p.kept().Done, c.cfg.Frontier.Limit, c.cfg.MaxTime)
		f.Shares = c.shares()
		f.Node = c.sharing.figures()
	}
	return f
}

// pausedBy returns the short names of reasons; an outage is "network", one of a cluster "other".
func (c *Coordinator) pausedBy() (names []string) {
	for _, reason := range c.Paused() {
		name, known := shortNames[reason]
		switch {
		case known:
		case c.outage.down && reason == c.outage.words():
			name = "network"
		default:
			name = "other"
		}
		names = append(names, name)
	}
	return names
}

// shares returns what parts have of the memory: those that count it.
func (c *Coordinator) shares() []record.Share {
	b, s := c.frontier.View().Bytes(), &c.cfg.Shares
	all := []record.Share{
		{Of: "seen", Used: int64(b.Seen), Most: int64(s.Seen)},
		{Of: "pending", Used: int64(b.Queued), Most: int64(s.Pending)},
		{Of: "hosts", Used: int64(b.Hosts), Most: int64(s.Hosts)},
		{Of: "rules", Used: int64(b.Rules), Most: int64(s.Rules)},
		{Of: "scope", Used: int64(c.reach.bounds.Bytes()), Most: int64(s.Scope)},
		{Of: "bodies", Used: c.shared.Bodies.Held(), Most: c.shared.Bodies.Share()},
		{Of: "outcomes", Used: c.shared.Outcomes.Held(), Most: c.shared.Outcomes.Share()},
		{Of: "batch", Used: int64(c.committer.size()), Most: int64(s.Batch)},
	}
	if t := c.traps.shapes; t != nil {
		all = append(all, record.Share{Of: "shapes", Used: int64(t.Bytes()), Most: int64(s.Shapes)})
	}
	if x := c.shared.Duplicates; x != nil {
		all = append(all, record.Share{Of: "duplicates", Used: int64(x.Bytes()), Most: int64(s.Duplicates)})
	}
	if a := c.cfg.Fetch.Archive; a != nil {
		all = append(all, record.Share{Of: "originals", Used: int64(a.Bytes()), Most: int64(s.Originals)})
	}
	if m := c.shared.Rendered; m != nil {
		all = append(all, record.Share{Of: "rendering", Used: m.Held(), Most: m.Share()})
	}
	return all
}

// figures returns the batches that were saved.
func (c *committer) figures() *record.Commits {
	f := record.Commits{Took: c.took, Open: c.size(), Failed: c.failure != nil}
	now := c.clock.loop.Now()
	if !c.began.IsZero() {
		f.Running = now.Sub(c.began).Seconds()
	}
	if !c.lastly.IsZero() {
		f.Last = c.clock.loop.Wall().Add(c.lastly.Sub(now))
	}
	return &f
}

// figures returns what waits for other nodes.
func (s *sharing) figures() *record.Node {
	if s == nil {
		return nil
	}
	var f record.Node
	f.Outbox, f.Bytes = s.store.Waiting()
	if waiting := s.undelivered.batches; len(waiting) > 0 {
		f.Lag = s.clock.loop.Now().Sub(waiting[0].since).Seconds()
	}
	return &f
}

// Plan returns the plan of the job; without one, that of no job that goes as this crawl does.
func (c *Coordinator) Plan() job.Plan {
	if c.cfg.Job == nil {
		return job.Plan{NoRobots: c.cfg.Fetch.NoRobots}
	}
	return c.cfg.Job.Plan
}
