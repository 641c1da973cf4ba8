package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
)

// View answers questions about a job: from what is saved of it, and, while its crawl runs, from
// that, too.
type View struct {
	Job   *job.Job
	Crawl *engine.Crawl // nil: it does not run
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
func (v *View) Status(ctx context.Context) (Status, error) {
	now, phase, err := ask(ctx, v, (*engine.Coordinator).Snapshot)
	if phase == live {
		return runningStatus(v.Job.Dir, now), nil
	}
	if err != nil {
		return Status{}, err
	}
	p, h, err := v.saved()
	if err != nil {
		return Status{}, err
	}
	counts, err := v.Job.Store.Counts()
	if err != nil {
		return Status{}, err
	}
	s := savedStatus(v.Job.Dir, p, h, counts)
	if phase == starting {
		s.State, s.Reasons, s.Ended = JobStarting, nil, time.Time{}
	}
	return s, nil
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

// dateInfo turns times of the job into those of the calendar.
func dateInfo(c job.Clock, h *frontier.OriginInfo) {
	for _, t := range []*time.Time{
		&h.Asked, &h.Hold, &h.Next, &h.Trouble.Since, &h.Trouble.Until, &h.Robots.Until,
	} {
		*t = c.Date(*t)
	}
}
