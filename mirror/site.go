package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/weftcrawl/weft"
)

// LongestURL is the longest URL that a mirror follows, in bytes: a copy has every page that can be
// fetched.
const LongestURL = 16 << 10

var (
	// ErrNoJob is returned when Site is given no seed, and the folder has no crawl to go on with.
	ErrNoJob = errors.New("no seed, and no crawl to continue")

	// ErrInterrupted is returned when the crawl was drained: the next Site goes on with it.
	ErrInterrupted = errors.New("the crawl was interrupted, nothing was written")
)

// SiteOptions configure [Site].
type SiteOptions struct {
	Options

	// Crawl has the options of the crawl. Site sets Job, Update and Archive. Without seeds, the crawl
	// is that of the folder. Zero Assets are AssetsAny, a zero MaxURLLength is LongestURL.
	Crawl    weft.Options
	NoAssets bool // fetch pages alone, with their style sheets

	// Run crawls in place of weft.New and Crawler.Run: to show progress, or to end the crawl early
	// by Drain. nil: these two, and it is an error if no seed could be fetched.
	Run func(context.Context, weft.Options) (weft.Summary, error)
}

// Site mirrors a site to a folder: it crawls into a job in the folder, and writes what that has. It
// goes on with a crawl that has not ended, and with files that were not all written. When both are
// complete, it brings them up to date. A crawl that a limit has stopped is written as far as it
// came: see Report.Crawl.
//
// Errors: those of Run and of Write; ErrNoJob; ErrInterrupted; an *OptionError of Job where the
// folder's job is unusable.
func Site(ctx context.Context, dir string, o SiteOptions) (*Report, error) {
	job := filepath.Join(dir, filepath.FromSlash(jobName))
	c := &o.Crawl
	seeded := len(c.Seeds)+len(c.Posts) > 0 || c.SeedSeq != nil
	if !seeded && !isBegun(ctx, job) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoJob)
	}
	if err := prepare(dir); err != nil {
		return nil, err
	}
	c.Job, c.Keep.Archive = job, true
	if seeded { // otherwise the job has its own
		c.Traps.MaxURLLength = cmp.Or(c.Traps.MaxURLLength, LongestURL)
		if c.Reach.Assets = cmp.Or(c.Reach.Assets, weft.AssetsAny); o.NoAssets {
			c.Reach.Assets = weft.AssetsNone
		}
	}
	crawled, visit, err := standing(ctx, dir, c)
	if err != nil {
		return nil, err
	}
	var s weft.Summary
	if !crawled {
		if o.Run == nil {
			o.Run = crawl
		}
		if s, err = o.Run(ctx, *c); err != nil {
			return nil, err
		}
		if s.Interrupted {
			return nil, ErrInterrupted
		}
		if _, visit, err = state(ctx, job); err != nil {
			return nil, err
		}
	}
	r, err := write(ctx, job, dir, visit, o.Options)
	if err != nil {
		return nil, err
	}
	r.Crawl = s
	return r, nil
}

// crawl is SiteOptions.Run where there is none.
func crawl(ctx context.Context, o weft.Options) (weft.Summary, error) {
	c, err := weft.New(o)
	if err != nil {
		return weft.Summary{}, err
	}
	s, err := c.Run(ctx)
	if err == nil && s.SeedsFetched == 0 && s.Stopped == "" && !s.Interrupted {
		err = fmt.Errorf("no seed could be fetched: %s", cmp.Or(s.FirstError, "none has a 2xx status"))
	}
	return s, err
}

// standing decides what is to be done in a folder: to crawl, to go on, to crawl again, or, where
// the crawl has ended and the files of its visit were not all written, only to write.
func standing(ctx context.Context, dir string, o *weft.Options) (crawled bool, visit int, err error) {
	if o.Rerun.Fresh || !isBegun(ctx, o.Job) {
		return false, 0, nil
	}
	finished, visit, err := state(ctx, o.Job)
	if err != nil || !finished {
		return false, visit, err
	}
	complete, err := isComplete(dir, visit)
	if err != nil {
		return false, 0, err
	}
	o.Rerun.Update = complete
	return !complete, visit, nil
}
