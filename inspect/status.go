package inspect

import (
	"time"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/option"
	"github.com/weftcrawl/weft/record"
)

// JobState is the stage of a job.
type JobState string

// States of a job.
const (
	JobStarting    JobState = "starting"    // it reads what its last run left
	JobRunning     JobState = "running"     //
	JobPaused      JobState = "paused"      // no fetch starts
	JobEnding      JobState = "ending"      // fetches in flight finish, no other starts
	JobFinished    JobState = "finished"    // nothing is left to do
	JobFailed      JobState = "failed"      // no seed was fetched: the same command starts anew
	JobStopped     JobState = "stopped"     // a limit stopped it, and URLs are left
	JobInterrupted JobState = "interrupted" // URLs are left
	JobKilled      JobState = "killed"      // or an error ended it and kept it from saving even that
)

// Status is a job at a moment, over all its runs.
type Status struct {
	Job   string   `json:"job"` // its folder
	State JobState `json:"state"`
	// Reasons are those of the pause; or the limit that stopped it, "limit" or "max-time".
	Reasons []string     `json:"reasons,omitempty"`
	Version string       `json:"version"` // of Weft, that began it
	Begun   time.Time    `json:"begun"`
	Ended   time.Time    `json:"ended,omitzero"` // end of the last run, if it was saved
	Runs    int          `json:"runs"`
	Seconds float64      `json:"seconds"`              // duration of the runs
	Seeds   int          `json:"seeds"`                // but for those of SeedSeq
	First   string       `json:"first_seed,omitempty"` // of them
	Scope   option.Scope `json:"scope"`
	Canon   string       `json:"canon,omitempty"` // names of rules: see weburl.ParseRules

	record.Counters
	record.ItemCounts

	Statuses    map[int]int    `json:"statuses"`
	Errors      map[string]int `json:"errors"`       // URLs failed and refused, by error kind
	NotFollowed map[string]int `json:"not_followed"` // link mentions, by reason
	FirstError  string         `json:"first_error,omitempty"`
	Traps       []string       `json:"traps,omitempty"`      // as in Summary
	MoreTraps   int            `json:"more_traps,omitempty"` // the same

	// While it runs, in bytes: what the process has for its heap, stacks and tables, and its
	// budget.
	Memory    int64 `json:"memory,omitempty"`
	MaxMemory int64 `json:"max_memory,omitempty"`

	Outlook // while it runs

	EndsIn float64 `json:"ends_in,omitempty"` // seconds until requests in flight are broken off
}

// Outlook is the speed of a running job, over the last seconds, and the time that it takes.
type Outlook struct {
	URLsPerSecond  float64 `json:"urls_per_second,omitempty"`
	BytesPerSecond float64 `json:"bytes_per_second,omitempty"`
	SecondsLeft    float64 `json:"seconds_left,omitempty"` // see engine.Estimate; 0: unknown, Growing
	LeftBound      string  `json:"left_bound,omitempty"`   // origin, limit, max-time; empty: all hosts
	NewPerURL      float64 `json:"new_per_url,omitempty"`  // new URLs that a URL leads to
	Growing        bool    `json:"growing,omitempty"`      // about as fast as URLs are done
}

// savedStatus returns the status by plan, history and counts of a job.
func savedStatus(dir string, p job.Plan, h job.History, counts frontier.Stats) Status {
	sum := h.Summary
	s := Status{
		Job: dir, Version: p.Version, Begun: p.Begun, Ended: h.Ended, Runs: sum.Runs, Seconds: sum.Elapsed.Seconds(), Scope: p.Scope, Canon: p.Canon,
		Counters: sum.Counters, ItemCounts: sum.ItemCounts,
		Statuses: make(map[int]int), Errors: make(map[string]int), NotFollowed: sum.NotFollowed, FirstError: sum.FirstError,
		Traps: sum.Traps, MoreTraps: sum.MoreTraps,
	}
	s.Pending, s.InFlight, s.Done, s.Refused = counts.Pending, counts.Leased, counts.Done, counts.Refused
	s.OverLimit, s.OverVariants = counts.OverLimit, counts.OverVariants
	s.Failed = record.Failed(sum.Errors, counts.Refused)
	if s.Visit <= 1 { // there is nothing to compare with
		s.Visit, s.Unchanged, s.Changed, s.Gone, s.New, s.BytesSaved = 0, 0, 0, 0, 0, 0
	}
	if seeds := p.AllSeeds(); len(seeds) > 0 {
		s.Seeds, s.First = len(seeds), seeds[0]
	}
	for status, n := range sum.Statuses {
		s.Statuses[status] = n.URLs
	}
	for kind, n := range sum.Errors {
		s.Errors[kind] = n.URLs
	}
	switch {
	case h.Ended.IsZero():
		s.State = JobKilled
	case sum.Stopped != "":
		s.State, s.Reasons = JobStopped, []string{sum.Stopped}
	case counts.Pending > 0 || p.List && !h.List.Listed:
		s.State = JobInterrupted
	case sum.Fruitless():
		s.State = JobFailed
	default:
		s.State = JobFinished
	}
	return s
}

// runningStatus returns the status of a running crawl by its own account.
func runningStatus(dir string, now engine.Snapshot) Status {
	s := savedStatus(dir, now.Plan, now.History, now.Counts)
	s.Ended, s.Reasons = time.Time{}, nil
	switch {
	case now.Stats.Ending:
		s.State, s.EndsIn = JobEnding, now.Stats.EndsIn.Seconds()
	default:
		s.State = JobRunning
		if s.Reasons = now.Stats.Paused; len(s.Reasons) > 0 {
			s.State = JobPaused
		}
	}
	s.Memory, s.MaxMemory = now.Stats.Memory, now.Stats.MaxMemory
	s.URLsPerSecond, s.BytesPerSecond = now.URLsPerSecond, now.BytesPerSecond
	e := now.Stats.Estimate
	s.SecondsLeft, s.LeftBound, s.NewPerURL, s.Growing = e.Left.Seconds(), e.Bound, e.NewPerURL, e.Growing
	return s
}
