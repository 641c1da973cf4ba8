package control

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/internal/ctl"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/view"
)

// snapshot is the state of a job at a moment, for another process to read.
type snapshot struct {
	Dir    string    `json:"dir"`    // relative to the job's
	Leased []string  `json:"leased"` // the URLs that were being fetched just before
	Clock  job.Clock `json:"clock"`
}

// makeSnapshot sends a snapshot, and removes it when the client leaves. When the crawl ends before
// that, the client removes it.
func makeSnapshot(v *view.View) ctl.Command {
	return func(ctx context.Context, _ []string, send func(any) error) error {
		var s snapshot
		var err error
		if s.Leased, err = v.Leased(ctx); err != nil {
			return err
		}
		if s.Clock, err = v.Clock(ctx); err != nil {
			return err
		}
		dir, remove, err := v.Job.Store.Snapshot()
		if err != nil {
			return err
		}
		defer remove()
		s.Dir = dir
		err = send(s)
		if err == nil {
			ctl.Wait(ctx)
		}
		return err
	}
}

// Listing lists the job as it is now. It reads a snapshot, which is there until done is called,
// even if the crawl ends before that.
func (c *Client) Listing(ctx context.Context) (l *view.Listing, done func() error, err error) {
	next, leave := iter.Pull2(ctl.Ask[snapshot](ctx, c.ctl, commandSnapshot))
	s, err, ok := next()
	if err == nil && !ok {
		err = errors.New("the crawl returned nothing, expected a snapshot")
	}
	var saved *job.Job
	if err == nil {
		saved, err = job.View(filepath.Join(c.dir, filepath.FromSlash(s.Dir)))
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	done = func() error {
		err := errors.Join(saved.Close(), os.RemoveAll(saved.Dir))
		leave()
		return err
	}
	return &view.Listing{Job: saved, Clock: s.Clock, Leased: s.Leased, Origins: c.origins}, done, nil
}

// origins is that of view.View.
func (c *Client) origins(ctx context.Context, names []string) ([]frontier.OriginInfo, error) {
	infos, err := collect(ctl.Ask[frontier.OriginInfo](ctx, c.ctl, commandOrigins, names...))
	if errors.Is(err, ctl.ErrNobody) {
		return nil, nil // it has ended: what is saved holds
	}
	return infos, err
}

func collect[T any](values iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range values {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}
