package view

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
)

// View answers questions about a job: from what is saved of it, and, while its crawl runs, from
// that, too.
type View struct {
	Job   *job.Job
	Crawl *engine.Crawl // nil: it does not run

	Version string                 // of Weft
	Browser func() *record.Browser // that renders pages of the crawl; nil: none does

	// Whole returns the status of the whole crawl, for JSON, if this one is a node's part; nil: it is
	// whole.
	Whole func(context.Context) (any, error)
}

// phase is the stage of a crawl, by which its answers are known.
type phase int

const (
	gone     phase = iota // it does not run: what is saved holds
	starting              // it does not know yet where it stands: the same
	live
)

// ask runs fn on the coordinator's loop, if there is one; what fn returns is valid if the phase is
// live.
func ask[T any](ctx context.Context, v *View, fn func(*engine.Coordinator) T) (T, phase, error) {
	var none, value T
	if v.Crawl == nil {
		return none, gone, nil
	}
	var p phase // if Ask fails, the coordinator may yet write it, and value
	err := v.Crawl.Ask(ctx, func(d *engine.Coordinator) {
		if p = starting; d.Ready() {
			value, p = fn(d), live
		}
	})
	if errors.Is(err, engine.ErrEnded) {
		return none, gone, nil
	}
	if err != nil {
		return none, gone, err
	}
	return value, p, nil
}

// saved returns plan and history, as the job has them.
func (v *View) saved() (p job.Plan, h job.History, err error) {
	if p, _, err = v.Job.SavedPlan(); err == nil {
		h, err = v.Job.SavedHistory()
	}
	return p, h, err
}

// Status returns where the job stands.
func (v *View) Status(ctx context.Context) (inspect.Status, error) {
	now, phase, err := ask(ctx, v, func(d *engine.Coordinator) inspect.Status {
		now := d.Snapshot()
		s := runningStatus(v.Job.Dir, now)
		s.Waits = waiting(d, now.Plan)
		return s
	})
	if phase == live {
		v.measure(&now)
		return now, nil
	}
	if err != nil {
		return inspect.Status{}, err
	}
	p, h, err := v.saved()
	if err != nil {
		return inspect.Status{}, err
	}
	counts, err := v.Job.Store.Counts()
	if err != nil {
		return inspect.Status{}, err
	}
	s := savedStatus(v.Job.Dir, p, h, counts)
	if phase == starting {
		s.State, s.Reasons, s.Ended = inspect.JobStarting, nil, time.Time{}
	}
	v.measure(&s)
	return s, nil
}

// measure adds the size of the folder to a status, which holds without it.
func (v *View) measure(s *inspect.Status) {
	if v.Job.Files == store.Disk {
		if disk, err := v.Job.Usage(); err == nil {
			s.Disk = disk.Parts
		}
	}
}

// savedStatus returns the status by plan, history and counts of a job.
func savedStatus(dir string, p job.Plan, h job.History, counts frontier.Stats) inspect.Status {
	sum := h.Summary
	s := inspect.Status{
		Job: dir, Version: p.Version, Begun: p.Begun, Ended: h.Ended, Runs: sum.Runs, Seconds: sum.Elapsed.Seconds(), Scope: p.Scope, Canon: p.Canon,
		Counters: sum.Counters, ItemCounts: sum.ItemCounts, ScriptCounts: sum.ScriptCounts, Unrendered: sum.Unrendered,
		Statuses: make(map[int]int), Errors: make(map[string]int), NotFollowed: sum.NotFollowed, FirstError: sum.FirstError,
		Traps: sum.Traps, MoreTraps: sum.MoreTraps,
	}
	s.Pending, s.InFlight, s.Done, s.Refused = counts.Pending, counts.Leased, counts.Done-h.Kept.Done, counts.Refused-h.Kept.Refused
	s.OverLimit, s.OverVariants = counts.OverLimit, counts.OverVariants
	s.Failed = record.Failed(sum.Errors, s.Refused)
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
		s.State = inspect.JobKilled
	case sum.Stopped != "":
		s.State, s.Reasons = inspect.JobStopped, []string{sum.Stopped}
	case counts.Pending > 0 || p.List && !h.List.Listed:
		s.State = inspect.JobInterrupted
	case sum.Fruitless():
		s.State = inspect.JobFailed
	default:
		s.State = inspect.JobFinished
	}
	return s
}

// runningStatus returns the status of a running crawl by its own account.
func runningStatus(dir string, now engine.Snapshot) inspect.Status {
	s := savedStatus(dir, now.Plan, now.History, now.Counts)
	s.Ended, s.Reasons = time.Time{}, nil
	switch {
	case now.Stats.Ending:
		s.State, s.EndsIn = inspect.JobEnding, now.Stats.EndsIn.Seconds()
		if slices.Contains(now.Stats.Paused, engine.PausedFull) {
			s.Reasons = []string{engine.PausedFull} // the end waits for this one alone
		}
	case len(now.Stats.Paused) > 0:
		s.State, s.Reasons = inspect.JobPaused, now.Stats.Paused
	default:
		s.State = inspect.JobRunning
	}
	s.Memory, s.MaxMemory = now.Stats.Memory, now.Stats.MaxMemory
	s.URLsPerSecond, s.BytesPerSecond = now.URLsPerSecond, now.BytesPerSecond
	e := now.Stats.Estimate
	s.SecondsLeft, s.LeftBound, s.NewPerURL, s.Growing = e.Left.Seconds(), e.Bound, e.NewPerURL, e.Growing
	return s
}

// Leased returns the URLs that are being fetched, in order.
func (v *View) Leased(ctx context.Context) ([]string, error) {
	leased, _, err := ask(ctx, v, func(d *engine.Coordinator) []string { return slices.Collect(d.Frontier().Leased()) })
	slices.Sort(leased)
	return leased, err
}

// Origins returns what the crawl knows of those of the named origins that are in its memory; what
// is saved of the others holds. Their times are those of the job.
func (v *View) Origins(ctx context.Context, names []string) ([]frontier.OriginInfo, error) {
	infos, _, err := ask(ctx, v, func(d *engine.Coordinator) (infos []frontier.OriginInfo) {
		for _, name := range names {
			if info, known := d.Frontier().Origin(d.Clock().Job, name); known {
				infos = append(infos, info)
			}
		}
		return infos
	})
	return infos, err
}

// Clock returns the time of the job and of the calendar, now or at its last commit.
func (v *View) Clock(ctx context.Context) (job.Clock, error) {
	c, p, err := ask(ctx, v, (*engine.Coordinator).Clock)
	if p == live || err != nil {
		return c, err
	}
	_, h, err := v.saved()
	return h.Clock, err
}
