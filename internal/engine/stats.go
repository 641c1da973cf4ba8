package engine

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

// Stats is a crawl at one moment.
type Stats struct {
	record.Counters
	Estimate
	Elapsed   time.Duration         `json:"elapsed_ns"`
	Status4xx int                   `json:"status_4xx"` // URLs answered with a status of 4xx
	Status5xx int                   `json:"status_5xx"` // and of 5xx
	Traps     []string              `json:"traps"`      // as in the summary
	MoreTraps int                   `json:"more_traps"` // the same
	Paused    []string              `json:"paused"`     // why no fetch starts; empty: they do
	Ending    bool                  `json:"ending"`     // no other fetch starts
	EndsIn    time.Duration         `json:"ends_in_ns"` // then what is still in flight is broken off
	Memory    int64                 `json:"memory"`     // bytes that the process has for its heap, stacks and tables
	MaxMemory int64                 `json:"max_memory"` // the budget
	Slowest   []frontier.OriginStat `json:"slowest"`    // origins in flight with the longest response time, at most 5
	Longest   []InFlight            `json:"longest"`    // requests in flight for longest, at most 3, from 5 s on
}

func (d *Coordinator) stats() Stats {
	s := Stats{
		Counters: d.progress.summary.Counters,
		Elapsed:  d.progress.elapsed(d.loop.Now()), Paused: d.Paused(),
		Ending: d.ending.draining || d.ending.over.IsSet(),
		Memory: budget.Used(), MaxMemory: int64(d.cfg.Memory),
	}
	if d.ending.draining {
		s.EndsIn = max(0, d.ending.until.Sub(d.loop.Now()))
	}
	s.Longest = d.slots.longest(d.loop.Now())
	s.Traps, s.MoreTraps = slices.Clone(d.progress.summary.Traps), d.progress.summary.MoreTraps
	s.Status4xx = d.progress.summary.Answered(400, 499)
	s.Status5xx = d.progress.summary.Answered(500, 599)
	if d.ready { // before, the frontier is not the coordinator's yet
		d.count(&s.Counters)
		s.Estimate = d.estimate()
		s.Slowest = d.frontier.View().Slowest(5)
		for i := range s.Slowest {
			s.Slowest[i].BackOff = d.clock.date(s.Slowest[i].BackOff)
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
func (d *Coordinator) Snapshot() Snapshot {
	s := Snapshot{
		Plan: d.cfg.Job.Plan, History: d.history(), Counts: d.frontier.Stats(), Stats: d.stats(),
	}
	s.URLsPerSecond, s.BytesPerSecond = d.progress.rate.perSecond(d.loop.Now())
	return s
}

// Ready reports whether the crawl knows where it stands: it has read what its last run left.
func (d *Coordinator) Ready() bool { return d.ready }

// Over reports whether the crawl has ended, but for saving.
func (d *Coordinator) Over() bool { return d.ending.over.IsSet() }

// Clock returns the time of the job and of the calendar.
func (d *Coordinator) Clock() job.Clock { return d.clock.read() }

// Frontier returns a view of the frontier, to look at within [Crawl.Ask].
func (d *Coordinator) Frontier() frontier.View { return d.frontier.View() }

// InFlight returns the number of leases.
func (d *Coordinator) InFlight() int { return d.frontier.Stats().Leased }

// Steer changes the pace of all hosts.
func (d *Coordinator) Steer(change func(*frontier.Settings)) {
	s := d.frontier.View().Settings()
	change(&s)
	d.frontier.Steer(d.clock.now(), s)
}
