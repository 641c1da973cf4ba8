package weft

import (
	"context"
	"iter"
	"slices"

	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/internal/ctl"
)

// answer has the crawl answer at its job's socket while it runs, if it has a job on disk.
// A crawl whose socket cannot be made runs as well, and cannot be steered.
func (c *Crawler) answer() *ctl.Server {
	d := c.desk
	if d.job == nil || d.job.files != store.Disk {
		return nil
	}
	v := &view{job: d.job, crawl: c}
	s, err := ctl.Serve(d.job.dir, v.commands())
	if err != nil && d.cfg.Hooks.OnWarning != nil {
		d.cfg.Hooks.OnWarning(err)
	}
	return s
}

// The commands of the protocol. Those without arguments do not look at any.
const (
	commandStatus = "status" // → a Status
	commandHosts  = "hosts"  // → HostStatuses
	commandURLs   = "urls"   // URLState → URLStatuses
	commandWhy    = "why"    // URL → a Why
	commandDo     = "do"     // Order → lines of text
	commandTasks  = "tasks"  // → TaskStatuses
)

func (v *view) commands() map[string]ctl.Command {
	return map[string]ctl.Command{
		commandStatus: command(func(ctx context.Context, _ []string) iter.Seq2[Status, error] { return only(v.status(ctx)) }),
		commandHosts:  command(func(ctx context.Context, _ []string) iter.Seq2[HostStatus, error] { return v.hosts(ctx) }),
		commandURLs: command(func(ctx context.Context, args []string) iter.Seq2[URLStatus, error] {
			return v.urls(ctx, URLState(first(args)))
		}),
		commandWhy: command(func(ctx context.Context, args []string) iter.Seq2[Why, error] { return only(v.why(ctx, first(args))) }),
		commandDo: command(func(ctx context.Context, args []string) iter.Seq2[string, error] {
			o, err := ParseOrder(args...)
			if err != nil {
				return failed[string](err)
			}
			return each(v.crawl.do(ctx, o))
		}),
		commandTasks: command(func(ctx context.Context, _ []string) iter.Seq2[TaskStatus, error] { return each(v.crawl.tasks(ctx)) }),
	}
}

// command answers with values.
func command[T any](answer func(ctx context.Context, args []string) iter.Seq2[T, error]) ctl.Command {
	return func(ctx context.Context, args []string, tell func(any) error) error {
		for value, err := range answer(ctx, args) {
			if err != nil {
				return err
			}
			if err := tell(value); err != nil {
				return err
			}
		}
		return nil
	}
}

func first(args []string) string {
	return slices.Concat(args, []string{""})[0]
}

// only yields a value or an error.
func only[T any](value T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(value, err) }
}

// each yields values, or an error.
func each[T any](values []T, err error) iter.Seq2[T, error] {
	if err != nil {
		return failed[T](err)
	}
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// failed yields an error.
func failed[T any](err error) iter.Seq2[T, error] {
	var none T
	return only(none, err)
}
