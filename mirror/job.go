package mirror

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/weftcrawl/weft"
)

// isBegun reports whether a crawl has a state to continue from. If it was killed before its first
// commit, it has at most a folder.
func isBegun(ctx context.Context, dir string) bool {
	if _, err := os.Stat(dir); err != nil {
		return false
	}
	job, err := weft.OpenJob(ctx, dir)
	if err == nil {
		_ = job.Close() // nothing was written
	}
	return !errors.Is(err, fs.ErrNotExist)
}

// state reads whether the job in a folder is finished, and at which visit it is.
func state(ctx context.Context, dir string) (finished bool, visit int, err error) {
	s, err := status(ctx, dir)
	return s.State == weft.JobFinished, max(1, s.Visit), err
}

// status returns the status of the job in a folder. Its error is an *OptionError.
func status(ctx context.Context, dir string) (s weft.Status, err error) {
	job, err := weft.OpenJob(ctx, dir)
	if err == nil {
		s, err = job.Status(ctx)
		err = cmp.Or(err, job.Close())
	}
	if err != nil {
		err = &weft.OptionError{Option: "Job", Value: dir, Err: err}
	}
	return s, err
}
