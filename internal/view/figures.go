package view

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
)

// answers is the time that a fetch loop has to say how it stands.
const answers = 2 * time.Second

// Figures returns a running crawl as monitoring reads it. Errors: engine.ErrEnded, that of ctx.
func (v *View) Figures(ctx context.Context) (inspect.Figures, error) {
	var f inspect.Figures // if Ask fails, the coordinator may yet write it
	err := v.Crawl.Ask(ctx, func(d *engine.Coordinator) {
		f.Figures = d.Figures()
		f.Version = v.Version
		switch {
		case f.Unready:
			f.State = inspect.JobStarting
			return
		case f.Ending:
			f.State = inspect.JobEnding
		case len(f.Paused) > 0:
			f.State = inspect.JobPaused
		default:
			f.State = inspect.JobRunning
		}
		f.Waits = waiting(d, d.Plan())
	})
	if err != nil {
		return inspect.Figures{}, err
	}
	within, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	f.Loops, f.Process = v.Crawl.Loops(within), Process()
	if v.Browser != nil {
		f.Browser = v.Browser()
	}
	if v.Job == nil {
		return f, nil
	}
	f.Job = v.Job.Dir
	if v.Job.Files == store.Disk {
		if disk, err := v.Job.Usage(); err == nil { // the other figures hold without it
			f.Disk = &disk
		}
	}
	return f, nil
}
