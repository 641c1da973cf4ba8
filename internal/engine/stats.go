package engine

import (
	"slices"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

// Stats is a crawl at one moment.
type Stats = record.Stats

func (c *Coordinator) stats() Stats {
	s := Stats{
		Counters: c.progress.summary.Counters,
		Elapsed:  c.progress.elapsed(), Paused: c.Paused(),
		Ending: c.ending.draining || c.ending.over.IsSet(),
		Memory: budget.Used(), MaxMemory: int64(c.cfg.Memory),
	}
	s.EndsIn = c.ending.left()
	s.Longest = c.leases.slots.longest(c.clock.loop.Now())
	s.Traps, s.MoreTraps = slices.Clone(c.progress.summary.Traps), c.progress.summary.MoreTraps
	s.Status4xx = c.progress.summary.Answered(400, 499)
	s.Status5xx = c.progress.summary.Answered(500, 599)
	if c.ready { // before, the frontier is not the coordinator's yet
		c.count(&s.Counters)
		s.Estimate = c.progress.estimate(c.frontier, c.progress.kept().Done, c.cfg.Frontier.Limit, c.cfg.MaxTime)
		s.Slowest = c.frontier.View().Slowest(5)
		for i := range s.Slowest {
			s.Slowest[i].BackOff = c.clock.date(s.Slowest[i].BackOff)
		}
	}
	return s
}

// Snapshot is the state of a running crawl that its job does not have on disk.
type Snapshot struct {
	Plan    job.Plan
	History job.History
	Counts  frontier.Stats
	Stats   Stats

	URLsPerSecond  float64
	BytesPerSecond float64
}

// Snapshot returns the crawl as it is now. It must be ready: see Ready.
func (c *Coordinator) Snapshot() Snapshot {
	s := Snapshot{
		Plan: c.cfg.Job.Plan, History: c.history(), Counts: c.frontier.View().Stats(), Stats: c.stats(),
	}
	s.URLsPerSecond, s.BytesPerSecond = c.progress.rate.perSecond(c.clock.loop.Now())
	return s
}

// Ready reports whether the crawl knows where it stands: it has read what its last run left.
func (c *Coordinator) Ready() bool { return c.ready }

// Over reports whether the crawl has ended, but for saving.
func (c *Coordinator) Over() bool { return c.ending.over.IsSet() }

// Clock returns the time of the job and of the calendar.
func (c *Coordinator) Clock() job.Clock { return c.clock.read() }

// Frontier returns a view of the frontier, to look at within [Crawl.Ask].
func (c *Coordinator) Frontier() frontier.View { return c.frontier.View() }

// InFlight returns the number of leases.
func (c *Coordinator) InFlight() int { return c.frontier.View().Stats().Leased }

// Steer changes the pace of all hosts.
func (c *Coordinator) Steer(change func(*frontier.Settings)) {
	s := c.frontier.View().Settings()
	change(&s)
	c.frontier.Steer(c.clock.now(), s)
}

// SetLimit sets the most URLs of the crawl for this run, 0 to any number. It does not where several
// nodes have a part of it, and reports that.
func (c *Coordinator) SetLimit(n int) bool {
	if c.cfg.Frontier.Metered {
		return false
	}
	c.cfg.Frontier.Limit = n
	c.Steer(func(s *frontier.Settings) { s.Limit = n })
	return true
}

// SetConcurrency sets the most requests in flight for this run, 0 to that of the options, and
// returns it: there are no more than workers.
func (c *Coordinator) SetConcurrency(n int) int {
	if n == 0 {
		n = c.cfg.Concurrency
	}
	c.leases.slots.most = min(n, c.cfg.Workers)
	return c.leases.slots.most
}
